//! The one place where an error of kb-core becomes one of JavaScript.

#[cfg(any(feature = "search", feature = "answer"))]
use kb_core::ErrorKind;
#[cfg(feature = "answer")]
use kb_core::{answer::stream::Failure, document::Lang};
use wasm_bindgen::{JsCast, JsValue};

/// Result of every exported function: what goes wrong is thrown as an `Error` with `code` and `hint`.
pub(crate) type JsResult<T> = Result<T, JsValue>;

/// `error` as an `Error` of JavaScript: its `message` is the sentence about this case, its `code` and
/// `hint` are those of [`kb_core::Error`].
pub(crate) fn to_js(error: kb_core::Error) -> JsValue {
    let js = js_sys::Error::new(error.message());
    js.set_name("KbError");
    // Setting a property of a fresh object cannot fail.
    let _ = js_sys::Reflect::set(&js, &"code".into(), &error.code().into());
    let _ = js_sys::Reflect::set(&js, &"hint".into(), &error.hint().into());
    js.unchecked_into()
}

/// An argument from JavaScript that has the wrong shape.
#[cfg(any(feature = "search", feature = "answer"))]
pub(crate) fn bad_argument(what: &str, error: serde_wasm_bindgen::Error) -> JsValue {
    to_js(kb_core::Error::new(ErrorKind::InvalidInput, format!("{what} has the wrong shape ({error})")))
}

/// What went wrong between the reader and a service as an `Error` of JavaScript, a `ChatError` of `types.d.ts`. A server
/// may repeat the key in its message.
#[cfg(feature = "answer")]
pub(crate) fn failure_to_js(failure: &Failure, key: &str, lang: Lang) -> JsValue {
    let mut text = failure.to_text(lang);
    if !key.is_empty() {
        text = text.replace(key, "…");
    }
    let error = js_sys::Error::new(&text);
    error.set_name("ChatError");
    // Setting a property of a fresh object cannot fail.
    let _ = js_sys::Reflect::set(&error, &"code".into(), &failure.kind.code().into());
    let _ = js_sys::Reflect::set(&error, &"mayPass".into(), &failure.kind.may_pass().into());
    if let Some(status) = failure.status {
        let _ = js_sys::Reflect::set(&error, &"status".into(), &status.into());
    }
    error.unchecked_into()
}
