//! What can go wrong between a reader and a language model, and what to say about it.

use crate::document::Lang;
use std::fmt;

/// Longest message of a server that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// The kinds of failure, each with a stable code and a sentence for the reader.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// Nothing listens at the address, or it cannot be reached.
    NotRunning,
    /// The connection could not be made secure.
    Insecure,
    /// 403: this origin or this account may not.
    Refused,
    /// The service needs a key and there is none: nothing was sent.
    NoKey,
    /// 401.
    WrongKey,
    /// 402, or a quota that is used up.
    NoBalance,
    /// The server has no model of that name.
    NoSuchModel,
    /// The server has no such address.
    NoSuchAddress,
    /// 400: the request is not understood.
    BadRequest,
    /// 400: this model cannot think, or cannot be told not to.
    CannotThink,
    /// The prompt does not fit into the model's window.
    PromptTooLong,
    /// 422.
    BadParameters,
    /// 429.
    RateLimited,
    /// 500, 502 and the like.
    ServerFailed,
    /// 503.
    Overloaded,
    /// A web page came instead of a reply.
    Html,
    /// What came is no reply of a language model.
    NotJson,
    /// The reply was empty.
    Empty,
    /// An error in the middle of the reply.
    InReply,
    /// The reply is longer than anything sensible.
    TooLarge,
    /// Nothing came for too long.
    Stalled,
    /// The connection broke before anything came.
    Broken,
}

impl FailureKind {
    /// The stable code: `llm::wrong_key`.
    pub fn code(self) -> &'static str {
        self.parts().0
    }

    /// What happened and what to do, in the reader's language: Chinese, or English for all others.
    pub fn sentence(self, lang: Lang) -> &'static str {
        let (_, en, zh) = self.parts();
        if lang == Lang::Zh { zh } else { en }
    }

    /// Whether the same request may succeed when it is sent again a little later.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::RateLimited | Self::ServerFailed | Self::Overloaded | Self::Broken)
    }

    /// Code, English sentence, Chinese sentence.
    fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::NotRunning => (
                "llm::not_running",
                "The language model's server cannot be reached. Start it (for Ollama: `ollama serve`) and check the address.",
                "连接不到语言模型的服务器。请启动它（Ollama 用 `ollama serve`），并检查地址。",
            ),
            Self::Insecure => (
                "llm::insecure",
                "A secure connection to the server could not be made. Check the address and the server's certificate.",
                "无法与服务器建立安全连接。请检查地址和服务器的证书。",
            ),
            Self::Refused => (
                "llm::refused",
                "The server refuses the request. For Ollama, admit this page's origin in OLLAMA_ORIGINS; elsewhere, check what the key may do.",
                "服务器拒绝了请求。若是 Ollama，请把本页的来源加入 OLLAMA_ORIGINS；其他服务请检查密钥的权限。",
            ),
            Self::NoKey => (
                "llm::no_key",
                "This service needs a key, and none was given. Enter it in the settings of the page, or set its variable (DEEPSEEK_API_KEY) in the environment or in the file `.env` beside kb.toml.",
                "该服务需要密钥，但没有提供。请在页面的设置中填写，或在环境变量（DEEPSEEK_API_KEY）或 kb.toml 旁的 `.env` 文件中设置。",
            ),
            Self::WrongKey => (
                "llm::wrong_key",
                "The key is missing or wrong. Enter a valid key for this service.",
                "密钥缺失或不正确。请填写该服务的有效密钥。",
            ),
            Self::NoBalance => (
                "llm::no_balance",
                "The account has no balance or quota left. Top it up, or use another service or a local model.",
                "账户余额或额度已用完。请充值，或改用其他服务或本机模型。",
            ),
            Self::NoSuchModel => (
                "llm::no_such_model",
                "The server does not have this model. Choose one from its list (for Ollama: `ollama pull NAME` first).",
                "服务器上没有这个模型。请从它的列表中选择（Ollama 请先运行 `ollama pull 模型名`）。",
            ),
            Self::NoSuchAddress => (
                "llm::no_such_address",
                "There is no language model at this address. Check the base URL; many servers want `/v1` at its end.",
                "这个地址上没有语言模型。请检查基础地址；许多服务器要求以 `/v1` 结尾。",
            ),
            Self::BadRequest => (
                "llm::bad_request",
                "The server does not understand the request. Check that the chosen kind of service is the right one.",
                "服务器不理解这个请求。请检查所选的服务类型是否正确。",
            ),
            Self::CannotThink => (
                "llm::cannot_think",
                "This model cannot switch its thinking on or off. Leave that setting alone.",
                "这个模型不能开关思考过程。请不要设置该选项。",
            ),
            Self::PromptTooLong => (
                "llm::prompt_too_long",
                "The question and its passages do not fit into the model's window. Choose a larger window or fewer passages.",
                "问题和段落超出了模型的上下文窗口。请调大窗口，或减少段落。",
            ),
            Self::BadParameters => (
                "llm::bad_parameters",
                "The server does not accept a parameter. Check the model's name, the temperature and the limit of tokens.",
                "服务器不接受某个参数。请检查模型名、温度和最大长度。",
            ),
            Self::RateLimited => (
                "llm::rate_limited",
                "Too many requests at once. Wait a moment and ask again.",
                "请求过于频繁。请稍候再问。",
            ),
            Self::ServerFailed => (
                "llm::server_failed",
                "The server has failed. Ask again; if it persists, look at the server's log or status page.",
                "服务器出错了。请再试一次；若仍然如此，请查看服务器的日志或状态页。",
            ),
            Self::Overloaded => (
                "llm::overloaded",
                "The server is overloaded. Wait a moment and ask again.",
                "服务器过载。请稍候再问。",
            ),
            Self::Html => (
                "llm::html",
                "A web page came instead of an answer. Check the base URL, and whether a network login or proxy stands in between.",
                "收到的是网页而不是回答。请检查基础地址，以及中间是否有网络登录页或代理。",
            ),
            Self::NotJson => (
                "llm::not_json",
                "What came is not a language model's reply. Check the base URL and the kind of service.",
                "收到的内容不是语言模型的回复。请检查基础地址和服务类型。",
            ),
            Self::Empty => (
                "llm::empty",
                "The server ended the reply without a word. Ask again, or choose another model.",
                "服务器没有返回任何内容。请再试一次，或换一个模型。",
            ),
            Self::InReply => (
                "llm::in_reply",
                "The server failed in the middle of the answer. What is shown is incomplete; ask again.",
                "服务器在回答途中出错。已显示的内容不完整，请再问一次。",
            ),
            Self::TooLarge => (
                "llm::too_large",
                "The reply is larger than any answer should be and was stopped. Choose another server or model.",
                "回复超出了合理的大小，已停止接收。请换一个服务器或模型。",
            ),
            Self::Stalled => (
                "llm::stalled",
                "Nothing has come from the server for too long. Ask again, or choose a smaller model.",
                "服务器长时间没有响应。请再试一次，或换一个更小的模型。",
            ),
            Self::Broken => {
                ("llm::broken", "The connection to the server broke. Ask again.", "与服务器的连接中断了。请再试一次。")
            }
        }
    }
}

/// A failure, with what the server said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// HTTP status, where there was one other than 200.
    pub status: Option<u16>,
    /// The server's own words, short, without control characters and keys; may be empty.
    pub message: String,
}

impl Failure {
    /// A failure about which the server said nothing.
    pub fn new(kind: FailureKind) -> Self {
        Self { kind, status: None, message: String::new() }
    }

    /// A failure with the words of a server or of the network, which are cut and cleaned.
    pub fn with_message(kind: FailureKind, status: Option<u16>, message: &str) -> Self {
        Self { kind, status, message: clean(message) }
    }

    /// [`FailureKind::sentence`], and the server's own words behind it.
    pub fn to_text(&self, lang: Lang) -> String {
        let mut out = self.kind.sentence(lang).to_owned();
        let status = self.status.map(|s| format!("HTTP {s}"));
        let words: Vec<&str> =
            [status.as_deref().unwrap_or_default(), &self.message].into_iter().filter(|w| !w.is_empty()).collect();
        if !words.is_empty() {
            out.push_str(if lang == Lang::Zh { "（" } else { " (" });
            out.push_str(&words.join(": "));
            out.push_str(if lang == Lang::Zh { "）" } else { ")" });
        }
        out
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.to_text(Lang::En), self.kind.code())
    }
}

/// One line, not too long, and without anything that looks like a key: some services repeat it.
fn clean(message: &str) -> String {
    let mut out = String::new();
    for word in message.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()) {
        if out.chars().count() + word.chars().count() > MAX_MESSAGE_CHARS {
            out.push('…');
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        match word.find("sk-") {
            Some(at) => {
                out.push_str(&word[..at]);
                out.push_str("sk-…");
            }
            None => out.push_str(word),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_server_are_short_and_hold_no_key() {
        let failure = Failure::with_message(FailureKind::WrongKey, Some(401), "Bad\n key:\u{7} 'sk-abc123', ask");
        assert_eq!(failure.message, "Bad key: 'sk-… ask");
        assert_eq!(
            failure.to_text(Lang::Zh),
            "密钥缺失或不正确。请填写该服务的有效密钥。（HTTP 401: Bad key: 'sk-… ask）"
        );
        let long = Failure::with_message(FailureKind::InReply, None, &"word ".repeat(1000));
        assert!(long.message.chars().count() <= MAX_MESSAGE_CHARS + 80);
        let endless = Failure::with_message(FailureKind::InReply, None, &"字".repeat(100_000));
        assert!(endless.message.chars().count() <= MAX_MESSAGE_CHARS + 1);
    }
}
