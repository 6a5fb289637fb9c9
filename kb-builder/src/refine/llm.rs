//! Asking the language model from code that does not wait itself.

use crate::answer::{Chat, Settings};
use crate::command::choose_model;
use crate::error::{Error, Result};
use crate::http::Client;
use kb_core::answer::request::Message;
use kb_core::document::Lang;

/// Most tokens of a reply: an order or a reading is short, and a model that has lost its way is not waited for.
const MAX_TOKENS: u32 = 1024;

/// The language model of `[llm]`, asked without chance.
pub struct LanguageModel {
    settings: Settings,
}

impl LanguageModel {
    /// The model of these settings. `what` is what it is needed for: `--reranker llm`.
    pub fn new(mut settings: Settings, what: &str) -> Result<Self> {
        if settings.endpoint.is_none() {
            return Err(Error::usage(
                format!("{what} needs a language model, and none is named"),
                "name its service in [llm] of kb.toml, or with KB_LLM_PROVIDER and KB_LLM_MODEL in the environment",
            ));
        }
        settings.options.temperature = 0.0;
        settings.options.max_tokens = settings.options.max_tokens.min(MAX_TOKENS);
        waiting(async { choose_model(&Client::new(), &mut settings, Lang::En).await })??;
        Ok(Self { settings })
    }

    /// The model's window in tokens.
    pub fn num_ctx(&self) -> u32 {
        self.settings.options.num_ctx
    }

    /// The model's reply, or a sentence that says why there is none.
    pub fn ask(&self, messages: &[Message]) -> std::result::Result<String, String> {
        let reply = waiting(async {
            let client = Client::new();
            let Some(chat) = Chat::new(&client, &self.settings) else { return Ok(String::new()) };
            tokio::select! {
                reply = chat.whole(messages) => reply.map_err(|failure| failure.to_text(Lang::En)),
                // Leaving here drops the call, which closes the connection.
                _ = tokio::signal::ctrl_c() => Err("it was stopped".to_owned()),
            }
        });
        reply.map_err(|e| e.to_string())?
    }
}

/// Waits on a thread of its own, so that this may be called where somebody waits already.
fn waiting<T: Send>(work: impl Future<Output = T> + Send) -> Result<T> {
    let failed = |e: &dyn std::fmt::Display| Error::failed(format!("the program cannot wait for the network: {e}"), "");
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
            Ok(runtime.block_on(work))
        });
        thread.join().map_err(|_| failed(&"the thread that waits has ended"))?
    })
}
