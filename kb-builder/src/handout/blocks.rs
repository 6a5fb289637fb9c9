//! Files inside a page: compressed where that helps, in base64, each in an element of its own.

use sha2::{Digest, Sha256};

/// How hard to compress, 0 to 10. Above 6 the time doubles for less than a hundredth.
const LEVEL: u8 = 6;

/// The element that carries a file.
pub fn element(path: &str, bytes: &[u8]) -> String {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(bytes, LEVEL);
    // Vectors and most of a model do not become smaller; unpacking them would only take time.
    let (mark, content) =
        if packed.len() < bytes.len() / 100 * 98 { (" data-packed", &packed[..]) } else { ("", bytes) };
    let path = crate::site::escape(path);
    format!("<script type=\"application/octet-stream\" data-kb=\"{path}\"{mark}>{}</script>\n", base64(content))
}

/// Whether a page carries a file at `path`.
pub fn carries(html: &[u8], path: &str) -> bool {
    let element = format!("<script type=\"application/octet-stream\" data-kb=\"{path}\"");
    html.windows(element.len()).any(|window| window == element.as_bytes())
}

/// RFC 4648, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        for i in 0..4 {
            if i <= group.len() {
                out.push(char::from(ALPHABET[(bits >> (18 - 6 * i)) as usize & 63]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// What a content security policy names an inline script or style by.
pub fn policy_hash(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_rfc_4648() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn hashes_of_policies() {
        // From the CSP specification, "alert('Hello, world.');".
        assert_eq!(policy_hash("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }

    #[test]
    fn only_what_gets_smaller_is_packed() {
        assert!(element("a.txt", "repeated ".repeat(100).as_bytes()).contains(" data-packed>"));
        let noise: Vec<u8> = (0u8..13).flat_map(|i| Sha256::digest([i]).to_vec()).collect();
        assert!(!element("kb/\"x\"", &noise).contains("data-packed"));
        assert!(element("kb/\"x\"", &noise).contains("data-kb=\"kb/&quot;x&quot;\""));
    }
}
