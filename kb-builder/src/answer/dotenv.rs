//! `.env`: keys that an author keeps beside `kb.toml` and out of version control.

use std::path::Path;

/// The value of `name` in the file, if there are both. A file that cannot be read is no file.
pub fn lookup(path: &Path, name: &str) -> Option<String> {
    value(&std::fs::read_to_string(path).ok()?, name)
}

/// `NAME=value`, `export NAME="value"`; `#` begins a comment; the last one counts.
fn value(text: &str, name: &str) -> Option<String> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|l| !l.starts_with('#'));
    lines
        .filter_map(|line| {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (key, value) = line.split_once('=')?;
            (key.trim() == name).then(|| unquoted(value.trim()).to_owned())
        })
        .rfind(|v| !v.is_empty())
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some((inside, _)) = value.strip_prefix(quote).and_then(|v| v.split_once(quote)) {
            return inside;
        }
    }
    value.split_once(" #").map_or(value, |(v, _)| v.trim_end())
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn common_forms_are_read() {
        let text = "\u{feff}# keys\nA=1\nexport B = \"two # words\"  # why\nC='three'\nD=four # note\nA=5\nE=\n#F=6\nG";
        let read = |name| value(text, name);
        assert_eq!(read("A").as_deref(), Some("5"));
        assert_eq!(read("B").as_deref(), Some("two # words"));
        assert_eq!(read("C").as_deref(), Some("three"));
        assert_eq!(read("D").as_deref(), Some("four"));
        assert_eq!([read("E"), read("F"), read("G"), read("a")], [None, None, None, None]);
    }
}
