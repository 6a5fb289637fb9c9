//! Character folding: what a reader types and what an author wrote become the same letters.
//!
//! A compact stand-in for NFKC with case folding: case, full-width and half-width forms, Latin
//! diacritics, combining marks, ligatures, Kangxi radicals, superscript digits; and traditional Chinese
//! characters become simplified ones.

use super::fold_han::PAIRS;
use super::fold_tables::{KANGXI, KATAKANA, LATIN, LATIN_ADDITIONAL};

/// Passes the folded form of `c` to `out`: one character for most, none for a combining mark, two or
/// three for a ligature.
pub fn fold(c: char, out: &mut impl FnMut(char)) {
    let n = c as u32;
    match n {
        0..=0x7F => out(c.to_ascii_lowercase()),
        0xC0..=0x24F => latin(c, LATIN[(n - 0xC0) as usize], out),
        0x1E00..=0x1EFF => latin(c, LATIN_ADDITIONAL[(n - 0x1E00) as usize], out),
        0x300..=0x36F => {}
        0xB2 | 0xB3 => out(if n == 0xB2 { '2' } else { '3' }),
        0xB9 => out('1'),
        0x2070 | 0x2074..=0x2079 => out(digit(n - 0x2070)),
        0x2080..=0x2089 => out(digit(n - 0x2080)),
        0x2F00..=0x2FD5 => out(third_of(KANGXI, n - 0x2F00).map_or(c, simplified)),
        0x3000 => out(' '),
        0x4E00..=0x9FFF => out(simplified(c)),
        0xFB00..=0xFB06 => {
            const LIGATURES: [&str; 7] = ["ff", "fi", "fl", "ffi", "ffl", "st", "st"];
            LIGATURES[(n - 0xFB00) as usize].chars().for_each(out);
        }
        0xFF01..=0xFF5E => out(char::from_u32(n - 0xFEE0).unwrap_or(c).to_ascii_lowercase()),
        0xFF66..=0xFF9D => out(third_of(KATAKANA, n - 0xFF66).unwrap_or(c)),
        // Cyrillic letters that have a decomposed spelling, so that both spellings meet.
        0x401 | 0x451 => out('е'),
        0x419 | 0x439 => out('и'),
        _ if !(0x2000..0x10000).contains(&n) => lower(c, out),
        // No case between general punctuation and the end of the BMP but in these blocks.
        0x2100..=0x218F | 0x2C00..=0x2DFF | 0xA640..=0xA7FF | 0xAB30..=0xABBF => lower(c, out),
        _ => out(c),
    }
}

/// `text` with every character folded.
pub fn fold_str(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        fold(c, &mut |f| folded.push(f));
    }
    folded
}

fn latin(c: char, base: u8, out: &mut impl FnMut(char)) {
    match c {
        'ß' | 'ẞ' => "ss".chars().for_each(out),
        'Æ' | 'æ' | 'Ǣ' | 'ǣ' | 'Ǽ' | 'ǽ' => "ae".chars().for_each(out),
        'Œ' | 'œ' => "oe".chars().for_each(out),
        'Þ' | 'þ' => "th".chars().for_each(out),
        _ if base != b'.' => out(char::from(base)),
        _ => lower(c, out),
    }
}

fn lower(c: char, out: &mut impl FnMut(char)) {
    match c {
        // The two lower-case sigmas are one letter.
        'ς' => out('σ'),
        _ => {
            for l in c.to_lowercase() {
                // The Ångström sign becomes a letter that folds further.
                if l == c { out(l) } else { fold(l, out) }
            }
        }
    }
}

/// The simplified character for a traditional one, anything else as it is.
fn simplified(c: char) -> char {
    let mut utf8 = [0; 4];
    let wanted = c.encode_utf8(&mut utf8).as_bytes();
    let pairs = PAIRS.as_bytes();
    let (mut low, mut high) = (0, pairs.len() / 6);
    while low < high {
        let middle = (low + high) / 2;
        // UTF-8 sorts as the characters do.
        match pairs[6 * middle..6 * middle + 3].cmp(wanted) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return third_of(PAIRS, 2 * middle as u32 + 1).unwrap_or(c),
        }
    }
    c
}

fn digit(value: u32) -> char {
    char::from_digit(value, 10).unwrap_or('0')
}

/// The `index`th character of a table whose characters all take three bytes.
fn third_of(table: &str, index: u32) -> Option<char> {
    table.get(3 * index as usize..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

    /// What Unicode itself says: NFKD, marks dropped, lower case.
    fn by_unicode(c: char) -> String {
        c.nfkd().filter(|d| !is_combining_mark(*d)).flat_map(char::to_lowercase).collect()
    }

    #[test]
    fn tables_agree_with_unicode_decompositions() {
        // Letters without a decomposition that have a customary base letter, and ligatures.
        let by_custom = "ÆæßÐðØøÞþĐđĦħıŁłŒœŦŧſĸŊŋ";
        let ranges =
            [0xC0..=0x24F_u32, 0x1E00..=0x1EFF, 0x2F00..=0x2FD5, 0xFF01..=0xFF5E, 0xFF66..=0xFF9D, 0x2080..=0x2089];
        for c in ranges.into_iter().flatten().filter_map(char::from_u32) {
            let expected = by_unicode(c);
            let latin = (c as u32) < 0x2000;
            // Ligatures, and the few Latin letters whose base letter is not one of the 26.
            if by_custom.contains(c) || expected.chars().count() != 1 || latin && !expected.is_ascii() {
                continue;
            }
            assert_eq!(fold_str(&c.to_string()), fold_str(&expected), "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn pairs_are_sorted_so_that_they_can_be_searched() {
        let chars: Vec<char> = PAIRS.chars().collect();
        assert!(chars.iter().all(|c| c.len_utf8() == 3) && chars.len().is_multiple_of(2));
        assert!(chars.chunks(2).map(|p| p[0]).is_sorted());
    }

    #[test]
    fn words_of_several_languages_fold() {
        for (written, folded) in [
            ("Ｐｙｔｈｏｎ３", "python3"),
            ("Crème BRÛLÉE", "creme brulee"),
            ("cafe\u{301}", "cafe"),
            ("Straße", "strasse"),
            ("ﬁnal oﬃce", "final office"),
            ("ΟΔΥΣΣΕΥΣ οδυσσευς", "οδυσσευσ οδυσσευσ"),
            ("Ёлка Йод", "елка иод"),
            ("⽤户", "用户"),
            ("ﾌﾟﾛｸﾞﾗﾑ", "フﾟロクﾞラム"),
            ("x² H₂O", "x2 h2o"),
            ("Nguyễn Việt", "nguyen viet"),
            ("資料結構與演算法", "资料结构与演算法"),
            ("後來發現頭髮", "后来发现头发"),
            ("最短路徑", "最短路径"),
        ] {
            assert_eq!(fold_str(written), folded);
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for c in (0..=0x2FFFF_u32).filter_map(char::from_u32) {
            let once = fold_str(&c.to_string());
            assert_eq!(fold_str(&once), once, "U+{:04X}", c as u32);
        }
    }
}
