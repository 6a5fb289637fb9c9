//! The schema against the reader of `kb.toml` and against every example in the repository.

use super::*;
use kb_core::answer::request::Provider;
use kb_core::search::{FusionMethod, ThreeWayPreset};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// What is wrong with `value`, by the few keywords that the schema uses.
fn mistakes(schema: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    let known = [
        "default",
        "$schema",
        "title",
        "description",
        "type",
        "properties",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "oneOf",
        "anyOf",
        "minimum",
        "maximum",
        "format",
    ];
    let object = schema.as_object().unwrap_or_else(|| panic!("{at}: a schema is an object"));
    if let Some(other) = object.keys().find(|k| !known.contains(&k.as_str())) {
        panic!("{at}: this test does not know `{other}`");
    }
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        other => panic!("{at}: type {other:?}"),
    };
    if schema.get("type").is_some_and(|t| !is(t)) {
        out.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(|all| !all.contains(value)) {
        out.push(format!("{at}: {value} is not among the values"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        out.push(format!("{at}: {value} is another value"));
    }
    for word in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(word).and_then(Value::as_array) {
            let fits = |choice: &&Value| {
                let mut wrong = Vec::new();
                mistakes(choice, value, at, &mut wrong);
                wrong.is_empty()
            };
            if choices.iter().filter(fits).count() == 0 {
                out.push(format!("{at}: {value} fits none of {word}"));
            }
        }
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(n) = value.as_f64() {
        let (low, high) = (number("minimum"), number("maximum"));
        if low.is_some_and(|low| n < low) || high.is_some_and(|high| n > high) {
            out.push(format!("{at}: {n} is out of range"));
        }
    }
    if let Some(values) = value.as_array() {
        values.iter().for_each(|v| mistakes(&schema["items"], v, &format!("{at}[]"), out));
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(key) {
            Some(own) => mistakes(own, inner, &format!("{at}.{key}"), out),
            None => out.push(format!("{at}: there is no `{key}`")),
        }
    }
}

fn all_mistakes(toml: &str) -> Vec<String> {
    let table: toml::Table = toml.parse().unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let mut out = Vec::new();
    mistakes(&schema(), &serde_json::to_value(table).expect("JSON"), "", &mut out);
    out
}

/// The keys that the reader knows at a place: what it lists when it meets another one.
fn keys_that_are_read(place: &str) -> Vec<String> {
    let text = format!("{place}zzz = 1\n");
    let message = toml::from_str::<Config>(&text).expect_err(&text).message().to_string();
    assert!(message.starts_with("unknown field `zzz`"), "{place}: {message}");
    let mut keys: Vec<String> = message.split('`').skip(3).step_by(2).map(str::to_string).collect();
    keys.sort();
    keys
}

/// Every table of the schema with the TOML that leads into it.
fn tables(schema: &Value, path: &[&str], out: &mut Vec<(String, Vec<String>)>) {
    assert_eq!(schema["additionalProperties"], false, "{path:?}");
    let head = match path {
        [] => String::new(),
        ["source"] => "[[source]]\n".to_string(),
        ["source", rest @ ..] => format!("[[source]]\n[source.{}]\n", rest.join(".")),
        _ => format!("[{}]\n", path.join(".")),
    };
    let properties = schema["properties"].as_object().expect("properties");
    let mut keys: Vec<String> = properties.keys().cloned().collect();
    keys.sort();
    out.push((head, keys));
    for (key, value) in properties {
        let described = value["description"].as_str().is_some_and(|d| d.len() > 10 && !d.contains('\n'));
        assert!(described, "{path:?} {key}: {value}");
        let inner = if value["type"] == "array" { &value["items"] } else { value };
        if inner["type"] == "object" {
            tables(inner, &[path, &[key.as_str()]].concat(), out);
        }
    }
}

#[test]
fn every_key_that_is_read_is_there_with_a_description_and_no_other() {
    let mut all = Vec::new();
    tables(&schema(), &[], &mut all);
    assert!(all.len() >= 10, "{all:?}");
    for (place, keys) in all {
        assert_eq!(keys_that_are_read(&place), keys, "{place}");
    }
}

#[test]
fn names_are_those_that_are_read() {
    fn agree<T: DeserializeOwned>(schema: &Value) {
        let plain = schema["enum"].as_array().into_iter().flatten();
        let named = schema["oneOf"].as_array().into_iter().flatten();
        let names: Vec<Value> = plain.cloned().chain(named.map(|c| c["const"].clone())).collect();
        assert!(names.len() >= 2, "{schema}");
        for name in names {
            serde_json::from_value::<T>(name.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
    let schema = schema();
    let at = |path: &str| path.split('.').fold(&schema, |s, key| &s["properties"][key]);
    agree::<FusionMethod>(at("retrieval.fusion"));
    agree::<ThreeWayPreset>(at("retrieval.three_way"));
    agree::<Provider>(at("llm.provider"));
    assert_eq!(at("preset")["oneOf"].as_array().map(Vec::len), Some(crate::preset::PresetName::ALL.len()));
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

/// The demo's `kb.toml`, and every block of TOML in the guide that is one.
fn examples() -> Vec<(PathBuf, String)> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide");
    let demo = guide.join("../kb.toml");
    let mut found = vec![(demo.clone(), std::fs::read_to_string(&demo).expect("the demo's settings"))];
    for lang in ["en", "zh"] {
        for entry in std::fs::read_dir(guide.join(lang)).expect("the guide") {
            let path = entry.expect("entry").path();
            let text = std::fs::read_to_string(&path).expect("a page");
            let blocks = text.split("```toml\n").skip(1).filter_map(|b| b.split("\n```").next());
            found.extend(blocks.map(|block| (path.clone(), block.to_string())));
        }
    }
    found
}

#[test]
fn the_examples_of_the_guide_fit_and_are_read() {
    let examples = examples();
    assert!(examples.len() >= 6, "{}", examples.len());
    for (path, text) in examples {
        assert_eq!(all_mistakes(&text), Vec::<String>::new(), "{}\n{text}", path.display());
        toml::from_str::<Config>(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display()));
    }
}

#[test]
fn what_is_not_read_does_not_fit() {
    for (text, part) in [
        ("titel = \"x\"\n", "titel"),
        ("title = 3\n", "string"),
        ("preset = \"other\"\n", "preset"),
        ("[retrieval]\nlexical_weight = 2\n", "range"),
        ("[[source]]\npath = 1\n", "path"),
        ("[watcher]\ninterval = 0\n", "range"),
        ("[chunking]\nstrategy = \"words\"\n", "strategy"),
    ] {
        let wrong = all_mistakes(text);
        assert!(wrong.len() == 1 && wrong[0].contains(part), "{text}: {wrong:?}");
    }
}
