//! The third module, for knowledge bases whose model a service has: what is sent to it and what its answers mean. The
//! page sends it.

use crate::answer::read;
use crate::error::{JsResult, failure_to_js, to_js};
use js_sys::{Float32Array, Object, Reflect};
use kb_core::document::Lang;
use kb_core::embed::service::Outcome;
use kb_core::embed::{ModelInfo, ServiceClient, TextKind};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// The service that made a knowledge base's vectors and makes those of its questions.
#[wasm_bindgen]
pub struct EmbeddingService {
    client: ServiceClient,
    key: String,
    lang: Lang,
}

#[wasm_bindgen]
impl EmbeddingService {
    /// The service of the knowledge base whose `manifest.json` has this `model`, at `baseUrl` or, if that is empty,
    /// where the manifest says. `key` is taken out of messages, `lang` is the language of the sentences in errors.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` if no service made the vectors, `kb::invalid_input` for an address that cannot
    /// be one.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "object")] model: JsValue,
        #[wasm_bindgen(js_name = baseUrl)] base_url: &str,
        key: &str,
        lang: &str,
    ) -> JsResult<EmbeddingService> {
        let info: ModelInfo = read("the model", model)?;
        let client = ServiceClient::new(&info, Some(base_url)).map_err(to_js)?;
        let lang = if lang.starts_with("zh") { Lang::Zh } else { Lang::En };
        Ok(Self { client, key: key.trim().to_owned(), lang })
    }

    /// The address that requests go to, without a slash at its end.
    #[wasm_bindgen(getter, js_name = baseUrl)]
    pub fn base_url(&self) -> String {
        self.client.base_url().to_owned()
    }

    /// How many texts a request may have.
    #[wasm_bindgen(getter)]
    pub fn batch(&self) -> usize {
        self.client.batch()
    }

    /// Where to POST what for these texts: questions, or else passages.
    #[wasm_bindgen(unchecked_return_type = "ServiceRequest")]
    pub fn request(&self, questions: bool, texts: Vec<String>) -> JsValue {
        let kind = if questions { TextKind::Query } else { TextKind::Passage };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (url, body) = self.client.request(kind, &texts);
        let out = Object::new();
        // Setting a property of a fresh object cannot fail.
        let _ = Reflect::set(&out, &"url".into(), &url.into());
        let _ = Reflect::set(&out, &"body".into(), &body.into());
        out.into()
    }

    /// The vectors in the answer to a request with `n` texts, one after the other; nothing if the server is an older
    /// one that has to be asked again, with what `request` and `batch` say now.
    ///
    /// # Errors
    /// Throws a `ChatError` for an answer without vectors.
    pub fn read(&mut self, status: u16, body: &[u8], n: usize) -> JsResult<Option<Float32Array>> {
        match self.client.read(status, body, n) {
            Outcome::Vectors(vectors) => Ok(Some(Float32Array::from(vectors.concat().as_slice()))),
            Outcome::AskAgain => Ok(None),
            Outcome::Failed(failure) => Err(failure_to_js(&failure, &self.key, self.lang)),
        }
    }
}
