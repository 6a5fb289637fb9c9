use super::*;

fn endpoint(provider: Provider, url: &str) -> Endpoint {
    Endpoint::new(provider, Some(url)).expect("an address")
}

#[test]
fn addresses_are_those_of_the_services() {
    let ollama = Endpoint::new(Provider::Ollama, None).expect("default");
    assert_eq!(ollama.chat_url(), "http://localhost:11434/api/chat");
    assert_eq!(ollama.models_url(), "http://localhost:11434/api/tags");
    let deepseek = Endpoint::new(Provider::DeepSeek, Some(" ")).expect("default");
    assert_eq!(deepseek.chat_url(), "https://api.deepseek.com/chat/completions");
    assert_eq!(deepseek.models_url(), "https://api.deepseek.com/models");
    for (provider, given, chat) in [
        (Provider::Ollama, "http://10.0.0.2:11434/", "http://10.0.0.2:11434/api/chat"),
        (Provider::Ollama, "http://x/ollama/api/chat", "http://x/ollama/api/chat"),
        (Provider::Ollama, "http://x:1/v1/", "http://x:1/api/chat"),
        (Provider::OpenAiCompatible, "http://x:1234/v1/", "http://x:1234/v1/chat/completions"),
        (Provider::OpenAiCompatible, "HTTP://x/v1/chat/completions", "HTTP://x/v1/chat/completions"),
        (Provider::DeepSeek, "https://api.deepseek.com/v1", "https://api.deepseek.com/v1/chat/completions"),
    ] {
        assert_eq!(endpoint(provider, given).chat_url(), chat);
    }
}

#[test]
fn addresses_that_could_leak_a_key_or_are_none_are_refused() {
    for bad in
        ["x", "ftp://x", "http://", "http:///v1", "http://u:p@x/v1", "http://x/v1?key=1", "http://x/#a", "http://x y"]
    {
        assert!(Endpoint::new(Provider::OpenAiCompatible, Some(bad)).is_err(), "{bad}");
    }
    assert!(Endpoint::new(Provider::OpenAiCompatible, None).is_err());
}

fn body(provider: Provider, options: &ChatOptions) -> Value {
    let messages = [Message { role: Role::User, content: "\"Hi\"\n".into() }];
    serde_json::from_str(&chat_body(provider, options, &messages)).expect("JSON")
}

#[test]
fn bodies_are_what_the_services_document() {
    let options = ChatOptions { model: "m".into(), max_tokens: 7, ..ChatOptions::default() };
    let messages = json!([{"role": "user", "content": "\"Hi\"\n"}]);
    assert_eq!(
        body(Provider::Ollama, &options),
        json!({"model": "m", "messages": messages, "stream": true, "keep_alive": "5m",
               "options": {"num_ctx": 8192, "num_predict": 7, "temperature": 0.2}})
    );
    assert_eq!(
        body(Provider::OpenAiCompatible, &options),
        json!({"model": "m", "messages": messages, "stream": true, "stream_options": {"include_usage": true},
               "max_tokens": 7, "temperature": 0.2})
    );
    let quiet = ChatOptions { think: Some(false), keep_alive: "-1".into(), ..options };
    assert_eq!(body(Provider::Ollama, &quiet)["think"], json!(false));
    assert_eq!(body(Provider::Ollama, &quiet)["keep_alive"], json!(-1));
    assert_eq!(body(Provider::DeepSeek, &quiet)["thinking"], json!({"type": "disabled"}));
    assert_eq!(body(Provider::OpenAiCompatible, &quiet).get("thinking"), None, "unknown elsewhere");
}

#[test]
fn lists_of_models_are_read() {
    let tags = br#"{"models":[{"name":"qwen3:4b","model":"qwen3:4b","size":1},{"model":"b"},{"size":2}]}"#;
    assert_eq!(parse_models(Protocol::Ollama, tags), Ok(vec!["qwen3:4b".into(), "b".into()]));
    let models = br#"{"object":"list","data":[{"id":"deepseek-flash","object":"model"},{"id":""}]}"#;
    assert_eq!(parse_models(Protocol::OpenAi, models), Ok(vec!["deepseek-flash".into()]));
    let kind = |bytes: &[u8]| parse_models(Protocol::OpenAi, bytes).expect_err("no list").kind;
    assert_eq!(kind(b"\n<!doctype html>"), FailureKind::Html);
    assert_eq!((kind(b"Ollama is running"), kind(b"{}")), (FailureKind::NotJson, FailureKind::NotJson));
}

#[test]
fn names_lead_back_to_their_provider() {
    for provider in Provider::ALL {
        assert_eq!(Provider::from_name(provider.name()), Some(provider));
        assert_eq!(serde_json::to_value(provider).expect("JSON"), provider.name());
    }
    assert_eq!(Provider::from_name("openai"), Some(Provider::OpenAiCompatible));
    assert_eq!(Provider::from_name("x"), None);
}

#[test]
fn a_prompt_that_was_cut_is_noticed() {
    let message = |text: String| [Message { role: Role::User, content: text }];
    // 1,400 letters are some 300 tokens; a server that has read 40 of them has cut the rest.
    let english = message("seven l ".repeat(200));
    for (tokens, cut) in [(300, false), (250, false), (40, true), (0, false), (4096, true), (5000, true)] {
        assert_eq!(prompt_was_cut(Provider::Ollama, &english, 4096, tokens), cut, "{tokens}");
    }
    let chinese = message("检索系统的两半".repeat(100));
    assert!(!prompt_was_cut(Provider::Ollama, &chinese, 4096, 420));
    assert!(prompt_was_cut(Provider::Ollama, &chinese, 4096, 200));
    // The others refuse a prompt that is too long.
    assert!(!prompt_was_cut(Provider::DeepSeek, &english, 4096, 40));
}
