//! Tables of contents: lines of dots that lead to a page number. The headings themselves say the same, in
//! their place.

use super::line::Line;

/// Fewest dots that lead somewhere.
const MIN_DOTS: usize = 5;

/// Removes the lines of tables of contents; returns how many went.
pub fn remove(pages: &mut [Vec<Line>]) -> usize {
    let mut count = 0;
    for lines in pages {
        let mut gone = vec![false; lines.len()];
        for at in 0..lines.len() {
            if !has_leader(&lines[at].text) {
                continue;
            }
            // The number may stand apart from the dots.
            let next = lines.get(at + 1).filter(|l| l.beside && is_number(&l.text));
            if ends_in_number(&lines[at].text) || next.is_some() {
                gone[at] = true;
                if next.is_some() {
                    gone[at + 1] = true;
                }
                // The title may stand before the dots.
                if lines[at].beside && at > 0 && !lines[at].text.contains(char::is_alphabetic) {
                    gone[at - 1] = true;
                }
            }
        }
        count += gone.iter().filter(|g| **g).count();
        let mut gone = gone.into_iter();
        lines.retain(|_| !gone.next().unwrap_or(false));
    }
    count
}

/// Whether there are dots in a row, with or without spaces between them.
fn has_leader(text: &str) -> bool {
    let mut dots = 0;
    for c in text.chars() {
        match c {
            '.' | '·' | '․' => dots += 1,
            '…' | '⋯' => dots += 3,
            ' ' => {}
            _ => dots = 0,
        }
        if dots >= MIN_DOTS {
            return true;
        }
    }
    false
}

fn ends_in_number(text: &str) -> bool {
    text.rsplit(['.', '·', '․', '…', '⋯']).next().is_some_and(is_number)
}

/// A page number, in Arabic or small Roman digits.
fn is_number(text: &str) -> bool {
    let text = text.trim().trim_matches(['(', ')', '（', '）']);
    let roman = |c: char| matches!(c, 'i' | 'v' | 'x' | 'l' | 'c');
    !text.is_empty() && text.len() < 6 && (text.bytes().all(|b| b.is_ascii_digit()) || text.chars().all(roman))
}

#[cfg(test)]
mod tests {
    use super::super::line::{lines, tests::set};
    use super::*;

    #[test]
    fn lines_that_lead_to_a_page_go() {
        let mut glyphs = Vec::new();
        for (i, text) in [
            "1 Introduction . . . . . . . 3",
            "第一章 绪论......12",
            "Preface ........ iv",
            "Name: ..........",
            "and so on... 5 times",
            "Text.",
        ]
        .iter()
        .enumerate()
        {
            glyphs.extend(set(text, 50.0, 100.0 + 14.0 * i as f32, 10.0));
        }
        // The number after a wide gap.
        glyphs.extend(set("2 Graphs . . . . .", 50.0, 300.0, 10.0));
        glyphs.extend(set("9", 400.0, 300.0, 10.0));
        let mut pages = vec![lines(&glyphs)];
        assert_eq!(remove(&mut pages), 5);
        let left: Vec<&str> = pages[0].iter().map(|l| l.text.as_str()).collect();
        assert_eq!(left, ["Name: ..........", "and so on... 5 times", "Text."]);
    }
}
