//! Metadata as a flat list in reading order: bincode has no limit on the depth of a recursive type, so
//! damaged bytes could otherwise exhaust the stack.

use crate::document::MetaValue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Deepest nesting of lists and maps.
const MAX_DEPTH: usize = 32;

/// One step of a value read from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum MetaItem<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Date(&'a str),
    /// So many values follow.
    List(u32),
    /// So many times a key and a value follow.
    Map(u32),
    /// The key of the next value.
    Key(&'a str),
}

/// The entries of `map`: a key, its value, and so on.
pub(super) fn flatten(map: &BTreeMap<String, MetaValue>) -> Result<Vec<MetaItem<'_>>, &'static str> {
    let mut items = Vec::new();
    push_entries(&mut items, map, 0)?;
    Ok(items)
}

fn push_entries<'a>(
    items: &mut Vec<MetaItem<'a>>,
    map: &'a BTreeMap<String, MetaValue>,
    depth: usize,
) -> Result<(), &'static str> {
    for (key, value) in map {
        items.push(MetaItem::Key(key));
        push_value(items, value, depth)?;
    }
    Ok(())
}

fn push_value<'a>(items: &mut Vec<MetaItem<'a>>, value: &'a MetaValue, depth: usize) -> Result<(), &'static str> {
    if depth >= MAX_DEPTH {
        return Err("metadata are nested too deeply");
    }
    let length = |n: usize| u32::try_from(n).map_err(|_| "metadata are too long");
    match value {
        MetaValue::Bool(v) => items.push(MetaItem::Bool(*v)),
        MetaValue::Int(v) => items.push(MetaItem::Int(*v)),
        MetaValue::Float(v) => items.push(MetaItem::Float(*v)),
        MetaValue::Text(v) => items.push(MetaItem::Text(v)),
        MetaValue::Date(v) => items.push(MetaItem::Date(v)),
        MetaValue::List(values) => {
            items.push(MetaItem::List(length(values.len())?));
            for value in values {
                push_value(items, value, depth + 1)?;
            }
        }
        MetaValue::Map(map) => {
            items.push(MetaItem::Map(length(map.len())?));
            push_entries(items, map, depth + 1)?;
        }
    }
    Ok(())
}

/// The map whose entries `items` are.
pub(super) fn unflatten(items: &[MetaItem]) -> Result<BTreeMap<String, MetaValue>, &'static str> {
    let mut rest = items.iter();
    let mut map = BTreeMap::new();
    while !rest.as_slice().is_empty() {
        take_entry(&mut rest, &mut map, 0)?;
    }
    Ok(map)
}

type Rest<'i, 'a> = std::slice::Iter<'i, MetaItem<'a>>;

fn take_entry(rest: &mut Rest, map: &mut BTreeMap<String, MetaValue>, depth: usize) -> Result<(), &'static str> {
    let Some(MetaItem::Key(key)) = rest.next() else {
        return Err("a metadata value has no key");
    };
    let value = take_value(rest, depth)?;
    match map.insert((*key).into(), value) {
        None => Ok(()),
        Some(_) => Err("a metadata key stands twice"),
    }
}

fn take_value(rest: &mut Rest, depth: usize) -> Result<MetaValue, &'static str> {
    if depth >= MAX_DEPTH {
        return Err("metadata are nested too deeply");
    }
    Ok(match *rest.next().ok_or("metadata end early")? {
        MetaItem::Bool(v) => MetaValue::Bool(v),
        MetaItem::Int(v) => MetaValue::Int(v),
        MetaItem::Float(v) => MetaValue::Float(v),
        MetaItem::Text(v) => MetaValue::Text(v.into()),
        MetaItem::Date(v) => MetaValue::Date(v.into()),
        MetaItem::List(count) => {
            let mut values = Vec::new();
            for _ in 0..count {
                values.push(take_value(rest, depth + 1)?);
            }
            MetaValue::List(values)
        }
        MetaItem::Map(count) => {
            let mut map = BTreeMap::new();
            for _ in 0..count {
                take_entry(rest, &mut map, depth + 1)?;
            }
            MetaValue::Map(map)
        }
        MetaItem::Key(_) => return Err("a metadata key has no value"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_survive() {
        let map = BTreeMap::from([
            ("int".to_string(), MetaValue::Int(-3)),
            ("text".to_string(), MetaValue::Text("3".into())),
            ("float".to_string(), MetaValue::Float(3.0)),
            ("date".to_string(), MetaValue::Date("2024-05-01".into())),
            ("empty".to_string(), MetaValue::List(vec![])),
            (
                "nested".to_string(),
                MetaValue::Map(BTreeMap::from([
                    ("a".to_string(), MetaValue::List(vec![MetaValue::Bool(true), MetaValue::Map(BTreeMap::new())])),
                    ("b".to_string(), MetaValue::Text(String::new())),
                ])),
            ),
        ]);
        assert_eq!(unflatten(&flatten(&map).unwrap()).unwrap(), map);
    }

    #[test]
    fn depth_is_limited_both_ways() {
        let mut value = MetaValue::Bool(true);
        for _ in 0..MAX_DEPTH - 1 {
            value = MetaValue::List(vec![value]);
        }
        let map = BTreeMap::from([("k".to_string(), value.clone())]);
        assert_eq!(unflatten(&flatten(&map).unwrap()).unwrap(), map);
        assert!(flatten(&BTreeMap::from([("k".to_string(), MetaValue::List(vec![value]))])).is_err());
        let mut deep = vec![MetaItem::Key("k")];
        deep.extend(vec![MetaItem::List(1); 100_000]);
        assert!(unflatten(&deep).is_err());
    }

    #[test]
    fn broken_lists_are_refused() {
        use MetaItem::*;
        for items in [
            &[Int(1)][..],
            &[Key("a")],
            &[Key("a"), Key("b")],
            &[Key("a"), List(2), Int(1)],
            &[Key("a"), List(u32::MAX)],
            &[Key("a"), Map(1), Int(1)],
            &[Key("a"), Int(1), Key("a"), Int(2)],
        ] {
            assert!(unflatten(items).is_err(), "{items:?}");
        }
    }
}
