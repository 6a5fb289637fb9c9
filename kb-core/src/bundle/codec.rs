//! The one place that knows bincode. Its standard configuration (little endian, variable-length
//! integers) is written out in FORMAT.md, so that another encoder can take its place.

use super::frame::{MAX_SECTION_BYTES, SectionKind};
use crate::Result;
use bincode::error::DecodeError;
use serde::{Deserialize, Serialize};

/// `value` as bincode.
pub(crate) fn encode<T: Serialize>(kind: SectionKind, value: &T) -> Result<Vec<u8>> {
    bincode::serde::encode_to_vec(value, bincode::config::standard())
        .map_err(|e| kind.corrupt(format!("cannot be encoded ({e})")))
}

/// A value from bincode, which must use up all `bytes`.
///
/// Types to decode hold `&str` and `&[u8]`, never `String`: for an owned string bincode 2.0.1 makes
/// room for the declared length before it looks whether so many bytes are there. They must not be
/// recursive either, since there is no limit on depth.
pub(crate) fn decode<'a, T: Deserialize<'a>>(kind: SectionKind, bytes: &'a [u8]) -> Result<T> {
    let (value, rest) = decode_first(kind, bytes)?;
    if !rest.is_empty() {
        return Err(kind.corrupt(format!("{} bytes are left over", rest.len())));
    }
    Ok(value)
}

/// The value at the beginning of `bytes`, as [`decode`], and the bytes behind it.
pub(crate) fn decode_first<'a, T: Deserialize<'a>>(kind: SectionKind, bytes: &'a [u8]) -> Result<(T, &'a [u8])> {
    let config = bincode::config::standard().with_limit::<{ 4 * MAX_SECTION_BYTES }>();
    let (value, used) = bincode::serde::borrow_decode_from_slice(bytes, config)
        .map_err(|e| kind.corrupt(format!("cannot be decoded ({})", reason(&e))))?;
    Ok((value, bytes.get(used..).unwrap_or_default()))
}

/// What is wrong, in words: bincode's own message is its whole `Debug`, a twentieth of the browser's first module.
fn reason(error: &DecodeError) -> &'static str {
    match error {
        DecodeError::UnexpectedEnd { .. } => "it ends early",
        DecodeError::LimitExceeded => "it names more than there can be",
        DecodeError::Utf8 { .. } => "a text is not UTF-8",
        _ => "it is malformed",
    }
}
