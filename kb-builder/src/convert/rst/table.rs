//! Grid tables, simple tables, `list-table` and `csv-table`: rows of cells. Spanned cells stand in
//! their first column.

use super::lines::{is_blank, width};

/// Rows of cells, reStructuredText still; the first row is the header.
pub type Rows = Vec<Vec<String>>;

/// A line by display columns: a wide character is followed by a filler, so that column numbers are
/// indices.
fn columns(line: &str) -> Vec<char> {
    /// Stands in the second column of a wide character.
    const FILLER: char = '\0';
    let mut out = Vec::with_capacity(line.len());
    for c in line.chars() {
        out.push(c);
        out.extend(std::iter::repeat_n(FILLER, width(c).saturating_sub(1)));
    }
    out
}

fn slice(line: &[char], from: usize, to: usize) -> String {
    let from = from.min(line.len());
    line[from..to.clamp(from, line.len())].iter().filter(|c| **c != '\0').collect::<String>().trim().to_string()
}

/// The grid table that begins at line `i`, and the index of the line after it.
pub fn grid(lines: &[&str], i: usize) -> Option<(Rows, usize)> {
    let is_border = |l: &str| {
        l.starts_with('+') && l.len() > 2 && l.ends_with('+') && l.chars().all(|c| matches!(c, '+' | '-' | '='))
    };
    if !is_border(lines.get(i)?) {
        return None;
    }
    let end = (i..lines.len()).find(|j| !lines[*j].starts_with(['+', '|'])).unwrap_or(lines.len());
    let body: Vec<Vec<char>> = lines[i..end].iter().map(|l| columns(l)).collect();
    let mut edges: Vec<usize> = Vec::new();
    for line in body.iter().zip(&lines[i..end]).filter(|(_, l)| is_border(l)).map(|(c, _)| c) {
        edges.extend(line.iter().enumerate().filter(|(_, c)| **c == '+').map(|(at, _)| at));
    }
    edges.sort_unstable();
    edges.dedup();
    let mut rows: Rows = Vec::new();
    let mut open: Vec<&Vec<char>> = Vec::new();
    let mut has_header = false;
    for (line, text) in body.iter().zip(&lines[i..end]) {
        if !is_border(text) {
            open.push(line);
            continue;
        }
        if !open.is_empty() {
            rows.push(grid_row(&open, &edges));
            open.clear();
        }
        has_header |= text.contains('=') && rows.len() == 1;
    }
    if rows.is_empty() {
        return None;
    }
    Some((with_header(rows, has_header), end))
}

/// One row of a grid. Where a line has no edge between two columns they are one cell there.
fn grid_row(lines: &[&Vec<char>], edges: &[usize]) -> Vec<String> {
    let mut cells = Vec::new();
    let mut start = 0;
    while start + 1 < edges.len() {
        let mut next = start + 1;
        let is_edge = |e: usize| lines.iter().all(|l| matches!(l.get(e), Some('|' | '+') | None));
        while next + 1 < edges.len() && !is_edge(edges[next]) {
            next += 1;
        }
        let text = lines.iter().map(|l| slice(l, edges[start] + 1, edges[next]));
        // A border inside the row belongs to a cell that spans rows beside it.
        let text: Vec<String> =
            text.filter(|t| !t.is_empty() && !t.chars().all(|c| matches!(c, '-' | '+' | '='))).collect();
        cells.push(text.join("\n"));
        cells.extend(std::iter::repeat_n(String::new(), next - start - 1));
        start = next;
    }
    cells
}

/// The simple table that begins at line `i`, and the index of the line after it.
pub fn simple(lines: &[&str], i: usize) -> Option<(Rows, usize)> {
    let is_border = |l: &str| l.starts_with('=') && l.contains(' ') && l.chars().all(|c| matches!(c, '=' | ' '));
    let border = *lines.get(i)?;
    if !is_border(border) {
        return None;
    }
    let starts: Vec<usize> = border
        .char_indices()
        .filter(|(at, c)| *c == '=' && (*at == 0 || border.as_bytes()[at - 1] == b' '))
        .map(|(at, _)| at)
        .collect();
    // The table ends at a border before a blank line; a border before text ends the header.
    let closes = |j: usize| is_border(lines[j]) && lines.get(j + 1).is_none_or(|l| is_blank(l));
    let last = (i + 1..lines.len()).find(|j| closes(*j))?;
    let mut rows: Rows = Vec::new();
    let mut has_header = false;
    let mut blank_before = false;
    for line in &lines[i + 1..last] {
        if is_blank(line) {
            blank_before = true;
            continue;
        }
        if is_border(line) {
            has_header = rows.len() == 1;
            // A header of several lines is one row of the Markdown table.
            if rows.len() > 1 {
                rows = vec![merge(rows)];
                has_header = true;
            }
            continue;
        }
        if line.chars().all(|c| matches!(c, '-' | ' ')) {
            // It underlines columns that span.
            continue;
        }
        let line = columns(line);
        let cells: Vec<String> = (0..starts.len())
            .map(|c| slice(&line, starts[c], starts.get(c + 1).copied().unwrap_or(usize::MAX)))
            .collect();
        match rows.last_mut() {
            Some(row) if cells[0].is_empty() => {
                for (cell, more) in row.iter_mut().zip(&cells) {
                    if !more.is_empty() {
                        cell.push_str(if blank_before { "\n\n" } else { "\n" });
                        cell.push_str(more);
                    }
                }
            }
            _ => rows.push(cells),
        }
        blank_before = false;
    }
    if rows.is_empty() {
        return None;
    }
    Some((with_header(rows, has_header), last + 1))
}

/// Rows laid over one another: cell by cell, in one row.
fn merge(rows: Rows) -> Vec<String> {
    let mut rows = rows.into_iter();
    let mut merged = rows.next().unwrap_or_default();
    for row in rows {
        for (cell, more) in merged.iter_mut().zip(row) {
            if !more.is_empty() {
                cell.push('\n');
                cell.push_str(&more);
            }
        }
    }
    merged
}

/// Markdown tables have a header row: an empty one is put in where the source has none.
pub fn with_header(mut rows: Rows, has_header: bool) -> Rows {
    if !has_header {
        let width = rows.iter().map(Vec::len).max().unwrap_or(1);
        rows.insert(0, vec![String::new(); width]);
    }
    rows
}

/// Rows of comma-separated values (RFC 4180), quoted cells may hold line ends and `""`.
pub fn csv(text: &str, delimiter: char) -> Rows {
    let mut rows: Rows = Vec::new();
    let mut row: Vec<String> = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = true;
            }
            c if c == delimiter && !quoted => row.push(std::mem::take(&mut cell).trim().to_string()),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell).trim().to_string());
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell.trim().to_string());
        rows.push(row);
    }
    rows.retain(|r| r.iter().any(|c| !c.is_empty()));
    rows
}
