//! How terms are written in the dictionary: as UTF-8, but with two bytes for the letters of Chinese,
//! Japanese, Korean, Cyrillic and Greek. Most terms of an index of such a text are bigrams, so this is a
//! fifth of its dictionary.

/// Half-open ranges of letters that get two bytes, in the order of their codes.
const RANGES: [(u32, u32); 6] =
    [(0x3B0, 0x3D0), (0x430, 0x460), (0x3005, 0x3008), (0x3040, 0x3100), (0x4E00, 0xA000), (0xAC00, 0xD7A4)];

/// Stands before a letter in plain UTF-8.
const ESCAPE: u8 = 0xFF;

/// Appends `term`: ASCII as it is; a letter with a code as 0x80 plus the code's high byte and its low
/// byte; anything else as [`ESCAPE`] and its UTF-8.
pub(super) fn encode(term: &str, out: &mut Vec<u8>) {
    for c in term.chars() {
        let n = c as u32;
        if n < 0x80 {
            out.push(n as u8);
        } else if let Some(code) = code_of(n) {
            out.extend_from_slice(&[0x80 + (code >> 8) as u8, code as u8]);
        } else {
            out.push(ESCAPE);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

fn code_of(n: u32) -> Option<u32> {
    let mut first = 0;
    for (from, to) in RANGES {
        if (from..to).contains(&n) {
            return Some(first + n - from);
        }
        first += to - from;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_letter_has_bytes_of_its_own_and_none_begins_with_anothers() {
        let mut heads: HashSet<Vec<u8>> = HashSet::new();
        // All of the basic plane and some letters beyond it.
        for c in (0..=0xFFFF).chain(0x20000..0x20100).filter_map(char::from_u32) {
            let mut bytes = Vec::new();
            encode(&c.to_string(), &mut bytes);
            assert!(heads.insert(bytes.clone()), "{c}");
            let expected = if c.is_ascii() {
                1
            } else if bytes[0] == ESCAPE {
                1 + c.len_utf8()
            } else {
                2
            };
            assert_eq!(bytes.len(), expected);
        }
        assert!(heads.iter().all(|b| (1..b.len()).all(|n| !heads.contains(&b[..n]))));
    }

    #[test]
    fn codes_stay_below_the_escape() {
        let total: u32 = RANGES.iter().map(|(from, to)| to - from).sum();
        assert!(0x80 + ((total - 1) >> 8) < u32::from(ESCAPE));
    }
}
