//! Asking a knowledge base on this machine: retrieval, the decision whether there is anything to say, a
//! language model or the passages' own sentences, and the check of what came back.

mod ask;
mod chat;
pub(crate) mod dotenv;
pub mod settings;

pub use ask::{Answer, Answerer, Found, Kind, Progress, Source};
pub use chat::{Chat, ChatEvent};
pub use settings::{Key, LlmConfig, LlmFlags, Settings};
