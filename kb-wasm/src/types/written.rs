//! `types.d.ts`, written from the structs that cross the border, and compared with the file that is there.

use super::typescript::declaration;
use crate::{answer, chat, dto, utf16};
use kb_core::{answer as core, search};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::Value;
use std::collections::BTreeMap;

/// What no struct stands for: errors and typed arrays are made by hand.
const BY_HAND: &str = r"// Written by `cargo xtask wasm` from the structs of kb-core and kb-wasm: change those, not this file.

/** Thrown by every function here. `code` is stable, for example `kb::corrupt`. */
export interface KbError extends Error {
  code: string;
  /** What to do next, in English. */
  hint: string;
}

/** Thrown by `Chat`: `code` is `llm::…`, `message` what to do in the reader's language. */
export interface ChatError extends Error {
  code: string;
  /** HTTP status, where there was one. */
  status?: number;
  /** Whether the same request may succeed a little later. */
  mayPass: boolean;
}

/** Passages near a question, best first: indexes of chunks and their cosines. */
export interface Candidates {
  ids: Uint32Array;
  scores: Float32Array;
}

/** What to POST to an embedding service. */
export interface ServiceRequest {
  url: string;
  /** JSON. */
  body: string;
}

/** What arrives while a model writes. */
export type ReplyEvent = Segment | Aside;
";

/// All declarations, those by hand first, the others by name.
fn declarations() -> String {
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    let mut given = SchemaSettings::draft2020_12().for_serialize().into_generator();
    given.subschema_for::<dto::ResponseDto>();
    given.subschema_for::<dto::InfoDto>();
    given.subschema_for::<dto::DocumentTextDto>();
    given.subschema_for::<utf16::Utf16Span>();
    given.subschema_for::<answer::ProviderDto>();
    given.subschema_for::<answer::RelevanceDto>();
    given.subschema_for::<answer::PromptDto>();
    given.subschema_for::<answer::DoubtDto>();
    given.subschema_for::<answer::CheckedDto>();
    given.subschema_for::<core::citations::Segment>();
    given.subschema_for::<core::prompt::Turn>();
    given.subschema_for::<chat::Aside>();
    given.subschema_for::<chat::EndDto>();
    collect(given, &mut found);
    // What a page gives may leave out what has a default.
    let mut taken = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    taken.subschema_for::<search::Query>();
    taken.subschema_for::<core::AnswerLimits>();
    taken.subschema_for::<chat::Settings>();
    collect(taken, &mut found);
    let written: Vec<String> = found.iter().map(|(name, schema)| declaration(name, schema)).collect();
    format!("{BY_HAND}\n{}", written.join("\n"))
}

/// Takes the definitions of a generator; what is there already stays.
fn collect(mut generator: SchemaGenerator, found: &mut BTreeMap<String, Value>) {
    for (name, schema) in generator.take_definitions(true) {
        found.entry(name).or_insert(schema);
    }
}

/// With `KB_WRITE_TYPES` it writes the file, else it says that the file is old.
#[test]
fn the_declarations_are_those_of_the_structs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/types.d.ts");
    let now = declarations();
    if std::env::var_os("KB_WRITE_TYPES").is_some() {
        std::fs::write(path, &now).expect("the file can be written");
    }
    let there = std::fs::read_to_string(path).expect("the file can be read");
    assert!(there == now, "kb-wasm/src/types.d.ts is old: run `cargo xtask wasm`");
}

/// Names that the classes use in their signatures, each declared once.
#[test]
fn every_name_of_a_signature_is_declared() {
    let now = declarations();
    for name in [
        "Query",
        "Response",
        "Hit",
        "Info",
        "Section",
        "Span",
        "DocumentText",
        "Candidates",
        "ProviderInfo",
        "Relevance",
        "Prompt",
        "Message",
        "Turn",
        "Passage",
        "Segment",
        "Doubt",
        "Checked",
        "ChatSettings",
        "ReplyEnd",
        "ReplyEvent",
        "ServiceRequest",
    ] {
        let count = now
            .lines()
            .filter(|line| {
                line.starts_with(&format!("export interface {name} "))
                    || line.starts_with(&format!("export type {name} "))
            })
            .count();
        assert_eq!(count, 1, "{name}");
    }
    assert!(!now.contains(": unknown;"), "every field has a type");
}
