//! JSON schemas as TypeScript: what serde's derives give, no more.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The declaration of `name`, with the description above it: an interface, or an alias for anything but an object.
pub(super) fn declaration(name: &str, schema: &Value) -> String {
    let mut out = comment(schema, "");
    match fields(schema) {
        Some(fields) => {
            let _ = writeln!(out, "export interface {name} {{");
            for (key, field, optional) in fields {
                out += &comment(field, "  ");
                let _ = writeln!(out, "  {key}{}: {};", if optional { "?" } else { "" }, kind(field));
            }
            out += "}\n";
        }
        None => {
            let _ = writeln!(out, "export type {name} = {};", kind(schema));
        }
    }
    out
}

/// The fields of an object: those that must be there in the order of the struct, then the others by name.
fn fields(schema: &Value) -> Option<Vec<(&str, &Value, bool)>> {
    let properties: &Map<String, Value> = schema.get("properties")?.as_object()?;
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let must = required.iter().filter_map(|name| properties.get_key_value(*name)).map(|(k, v)| (k.as_str(), v, false));
    let may = properties.iter().filter(|(k, _)| !required.contains(&k.as_str())).map(|(k, v)| (k.as_str(), v, true));
    Some(must.chain(may).collect())
}

/// The type that a schema stands for. Nothing that is left out is ever `null`, so that alternative is not written.
fn kind(schema: &Value) -> String {
    let alternatives = |list: &[Value]| {
        let kinds: Vec<String> = list.iter().map(kind).filter(|one| one != "null").collect();
        kinds.join(" | ")
    };
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        if let Some(list) = schema.get(word).and_then(Value::as_array) {
            return alternatives(list);
        }
    }
    if let Some(fields) = fields(schema) {
        let fields = fields
            .into_iter()
            .map(|(key, field, optional)| format!("{key}{}: {}", if optional { "?" } else { "" }, kind(field)));
        return format!("{{ {} }}", fields.collect::<Vec<_>>().join("; "));
    }
    let named = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        Some(name) => name.as_str(),
        None => None,
    };
    match named {
        Some("array") => {
            let item = kind(schema.get("items").unwrap_or(&Value::Null));
            if item.contains(" | ") { format!("({item})[]") } else { format!("{item}[]") }
        }
        Some("integer") => "number".to_owned(),
        Some(name @ ("string" | "number" | "boolean" | "null")) => name.to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// A description as a comment, links of rustdoc as code.
fn comment(schema: &Value, indent: &str) -> String {
    let Some(text) = schema.get("description").and_then(Value::as_str) else { return String::new() };
    let text = text.replace("[`", "`").replace("`]", "`").replace("*/", "* /");
    if let [one] = text.lines().collect::<Vec<_>>()[..] {
        return format!("{indent}/** {one} */\n");
    }
    let lines: String =
        text.lines().map(|line| format!("{indent} *{}{line}\n", if line.is_empty() { "" } else { " " })).collect();
    format!("{indent}/**\n{lines}{indent} */\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // What each must be is TypeScript's own handbook.
    #[test]
    fn types_of_schemas() {
        for (schema, expected) in [
            (json!({ "type": "integer", "minimum": 0 }), "number"),
            (json!({ "type": ["string", "null"] }), "string"),
            (json!({ "type": "array", "items": { "$ref": "#/$defs/Hit" } }), "Hit[]"),
            (json!({ "type": "array", "items": { "enum": ["a", "b"] } }), "(\"a\" | \"b\")[]"),
            (json!({ "anyOf": [{ "$ref": "#/$defs/Hit" }, { "type": "null" }] }), "Hit"),
            (
                json!({ "properties": { "n": { "type": "number" }, "kind": { "const": "x" } }, "required": ["kind"] }),
                "{ kind: \"x\"; n?: number }",
            ),
            (json!({}), "unknown"),
        ] {
            assert_eq!(kind(&schema), expected);
        }
    }

    #[test]
    fn comments_cannot_end_early() {
        assert_eq!(comment(&json!({ "description": "a [`B`] */ c" }), "  "), "  /** a `B` * / c */\n");
        assert_eq!(comment(&json!({ "description": "a\n\nb" }), ""), "/**\n * a\n *\n * b\n */\n");
    }
}
