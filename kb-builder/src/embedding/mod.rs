//! What turns texts into vectors: a model in a folder, or a service that runs one.

mod remote;
mod settings;

pub use remote::{RemoteModel, Waits};
pub use settings::{EmbedderFlags, EmbeddingConfig, ServiceChoice, query_service};

use crate::error::Result;
use crate::model::ModelFolder;
use kb_core::embed::{ModelInfo, TextKind};
use std::path::{Path, PathBuf};

/// What a build is to embed with.
#[derive(Debug, Clone)]
pub enum ModelChoice {
    /// A folder with model.onnx, tokenizer.json and model.json.
    Folder(PathBuf),
    /// A service.
    Service(ServiceChoice),
}

/// A model that is ready to embed.
pub enum EmbeddingModel {
    /// Run by this program, and by the reader's browser.
    Folder(Box<ModelFolder>),
    /// Run elsewhere.
    Service(Box<RemoteModel>),
}

impl EmbeddingModel {
    /// Opens what was chosen. A service is asked for the length of its vectors unless the cache knows it.
    pub fn open(choice: &ModelChoice, cache: Option<&Path>) -> Result<Self> {
        Ok(match choice {
            ModelChoice::Folder(path) => ModelFolder::read(path)?.into(),
            ModelChoice::Service(choice) => {
                Self::Service(Box::new(RemoteModel::open(choice, cache, Waits::default())?))
            }
        })
    }

    /// The description, which is kept with the vectors.
    pub fn info(&self) -> &ModelInfo {
        match self {
            Self::Folder(folder) => &folder.info,
            Self::Service(remote) => remote.info(),
        }
    }

    /// The files that a site carries; none for a service.
    pub fn folder(&self) -> Option<&ModelFolder> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Service(_) => None,
        }
    }

    /// One vector for each text. `finished` hears of each as soon as it is there: its number, its length in tokens
    /// where that is known, the vector.
    pub fn embed_all(
        &self,
        kind: TextKind,
        texts: &[&str],
        finished: &(dyn Fn(usize, usize, &[f32]) + Sync),
    ) -> Result<Vec<Vec<f32>>> {
        match self {
            Self::Folder(folder) => Ok(folder.encoder()?.embed_all(kind, texts, finished)?),
            Self::Service(remote) => remote.embed_all(kind, texts, finished),
        }
    }

    /// How many of the texts are longer than what the model is given of them. Of a folder `embed_all` knows it.
    pub fn cut(&self, texts: &[&str]) -> usize {
        let max = self.info().service.as_ref().and_then(|s| s.max_chars);
        max.map_or(0, |max| texts.iter().filter(|t| t.chars().nth(max).is_some()).count())
    }
}

impl From<ModelFolder> for EmbeddingModel {
    fn from(folder: ModelFolder) -> Self {
        Self::Folder(Box::new(folder))
    }
}
