//! The values against the TypeScript declarations: every key is declared, every declared key that is not
//! optional is there, and every value has the declared type.

use super::{bundle, get, json};
use js_sys::{Array, Object};
use kb_wasm::TYPES;
use std::collections::BTreeMap;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

/// Fields by interface: name, whether it is optional, type.
struct Declarations {
    interfaces: BTreeMap<String, Vec<(String, bool, String)>>,
    aliases: BTreeMap<String, String>,
}

impl Declarations {
    fn parse(source: &str) -> Self {
        let mut found = Self { interfaces: BTreeMap::new(), aliases: BTreeMap::new() };
        let mut open: Option<String> = None;
        for line in source.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("export interface ") {
                let name = rest.split([' ', '{']).next().unwrap().to_string();
                found.interfaces.insert(name.clone(), Vec::new());
                open = Some(name);
            } else if let Some(rest) = line.strip_prefix("export type ") {
                // Those over several lines are unions of objects, which nothing here returns by itself.
                if let Some((name, kind)) = rest.trim_end_matches(';').split_once(" = ") {
                    found.aliases.insert(name.into(), kind.into());
                }
            } else if line == "}" {
                open = None;
            } else if let (Some(name), Some((key, kind))) =
                (&open, line.split_once(": ").filter(|_| !line.starts_with("/*") && !line.starts_with('*')))
            {
                let field = (key.trim_end_matches('?').into(), key.ends_with('?'), kind.trim_end_matches(';').into());
                found.interfaces.get_mut(name).unwrap().push(field);
            }
        }
        found
    }

    /// What is wrong with `value` as a `kind`.
    fn check(&self, kind: &str, value: &JsValue, place: &str) -> Vec<String> {
        let fail = || vec![format!("{place}: {value:?} is not {kind}")];
        let ok = |fine: bool| if fine { vec![] } else { fail() };
        if let Some(item) = kind.strip_suffix("[]") {
            let Some(array) = value.dyn_ref::<Array>() else { return fail() };
            assert!(
                array.length() > 0 || place.ends_with("missing") || place.ends_with("vectorSections")
                    // A hit by meaning alone has nothing to mark; the hit by words has.
                    || place.ends_with("marks"),
                "{place} is empty, so nothing was compared"
            );
            return array.iter().flat_map(|each| self.check(item, &each, place)).collect();
        }
        if kind.contains('"') {
            return ok(kind.split(" | ").any(|one| value.as_string().as_deref() == Some(one.trim_matches('"'))));
        }
        match kind {
            "string" => ok(value.is_string()),
            "number" => ok(value.as_f64().is_some()),
            _ if self.aliases.contains_key(kind) => self.check(&self.aliases[kind], value, place),
            _ => self.check_object(kind, value, place),
        }
    }

    fn check_object(&self, kind: &str, value: &JsValue, place: &str) -> Vec<String> {
        let fields = self.interfaces.get(kind).unwrap_or_else(|| panic!("{place}: {kind} is not declared"));
        let keys: Vec<String> =
            Object::keys(value.unchecked_ref::<Object>()).iter().map(|k| k.as_string().unwrap()).collect();
        let mut wrong: Vec<String> = keys
            .iter()
            .filter(|k| !fields.iter().any(|f| f.0 == **k))
            .map(|k| format!("{place}.{k} is not declared"))
            .collect();
        for (name, optional, kind) in fields {
            if keys.contains(name) {
                wrong.extend(self.check(kind, &get(value, name), &format!("{place}.{name}")));
            } else if !optional {
                wrong.push(format!("{place}.{name} is missing"));
            }
        }
        wrong
    }
}

#[wasm_bindgen_test]
fn values_are_what_the_declarations_say() {
    let declared = Declarations::parse(TYPES);
    let base = super::search::opened(&bundle());
    let query = r#"{"text": "dijkstra", "k": 3, "mode": "hybrid", "collections": ["course"], "filters": [{"key": "lang", "value": "en"}, {"key": "lang", "value": "zh"}]}"#;
    let response = base.search(json(query), Some(vec![0, 1]), Some(vec![0.9, 0.8])).unwrap();
    let document = base.document(0).unwrap();
    for (kind, value) in [
        ("Query", json(query)),
        ("Response", response),
        ("Section[]", base.sections().unwrap()),
        ("Info", base.info().unwrap()),
        ("DocumentText", document),
    ] {
        assert_eq!(declared.check(kind, &value, kind), Vec::<String>::new());
    }
}

#[wasm_bindgen_test]
fn the_check_itself_sees_differences() {
    let declared = Declarations::parse(TYPES);
    for (kind, value, expected) in [
        ("Span", r#"{"start": 1}"#, "Span.end is missing"),
        ("Span", r#"{"start": 1, "end": 2, "length": 1}"#, "Span.length is not declared"),
        ("Mode", r#""magic""#, "Mode: JsValue(\"magic\") is not \"hybrid\" | \"lexical\" | \"vector\""),
        ("Excerpt", r#"{"text": 5, "marks": [{"start": 0, "end": 1}]}"#, "Excerpt.text: JsValue(5) is not string"),
    ] {
        assert_eq!(declared.check(kind, &json(value), kind), [expected]);
    }
}
