//! Lines out of bytes that come in pieces.

use super::MAX_LINE_BYTES;

/// What has been read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end, which was `\n`, `\r\n` or `\r`.
    Whole(Vec<u8>),
    /// A line over the limit. Nothing after it can be read.
    TooLong,
}

/// The line that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
    /// The last byte was `\r`: a `\n` right after it ends no other line.
    after_return: bool,
}

impl Lines {
    /// The next whole line; takes from the front of `rest` what it needs. `None` when `rest` is used up.
    pub fn next(&mut self, rest: &mut &[u8]) -> Option<Line> {
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            *rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let piece = &rest[..end.unwrap_or(rest.len())];
        if self.pending.len() + piece.len() > MAX_LINE_BYTES {
            self.pending = Vec::new();
            *rest = &[];
            return Some(Line::TooLong);
        }
        self.pending.extend_from_slice(piece);
        let Some(end) = end else {
            *rest = &[];
            return None;
        };
        self.after_return = rest[end] == b'\r';
        *rest = &rest[end + 1..];
        Some(Line::Whole(std::mem::take(&mut self.pending)))
    }

    /// What stands after the last line end.
    pub fn last(&mut self) -> Option<Vec<u8>> {
        (!self.pending.is_empty()).then(|| std::mem::take(&mut self.pending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for mut piece in pieces.iter().copied() {
            while let Some(Line::Whole(line)) = lines.next(&mut piece) {
                out.push(String::from_utf8(line).expect("UTF-8"));
            }
        }
        out.extend(lines.last().map(|l| String::from_utf8(l).expect("UTF-8")));
        out
    }

    #[test]
    fn every_line_end_counts_once() {
        assert_eq!(lines(&[b"a\nb\r\nc\rd"]), ["a", "b", "c", "d"]);
        assert_eq!(lines(&[b"a\r", b"\nb"]), ["a", "b"]);
        assert_eq!(lines(&[b"a\r", b"", b"\n\nb\r"]), ["a", "", "b"]);
        assert_eq!(lines(&["一".as_bytes().split_at(1).0, "一".as_bytes().split_at(1).1]), ["一"]);
    }

    #[test]
    fn an_endless_line_is_given_up() {
        let mut lines = Lines::default();
        let block = vec![b'x'; MAX_LINE_BYTES / 2];
        assert_eq!(lines.next(&mut &block[..]), None);
        assert_eq!(lines.next(&mut &block[..]), None);
        assert_eq!(lines.next(&mut &b"x"[..]), Some(Line::TooLong));
        assert_eq!(lines.pending.capacity(), 0);
    }
}
