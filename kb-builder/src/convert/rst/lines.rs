//! Lines and their indentation.

/// Tabs go to the next multiple of 8 columns (docutils' default); trailing white space goes.
pub fn expand_tabs(line: &str) -> String {
    let line = line.trim_end();
    if !line.contains(['\t', '\u{b}', '\u{c}']) {
        return line.to_string();
    }
    let mut out = String::with_capacity(line.len() + 8);
    let mut column = 0;
    for c in line.chars() {
        match c {
            '\t' => {
                let n = 8 - column % 8;
                out.extend(std::iter::repeat_n(' ', n));
                column += n;
            }
            '\u{b}' | '\u{c}' => {
                out.push(' ');
                column += 1;
            }
            c => {
                out.push(c);
                column += width(c);
            }
        }
    }
    out
}

/// Columns that a character takes: East Asian wide ones take two.
pub fn width(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Columns of a whole text.
pub fn text_width(text: &str) -> usize {
    text.chars().map(width).sum()
}

pub fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Leading spaces.
pub fn indent(line: &str) -> usize {
    line.bytes().take_while(|b| *b == b' ').count()
}

/// Index after the last of the lines from `start` on that are blank or indented by at least `min`,
/// trailing blank lines not counted.
pub fn indented_end(lines: &[&str], start: usize, min: usize) -> usize {
    let mut end = start;
    for (i, line) in lines.iter().enumerate().skip(start) {
        if is_blank(line) {
            continue;
        }
        if indent(line) < min {
            break;
        }
        end = i + 1;
    }
    end
}

/// The lines without the indentation that all of them share, without blank ones at both ends.
pub fn dedent<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let common = lines.iter().filter(|l| !is_blank(l)).map(|l| indent(l)).min().unwrap_or(0);
    let cut: Vec<&str> = lines.iter().map(|l| l.get(common..).unwrap_or("")).collect();
    trim_blank(&cut).to_vec()
}

/// The lines without blank ones at both ends.
pub fn trim_blank<'a, 'b>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let Some(first) = lines.iter().position(|l| !is_blank(l)) else { return &[] };
    let last = lines.iter().rposition(|l| !is_blank(l)).unwrap_or(first);
    &lines[first..=last]
}
