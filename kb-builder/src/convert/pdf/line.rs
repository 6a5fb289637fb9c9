//! Glyphs to lines: which letters stand side by side, and where a space belongs.

/// A glyph whose text is known, at its place on an upright page.
#[derive(Debug, Clone, PartialEq)]
pub struct Glyph {
    /// One character, or the few that a ligature stands for.
    pub text: String,
    /// Left edge, in points from the left of the page.
    pub x: f32,
    /// Baseline, in points from the top of the page.
    pub y: f32,
    /// How far the next glyph stands to the right, in points.
    pub width: f32,
    /// Size of the letters, in points.
    pub size: f32,
    /// Whether its font is bold.
    pub bold: bool,
    /// Whether all glyphs of its font have one width.
    pub monospace: bool,
}

/// Glyphs that stand on one baseline without a wide gap.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The text, with a space where there is a gap.
    pub text: String,
    /// Left edge in points.
    pub left: f32,
    /// Right edge in points.
    pub right: f32,
    /// Baseline in points from the top of the page.
    pub y: f32,
    /// Size of most letters in points.
    pub size: f32,
    /// Whether all letters are bold.
    pub bold: bool,
    /// Whether all letters have one width.
    pub monospace: bool,
    /// Whether it stands to the right of the line before, after a wide gap: a cell of a table, a second
    /// column, the text after a heading's number.
    pub beside: bool,
    /// Width of the first word in points.
    pub first_word: f32,
}

/// Gaps wider than this part it into two lines. In units of the letters' size.
const WIDE_GAP: f32 = 1.1;
/// A smaller gap than this is kerning. TeX shrinks spaces to two ninths.
const WORD_GAP: f32 = 0.15;
/// Between Chinese characters and others typesetters leave a quarter, which is no space.
const MIXED_GAP: f32 = 0.4;
/// How far raised and lowered letters stand off the baseline.
const SHIFT: f32 = 0.55;

/// Whether a character is of a script that is written without spaces, its punctuation included.
pub fn is_east_asian(c: char) -> bool {
    matches!(c as u32, 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF00..=0xFF60 | 0x20000..=0x3FFFF)
}

/// Gathers the glyphs of a page, in the order in which they were drawn, to lines.
pub fn lines(glyphs: &[Glyph]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut open: Option<Open> = None;
    for glyph in glyphs {
        let place = open.as_ref().map_or(Place::Away, |o| o.place(glyph));
        match (place, &mut open) {
            (Place::Doubled, _) => {}
            (Place::Next, Some(line)) => line.push(glyph),
            (place, _) => {
                if glyph.text.trim().is_empty() {
                    // A space at the begin of a line is none.
                    if let (Place::Beside, Some(line)) = (place, &mut open) {
                        line.space = true;
                    }
                    continue;
                }
                keep(&mut lines, open.take());
                open = Some(Open::new(glyph, place == Place::Beside));
            }
        }
    }
    keep(&mut lines, open);
    lines
}

/// Adds a line, unless it is the one before printed a second time to make it bold.
fn keep(lines: &mut Vec<Line>, line: Option<Open>) {
    let Some(line) = line.and_then(Open::close) else { return };
    let again = lines.last().is_some_and(|l| {
        l.text == line.text && (l.left - line.left).abs() < 0.12 * line.size && (l.y - line.y).abs() < 0.12 * line.size
    });
    if !again {
        lines.push(line);
    }
}

/// Text recognition puts spaces between all Chinese characters: where most have one, none means anything.
fn without_spacing(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let apart = chars.windows(3).filter(|w| is_east_asian(w[0]) && w[1] == ' ' && is_east_asian(w[2])).count();
    let together = chars.windows(2).filter(|w| is_east_asian(w[0]) && is_east_asian(w[1])).count();
    if apart < 3 || apart <= together {
        return text.to_string();
    }
    let between =
        |i: usize| i > 0 && is_east_asian(chars[i - 1]) && chars.get(i + 1).is_some_and(|c| is_east_asian(*c));
    chars.iter().enumerate().filter(|(i, c)| **c != ' ' || !between(*i)).map(|(_, c)| *c).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On the same line.
    Next,
    /// On the same baseline after a wide gap.
    Beside,
    /// Elsewhere.
    Away,
    /// On top of the same letter: bold made by printing twice.
    Doubled,
}

/// A line that is being gathered.
struct Open {
    text: String,
    left: f32,
    right: f32,
    /// Baseline and size of its largest letters.
    y: f32,
    size: f32,
    /// Letters by size in tenths of a point.
    sizes: Vec<(i32, usize)>,
    bold: usize,
    monospace: usize,
    letters: usize,
    beside: bool,
    /// Whether a space was drawn since the last letter.
    space: bool,
    first_word: Option<f32>,
    /// The last letters and where they stand.
    last: Vec<(String, f32, f32)>,
}

impl Open {
    fn new(glyph: &Glyph, beside: bool) -> Self {
        let mut line = Self {
            text: String::new(),
            left: glyph.x,
            right: glyph.x,
            y: glyph.y,
            size: glyph.size,
            sizes: Vec::new(),
            bold: 0,
            monospace: 0,
            letters: 0,
            beside,
            space: false,
            first_word: None,
            last: Vec::new(),
        };
        line.push(glyph);
        line
    }

    fn place(&self, glyph: &Glyph) -> Place {
        let size = self.size.max(glyph.size);
        let near = |(text, x, y): &(String, f32, f32)| {
            *text == glyph.text && (x - glyph.x).abs() < 0.12 * size && (y - glyph.y).abs() < 0.12 * size
        };
        if self.last.iter().any(near) && !glyph.text.trim().is_empty() {
            return Place::Doubled;
        }
        let gap = glyph.x - self.right;
        if (glyph.y - self.y).abs() > SHIFT * size || gap < -0.6 * size {
            Place::Away
        } else if gap > WIDE_GAP * size {
            Place::Beside
        } else {
            Place::Next
        }
    }

    fn push(&mut self, glyph: &Glyph) {
        if glyph.text.trim().is_empty() {
            self.space |= !self.text.is_empty();
            // A drawn space takes its place; justification may stretch it.
            self.right = self.right.max(glyph.x + glyph.width.max(0.0));
            return;
        }
        let gap = glyph.x - self.right;
        let (before, after) = (self.text.chars().next_back(), glyph.text.chars().next());
        if let (Some(before), Some(after)) = (before, after) {
            let asian = (is_east_asian(before), is_east_asian(after));
            let least = match asian {
                (true, true) => f32::INFINITY,
                (false, false) => WORD_GAP,
                _ => MIXED_GAP,
            };
            if self.space || gap > least * glyph.size.min(self.size) {
                if self.first_word.is_none() {
                    self.first_word = Some(self.right - self.left);
                }
                self.text.push(' ');
            }
        }
        self.space = false;
        // The line's own baseline is that of its largest letters, not of an exponent it begins with.
        if glyph.size > self.size * 1.05 {
            (self.size, self.y) = (glyph.size, glyph.y);
        }
        self.text.push_str(&glyph.text);
        self.right = self.right.max(glyph.x + glyph.width.max(0.0));
        self.left = self.left.min(glyph.x);
        let letters = glyph.text.chars().count();
        self.letters += letters;
        self.bold += if glyph.bold { letters } else { 0 };
        self.monospace += if glyph.monospace { letters } else { 0 };
        let tenths = (glyph.size * 10.0).round() as i32;
        match self.sizes.iter_mut().find(|(s, _)| *s == tenths) {
            Some((_, n)) => *n += letters,
            None => self.sizes.push((tenths, letters)),
        }
        if self.last.len() == 8 {
            self.last.remove(0);
        }
        self.last.push((glyph.text.clone(), glyph.x, glyph.y));
    }

    fn close(self) -> Option<Line> {
        let text = without_spacing(self.text.trim_end());
        if text.is_empty() {
            return None;
        }
        let size = self.sizes.iter().max_by_key(|(size, n)| (*n, *size)).map_or(self.size, |(s, _)| *s as f32 / 10.0);
        Some(Line {
            first_word: if text.chars().next().is_some_and(is_east_asian) {
                // A line may end two characters early, because punctuation must not begin one.
                2.0 * size
            } else {
                self.first_word.unwrap_or(self.right - self.left)
            },
            text,
            left: self.left,
            right: self.right,
            y: self.y,
            size,
            bold: self.bold == self.letters,
            monospace: self.monospace == self.letters,
            beside: self.beside,
        })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Letters of half an em (a whole one for Chinese), set from `x` on; a space is a gap of a third.
    pub fn set(text: &str, x: f32, y: f32, size: f32) -> Vec<Glyph> {
        let mut at = x;
        let mut glyphs = Vec::new();
        for c in text.chars() {
            if c == ' ' {
                at += size / 3.0;
                continue;
            }
            let width = if is_east_asian(c) { size } else { size / 2.0 };
            glyphs.push(Glyph { text: c.into(), x: at, y, width, size, bold: false, monospace: false });
            at += width;
        }
        glyphs
    }

    fn texts(glyphs: &[Glyph]) -> Vec<String> {
        lines(glyphs).into_iter().map(|l| l.text).collect()
    }

    #[test]
    fn gaps_are_spaces_and_wide_gaps_part() {
        assert_eq!(texts(&set("two words", 10.0, 20.0, 10.0)), ["two words"]);
        let mut row = set("left", 10.0, 20.0, 10.0);
        row.extend(set("right", 100.0, 20.0, 10.0));
        let found = lines(&row);
        assert_eq!((found[0].beside, found[1].beside, found[1].text.as_str()), (false, true, "right"));
        let mut two = set("one", 10.0, 20.0, 10.0);
        two.extend(set("two", 10.0, 32.0, 10.0));
        assert_eq!(texts(&two), ["one", "two"]);
    }

    #[test]
    fn chinese_has_no_spaces_however_it_is_justified() {
        let mut glyphs = Vec::new();
        for (i, c) in "求最短路".chars().enumerate() {
            glyphs.extend(set(&c.to_string(), 10.0 + 13.0 * i as f32, 20.0, 10.0));
        }
        assert_eq!(texts(&glyphs), ["求最短路"]);
        assert_eq!(without_spacing("机 器 学 习 入 门 AI 课"), "机器学习入门 AI 课");
        assert_eq!(without_spacing("第一章 绪论"), "第一章 绪论");
        // A quarter between Chinese and Latin letters.
        let mut mixed = set("用", 10.0, 20.0, 10.0);
        mixed.extend(set("BFS", 22.5, 20.0, 10.0));
        assert_eq!(texts(&mixed), ["用BFS"]);
    }

    #[test]
    fn exponents_stay_on_their_line_and_doubled_letters_count_once() {
        let mut glyphs = set("x", 10.0, 20.0, 10.0);
        glyphs.extend(set("2", 15.0, 16.0, 7.0));
        glyphs.extend(set("+1", 19.0, 20.0, 10.0));
        let found = lines(&glyphs);
        assert_eq!((found.len(), found[0].text.as_str(), found[0].y), (1, "x2+1", 20.0));
        let mut twice = Vec::new();
        for glyph in set("bold", 10.0, 20.0, 10.0) {
            let mut second = glyph.clone();
            second.x += 0.3;
            twice.extend([glyph, second]);
        }
        assert_eq!(texts(&twice), ["bold"]);
    }
}
