//! How many documents have which language, collection, tag and sort of passage: what a reader can narrow a search to.

use crate::chunk::ChunkKind;
use crate::document::{Document, MetaValue};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most values of one key.
const MAX_VALUES: usize = 50;

/// The values of one key, the most frequent first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facet {
    /// `collection`, `lang`, `tag` or `type`; all but the first are keys of filters.
    pub key: String,
    /// Value and number of documents.
    pub values: Vec<(String, usize)>,
}

/// Counts each document of `passages` once, and once for each sort of its passages.
pub(super) fn count<'d>(passages: impl Iterator<Item = (&'d Document, ChunkKind)>) -> Vec<Facet> {
    let (mut seen, mut seen_kinds) = (BTreeSet::new(), BTreeSet::new());
    let mut counts: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for (document, kind) in passages {
        let name = (document.collection.as_str(), document.path.as_str());
        if seen_kinds.insert((name, kind)) {
            *counts.entry("type").or_default().entry(kind.name().to_owned()).or_default() += 1;
        }
        if !seen.insert(name) {
            continue;
        }
        let mut add = |key: &'static str, value: &str| {
            *counts.entry(key).or_default().entry(value.to_owned()).or_default() += 1;
        };
        add("collection", &document.collection);
        add("lang", document.lang.code());
        tags_of(document).iter().for_each(|tag| add("tag", tag));
    }
    counts.into_iter().map(|(key, values)| Facet { key: key.to_owned(), values: ranked(values) }).collect()
}

/// The tags of documents and how many have each, the most frequent first.
pub(super) fn tags(documents: &[Document]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for tag in documents.iter().flat_map(tags_of) {
        *counts.entry(tag).or_default() += 1;
    }
    ranked(counts)
}

fn ranked(values: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut values: Vec<(String, usize)> = values.into_iter().collect();
    values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    values.truncate(MAX_VALUES);
    values
}

fn tags_of(document: &Document) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    for value in ["tags", "tag"].iter().filter_map(|key| document.metadata.get(*key)) {
        collect(value, &mut tags);
    }
    tags
}

/// Tags as filters read them: a list, or one text with commas, with `#` or without.
fn collect(value: &MetaValue, tags: &mut BTreeSet<String>) {
    match value {
        MetaValue::Text(text) => {
            let each = text.split(',').map(|tag| tag.trim().trim_start_matches('#'));
            tags.extend(each.filter(|tag| !tag.is_empty()).map(str::to_owned));
        }
        MetaValue::List(items) => items.iter().for_each(|item| collect(item, tags)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Lang;

    #[test]
    fn documents_are_counted_once() {
        let document = |path: &str, lang, tags: &str| Document {
            path: path.into(),
            collection: "notes".into(),
            title: String::new(),
            lang,
            url: None,
            text: String::new(),
            sections: vec![],
            metadata: BTreeMap::from([("tags".to_owned(), MetaValue::Text(tags.into()))]),
        };
        let all = [document("a", Lang::Zh, "图, #dp"), document("b", Lang::En, "dp"), document("c", Lang::En, "")];
        let passages = all.iter().map(|d| (d, ChunkKind::Text)).chain(all[..2].iter().map(|d| (d, ChunkKind::Code)));
        let facets = count(passages.chain([(&all[0], ChunkKind::Code)]));
        assert_eq!(
            facets.iter().find(|f| f.key == "type").map(|f| f.values.clone()),
            Some(vec![("text".into(), 3), ("code".into(), 2)])
        );
        let of = |key: &str| facets.iter().find(|f| f.key == key).map(|f| f.values.clone());
        assert_eq!(of("collection"), Some(vec![("notes".into(), 3)]));
        assert_eq!(of("lang"), Some(vec![("en".into(), 2), ("zh".into(), 1)]));
        assert_eq!(of("tag"), Some(vec![("dp".into(), 2), ("图".into(), 1)]));
    }
}
