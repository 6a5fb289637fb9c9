//! The ZIP container of Word, PowerPoint and EPUB files, with limits on what it may unpack to.

use kb_core::{Error, ErrorKind, Result};
use std::cell::Cell;
use std::cell::RefCell;
use std::io::{Cursor, Read};
use zip::ZipArchive;
use zip::result::ZipError;

/// Largest part that is unpacked, in bytes. The text of a thick book is under 10 MB of XML.
const MAX_PART_BYTES: u64 = 64 << 20;
/// Most that all parts of one file together are unpacked to, in bytes.
const MAX_TOTAL_BYTES: u64 = 256 << 20;
/// Most parts that a file may list.
const MAX_PARTS: usize = 65_535;

/// An opened container. Parts are unpacked when they are asked for: pictures never are.
pub struct Archive<'a> {
    zip: RefCell<ZipArchive<Cursor<&'a [u8]>>>,
    unpacked: Cell<u64>,
}

impl<'a> Archive<'a> {
    /// Opens the bytes of a file; `what` names the format in the error.
    pub fn open(bytes: &'a [u8], what: &str) -> Result<Self> {
        // Word encrypts a document by wrapping it into an OLE container.
        if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
            return Err(refuse(format!(
                "it is protected by a password, or in the older format of Office 97: save it as {what} without a password"
            )));
        }
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| refuse(format!("it is no {what} file: {e}")))?;
        if zip.len() > MAX_PARTS {
            return Err(refuse(format!("it lists {} parts, more than {MAX_PARTS}", zip.len())));
        }
        Ok(Self { zip: RefCell::new(zip), unpacked: Cell::new(0) })
    }

    /// The bytes of a part, `None` if the container has no part of that name.
    pub fn part(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let mut zip = self.zip.borrow_mut();
        let part = match zip.by_name(name.trim_start_matches('/')) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(e) => return Err(refuse(format!("its part {name} cannot be unpacked: {e}"))),
        };
        let left = MAX_TOTAL_BYTES.saturating_sub(self.unpacked.get());
        let limit = MAX_PART_BYTES.min(left);
        let mut bytes = Vec::new();
        // The size that the container states may be a lie, so that what comes out is counted.
        let read = part.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|e| refuse(format!("its part {name} is damaged: {e}")))?;
        if bytes.len() as u64 > limit {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("its part {name} unpacks to more than {} MB", limit >> 20),
            ));
        }
        self.unpacked.set(self.unpacked.get() + bytes.len() as u64);
        Ok(Some(bytes))
    }

    /// The text of an XML part.
    pub fn xml(&self, name: &str) -> Result<Option<String>> {
        self.part(name)?.map(|bytes| super::encoding::decode(&bytes, None).map(|d| d.text)).transpose()
    }

    /// The text of a part that the format cannot do without.
    pub fn required(&self, name: &str) -> Result<String> {
        self.xml(name)?.ok_or_else(|| refuse(format!("its part {name} is missing")))
    }
}

fn refuse(message: String) -> Error {
    Error::new(ErrorKind::Convert, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in parts {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("starts");
            zip.write_all(bytes).expect("writes");
        }
        zip.finish().expect("finishes").into_inner()
    }

    #[test]
    fn parts_are_read_by_name() {
        let bytes = zipped(&[("a/b.xml", b"<x/>")]);
        let archive = Archive::open(&bytes, "DOCX").expect("opens");
        assert_eq!(archive.part("/a/b.xml").expect("reads").as_deref(), Some(&b"<x/>"[..]));
        assert_eq!(archive.part("nothing").expect("reads"), None);
        assert!(archive.required("nothing").expect_err("is missing").message().contains("nothing is missing"));
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let zeros = vec![0; (MAX_PART_BYTES + 1) as usize];
        let bytes = zipped(&[("bomb", &zeros), ("fine", b"x")]);
        assert!(bytes.len() < 1 << 20, "it is small on disk: {}", bytes.len());
        let archive = Archive::open(&bytes, "DOCX").expect("opens");
        let e = archive.part("bomb").expect_err("is refused");
        assert_eq!(e.kind(), ErrorKind::TooLarge);
        assert!(e.message().contains("more than 64 MB"), "{e}");
        assert!(archive.part("fine").expect("reads").is_some());
    }

    #[test]
    fn many_parts_share_one_limit() {
        let zeros = vec![0; (MAX_PART_BYTES - 1) as usize];
        let names = ["1", "2", "3", "4", "5"];
        let parts: Vec<(&str, &[u8])> = names.iter().map(|n| (*n, zeros.as_slice())).collect();
        let bytes = zipped(&parts);
        let archive = Archive::open(&bytes, "DOCX").expect("opens");
        let results: Vec<bool> = names.iter().map(|n| archive.part(n).is_ok()).collect();
        assert_eq!(results, [true, true, true, true, false]);
    }

    #[test]
    fn foreign_bytes_are_named() {
        let e = Archive::open(b"%PDF-1.7", "DOCX").err().expect("is refused");
        assert!(e.message().contains("no DOCX file"), "{e}");
        let e = Archive::open(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "DOCX").err().expect("is refused");
        assert!(e.message().contains("password"), "{e}");
    }
}
