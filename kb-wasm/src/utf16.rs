//! Byte offsets of UTF-8 to the UTF-16 offsets of JavaScript's strings, in one pass over the text.

use serde::Serialize;
use std::ops::Range;

/// A range of a JavaScript string, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Span"))]
pub(crate) struct Utf16Span {
    /// First unit.
    pub start: u32,
    /// One past the last unit.
    pub end: u32,
}

/// Converts offsets that come in rising order without looking at any byte twice.
pub(crate) struct Utf16Cursor<'a> {
    text: &'a str,
    bytes: usize,
    units: u32,
}

impl<'a> Utf16Cursor<'a> {
    /// A cursor at the start of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, bytes: 0, units: 0 }
    }

    /// The UTF-16 offset of byte offset `at`. One inside a character counts as its start, one behind the
    /// text as its end. A smaller offset than the one before starts again from the front.
    pub(crate) fn offset(&mut self, at: usize) -> u32 {
        let at = self.text.floor_char_boundary(at);
        if at < self.bytes {
            (self.bytes, self.units) = (0, 0);
        }
        let passed = self.text.get(self.bytes..at).unwrap_or_default();
        self.units += passed.chars().map(|c| c.len_utf16() as u32).sum::<u32>();
        self.bytes = at;
        self.units
    }

    /// The UTF-16 span of a byte range.
    pub(crate) fn span(&mut self, range: &Range<usize>) -> Utf16Span {
        let start = self.offset(range.start);
        Utf16Span { start, end: self.offset(range.end).max(start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // a 1 byte 1 unit, é 2 and 1, 中 3 and 1, 😀 4 and 2, 👩‍🔬 is three characters: 4+3+4 bytes, 2+1+2 units.
    const TEXT: &str = "aé中😀👩\u{200d}🔬z";

    #[test]
    fn offsets_are_utf16_units() {
        let mut cursor = Utf16Cursor::new(TEXT);
        let offsets: Vec<u32> = [0, 1, 3, 6, 10, 14, 17, 21, 22].map(|at| cursor.offset(at)).into();
        assert_eq!(offsets, [0, 1, 2, 3, 5, 7, 8, 10, 11]);
    }

    #[test]
    fn odd_offsets_do_no_harm() {
        let mut cursor = Utf16Cursor::new(TEXT);
        assert_eq!(cursor.offset(8), 3, "inside 😀");
        assert_eq!(cursor.offset(1), 1, "backwards");
        assert_eq!(cursor.offset(999), 11, "behind the end");
        #[expect(clippy::reversed_empty_ranges, reason = "a damaged span")]
        let reversed = cursor.span(&(6..3));
        assert_eq!(reversed, Utf16Span { start: 3, end: 3 });
    }

    #[test]
    fn spans_cut_the_same_text_in_both_units() {
        let units: Vec<u16> = TEXT.encode_utf16().collect();
        let mut cursor = Utf16Cursor::new(TEXT);
        for range in [0..3, 3..10, 6..21, 10..22] {
            let span = cursor.span(&range);
            let cut = String::from_utf16(&units[span.start as usize..span.end as usize]).expect("whole characters");
            assert_eq!(cut, TEXT[range]);
        }
    }
}
