//! What is sent to a language model: addresses, bodies, and the list of models that comes back.

use super::stream::{Failure, FailureKind};
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Longest list of models that is kept.
const MAX_MODELS: usize = 1000;

/// The two ways of speaking to a language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Ollama's own: one JSON object a line.
    Ollama,
    /// OpenAI's chat completions as server-sent events.
    OpenAi,
}

/// A kind of service, with its defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Provider {
    /// Ollama, on this computer unless the base URL says otherwise.
    Ollama,
    /// DeepSeek.
    DeepSeek,
    /// Anything else that speaks OpenAI's protocol: llama.cpp, LM Studio, vLLM.
    #[serde(rename = "openai-compatible", alias = "openai")]
    OpenAiCompatible,
}

impl Provider {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Ollama, Self::DeepSeek, Self::OpenAiCompatible];

    /// The name in settings: `ollama`, `deepseek`, `openai-compatible`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::DeepSeek => "deepseek",
            Self::OpenAiCompatible => "openai-compatible",
        }
    }

    /// The provider with this name; `openai` is another name of `openai-compatible`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "openai" { Self::OpenAiCompatible.name() } else { name };
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// How it speaks.
    pub fn protocol(self) -> Protocol {
        if self == Self::Ollama { Protocol::Ollama } else { Protocol::OpenAi }
    }

    /// Where it is unless the reader says otherwise.
    pub fn default_base_url(self) -> Option<&'static str> {
        match self {
            Self::Ollama => Some("http://localhost:11434"),
            Self::DeepSeek => Some("https://api.deepseek.com"),
            Self::OpenAiCompatible => None,
        }
    }

    /// Whether nothing can be asked without a key.
    pub fn needs_key(self) -> bool {
        self == Self::DeepSeek
    }

    /// The environment variable that usually holds the key.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Ollama => None,
            Self::DeepSeek => Some("DEEPSEEK_API_KEY"),
            Self::OpenAiCompatible => Some("OPENAI_API_KEY"),
        }
    }
}

/// A service at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    provider: Provider,
    /// Without a slash at the end.
    base_url: String,
}

impl Endpoint {
    /// The service at `base_url`, or at the provider's own address. A path that belongs to a single
    /// request is taken off.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if there is no address, it is not http or https, or it holds a name
    /// and password, a query or a fragment: these would show up where keys must not.
    pub fn new(provider: Provider, base_url: Option<&str>) -> Result<Self> {
        let invalid = |what: &str| Err(Error::new(ErrorKind::InvalidInput, what));
        let given = base_url.map(str::trim).filter(|u| !u.is_empty()).or(provider.default_base_url());
        let Some(url) = given else { return invalid("an OpenAI-compatible service needs its base URL") };
        let Some((scheme, rest)) = url.split_once("://") else {
            return invalid("the base URL does not begin with http:// or https://");
        };
        if !["http", "https"].iter().any(|s| scheme.eq_ignore_ascii_case(s)) {
            return invalid("the base URL does not begin with http:// or https://");
        }
        let host = rest.split('/').next().unwrap_or_default();
        if host.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control() || "?#@\\\"<>".contains(c)) {
            return invalid("the base URL is not an address: no spaces, `?`, `#`, or name and password in it");
        }
        let ends: &[&str] = match provider.protocol() {
            Protocol::Ollama => &["/api/chat", "/api/tags", "/api", "/v1"],
            Protocol::OpenAi => &["/chat/completions", "/models"],
        };
        let mut base = url.trim_end_matches('/');
        if let Some(shorter) = ends.iter().find_map(|end| base.strip_suffix(end)) {
            base = shorter.trim_end_matches('/');
        }
        Ok(Self { provider, base_url: base.to_owned() })
    }

    /// The kind of service.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The address without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Where a chat is sent to, with POST.
    pub fn chat_url(&self) -> String {
        self.with(if self.provider.protocol() == Protocol::Ollama { "/api/chat" } else { "/chat/completions" })
    }

    /// Where the list of models is, with GET.
    pub fn models_url(&self) -> String {
        self.with(if self.provider.protocol() == Protocol::Ollama { "/api/tags" } else { "/models" })
    }

    fn with(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Role {
    /// The rules.
    System,
    /// The reader.
    User,
    /// The model.
    Assistant,
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// How a model is to answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatOptions {
    /// The model's name on the server.
    pub model: String,
    /// Most tokens of the reply, reasoning included.
    pub max_tokens: u32,
    /// The model's window in tokens. Ollama is told: it cuts longer prompts silently, their beginning first.
    pub num_ctx: u32,
    /// 0 to 2; low is faithful.
    pub temperature: f32,
    /// How long Ollama keeps the model in memory afterwards: `5m`, `0`, `-1`.
    pub keep_alive: String,
    /// Whether the model thinks first. `None` says nothing about it: models that cannot think refuse to
    /// be asked.
    pub think: Option<bool>,
}

impl Default for ChatOptions {
    fn default() -> Self {
        Self {
            model: String::new(),
            max_tokens: 2048,
            num_ctx: 8192,
            temperature: 0.2,
            keep_alive: "5m".to_owned(),
            think: None,
        }
    }
}

/// The body of a request for a streamed reply.
pub fn chat_body(provider: Provider, options: &ChatOptions, messages: &[Message]) -> String {
    // Two digits: 0.2 as f32 would be written as 0.20000000298023224.
    let temperature = libm::round(f64::from(options.temperature) * 100.0) / 100.0;
    let mut body = json!({ "model": options.model, "messages": messages, "stream": true });
    match provider.protocol() {
        Protocol::Ollama => {
            body["keep_alive"] = match options.keep_alive.parse::<i64>() {
                Ok(seconds) => json!(seconds),
                Err(_) => json!(options.keep_alive),
            };
            body["options"] =
                json!({ "num_ctx": options.num_ctx, "num_predict": options.max_tokens, "temperature": temperature });
            if let Some(think) = options.think {
                body["think"] = json!(think);
            }
        }
        Protocol::OpenAi => {
            body["stream_options"] = json!({ "include_usage": true });
            body["max_tokens"] = json!(options.max_tokens);
            body["temperature"] = json!(temperature);
            if let (Provider::DeepSeek, Some(think)) = (provider, options.think) {
                body["thinking"] = json!({ "type": if think { "enabled" } else { "disabled" } });
            }
        }
    }
    body.to_string()
}

/// Whether the server has cut the beginning of a prompt off, the rules with it: Ollama does so silently
/// where the model's window is smaller than the one that was asked for. `prompt_tokens` is what the server
/// says it has read; 0 says nothing.
pub fn prompt_was_cut(provider: Provider, messages: &[Message], num_ctx: u32, prompt_tokens: u32) -> bool {
    if provider.protocol() != Protocol::Ollama || prompt_tokens == 0 {
        return false;
    }
    prompt_tokens >= num_ctx || prompt_tokens < least_tokens(messages)
}

/// Fewer tokens than any usual tokeniser makes of the messages: none takes more than some six letters, or
/// three characters of a wide script, for one over a whole text.
fn least_tokens(messages: &[Message]) -> u32 {
    let (mut wide, mut narrow) = (0_u64, 0_u64);
    for c in messages.iter().flat_map(|m| m.content.chars()).filter(|c| c.is_alphanumeric()) {
        if u32::from(c) >= 0x2e80 { wide += 1 } else { narrow += 1 }
    }
    u32::try_from(wide / 3 + narrow / 7).unwrap_or(u32::MAX)
}

/// The names of the models in a reply to a GET of [`Endpoint::models_url`], in the server's order.
///
/// # Errors
/// A [`Failure`] for a body that is no such list.
pub fn parse_models(protocol: Protocol, body: &[u8]) -> Result<Vec<String>, Failure> {
    let text = String::from_utf8_lossy(body);
    if text.trim_start().starts_with('<') {
        return Err(Failure::new(FailureKind::Html));
    }
    let value: Value = serde_json::from_str(text.trim()).map_err(|_| Failure::new(FailureKind::NotJson))?;
    let (list, names): (&str, &[&str]) = match protocol {
        Protocol::Ollama => ("models", &["name", "model"]),
        Protocol::OpenAi => ("data", &["id"]),
    };
    let list = value[list].as_array().ok_or_else(|| Failure::new(FailureKind::NotJson))?;
    let named = list.iter().filter_map(|entry| names.iter().find_map(|n| entry[*n].as_str()));
    Ok(named.filter(|n| !n.is_empty()).take(MAX_MODELS).map(str::to_owned).collect())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
