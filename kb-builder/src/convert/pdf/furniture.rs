//! Running heads, running feet and page numbers: what is printed on every page and says nothing there.

use super::line::Line;

/// How many lines from the top and from the bottom of a page can be furniture.
const REACH: usize = 2;
/// Lines on other pages count as the same if they are this near, in points.
const SAME_PLACE: f32 = 3.0;
/// Running heads are not set in larger letters than the text. Slides have titles that are.
const MAX_SIZE: f32 = 1.1;

/// Removes the furniture; `body` is the size of the text's letters. Returns how many lines went.
pub fn remove(pages: &mut [Vec<Line>], body: f32) -> usize {
    let edges: Vec<Vec<Edge>> = pages.iter().map(|lines| edges(lines)).collect();
    let mut gone: Vec<Vec<usize>> = vec![Vec::new(); pages.len()];
    for (page, own) in edges.iter().enumerate() {
        for edge in own.iter().filter(|e| e.size <= body * MAX_SIZE) {
            // Left and right pages have different heads, so that the next but one counts as well.
            let near = [page.wrapping_sub(2), page.wrapping_sub(1), page + 1, page + 2];
            let repeated = near.iter().filter_map(|p| edges.get(*p)).flatten().any(|e| e.is_same(edge));
            if (repeated && pages.len() > 2) || (edge.is_number && is_page_number(&edge.text, page + 1)) {
                gone[page].push(edge.line);
            }
        }
    }
    let mut count = 0;
    for (lines, gone) in pages.iter_mut().zip(&gone) {
        count += gone.len();
        let mut at = 0;
        lines.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
    count
}

struct Edge {
    /// Index of the line on its page.
    line: usize,
    /// Its text, every number as `#`.
    pattern: String,
    text: String,
    y: f32,
    size: f32,
    /// Whether it is hardly more than a number.
    is_number: bool,
}

impl Edge {
    fn is_same(&self, other: &Edge) -> bool {
        self.pattern == other.pattern && (self.y - other.y).abs() < SAME_PLACE
    }
}

/// The lines nearest to the top and to the bottom of a page.
fn edges(lines: &[Line]) -> Vec<Edge> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|a, b| lines[*a].y.total_cmp(&lines[*b].y));
    // Lines at one height are one row of the page.
    let mut rows: Vec<f32> = order.iter().map(|i| lines[*i].y).collect();
    rows.dedup_by(|a, b| (*a - *b).abs() < SAME_PLACE);
    // A page of a few lines has text at its edges.
    let reach = REACH.min(rows.len() / 2);
    let size = lines.iter().map(|l| l.size).fold(0.0, f32::max);
    let near = |rows: Vec<f32>| {
        let mut wanted: Vec<f32> = Vec::new();
        for y in rows.into_iter().take(reach) {
            // The second line of a head stands close to the first; text does not.
            if wanted.last().is_none_or(|last| (last - y).abs() < 2.0 * size) {
                wanted.push(y);
            }
        }
        wanted
    };
    let wanted = [near(rows.clone()), near(rows.iter().rev().copied().collect())].concat();
    let at_edge = |y: f32| wanted.iter().any(|w| (w - y).abs() < SAME_PLACE);
    order
        .into_iter()
        .filter(|i| at_edge(lines[*i].y))
        .map(|i| {
            let pattern = pattern(&lines[i].text);
            Edge {
                line: i,
                is_number: pattern.contains('#') && pattern.chars().filter(|c| c.is_alphabetic()).count() < 6,
                pattern,
                text: lines[i].text.clone(),
                y: lines[i].y,
                size: lines[i].size,
            }
        })
        .collect()
}

fn pattern(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    // Small Roman numerals count the pages of a preface.
    if !out.is_empty() && out.len() < 7 && out.chars().all(|c| matches!(c, 'i' | 'v' | 'x' | 'l')) {
        "#".into()
    } else {
        out
    }
}

/// Whether a text at the edge of a page says just its number: `3`, `- 3 -`, `第 3 页`, `3 / 12`.
fn is_page_number(text: &str, page: usize) -> bool {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
    let own = numbers.next().is_some_and(|n| n.parse() == Ok(page));
    let words: String = text.chars().filter(|c| c.is_alphabetic()).collect();
    own && numbers.count() < 2
        && matches!(words.to_lowercase().as_str(), "" | "page" | "pageof" | "of" | "p" | "第页" | "第页共页" | "页")
}

#[cfg(test)]
mod tests {
    use super::super::line::{lines, tests::set};
    use super::*;

    fn page(rows: &[(&str, f32, f32)]) -> Vec<Line> {
        rows.iter().flat_map(|(text, y, size)| lines(&set(text, 50.0, *y, *size))).collect()
    }

    fn left(mut pages: Vec<Vec<Line>>) -> Vec<String> {
        remove(&mut pages, 10.0);
        pages.iter().map(|p| p.iter().map(|l| l.text.as_str()).collect::<Vec<_>>().join("|")).collect()
    }

    #[test]
    fn heads_and_numbers_go_and_titles_of_slides_stay() {
        let pages = (1..=4)
            .map(|n| {
                page(&[
                    ("算法讲义 第一章", 30.0, 9.0),
                    (&format!("text {}", ["a", "b", "c", "d"][n - 1]), 100.0, 10.0),
                    ("more", 120.0, 10.0),
                    (&format!("and {n} more"), 140.0 + n as f32 * 5.0, 10.0),
                    (&n.to_string(), 800.0, 9.0),
                ])
            })
            .collect();
        let wanted =
            ["text a|more|and 1 more", "text b|more|and 2 more", "text c|more|and 3 more", "text d|more|and 4 more"];
        assert_eq!(left(pages), wanted);
        let slides = (1..=3)
            .map(|_| page(&[("Example", 30.0, 20.0), ("x", 100.0, 10.0), ("y", 120.0, 10.0), ("z", 140.0, 10.0)]))
            .collect();
        assert!(left(slides).iter().all(|p| p.starts_with("Example")));
    }

    #[test]
    fn a_short_document_loses_only_its_page_numbers() {
        let pages = vec![
            page(&[("one", 50.0, 10.0), ("two", 70.0, 10.0), ("- 1 -", 800.0, 10.0)]),
            page(&[("one", 50.0, 10.0), ("2020", 70.0, 10.0), ("第 2 页 共 2 页", 800.0, 10.0)]),
        ];
        assert_eq!(left(pages), ["one|two", "one|2020"]);
    }
}
