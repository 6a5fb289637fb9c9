//! The third module, what it sends: one call of a language model that the reader has set up, its reply passed
//! on while it arrives. The same parser as on the command line reads it.

use crate::answer::{read, serialise};
use crate::error::{JsResult, failure_to_js, to_js};
use gloo_net::http::{Request, RequestBuilder, Response};
use js_sys::{Error as JsError, Function, Promise, Reflect, Uint8Array};
use kb_core::answer::Passage;
use kb_core::answer::citations::{CitationStream, Segment};
use kb_core::answer::request::{ChatOptions, Endpoint, Message, Provider, chat_body, parse_models, prompt_was_cut};
use kb_core::answer::stream::{EndReason, Event, Failure, FailureKind, StreamParser, Usage, classify};
use kb_core::document::Lang;
use kb_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::{JsCast, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, MessageChannel, ReadableStreamDefaultReader, ReferrerPolicy, RequestCredentials};

/// Most bytes of an error that are looked at.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// How long pieces that have already come are worked on before the page has its turn. Milliseconds.
const BUDGET: f64 = 8.0;
/// Bytes of a piece that are worked on in one go. A piece may have come with thousands of tokens.
const AT_ONCE: usize = 4 << 10;
/// Most bytes of a list of models.
const MAX_LIST_BYTES: usize = 4 << 20;

/// How to reach a language model.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ChatSettings"))]
pub(crate) struct Settings {
    /// Which protocol it speaks.
    #[cfg_attr(test, schemars(with = "kb_core::answer::request::Provider"))]
    provider: String,
    /// The provider's own address if empty.
    #[serde(default)]
    base_url: String,
    /// The model's name on the server.
    #[serde(default)]
    model: String,
    /// Sent to this address only, as a bearer token.
    #[serde(default)]
    key: String,
    /// Most tokens of a reply, reasoning included.
    #[serde(default)]
    max_tokens: Option<u32>,
    /// The model's window in tokens.
    #[serde(default)]
    num_ctx: Option<u32>,
    /// 0 to 2; low is faithful.
    #[serde(default)]
    temperature: Option<f32>,
    /// How long Ollama keeps the model in memory afterwards: `5m`, `0`, `-1`.
    #[serde(default)]
    keep_alive: Option<String>,
    /// The language of the sentences in errors: `zh`, or English.
    #[serde(default)]
    lang: String,
}

/// A language model that can be asked.
#[wasm_bindgen]
pub struct Chat {
    endpoint: Endpoint,
    options: ChatOptions,
    key: String,
    lang: Lang,
}

/// What is passed on beside segments.
#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum Aside {
    /// The model thinking aloud: not part of the answer.
    Reasoning {
        /// Never empty.
        text: String,
    },
    /// All text so far was the model thinking aloud.
    Restart,
    /// The connection lives, but nothing was said.
    Waiting,
}

/// How a reply ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ReplyEnd"))]
pub(crate) struct EndDto {
    /// Tokens of the prompt, as the server counts them; 0 if it does not say.
    prompt_tokens: u32,
    /// Tokens of the reply.
    completion_tokens: u32,
    /// Why it ended.
    reason: EndReason,
    /// Citations that named no passage and were taken out.
    unresolved: usize,
    /// Whether the server has cut the beginning of the prompt off.
    cut: bool,
}

#[wasm_bindgen]
impl Chat {
    /// The model of these settings. Nothing is sent yet.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::invalid_input` for an unknown provider or an address that cannot be one.
    #[wasm_bindgen(constructor)]
    pub fn new(#[wasm_bindgen(unchecked_param_type = "ChatSettings")] settings: JsValue) -> JsResult<Chat> {
        let settings: Settings = read("the settings", settings)?;
        let unknown = || Error::new(ErrorKind::InvalidInput, format!("there is no provider `{}`", settings.provider));
        let provider = Provider::from_name(&settings.provider).ok_or_else(|| to_js(unknown()))?;
        let endpoint = Endpoint::new(provider, Some(&settings.base_url)).map_err(to_js)?;
        let default = ChatOptions::default();
        let options = ChatOptions {
            model: settings.model,
            max_tokens: settings.max_tokens.unwrap_or(default.max_tokens),
            num_ctx: settings.num_ctx.unwrap_or(default.num_ctx),
            temperature: settings.temperature.unwrap_or(default.temperature),
            keep_alive: settings.keep_alive.unwrap_or(default.keep_alive),
            think: default.think,
        };
        let lang = if settings.lang.starts_with("zh") { Lang::Zh } else { Lang::En };
        Ok(Self { endpoint, options, key: settings.key.trim().to_owned(), lang })
    }

    /// The address that requests go to, without a slash at its end.
    #[wasm_bindgen(getter, js_name = baseUrl)]
    pub fn base_url(&self) -> String {
        self.endpoint.base_url().to_owned()
    }

    /// The names of the models that the server has.
    ///
    /// # Errors
    /// Throws a `ChatError`, or an `AbortError` after the signal.
    pub async fn models(&self, signal: AbortSignal) -> JsResult<Vec<String>> {
        let request = self.signed(Request::get(&self.endpoint.models_url()), &signal).build();
        let response = self.send(request.map_err(|_| self.throw(&unsendable()))?, &signal).await?;
        let mut body = Vec::new();
        let mut reader = Body::new(&response);
        while body.len() < MAX_LIST_BYTES {
            match reader.next().await {
                Ok(Some(bytes)) => body.extend(bytes),
                Ok(None) => break,
                Err(_) => return Err(self.broken(&signal)),
            }
        }
        parse_models(self.endpoint.provider().protocol(), &body).map_err(|failure| self.throw(&failure))
    }

    /// The body of the request for these messages, for those who want to see it. The key is not in it.
    ///
    /// # Errors
    /// Throws a `KbError` for messages of the wrong shape.
    pub fn body(&self, #[wasm_bindgen(unchecked_param_type = "Message[]")] messages: JsValue) -> JsResult<String> {
        let messages: Vec<Message> = read("the messages", messages)?;
        Ok(chat_body(self.endpoint.provider(), &self.options, &messages))
    }

    /// Sends the messages and calls `onEvent` with each piece of the reply, a `ReplyEvent`, as it arrives.
    /// `passages` are those of the prompt: what cites none of them is taken out.
    ///
    /// # Errors
    /// Throws a `ChatError`, or an `AbortError` after the signal; then no event follows.
    #[wasm_bindgen(unchecked_return_type = "ReplyEnd")]
    pub async fn ask(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Message[]")] messages: JsValue,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        #[wasm_bindgen(js_name = onEvent, unchecked_param_type = "(event: ReplyEvent) => void")] on_event: Function,
        signal: AbortSignal,
    ) -> JsResult<JsValue> {
        let messages: Vec<Message> = read("the messages", messages)?;
        let body = chat_body(self.endpoint.provider(), &self.options, &messages);
        let passages: Vec<Passage> = read("the passages", passages)?;
        let request = self.signed(Request::post(&self.endpoint.chat_url()), &signal);
        let request = request.header("content-type", "application/json").body(body);
        let response = self.send(request.map_err(|_| self.throw(&unsendable()))?, &signal).await?;
        let mut reply = Reply::new(self, &passages, &on_event);
        let mut reader = Body::new(&response);
        // Reading what is there already never leaves the page's current task: it must be left now and then.
        let mut began = js_sys::Date::now();
        loop {
            let next = reader.next().await;
            if signal.aborted() {
                return Err(aborted());
            }
            let end = match next {
                Ok(Some(bytes)) => {
                    let mut end = None;
                    for piece in bytes.chunks(AT_ONCE) {
                        end = reply.push(piece)?;
                        if end.is_some() {
                            break;
                        }
                        if js_sys::Date::now() - began > BUDGET {
                            turn().await;
                            if signal.aborted() {
                                return Err(aborted());
                            }
                            began = js_sys::Date::now();
                        }
                    }
                    end
                }
                // The answer is there, only the end of the stream is missing.
                Err(_) if !reply.parser.is_complete() => return Err(self.broken(&signal)),
                Ok(None) | Err(_) => reply.finish()?,
            };
            if let Some(mut end) = end {
                reader.cancel();
                end.cut = prompt_was_cut(self.endpoint.provider(), &messages, self.options.num_ctx, end.prompt_tokens);
                return serialise(&end);
            }
        }
    }
}

impl Chat {
    fn signed(&self, request: RequestBuilder, signal: &AbortSignal) -> RequestBuilder {
        // Neither cookies nor the page's address are the model's business.
        let request = request
            .credentials(RequestCredentials::Omit)
            .referrer_policy(ReferrerPolicy::NoReferrer)
            .abort_signal(Some(signal));
        if self.key.is_empty() { request } else { request.header("authorization", &format!("Bearer {}", self.key)) }
    }

    async fn send(&self, request: Request, signal: &AbortSignal) -> JsResult<Response> {
        if self.key.is_empty() && self.endpoint.provider().needs_key() {
            return Err(self.throw(&Failure::new(FailureKind::NoKey)));
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(_) if signal.aborted() => return Err(aborted()),
            // The browser does not say why: not running, an origin that is refused, or a policy.
            Err(_) => return Err(self.throw(&Failure::new(FailureKind::NotRunning))),
        };
        if response.status() == 200 {
            return Ok(response);
        }
        let mut body = Vec::new();
        let mut reader = Body::new(&response);
        while body.len() < MAX_ERROR_BYTES {
            let Ok(Some(bytes)) = reader.next().await else { break };
            body.extend(bytes);
        }
        reader.cancel();
        Err(self.throw(&classify(response.status(), &body)))
    }

    fn broken(&self, signal: &AbortSignal) -> JsValue {
        if signal.aborted() { aborted() } else { self.throw(&Failure::new(FailureKind::Broken)) }
    }

    fn throw(&self, failure: &Failure) -> JsValue {
        failure_to_js(failure, &self.key, self.lang)
    }
}

/// One reply while it arrives.
struct Reply<'a> {
    chat: &'a Chat,
    parser: StreamParser,
    citations: CitationStream,
    passages: &'a [Passage],
    on_event: &'a Function,
    usage: Usage,
}

impl<'a> Reply<'a> {
    fn new(chat: &'a Chat, passages: &'a [Passage], on_event: &'a Function) -> Self {
        Self {
            chat,
            parser: StreamParser::new(chat.endpoint.provider().protocol()),
            citations: CitationStream::new(passages),
            passages,
            on_event,
            usage: Usage::default(),
        }
    }

    fn push(&mut self, bytes: &[u8]) -> JsResult<Option<EndDto>> {
        let mut events = Vec::new();
        self.parser.push(bytes, &mut events);
        if events.is_empty() {
            self.aside(&Aside::Waiting)?;
        }
        self.pass_on(events)
    }

    fn finish(&mut self) -> JsResult<Option<EndDto>> {
        let mut events = Vec::new();
        self.parser.finish(&mut events);
        self.pass_on(events)
    }

    fn pass_on(&mut self, events: Vec<Event>) -> JsResult<Option<EndDto>> {
        for event in events {
            let mut segments = Vec::new();
            match event {
                Event::Reasoning(text) => self.aside(&Aside::Reasoning { text })?,
                // Without passages there is nothing to cite, and `[1]` is the model's own text.
                Event::Text(text) if self.passages.is_empty() => segments.push(Segment::Text { text }),
                Event::Text(text) => self.citations.push(&text, &mut segments),
                Event::TextWasReasoning => {
                    self.citations = CitationStream::new(self.passages);
                    self.aside(&Aside::Restart)?;
                }
                Event::Usage(counted) => self.usage = counted,
                Event::Error(failure) => return Err(self.chat.throw(&failure)),
                Event::End(reason) => {
                    self.citations.finish(&mut segments);
                    self.segments(&segments)?;
                    return Ok(Some(EndDto {
                        prompt_tokens: self.usage.prompt_tokens,
                        completion_tokens: self.usage.completion_tokens,
                        reason,
                        unresolved: self.citations.unresolved(),
                        cut: false,
                    }));
                }
            }
            self.segments(&segments)?;
        }
        Ok(None)
    }

    fn segments(&self, segments: &[Segment]) -> JsResult<()> {
        segments.iter().try_for_each(|segment| self.aside(segment))
    }

    fn aside(&self, event: &impl Serialize) -> JsResult<()> {
        self.on_event.call1(&JsValue::NULL, &serialise(event)?).map(|_| ())
    }
}

/// The bytes of a reply as they come.
struct Body {
    reader: Option<ReadableStreamDefaultReader>,
}

impl Body {
    fn new(response: &Response) -> Self {
        let reader = response.body().map(|stream| stream.get_reader().unchecked_into());
        Self { reader }
    }

    async fn next(&mut self) -> JsResult<Option<Vec<u8>>> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let piece = JsFuture::from(reader.read()).await?;
        if Reflect::get(&piece, &"done".into())?.is_truthy() {
            return Ok(None);
        }
        let value: Uint8Array = Reflect::get(&piece, &"value".into())?.unchecked_into();
        Ok(Some(value.to_vec()))
    }

    /// Closes the connection if there is still something to come.
    fn cancel(&self) {
        if let Some(reader) = &self.reader {
            let _ = reader.cancel();
        }
    }
}

/// Ends the page's current task, so that it can draw and react. By a message: pages in the background get few timers.
async fn turn() {
    let Ok(channel) = MessageChannel::new() else { return };
    let (here, there) = (channel.port1(), channel.port2());
    let came = Promise::new(&mut |resolve, _| here.set_onmessage(Some(&resolve)));
    if there.post_message(&JsValue::NULL).is_ok() {
        // It cannot be rejected.
        let _ = JsFuture::from(came).await;
    }
    here.close();
}

fn unsendable() -> Failure {
    Failure::new(FailureKind::NoSuchAddress)
}

fn aborted() -> JsValue {
    let error = JsError::new("the request was given up");
    error.set_name("AbortError");
    error.unchecked_into()
}
