use super::recorded::{RECORDED, Recorded};
use super::*;
use crate::answer::request::Protocol;
use crate::document::Lang;
use proptest::prelude::*;

fn read(protocol: Protocol, pieces: &[&[u8]]) -> Vec<Event> {
    let mut parser = StreamParser::new(protocol);
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece, &mut events);
    }
    parser.finish(&mut events);
    assert!(parser.is_over());
    events
}

/// What was said in all, and the events that are no text.
fn summary(events: &[Event]) -> (String, String, Vec<Event>) {
    let (mut reasoning, mut text, mut others) = (String::new(), String::new(), Vec::new());
    for event in events {
        match event {
            Event::Reasoning(piece) => reasoning.push_str(piece),
            Event::Text(piece) => text.push_str(piece),
            Event::TextWasReasoning => reasoning.push_str(&std::mem::take(&mut text)),
            other => others.push(other.clone()),
        }
    }
    (reasoning, text, others)
}

fn check(recorded: &Recorded, events: &[Event]) {
    let (reasoning, text, others) = summary(events);
    assert_eq!((reasoning.as_str(), text.as_str()), (recorded.reasoning, recorded.text), "{}", recorded.name);
    let (last, before) = others.split_last().expect("an end");
    assert_eq!(before, recorded.usage_event().as_slice(), "{}", recorded.name);
    match (last, recorded.end) {
        (Event::End(reason), Ok(expected)) => assert_eq!(*reason, expected, "{}", recorded.name),
        (Event::Error(failure), Err(expected)) => assert_eq!(failure.kind, expected, "{}", recorded.name),
        _ => panic!("{}: {last:?} instead of {:?}", recorded.name, recorded.end),
    }
}

#[test]
fn recorded_replies_are_understood() {
    for recorded in &RECORDED {
        check(recorded, &read(recorded.protocol, &[recorded.bytes]));
    }
}

#[test]
fn every_split_in_two_and_every_single_byte_gives_the_same_events() {
    for recorded in &RECORDED {
        let whole = read(recorded.protocol, &[recorded.bytes]);
        for at in 0..=recorded.bytes.len() {
            let (a, b) = recorded.bytes.split_at(at);
            assert_eq!(read(recorded.protocol, &[a, b]), whole, "{} cut at {at}", recorded.name);
        }
        let bytes: Vec<&[u8]> = recorded.bytes.chunks(1).collect();
        assert_eq!(read(recorded.protocol, &bytes), whole, "{} byte by byte", recorded.name);
    }
}

#[test]
fn a_block_that_the_prompt_had_opened_is_taken_back() {
    let events = read(
        Protocol::Ollama,
        &[br#"{"message":{"content":"I think"},"done":false}
{"message":{"content":" so.</think>\n\nYes"},"done":false}
{"message":{"content":""},"done":true}"#],
    );
    let expected = [
        Event::Text("I think".into()),
        Event::Text(" so.".into()),
        Event::TextWasReasoning,
        Event::Text("Yes".into()),
        Event::End(EndReason::Stop),
    ];
    assert_eq!(events, expected);
}

#[test]
fn text_comes_as_soon_as_its_line_is_whole() {
    let mut parser = StreamParser::new(Protocol::OpenAi);
    let mut events = Vec::new();
    parser.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n", &mut events);
    assert_eq!(events, [Event::Text("a".into())]);
    assert!(!parser.is_complete());
    parser.push(b"\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n", &mut events);
    assert!(parser.is_complete() && !parser.is_over(), "the server may still send the usage");
    parser.push(b"\ndata: [DONE]\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n", &mut events);
    assert_eq!(events[1..], [Event::End(EndReason::Stop)]);
}

#[test]
fn a_hostile_server_cannot_fill_memory() {
    let endless = vec![b'x'; MAX_LINE_BYTES + 1];
    let events = read(Protocol::OpenAi, &[&endless]);
    assert!(matches!(&events[..], [Event::Error(f)] if f.kind == FailureKind::TooLarge), "{events:?}");

    let line = br#"{"message":{"content":""},"done":false}"#;
    let block = [&line[..], b"\n"].concat().repeat(1000);
    let mut parser = StreamParser::new(Protocol::Ollama);
    let mut events = Vec::new();
    for _ in 0..=MAX_REPLY_BYTES / block.len() {
        assert_eq!(events, []);
        parser.push(&block, &mut events);
    }
    assert!(matches!(&events[..], [Event::Error(f)] if f.kind == FailureKind::TooLarge), "{events:?}");
}

#[test]
fn each_status_has_its_kind() {
    use FailureKind::*;
    let cases: [(u16, &str, FailureKind); 21] = [
        (400, r#"{"error":{"message":"Invalid request body","type":"invalid_request_error"}}"#, BadRequest),
        (400, r#"{"error":"\"llama3\" does not support thinking"}"#, CannotThink),
        (400, r#"{"error":{"message":"This model's maximum context length is 65536 tokens"}}"#, PromptTooLong),
        (400, r#"{"error":{"message":"Model Not Exist"}}"#, NoSuchModel),
        (401, r#"{"error":{"message":"Authentication Fails"}}"#, WrongKey),
        (402, r#"{"error":{"message":"Insufficient Balance"}}"#, NoBalance),
        (403, "", Refused),
        (404, r#"{"error":"model 'x' not found"}"#, NoSuchModel),
        (404, "<html>no model page</html>", NoSuchAddress),
        (404, "404 page not found", NoSuchAddress),
        (405, "", NoSuchAddress),
        (413, "", PromptTooLong),
        (422, r#"{"detail":"temperature"}"#, BadParameters),
        (429, r#"{"error":{"message":"Rate limit reached"}}"#, RateLimited),
        (429, r#"{"error":{"message":"You exceeded your current quota"}}"#, NoBalance),
        (500, "", ServerFailed),
        (502, "<html>Bad Gateway</html>", ServerFailed),
        (503, r#"[{"error":{"message":"busy"}}]"#, Overloaded),
        (301, "", NoSuchAddress),
        (418, "<html>", Html),
        (418, "teapot", BadRequest),
    ];
    for (status, body, kind) in cases {
        let failure = classify(status, body.as_bytes());
        assert_eq!((failure.kind, failure.status), (kind, Some(status)), "{status} {body}");
        assert!(!failure.message.contains('<'), "no source of a web page: {failure}");
        assert!(kind.code().starts_with("llm::"));
        assert_ne!(kind.sentence(Lang::Zh), kind.sentence(Lang::En));
    }
    assert_eq!(classify(503, br#"[{"error":{"message":"busy"}}]"#).message, "busy");
    assert_eq!(classify(422, br#"{"detail":"temperature"}"#).message, "temperature");
    assert_eq!(classify(404, b"404 page not found").message, "404 page not found");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_cutting_gives_the_same_events(which in 0..RECORDED.len(), cuts in proptest::collection::vec(0..2000_usize, 0..12)) {
        let recorded = &RECORDED[which];
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c % (recorded.bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts {
            pieces.push(&recorded.bytes[from..cut]);
            from = cut;
        }
        pieces.push(&recorded.bytes[from..]);
        prop_assert_eq!(read(recorded.protocol, &pieces), read(recorded.protocol, &[recorded.bytes]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Replaced, removed, doubled and inserted bytes: always exactly one end, never a panic, and no more
    /// text than bytes.
    #[test]
    fn mutated_replies_end_once(
        which in 0..RECORDED.len(),
        edits in proptest::collection::vec((0..4_u8, 0..4000_usize, proptest::num::u8::ANY), 1..12),
        piece in 1..64_usize,
    ) {
        let recorded = &RECORDED[which];
        let mut bytes = recorded.bytes.to_vec();
        for (kind, at, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at % bytes.len();
            match kind {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                2 => bytes.insert(at, byte),
                _ => { let tail = bytes[at..].to_vec(); bytes.extend(tail); }
            }
        }
        bytes.truncate(100_000);
        let pieces: Vec<&[u8]> = bytes.chunks(piece).collect();
        let events = read(recorded.protocol, &pieces);
        let ends = events.iter().filter(|e| matches!(e, Event::End(_) | Event::Error(_))).count();
        prop_assert_eq!(ends, 1);
        prop_assert!(matches!(events.last(), Some(Event::End(_) | Event::Error(_))));
        let (reasoning, text, _) = summary(&events);
        // A byte that is not UTF-8 becomes a character of three.
        prop_assert!(reasoning.len() + text.len() <= bytes.len() * 3);
    }
}
