//! The error of every library function: what went wrong, a stable code, and what to do about it.

use std::fmt;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of failure. Each has a stable code that scripts and the page can rely on.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The bytes are not one of our files at all.
    NotABundle,
    /// Written by a newer version than this program reads.
    NewerFormat,
    /// A length, checksum or internal reference does not hold.
    Corrupt,
    /// A declared size is over the limit that this program accepts.
    TooLarge,
    /// A section or file that is needed is not there.
    Missing,
    /// The model at hand is not the one that made the vectors.
    ModelMismatch,
    /// The model's files cannot be read or use something that is not supported.
    Model,
    /// The caller's input is not acceptable: an empty query, an unknown mode or filter.
    InvalidInput,
    /// A document could not be converted.
    Convert,
}

impl ErrorKind {
    /// The stable code of this kind, for example `kb::corrupt`.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotABundle => "kb::not_a_bundle",
            Self::NewerFormat => "kb::newer_format",
            Self::Corrupt => "kb::corrupt",
            Self::TooLarge => "kb::too_large",
            Self::Missing => "kb::missing",
            Self::ModelMismatch => "kb::model_mismatch",
            Self::Model => "kb::model",
            Self::InvalidInput => "kb::invalid_input",
            Self::Convert => "kb::convert",
        }
    }

    /// What somebody who meets this error can do next, in one sentence.
    pub fn hint(self) -> &'static str {
        match self {
            Self::NotABundle => "point at a folder or file that `kb-builder build` wrote",
            Self::NewerFormat => "update kb-builder, or reload the page to get its newer runtime",
            Self::Corrupt => "build the knowledge base again, or copy it again: the file is damaged or incomplete",
            Self::TooLarge => "split the knowledge base into several collections or bundles",
            Self::Missing => "copy the whole output folder, or build the knowledge base again",
            Self::ModelMismatch => {
                "use the model that the knowledge base names, or build it again with the model at hand"
            }
            Self::Model => {
                "check that the folder holds a sentence-transformers ONNX export: model.onnx and tokenizer.json"
            }
            Self::InvalidInput => "correct the input and try again",
            Self::Convert => "look at the file, or exclude it",
        }
    }
}

/// An error: its kind and a sentence about this very case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error of `kind` that says `message`: one clear sentence without a final stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The stable code, see [`ErrorKind::code`].
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// What to do next, see [`ErrorKind::hint`].
    pub fn hint(&self) -> &'static str {
        self.kind.hint()
    }

    /// The sentence about this very case, without code and hint.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code())
    }
}

impl std::error::Error for Error {}
