//! Conditions on documents.

use super::Filter;
use crate::chunk::ChunkKind;
use crate::document::{Document, MetaValue};
use crate::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::str::FromStr;

impl FromStr for Filter {
    type Err = Error;

    /// Reads `KEY=VALUE`, `KEY!=VALUE`, `KEY>=VALUE` or `KEY<=VALUE`.
    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().trim_end_matches(['!', '<', '>']).is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => {
                let what = format!("filter `{text}` is not KEY=VALUE, KEY!=VALUE, KEY>=VALUE or KEY<=VALUE");
                Err(Error::new(ErrorKind::InvalidInput, what))
            }
        }
    }
}

/// Whether a document is in one of the collections (any if there are none) and meets the filters:
/// one of those with the same key, all keys, and none of those that are turned round.
pub(super) fn matches(document: &Document, collections: &[String], filters: &[Filter]) -> bool {
    if !collections.is_empty() && !collections.contains(&document.collection) {
        return false;
    }
    filters.iter().all(|f| match f.key.strip_suffix('!') {
        Some(key) => !meets(document, key.trim_end(), &f.value),
        None => filters.iter().any(|same| same.key == f.key && meets(document, &same.key, &same.value)),
    })
}

/// Whether a filter is about passages and not about documents: the key `type`.
pub(super) fn is_about_passages(filter: &Filter) -> bool {
    filter.key.trim_end_matches('!').trim_end() == "type"
}

/// Whether filters on `type` admit a passage of this sort in `document`, whose front matter may have a `type` of its
/// own.
pub(super) fn admits_kind(kind: ChunkKind, document: &Document, filters: &[Filter]) -> bool {
    let is = |f: &&Filter| f.value.eq_ignore_ascii_case(kind.name()) || meets(document, "type", &f.value);
    let (not, one_of): (Vec<&Filter>, Vec<&Filter>) = filters.iter().partition(|f| f.key.ends_with('!'));
    !not.iter().any(is) && (one_of.is_empty() || one_of.iter().any(is))
}

fn meets(document: &Document, key: &str, value: &str) -> bool {
    if let Some(bounded) = key.strip_suffix(['<', '>']) {
        let is_most = key.ends_with('<');
        return field(&document.metadata, bounded.trim_end()).is_some_and(|m| is_within(m, value, is_most));
    }
    match key {
        "path" => document.path.starts_with(value),
        "lang" => document.lang.code() == value,
        "tag" => ["tags", "tag"].iter().any(|key| document.metadata.get(*key).is_some_and(|m| has_tag(m, value))),
        key => field(&document.metadata, key).is_some_and(|m| equals(m, value)),
    }
}

/// The value under `key`; dots lead into nested values: `author.name`.
fn field<'m>(metadata: &'m BTreeMap<String, MetaValue>, key: &str) -> Option<&'m MetaValue> {
    if let Some(value) = metadata.get(key) {
        return Some(value);
    }
    let (first, rest) = key.split_once('.')?;
    match metadata.get(first)? {
        MetaValue::Map(inner) => field(inner, rest),
        _ => None,
    }
}

/// Whether a value is `wanted`; a list is if one of its values is; a date is if it begins with it.
fn equals(value: &MetaValue, wanted: &str) -> bool {
    match value {
        MetaValue::Bool(b) => wanted == if *b { "true" } else { "false" },
        MetaValue::Int(i) => wanted.parse() == Ok(*i),
        MetaValue::Float(f) => number(wanted) == Some(*f),
        MetaValue::Text(t) => t == wanted,
        MetaValue::Date(d) => !wanted.is_empty() && d.starts_with(wanted),
        MetaValue::List(items) => items.iter().any(|i| equals(i, wanted)),
        MetaValue::Map(_) => false,
    }
}

/// Whether a date is `bound` or later, or earlier where `is_most`, all that begins with the bound included. ISO 8601
/// sorts as text.
fn is_within(value: &MetaValue, bound: &str, is_most: bool) -> bool {
    let MetaValue::Date(date) = value else { return false };
    !bound.is_empty() && (date.starts_with(bound) || (date.as_str() > bound) != is_most)
}

/// Tags may also be one text with commas, and may be written with `#`.
fn has_tag(value: &MetaValue, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches('#');
    match value {
        MetaValue::Text(t) => t.split(',').any(|tag| tag.trim().trim_start_matches('#') == wanted),
        MetaValue::List(items) => items.iter().any(|i| has_tag(i, wanted)),
        other => equals(other, wanted),
    }
}

/// A decimal number of at most 15 digits, without an exponent. Such a one is the quotient of two numbers that f64 holds
/// exactly, so that it is rounded once, as the standard library would; what that needs for all others is a tenth of the
/// browser's first module, and nobody filters by them.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = || whole.bytes().chain(fraction.bytes());
    if all().next().is_none() || !all().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let value = all().try_fold(0_u64, |sum, c| sum.checked_mul(10)?.checked_add(u64::from(c - b'0')))?;
    if value >= 1_000_000_000_000_000 || fraction.len() > 22 {
        return None;
    }
    let scale = (0..fraction.len()).fold(1.0_f64, |power, _| power * 10.0);
    let value = value as f64 / scale;
    Some(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Lang;

    fn document() -> Document {
        let text = |s: &str| MetaValue::Text(s.to_owned());
        let author = BTreeMap::from([("name".to_owned(), text("Ann"))]);
        let metadata = [
            ("tags", MetaValue::List(vec![text("图论"), text("#dp")])),
            ("tag", text("a, b")),
            ("draft", MetaValue::Bool(false)),
            ("week", MetaValue::Int(3)),
            ("ratio", MetaValue::Float(0.5)),
            ("date", MetaValue::Date("2024-05-01".into())),
            ("author", MetaValue::Map(author)),
        ];
        Document {
            path: "notes/graph.md".into(),
            collection: "notes".into(),
            title: String::new(),
            lang: Lang::Zh,
            url: None,
            text: String::new(),
            sections: vec![],
            metadata: metadata.map(|(k, v)| (k.to_owned(), v)).into(),
        }
    }

    fn check(filters: &[&str]) -> bool {
        let filters: Vec<Filter> = filters.iter().map(|f| f.parse().expect("a filter")).collect();
        matches(&document(), &[], &filters)
    }

    #[test]
    fn each_kind_of_value_can_be_asked_for() {
        let held = [
            "path=notes/",
            "lang=zh",
            "tag=图论",
            "tag=#dp",
            "tag=dp",
            "tag=b",
            "draft=false",
            "week=3",
            "ratio=0.50",
            "date=2024-05",
            "author.name=Ann",
        ];
        for filter in held {
            assert!(check(&[filter]), "{filter}");
        }
        for filter in [
            "path=graph",
            "lang=en",
            "tag=d",
            "draft=true",
            "week=4",
            "date=",
            "author=Ann",
            "none=x",
            "author.name=Bo",
        ] {
            assert!(!check(&[filter]), "{filter}");
        }
    }

    #[test]
    fn same_key_is_or_and_other_keys_are_and() {
        assert!(check(&["lang=en", "lang=zh"]));
        assert!(check(&["lang=en", "lang=zh", "week=3"]));
        assert!(!check(&["lang=en", "lang=zh", "week=4"]));
        assert!(check(&[]));
        assert!(matches(&document(), &["notes".into(), "x".into()], &[]) && !matches(&document(), &["x".into()], &[]));
    }

    #[test]
    fn a_condition_can_be_turned_round() {
        assert!(check(&["lang!=en"]) && check(&["lang != en", "lang!=fr", "week=3"]));
        assert!(!check(&["lang!=zh"]) && !check(&["week=3", "tag!=dp"]) && !check(&["path!=notes/"]));
        assert!("!=x".parse::<Filter>().is_err());
    }

    /// The document is of 2024-05-01.
    #[test]
    fn dates_have_bounds() {
        for held in
            ["date>=2024", "date>=2024-05-01", "date>=2023-12-31", "date<=2024", "date<=2024-05", "date <= 2024-05-01"]
        {
            assert!(check(&[held]), "{held}");
        }
        for not in [
            "date>=2024-05-02",
            "date>=2025",
            "date<=2024-04",
            "date<=2023",
            "date>=",
            "date<=",
            "updated>=2000",
            "updated<=2999",
            "week>=3",
        ] {
            assert!(!check(&[not]), "{not}");
        }
        assert!(check(&["date>=2024-01", "date<=2024-06"]) && !check(&["date>=2024-06", "date<=2024-12"]));
        assert!(">=2024".parse::<Filter>().is_err());
    }

    #[test]
    fn a_sort_of_passage_can_be_asked_for() {
        let check = |filters: &[&str], kind| {
            let filters: Vec<Filter> = filters.iter().map(|f| f.parse().expect("a filter")).collect();
            assert!(filters.iter().all(is_about_passages));
            admits_kind(kind, &document(), &filters)
        };
        let mut lecture = document();
        lecture.metadata.insert("type".into(), MetaValue::Text("lecture".into()));
        let own: Vec<Filter> = vec!["type=lecture".parse().expect("a filter")];
        assert!(admits_kind(ChunkKind::Text, &lecture, &own) && !admits_kind(ChunkKind::Text, &document(), &own));
        assert!(check(&["type=Code"], ChunkKind::Code));
        assert!(check(&[], ChunkKind::Code) && check(&["type=code", "type=table"], ChunkKind::Code));
        assert!(!check(&["type=table"], ChunkKind::Code) && !check(&["type!=code"], ChunkKind::Code));
        assert!(check(&["type != code"], ChunkKind::Text) && !check(&["type=nonsense"], ChunkKind::Text));
    }

    #[test]
    fn filters_are_read_from_text() {
        assert_eq!("a = b=c".parse(), Ok(Filter { key: "a".into(), value: "b=c".into() }));
        for bad in ["", "a", "=b", " =b"] {
            assert_eq!(bad.parse::<Filter>().expect_err("not a filter").kind(), ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn numbers_are_read_as_the_standard_library_reads_them() {
        for text in
            ["0", "1.5", "-2.25", "+3", "0.1", "123456789.012345", ".5", "7.", "0.0000000001", "999999999999999"]
        {
            assert_eq!(number(text), text.parse().ok(), "{text}");
        }
        for text in ["", ".", "-", "1e5", "x", "1.2.3", "9999999999999999", "inf"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
