//! Tables as text (CSV, TSV) to Markdown: rows under their header.

use super::{Markdown, escape};
use kb_core::{Error, ErrorKind, Result};

/// Characters that one table of rows has at most, its header included: every passage repeats the header,
/// so that a row is never read without the names of its columns.
const MAX_TABLE_CHARS: usize = 700;

/// Converts a table whose first row is its header. The separator is a tab for `tsv`, else the one of
/// `,`, `;`, tab and `|` that the first rows agree on.
///
/// # Errors
/// [`ErrorKind::Convert`] if no row can be read.
pub fn to_markdown(text: &str, suffix: &str) -> Result<Markdown> {
    let delimiter = if suffix == "tsv" || suffix == "tab" { b'\t' } else { delimiter(text) };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| Error::new(ErrorKind::Convert, format!("it is no table: {e}")))?;
        let row: Vec<String> = record.iter().map(|c| c.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        if row.iter().any(|c| !c.is_empty()) {
            rows.push(row);
        }
    }
    let Some((header, body)) = rows.split_first() else {
        return Err(Error::new(ErrorKind::Convert, "it has no rows"));
    };
    let mut blocks: Vec<String> = Vec::new();
    let width = |row: &[String]| row.iter().map(|c| c.chars().count() + 3).sum::<usize>() + 2;
    // The line under the header takes six characters a column.
    let header_width = width(header) + 6 * header.len() + 2;
    let mut group: Vec<Vec<String>> = Vec::new();
    let mut chars = header_width;
    for row in body {
        let own = width(row);
        if header_width + own > MAX_TABLE_CHARS {
            flush(header, &mut group, &mut blocks);
            blocks.push(record(header, row));
            chars = header_width;
            continue;
        }
        if chars + own > MAX_TABLE_CHARS && !group.is_empty() {
            flush(header, &mut group, &mut blocks);
            chars = header_width;
        }
        chars += own;
        group.push(row.iter().map(|c| escape::text(c)).collect());
    }
    flush(header, &mut group, &mut blocks);
    if body.is_empty() {
        blocks.push(escape::table(&[header.iter().map(|c| escape::text(c)).collect()]));
    }
    Ok(Markdown { text: blocks.join("\n\n") + "\n", ..Markdown::default() })
}

fn flush(header: &[String], group: &mut Vec<Vec<String>>, blocks: &mut Vec<String>) {
    if group.is_empty() {
        return;
    }
    let mut rows = vec![header.iter().map(|c| escape::text(c)).collect::<Vec<_>>()];
    rows.append(group);
    blocks.push(escape::table(&rows));
}

/// A row too long for a table: a list of its columns.
fn record(header: &[String], row: &[String]) -> String {
    let name = |i: usize| header.get(i).map(String::as_str).unwrap_or_default();
    let lines = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(i, cell)| {
        let cell = escape::text(cell);
        if name(i).is_empty() { format!("- {cell}") } else { format!("- {}: {cell}", escape::text(name(i))) }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The separator that gives most columns, and the same number in every one of the first rows.
fn delimiter(text: &str) -> u8 {
    let sample: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(20).collect();
    let columns = |delimiter: u8| {
        let sample = sample.join("\n");
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(sample.as_bytes());
        let counts: Vec<usize> = reader.records().filter_map(|r| r.ok()).map(|r| r.len()).collect();
        let first = counts.first().copied().unwrap_or(1);
        let agreeing = counts.iter().filter(|c| **c == first).count();
        // A row that disagrees counts against a separator; many columns only break ties.
        if first < 2 { 0 } else { agreeing * 1000 / counts.len().max(1) + first.min(100) }
    };
    // The comma comes last, because the last of equals is taken.
    *[b'|', b'\t', b';', b','].iter().max_by_key(|d| columns(**d)).unwrap_or(&b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_under_their_header() {
        let m = to_markdown("name,说明\n\"a, b\",\"two\nlines\"\nc|d,*\n", "csv").expect("converts");
        assert_eq!(m.text, "| name | 说明 |\n| --- | --- |\n| a, b | two lines |\n| c\\|d | \\* |\n");
        let m = to_markdown("a\tb\n1,5\t2\n", "tsv").expect("converts");
        assert_eq!(m.text, "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n");
    }

    #[test]
    fn the_separator_is_found() {
        assert_eq!(delimiter("a;b;c\n1,5;2;3\n2,5;3;4\n"), b';');
        assert_eq!(delimiter("a,b\n\"x;y\",2\n"), b',');
        assert_eq!(delimiter("a|b|c\n1|2|3"), b'|');
        assert_eq!(delimiter("one column"), b',');
    }

    #[test]
    fn a_long_table_repeats_its_header_and_a_long_row_is_a_list() {
        let rows: String = (0..100).map(|i| format!("key{i},value number {i}\n")).collect();
        let m = to_markdown(&format!("key,value\n{rows}"), "csv").expect("converts");
        let tables: Vec<&str> = m.text.trim().split("\n\n").collect();
        assert!(tables.len() > 3 && tables.iter().all(|t| t.starts_with("| key | value |\n")), "{}", tables.len());
        assert!(tables.iter().all(|t| t.chars().count() <= MAX_TABLE_CHARS));
        assert_eq!(m.text.matches("value number").count(), 100);
        let m = to_markdown(&format!("k,v\nx,{}\n", "长".repeat(800)), "csv").expect("converts");
        assert!(m.text.starts_with("- k: x\n- v: 长长"), "{:.30}", m.text);
    }

    #[test]
    fn an_empty_file_is_an_error() {
        assert!(to_markdown("\n\n", "csv").is_err());
    }
}
