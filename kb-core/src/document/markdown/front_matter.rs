//! Front matter: YAML between `---` lines, TOML between `+++` lines, or the header of plain `key: value` lines
//! that MkDocs takes from MultiMarkdown, at the very start of a page.

use super::super::MetaValue;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;

/// Longest front matter that is read, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Deepest nesting that is read.
const MAX_DEPTH: usize = 32;

/// Metadata by key.
pub type Metadata = BTreeMap<String, MetaValue>;

/// Which notation the author chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    Yaml,
    Toml,
}

/// Splits front matter off. Returns its values, the text after it, and what was wrong with it, if
/// anything was: then no values are returned, but the text is still free of it.
///
/// Text that only begins with a thematic break is returned whole.
pub fn split(text: &str) -> (Metadata, &str, Option<String>) {
    let Some((notation, inner, rest)) = find(text) else {
        let (metadata, rest) = split_header(text);
        return (metadata, rest, None);
    };
    if inner.len() > MAX_BYTES {
        return (Metadata::new(), rest, Some(format!("front matter is longer than {MAX_BYTES} bytes")));
    }
    let parsed = match notation {
        Notation::Yaml => parse_yaml(inner),
        Notation::Toml => parse_toml(inner),
    };
    match parsed {
        Ok(metadata) => (metadata, rest, None),
        Err(problem) => (Metadata::new(), rest, Some(format!("front matter: {problem}"))),
    }
}

fn find(text: &str) -> Option<(Notation, &str, &str)> {
    let (first, _) = text.split_once('\n')?;
    let (notation, fence) = match first.trim_end() {
        "---" => (Notation::Yaml, "---"),
        "+++" => (Notation::Toml, "+++"),
        _ => return None,
    };
    let start = first.len() + 1;
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let end = line.trim_end();
        if end == fence || notation == Notation::Yaml && end == "..." {
            return Some((notation, &text[start..at], &text[at + line.len()..]));
        }
        // A page that opens with a break is prose: front matter has a key on its first line.
        if at == start && notation == Notation::Yaml && end.is_empty() {
            return None;
        }
        at += line.len();
    }
    None
}

/// Keys of a header without a fence. Only these, so that prose with a colon stays prose.
const HEADER_KEYS: [&str; 9] =
    ["author", "authors", "comments", "date", "description", "summary", "tags", "template", "title"];

/// Splits off a header of `key: value` lines up to the first blank line.
fn split_header(text: &str) -> (Metadata, &str) {
    let mut metadata = Metadata::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.trim().is_empty() {
            break;
        }
        match line.split_once(':') {
            Some((key, value)) if HEADER_KEYS.contains(&key) && value.starts_with([' ', '\t']) => {
                metadata.insert(key.to_owned(), MetaValue::Text(value.trim().to_owned()));
            }
            _ => return (Metadata::new(), text),
        }
    }
    if metadata.is_empty() { (metadata, text) } else { (metadata, &text[at..]) }
}

fn parse_toml(text: &str) -> Result<Metadata, String> {
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.message().to_owned())?;
    Ok(table.into_iter().map(|(k, v)| (k, from_toml(v))).collect())
}

// The toml crate bounds nesting itself.
fn from_toml(value: toml::Value) -> MetaValue {
    match value {
        toml::Value::String(s) => MetaValue::Text(s),
        toml::Value::Integer(i) => MetaValue::Int(i),
        toml::Value::Float(f) => MetaValue::Float(f),
        toml::Value::Boolean(b) => MetaValue::Bool(b),
        toml::Value::Datetime(d) => MetaValue::Date(d.to_string()),
        toml::Value::Array(items) => MetaValue::List(items.into_iter().map(from_toml).collect()),
        toml::Value::Table(table) => MetaValue::Map(table.into_iter().map(|(k, v)| (k, from_toml(v))).collect()),
    }
}

/// A list or map that is being read.
enum Open {
    List(Vec<MetaValue>),
    /// The entries, and the key whose value comes next.
    Map(Metadata, Option<String>),
}

/// Reads one YAML document by events, without recursion. Aliases are refused: a few bytes of them can
/// stand for gigabytes.
fn parse_yaml(text: &str) -> Result<Metadata, String> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|e| e.info().to_owned())?;
        let value = match event {
            Event::Alias(_) => return Err("aliases are not supported".to_owned()),
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                return Err(format!("nested deeper than {MAX_DEPTH}"));
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Metadata::new(), None));
                continue;
            }
            Event::Scalar(text, style, ..) => match open.last_mut() {
                Some(Open::Map(_, key @ None)) => {
                    *key = Some(text.into_owned());
                    continue;
                }
                _ => from_scalar(&text, style),
            },
            Event::SequenceEnd => match open.pop() {
                Some(Open::List(items)) => Some(MetaValue::List(items)),
                _ => return Err("unbalanced list".to_owned()),
            },
            Event::MappingEnd => match open.pop() {
                Some(Open::Map(entries, _)) if open.is_empty() => return Ok(entries),
                Some(Open::Map(entries, _)) => Some(MetaValue::Map(entries)),
                _ => return Err("unbalanced map".to_owned()),
            },
            _ => continue,
        };
        match open.last_mut() {
            Some(Open::List(items)) => items.extend(value),
            Some(Open::Map(entries, key)) => match (key.take(), value) {
                (Some(key), Some(value)) => {
                    entries.insert(key, value);
                }
                (Some(_), None) => {}
                (None, _) => return Err("a key must be plain text".to_owned()),
            },
            None if value.is_none() => return Ok(Metadata::new()),
            None => return Err("not a list of keys and values".to_owned()),
        }
    }
    Ok(Metadata::new())
}

/// Types a scalar by YAML 1.2's core schema, and dates as YAML 1.1 had them. `None` for null.
fn from_scalar(text: &str, style: ScalarStyle) -> Option<MetaValue> {
    if style != ScalarStyle::Plain {
        return Some(MetaValue::Text(text.to_owned()));
    }
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => return None,
        "true" | "True" | "TRUE" => MetaValue::Bool(true),
        "false" | "False" | "FALSE" => MetaValue::Bool(false),
        _ if is_date(text) => MetaValue::Date(text.to_owned()),
        _ => {
            let starts_like_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
            match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(i), _) if starts_like_number => MetaValue::Int(i),
                (_, Ok(f)) if starts_like_number && f.is_finite() => MetaValue::Float(f),
                _ => MetaValue::Text(text.to_owned()),
            }
        }
    })
}

/// `2024-05-01`, or a date-time that begins so: `2024-05-01T08:00:00Z`, `2024-05-01 08:00:00 +08:00`.
fn is_date(text: &str) -> bool {
    let b = text.as_bytes();
    let day = b.len() >= 10
        && b[..10].iter().enumerate().all(|(i, c)| if matches!(i, 4 | 7) { *c == b'-' } else { c.is_ascii_digit() });
    let two = |at: usize| text.get(at..at + 2).and_then(|s| s.parse::<u8>().ok()).unwrap_or(0);
    day && (1..=12).contains(&two(5))
        && (1..=31).contains(&two(8))
        && (b.len() == 10
            || matches!(b[10], b'T' | b't' | b' ')
                && b.len() >= 16
                && b[11..].iter().all(|c| c.is_ascii_digit() || matches!(c, b':' | b'.' | b'+' | b'-' | b'Z' | b' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(s: &str) -> MetaValue {
        MetaValue::Text(s.to_owned())
    }

    #[test]
    fn yaml_values_keep_their_types() {
        let page = "---\ntitle: 图论\ntags: [graph, 最短路]\nauthors:\n  - Ann\n  - 'Bo: 2'\ndate: 2024-05-01\nquoted: \"2024-05-01\"\n\
                    draft: false\nweight: 10\nratio: 0.5\nversion: '1.10'\nempty:\nnested:\n  a: {b: 1}\n---\n# H\n";
        let (m, rest, problem) = split(page);
        assert_eq!(problem, None);
        assert_eq!(rest, "# H\n");
        assert_eq!(m["title"], text("图论"));
        assert_eq!(m["tags"], MetaValue::List(vec![text("graph"), text("最短路")]));
        assert_eq!(m["authors"], MetaValue::List(vec![text("Ann"), text("Bo: 2")]));
        assert_eq!(m["date"], MetaValue::Date("2024-05-01".into()));
        assert_eq!(m["quoted"], text("2024-05-01"));
        assert_eq!(m["draft"], MetaValue::Bool(false));
        assert_eq!(m["weight"], MetaValue::Int(10));
        assert_eq!(m["ratio"], MetaValue::Float(0.5));
        assert_eq!(m["version"], text("1.10"));
        assert!(!m.contains_key("empty"));
        let b = Metadata::from([("b".to_owned(), MetaValue::Int(1))]);
        assert_eq!(m["nested"], MetaValue::Map(Metadata::from([("a".to_owned(), MetaValue::Map(b))])));
    }

    #[test]
    fn toml_values_keep_their_types() {
        let (m, rest, problem) =
            split("+++\ntitle = \"T\"\ndate = 2024-05-01T08:00:00Z\ntags = [\"a\"]\n[x]\ny = 2\n+++\nbody");
        assert_eq!((rest, problem), ("body", None));
        assert_eq!(m["title"], text("T"));
        assert_eq!(m["date"], MetaValue::Date("2024-05-01T08:00:00Z".into()));
        assert_eq!(m["tags"], MetaValue::List(vec![text("a")]));
        assert_eq!(m["x"], MetaValue::Map(Metadata::from([("y".to_owned(), MetaValue::Int(2))])));
    }

    #[test]
    fn a_header_without_a_fence_is_read() {
        let (m, rest, problem) = split("author: Ir1d, H\ntags: a, b\n\n## 定义\n");
        assert_eq!((rest, problem), ("## 定义\n", None));
        assert_eq!(m, Metadata::from([("author".into(), text("Ir1d, H")), ("tags".into(), text("a, b"))]));
        for page in ["note: this is prose\n\nx", "title: x\nand prose\n\ny", "date:x\n"] {
            assert_eq!(split(page), (Metadata::new(), page, None));
        }
    }

    #[test]
    fn what_is_not_front_matter_stays() {
        for page in ["---\n\nprose\n\n---\nmore", "---\ntitle: never closed\n", "# H\n---\na: 1\n---\n", "", "---"] {
            assert_eq!(split(page), (Metadata::new(), page, None), "{page:?}");
        }
    }

    #[test]
    fn bad_front_matter_is_told_and_cut_off() {
        let deep = format!("---\na: {}\n---\nbody", "[".repeat(5_000));
        let bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\n---\nbody".to_owned();
        let long = format!("---\na: {}\n---\nbody", "x".repeat(MAX_BYTES));
        for page in [
            deep,
            bomb,
            long,
            "---\na: 'open\n---\nbody".into(),
            "---\n- only\n- a list\n---\nbody".into(),
            "+++\na = \n+++\nbody".into(),
        ] {
            let (m, rest, problem) = split(&page);
            assert!(m.is_empty() && problem.is_some(), "{:.60}", page);
            assert_eq!(rest, "body");
        }
    }

    #[test]
    fn dates() {
        for (s, is) in [
            ("2024-05-01", true),
            ("2024-05-01 08:00:00 +08:00", true),
            ("2024-13-01", false),
            ("2024-05-011", false),
            ("20240501", false),
        ] {
            assert_eq!(is_date(s), is, "{s}");
        }
    }
}
