//! The error of everything that touches files, the network or the configuration.

use std::io;
use std::path::{Path, PathBuf};

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong on the author's machine. Errors of the pure half pass through unchanged.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// `read`, `write`, `create`: completes "cannot … PATH".
        action: &'static str,
        /// What it was about.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The arguments or the configuration ask for something that cannot be: exit status 2.
    #[error("{message}")]
    Usage {
        /// One sentence that says what is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The work cannot be done as things are: exit status 1.
    #[error("{message}")]
    Failed {
        /// One sentence that says what is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// From kb-core.
    #[error(transparent)]
    Core(#[from] kb_core::Error),
}

impl Error {
    /// An [`Error::Io`] about `path`.
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: io::Error) -> Self {
        Self::Io { action, path: path.as_ref().to_path_buf(), source }
    }

    /// An [`Error::Usage`].
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    /// An [`Error::Failed`].
    pub fn failed(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), hint: hint.into() }
    }

    /// What somebody who meets this error can do next, where that is not plain from the message.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Io { .. } => None,
            Self::Usage { hint, .. } | Self::Failed { hint, .. } => {
                Some(hint).filter(|h| !h.is_empty()).map(String::as_str)
            }
            Self::Core(e) => Some(e.hint()),
        }
    }

    /// Exit status that the program ends with.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Usage { .. } => 2,
            Self::Core(e) if e.kind() == kb_core::ErrorKind::InvalidInput => 2,
            _ => 1,
        }
    }
}
