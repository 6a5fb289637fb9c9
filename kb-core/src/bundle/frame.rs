//! One section file, `.kbs`: a header of 32 bytes that says what follows, and the payload, deflated
//! where that pays. The layout is in FORMAT.md.

use super::crc32::Crc32;
use crate::{Error, ErrorKind, Result};
use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib_with_limit};
use serde::{Deserialize, Serialize};

/// Version of every format in [`crate::bundle`]: manifest, frames, payloads.
pub const FORMAT_VERSION: u16 = 5;

/// Longest payload of one section, uncompressed: 256 MiB. Declared lengths over this are refused
/// before anything is allocated.
pub const MAX_SECTION_BYTES: usize = 256 << 20;

/// First bytes of every section file. The high bit and the line ends show damage done by a transfer
/// as text, as in PNG.
pub const MAGIC: [u8; 8] = *b"\x89KBS\r\n\x1a\n";

/// Bytes before the payload.
pub const HEADER_BYTES: usize = 32;

const FLAG_DEFLATE: u8 = 1;

/// zlib's middle: the higher levels gain under 1 % on text and take three times as long.
const DEFLATE_LEVEL: u8 = 7;

/// Deflate cannot make 1 byte into more than 1,032, so a header that promises more is false.
const DEFLATE_MAX_RATIO: u64 = 1032;

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum SectionKind {
    /// Documents without their text.
    Docs = 1,
    /// The texts of a run of documents. A bundle may hold several.
    Text = 2,
    /// The chunk table.
    Chunks = 3,
    /// The BM25 index.
    Lexical = 4,
    /// The int8 vectors.
    Vectors = 5,
    /// The HNSW graph over the vectors.
    Graph = 6,
    /// A part of the BM25 index's terms. A bundle may hold several, or none: then `lexical` is the whole index.
    Terms = 7,
}

impl SectionKind {
    /// All kinds, in the order in which a bundle lists them.
    pub const ALL: [Self; 7] =
        [Self::Docs, Self::Text, Self::Chunks, Self::Lexical, Self::Vectors, Self::Graph, Self::Terms];

    /// The kind's name in file names, in the manifest and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Text => "text",
            Self::Chunks => "chunks",
            Self::Lexical => "lexical",
            Self::Vectors => "vectors",
            Self::Graph => "graph",
            Self::Terms => "terms",
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }

    /// An error about this section.
    pub(crate) fn error(self, kind: ErrorKind, what: impl std::fmt::Display) -> Error {
        Error::new(kind, format!("section `{}`: {what}", self.name()))
    }

    /// The most common error about this section.
    pub(crate) fn corrupt(self, what: impl std::fmt::Display) -> Error {
        self.error(ErrorKind::Corrupt, what)
    }
}

/// Puts `payload` into a section file. The same payload always gives the same bytes.
///
/// The payload is deflated if that saves at least a sixteenth of it; text and tables do, int8 vectors
/// usually do not.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for a payload over [`MAX_SECTION_BYTES`].
pub fn seal(kind: SectionKind, payload: &[u8]) -> Result<Vec<u8>> {
    if payload.len() > MAX_SECTION_BYTES {
        let what = format!("{} bytes are over the limit of {MAX_SECTION_BYTES}", payload.len());
        return Err(kind.error(ErrorKind::TooLarge, what));
    }
    let deflated = compress_to_vec_zlib(payload, DEFLATE_LEVEL);
    let (flags, stored) = if deflated.len() <= payload.len() - payload.len() / 16 && !payload.is_empty() {
        (FLAG_DEFLATE, deflated.as_slice())
    } else {
        (0, payload)
    };

    let mut file = Vec::with_capacity(HEADER_BYTES + stored.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    file.push(kind as u8);
    file.push(flags);
    file.extend_from_slice(&[0; 4]);
    file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    file.extend_from_slice(&(stored.len() as u64).to_le_bytes());
    file.extend_from_slice(stored);
    let crc = checksum(&file);
    file[12..16].copy_from_slice(&crc.to_le_bytes());
    Ok(file)
}

/// Takes the payload out of a section file, after every check that needs no knowledge of the payload.
///
/// # Errors
/// [`ErrorKind::NotABundle`] for foreign bytes, [`ErrorKind::NewerFormat`] for a later version or a
/// flag that this version does not know, [`ErrorKind::TooLarge`] for a declared length over
/// [`MAX_SECTION_BYTES`], [`ErrorKind::Corrupt`] for everything that does not add up, another kind of
/// section than `kind` included. Every message names the section.
pub fn open(kind: SectionKind, file: &[u8]) -> Result<Vec<u8>> {
    let header = Header::read(kind, file)?;
    let stored = &file[HEADER_BYTES..];
    if stored.len() as u64 != header.stored_bytes {
        let what = format!("{} bytes follow the header, which promises {}", stored.len(), header.stored_bytes);
        return Err(kind.corrupt(what));
    }
    if checksum(file) != header.crc {
        return Err(kind.corrupt("the checksum does not match"));
    }
    if header.kind != kind as u8 {
        let found = SectionKind::from_byte(header.kind).map_or("unknown", SectionKind::name);
        return Err(kind.corrupt(format!("the file holds a section `{found}`")));
    }
    let bytes = header.payload_bytes as usize;
    if header.flags & FLAG_DEFLATE == 0 {
        if stored.len() != bytes {
            return Err(kind.corrupt("the two lengths of an uncompressed payload differ"));
        }
        return Ok(stored.to_vec());
    }
    if header.payload_bytes > header.stored_bytes.saturating_mul(DEFLATE_MAX_RATIO) {
        return Err(kind.corrupt("the declared length is impossible for what is stored"));
    }
    let payload = decompress_to_vec_zlib_with_limit(stored, bytes)
        .map_err(|e| kind.corrupt(format!("the payload cannot be inflated ({:?})", e.status)))?;
    if payload.len() != bytes {
        return Err(kind.corrupt(format!("{} bytes were inflated, {bytes} declared", payload.len())));
    }
    Ok(payload)
}

struct Header {
    kind: u8,
    flags: u8,
    crc: u32,
    payload_bytes: u64,
    stored_bytes: u64,
}

impl Header {
    /// Reads the header and checks what must hold before its lengths are believed.
    fn read(kind: SectionKind, file: &[u8]) -> Result<Self> {
        let start = file.len().min(MAGIC.len());
        if file.is_empty() || file[..start] != MAGIC[..start] {
            return Err(kind.error(ErrorKind::NotABundle, foreign(file)));
        }
        let Some(header) = file.first_chunk::<HEADER_BYTES>() else {
            return Err(kind.corrupt(format!("the file ends after {} bytes", file.len())));
        };
        let version = u16::from_le_bytes([header[8], header[9]]);
        if version == 0 {
            return Err(kind.corrupt("format version 0 does not exist"));
        }
        if version > FORMAT_VERSION {
            let what = format!("format version {version}, this program reads up to {FORMAT_VERSION}");
            return Err(kind.error(ErrorKind::NewerFormat, what));
        }
        let read = Self {
            kind: header[10],
            flags: header[11],
            crc: u32::from_le_bytes([header[12], header[13], header[14], header[15]]),
            payload_bytes: le_u64(&header[16..24]),
            stored_bytes: le_u64(&header[24..32]),
        };
        if read.flags & !FLAG_DEFLATE != 0 {
            let what = format!("flags {:#04x} are unknown to this program", read.flags);
            return Err(kind.error(ErrorKind::NewerFormat, what));
        }
        if read.payload_bytes.max(read.stored_bytes) > MAX_SECTION_BYTES as u64 {
            let what = format!(
                "declares {} bytes, the limit is {MAX_SECTION_BYTES}",
                read.payload_bytes.max(read.stored_bytes)
            );
            return Err(kind.error(ErrorKind::TooLarge, what));
        }
        Ok(read)
    }
}

/// CRC-32 over the whole file except the four bytes that hold it.
fn checksum(file: &[u8]) -> u32 {
    Crc32::new().update(&file[..12]).update(&file[16..]).finish()
}

fn le_u64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Names the usual strangers: what a server sends for a missing file, what Git leaves in place of one.
fn foreign(file: &[u8]) -> &'static str {
    let start = file.trim_ascii_start();
    if start.is_empty() {
        "the file is empty"
    } else if start.starts_with(b"<") {
        "this is a web page, not a section file; the server may have answered for a missing file"
    } else if start.starts_with(b"version https://git-lfs") {
        "this is a Git LFS pointer, not the file itself"
    } else {
        "this is not a section file"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        "最短路 shortest path ".repeat(200).into_bytes()
    }

    #[test]
    fn every_kind_comes_back() {
        for kind in SectionKind::ALL {
            for payload in [vec![], vec![7], sample(), (0..=255).collect()] {
                let file = seal(kind, &payload).unwrap();
                assert_eq!(open(kind, &file).unwrap(), payload);
            }
        }
    }

    #[test]
    fn text_is_deflated_and_noise_is_not() {
        let text = seal(SectionKind::Text, &sample()).unwrap();
        assert!(text.len() < sample().len() / 10);
        // xorshift32 (Marsaglia 2003): no pattern that deflate could find.
        let mut state = 1u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as u8
        };
        let noise: Vec<u8> = (0..4000).map(|_| next()).collect();
        let file = seal(SectionKind::Vectors, &noise).unwrap();
        assert_eq!(file.len(), noise.len() + HEADER_BYTES);
    }

    #[test]
    fn errors_say_what_happened_and_where() {
        let kind_of = |file: &[u8]| {
            let error = open(SectionKind::Vectors, file).unwrap_err();
            assert!(error.message().starts_with("section `vectors`: "), "{error}");
            error.kind()
        };
        let good = seal(SectionKind::Vectors, &sample()).unwrap();
        assert_eq!(kind_of(b""), ErrorKind::NotABundle);
        assert_eq!(kind_of(b"<!DOCTYPE html><title>404"), ErrorKind::NotABundle);
        assert_eq!(kind_of(b"PK\x03\x04 a zip file that is long enough"), ErrorKind::NotABundle);
        assert_eq!(kind_of(&good[..5]), ErrorKind::Corrupt);
        assert_eq!(kind_of(&good[..31]), ErrorKind::Corrupt);
        assert_eq!(kind_of(&good[..good.len() - 1]), ErrorKind::Corrupt);
        assert_eq!(kind_of(&[good.as_slice(), b"x"].concat()), ErrorKind::Corrupt);
        assert_eq!(kind_of(&seal(SectionKind::Docs, &sample()).unwrap()), ErrorKind::Corrupt);

        let mut newer = good.clone();
        newer[8..10].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
        assert_eq!(kind_of(&newer), ErrorKind::NewerFormat);
        let mut flag = good.clone();
        flag[11] |= 0x80;
        assert_eq!(kind_of(&flag), ErrorKind::NewerFormat);
        let mut huge = good.clone();
        huge[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(kind_of(&huge), ErrorKind::TooLarge);
    }

    #[test]
    fn every_single_bit_counts() {
        let payload = &sample()[..300];
        let good = seal(SectionKind::Chunks, payload).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(open(SectionKind::Chunks, &bad).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_bomb_with_a_valid_checksum_stops_at_the_declared_length() {
        let deflated = compress_to_vec_zlib(&vec![0; 1 << 20], 9);
        for declared in [10u64, (1 << 20) - 1, (1 << 20) + 1, 200 << 20] {
            let mut file = MAGIC.to_vec();
            file.extend_from_slice(&[1, 0, SectionKind::Text as u8, FLAG_DEFLATE, 0, 0, 0, 0]);
            file.extend_from_slice(&declared.to_le_bytes());
            file.extend_from_slice(&(deflated.len() as u64).to_le_bytes());
            file.extend_from_slice(&deflated);
            let crc = checksum(&file);
            file[12..16].copy_from_slice(&crc.to_le_bytes());
            assert_eq!(open(SectionKind::Text, &file).unwrap_err().kind(), ErrorKind::Corrupt, "{declared}");
        }
    }
}
