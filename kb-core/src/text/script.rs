//! Which characters are words on their own, and which are letters of words.

/// Whether `c` belongs to a script that is written without spaces, so that it is cut into bigrams:
/// Han, kana, Hangul, Bopomofo, Thai, Lao, Khmer, Myanmar. Expects a folded character.
pub fn is_unspaced(c: char) -> bool {
    match c as u32 {
        0..=0xDFF => false,
        0x30FB => false, // katakana middle dot
        0xE01..=0xE3A | 0xE40..=0xE4E | 0xE81..=0xEDF | 0x1000..=0x109F | 0x1780..=0x17D3 => true,
        0x1100..=0x11FF | 0x3005..=0x3007 | 0x3041..=0x3096 | 0x30A1..=0x30FF => true,
        0x3105..=0x318E | 0x31A0..=0x31BF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF => true,
        0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0x20000..=0x323AF => true,
        _ => false,
    }
}

/// Whether `c` is an ideograph of the Han script.
pub fn is_han(c: char) -> bool {
    matches!(c as u32, 0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF)
}

/// Whether two such neighbours need no space when a line break between them is taken away: both are
/// East Asian letters or punctuation.
pub fn joins_without_space(c: char) -> bool {
    let hangul = matches!(c as u32, 0x1100..=0x11FF | 0xAC00..=0xD7A3);
    !hangul && is_unspaced(c) || matches!(c as u32, 0x3001..=0x303F | 0xFF01..=0xFF65 | 0x2014 | 0x2026)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts() {
        for c in "图論々ぁンー한ไทยㄅ𠀀".chars() {
            assert!(is_unspaced(c), "{c}");
        }
        for c in "aZ9éЖβא・。，（ -".chars() {
            assert!(!is_unspaced(c), "{c}");
        }
        assert!(is_han('々') && is_han('中') && !is_han('の') && !is_han('한'));
        assert!(joins_without_space('，') && joins_without_space('の') && !joins_without_space('한'));
    }
}
