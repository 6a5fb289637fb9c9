//! Language detection from Unicode ranges.

use serde::{Deserialize, Serialize};

/// A document's main language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Chinese.
    Zh,
    /// English, and any other language in Latin script.
    En,
    /// Japanese.
    Ja,
    /// Korean.
    Ko,
    /// Russian and other Cyrillic.
    Ru,
    /// Not enough letters to tell.
    #[default]
    Other,
}
