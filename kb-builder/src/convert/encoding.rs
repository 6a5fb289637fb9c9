//! From bytes to text: which encoding a file is in.

use kb_core::{Error, ErrorKind, Result};

/// Text with `\n` line ends, and the name of the encoding that it was in.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// `UTF-8`, `UTF-16LE`, `UTF-16BE`, `GB18030` or the declared one, as the Encoding Standard names them.
    pub encoding: &'static str,
}

/// Decodes a file: a byte order mark decides, else what the document declares of itself (`declared`,
/// an HTML `charset`), else UTF-8 if the bytes are valid, else GB18030, which contains GBK and GB2312.
///
/// Bytes that fit none of these are an error: a guess would put garbage into the index.
pub fn decode(bytes: &[u8], declared: Option<&str>) -> Result<Decoded> {
    if let Some((encoding, mark)) = encoding_rs::Encoding::for_bom(bytes) {
        let (text, damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
        return if damaged {
            Err(undecodable(&format!("it begins with a mark of {} but is not", encoding.name())))
        } else {
            Ok(done(&text, encoding.name()))
        };
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        if text.contains('\0') {
            return Err(undecodable("it contains NUL bytes, so it is binary or UTF-16 without a mark"));
        }
        return Ok(done(text, "UTF-8"));
    }
    if bytes.contains(&0) {
        return Err(undecodable("it contains NUL bytes, so it is binary or UTF-16 without a mark"));
    }
    let declared = declared.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    for encoding in declared.into_iter().chain([encoding_rs::GB18030]) {
        let (text, damaged) = encoding.decode_without_bom_handling(bytes);
        if !damaged {
            return Ok(done(&text, encoding.name()));
        }
    }
    Err(undecodable("it is neither UTF-8 nor GB18030, and has no mark of UTF-16"))
}

fn undecodable(why: &str) -> Error {
    Error::new(ErrorKind::Convert, format!("the encoding is unknown: {why}"))
}

fn done(text: &str, encoding: &'static str) -> Decoded {
    let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_string() };
    Decoded { text, encoding }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_decides_then_utf8_then_gb18030() {
        // "知识库\r\n" in each encoding; the bytes are from Python's codecs. The first two characters alone
        // would be valid UTF-8 in GB18030 as well.
        let cases: [(&[u8], &str); 5] = [
            (b"\xe7\x9f\xa5\xe8\xaf\x86\xe5\xba\x93\r\n", "UTF-8"),
            (b"\xef\xbb\xbf\xe7\x9f\xa5\xe8\xaf\x86\xe5\xba\x93\r\n", "UTF-8"),
            (b"\xff\xfe\xe5\x77\xc6\x8b\x93\x5e\r\x00\n\x00", "UTF-16LE"),
            (b"\xfe\xff\x77\xe5\x8b\xc6\x5e\x93\x00\r\x00\n", "UTF-16BE"),
            (b"\xd6\xaa\xca\xb6\xbf\xe2\r\n", "gb18030"),
        ];
        for (bytes, encoding) in cases {
            let d = decode(bytes, None).expect(encoding);
            assert_eq!(d.text, "知识库\n", "{encoding}");
            assert_eq!(d.encoding, encoding);
        }
    }

    #[test]
    fn a_declaration_is_believed_before_gb18030_but_not_before_utf8() {
        // "知識" in Big5, from Python's codecs.
        let d = decode(b"\xaa\xbe\xc3\xd1", Some("big5")).expect("decodes");
        assert_eq!((d.text.as_str(), d.encoding), ("知識", "Big5"));
        let d = decode("知識".as_bytes(), Some("big5")).expect("decodes");
        assert_eq!(d.encoding, "UTF-8");
    }

    #[test]
    fn binary_and_unknown_bytes_are_errors_that_say_so() {
        assert!(decode(b"\x7fELF\0\0", None).expect_err("binary").message().contains("NUL"));
        assert!(decode(b"caf\xe9 ol\xe9", None).expect_err("latin-1").message().contains("GB18030"));
        assert!(decode(b"\xff\xfe\x00\xd8", None).is_err(), "a lone surrogate");
    }
}
