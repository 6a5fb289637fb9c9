//! A whole bundle in one file, `.kbpack`: manifest and section files one after the other. For handouts.

use super::assemble::SealedBundle;
use super::crc32::Crc32;
use super::frame::FORMAT_VERSION;
use super::manifest::{Manifest, SectionRef};
use crate::{Error, ErrorKind, Result};

const MAGIC: [u8; 8] = *b"\x89KBP\r\n\x1a\n";
const HEADER_BYTES: usize = 20;

/// A packed bundle, taken apart without copying.
#[derive(Debug)]
pub struct Packed<'a> {
    /// The manifest, already checked.
    pub manifest: Manifest,
    /// The manifest's own bytes.
    pub manifest_json: &'a [u8],
    /// The section files in the manifest's order.
    files: Vec<&'a [u8]>,
}

impl<'a> Packed<'a> {
    /// The bytes of the file that `section` names; fits [`open_bundle`](super::open_bundle).
    ///
    /// # Errors
    /// [`ErrorKind::Missing`] if there is no such file.
    pub fn file(&self, section: &SectionRef) -> Result<&'a [u8]> {
        let at = self.manifest.sections.iter().position(|s| s.file == section.file);
        at.and_then(|at| self.files.get(at).copied())
            .ok_or_else(|| section.kind.error(ErrorKind::Missing, format!("{} is not in the pack", section.file)))
    }
}

/// Puts a bundle into one file.
pub fn pack(bundle: &SealedBundle) -> Vec<u8> {
    let sections: usize = bundle.files.iter().map(|f| f.bytes.len()).sum();
    let mut out = Vec::with_capacity(HEADER_BYTES + bundle.manifest_json.len() + sections);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&(bundle.manifest_json.len() as u32).to_le_bytes());
    out.extend_from_slice(&Crc32::new().update(&bundle.manifest_json).finish().to_le_bytes());
    out.extend_from_slice(&bundle.manifest_json);
    for file in &bundle.files {
        out.extend_from_slice(&file.bytes);
    }
    out
}

/// Takes a packed bundle apart. The section files are checked when they are opened.
///
/// # Errors
/// [`ErrorKind::NotABundle`], [`ErrorKind::NewerFormat`], [`ErrorKind::Corrupt`], and those of
/// [`Manifest::from_json`].
pub fn unpack(bytes: &[u8]) -> Result<Packed<'_>> {
    let start = bytes.len().min(MAGIC.len());
    if bytes.is_empty() || bytes[..start] != MAGIC[..start] {
        return Err(Error::new(ErrorKind::NotABundle, "this is not a packed knowledge base"));
    }
    let corrupt = |what: &str| Error::new(ErrorKind::Corrupt, format!("the packed knowledge base {what}"));
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(corrupt("ends within its header"));
    };
    let version = u16::from_le_bytes([header[8], header[9]]);
    if version > FORMAT_VERSION {
        let what = format!(
            "the packed knowledge base has format version {version}, this program reads up to {FORMAT_VERSION}"
        );
        return Err(Error::new(ErrorKind::NewerFormat, what));
    }
    let length = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    let crc = u32::from_le_bytes([header[16], header[17], header[18], header[19]]);
    let Some((manifest_json, mut rest)) = rest.split_at_checked(length as usize) else {
        return Err(corrupt("ends within its manifest"));
    };
    if Crc32::new().update(manifest_json).finish() != crc || version == 0 || header[10..12] != [0; 2] {
        return Err(corrupt("has a damaged header or manifest"));
    }
    let manifest = Manifest::from_json(manifest_json)?;
    // No checksum covers the header's own version.
    if manifest.format != version {
        return Err(corrupt("has another format version than its manifest"));
    }
    let mut files = Vec::with_capacity(manifest.sections.len());
    for section in &manifest.sections {
        let cut = usize::try_from(section.bytes).ok().and_then(|n| rest.split_at_checked(n));
        let Some((file, after)) = cut else {
            return Err(section.kind.corrupt("the packed knowledge base ends within it"));
        };
        files.push(file);
        rest = after;
    }
    if !rest.is_empty() {
        return Err(corrupt("has bytes after its last section"));
    }
    Ok(Packed { manifest, manifest_json, files })
}
