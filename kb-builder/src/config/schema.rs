//! The JSON Schema of `kb.toml`, for editors: made from the types that read the file, so that it cannot say anything else.

use super::Config;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// How words and meaning are combined. These names stand for those of kb-core, which knows no schemas.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum FusionName {
    /// Weighted sum of normalised scores.
    Convex,
    /// Reciprocal ranks.
    Rrf,
    /// Sum of keywords, vectors and BM25.
    ThreeWay,
}

/// Weights of the three-way sum.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ThreeWayName {
    /// Keywords 0.5, vectors 0.3, BM25 0.2.
    Balanced,
    /// Keywords 0.7, vectors 0.2, BM25 0.1.
    Exact,
    /// Keywords 0.3, vectors 0.5, BM25 0.2.
    Semantic,
}

/// Kind of service that a language model is asked through.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ProviderName {
    /// Ollama.
    Ollama,
    /// DeepSeek.
    DeepSeek,
    /// Whatever speaks OpenAI's protocol.
    #[serde(rename = "openai-compatible")]
    OpenAiCompatible,
}

/// The schema of `kb.toml`, JSON Schema 2020-12.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        // Editors differ in what they make of a reference with a description beside it.
        s.inline_subschemas = true;
        s.transforms.push(Box::new(RecursiveTransform(without_null)));
    });
    let mut schema = settings.into_generator().into_root_schema_for::<Config>();
    RecursiveTransform(one_line).transform(&mut schema);
    schema.insert("title".into(), "kb.toml".into());
    schema.to_value()
}

/// TOML has no null: a key that is not wanted is left out.
fn without_null(schema: &mut Schema) {
    let null = Value::from("null");
    // Only a switch says something by its default; the descriptions have the others.
    if schema.get("default").is_some_and(|d| !d.is_boolean()) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|t| *t != null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else { return };
    choices.retain(|c| c.get("type") != Some(&null));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        for (key, value) in only {
            // What a key says of itself counts more than what its type does.
            if schema.get(&key).is_none() {
                schema.insert(key, value);
            }
        }
    }
}

/// Descriptions without the line breaks of the source.
fn one_line(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get("description") {
        let joined = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        schema.insert("description".into(), joined.into());
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
