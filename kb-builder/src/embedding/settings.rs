//! Which model embeds: flag, then environment, then `[embedding]` and `[model]` of `kb.toml`, then the default model.

use super::{ModelChoice, RemoteModel, Waits};
use crate::answer::settings::variable_of;
use crate::answer::{Key, dotenv};
use crate::config::{Config, ModelConfig};
use crate::error::{Error, Result};
use crate::model;
use kb_core::embed::service::{base_url_of, usual_prefixes};
use kb_core::embed::{ModelInfo, Service, ServiceKind};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

/// Environment variables for the kind of service, its model and its address.
pub const VARIABLES: [&str; 3] = ["KB_EMBEDDER", "KB_EMBEDDER_MODEL", "KB_EMBEDDER_URL"];

/// What stands for the model in a folder where a service could be named.
const LOCAL: &str = "local";

/// `[embedding]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddingConfig {
    /// `local`, `ollama`, `openai`, `openai-compatible` or `voyage`. Default: `local`, the model of `[model]`.
    pub provider: Option<String>,
    /// Name of the model there. Default: `nomic-embed-text`, `text-embedding-3-small`, `voyage-3.5`.
    pub model: Option<String>,
    /// Address of the service. Default: the provider's own.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key. Default: `OPENAI_API_KEY`, `VOYAGE_API_KEY`.
    pub api_key_env: Option<String>,
    /// The same as `"${NAME}"`. A key itself is refused here.
    pub api_key: Option<String>,
    /// Texts are cut to so many characters; 0 leaves them whole. Default: 500 for Ollama, 0 for the others.
    pub max_chars: Option<usize>,
    /// Put before a question. Default: what the model was trained with, if that is known.
    pub query_prefix: Option<String>,
    /// Put before a passage. Default: as for `query_prefix`.
    pub passage_prefix: Option<String>,
}

/// What the command line says of it.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EmbedderFlags {
    /// Embed by a service: ollama, openai, openai-compatible or voyage [default: local, the model in a folder]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["model", "no_model"], help_heading = "Embedding service")]
    pub embedder: Option<String>,
    /// Name of the embedding model there
    #[arg(long, value_name = "NAME", conflicts_with_all = ["model", "no_model"], help_heading = "Embedding service")]
    pub embedder_model: Option<String>,
    /// Address of the service [default: the service's own]
    #[arg(long, value_name = "URL", conflicts_with_all = ["model", "no_model"], help_heading = "Embedding service")]
    pub embedder_url: Option<String>,
}

/// A service with everything that a build needs to know.
#[derive(Debug, Clone)]
pub struct ServiceChoice {
    /// Kind, address, model, cut.
    pub service: Service,
    /// Put before a question.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// The key, if there is one.
    pub key: Option<Key>,
}

impl EmbeddingConfig {
    /// Puts flags, environment, file and defaults together. `folder` is that of `kb.toml`: its `.env` is read for the
    /// key; `flag` is the folder of a model that the command line names.
    pub fn choose(
        &self,
        flags: &EmbedderFlags,
        flag: Option<&Path>,
        models: &ModelConfig,
        folder: &Path,
    ) -> Result<ModelChoice> {
        let env = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        // Who names a folder on the command line or in the environment means that folder.
        let folder_wins = flag.is_some() || (flags.embedder.is_none() && env(model::MODEL_VARIABLE).is_some());
        let name = flags.embedder.clone().or_else(|| env(VARIABLES[0])).or_else(|| self.provider.clone());
        let name = name.filter(|n| n != LOCAL && !folder_wins);
        let Some(name) = name else {
            return Ok(ModelChoice::Folder(model::locate(flag, models.path.as_deref())?));
        };
        let kind = ServiceKind::from_name(&name).ok_or_else(|| {
            let known: Vec<&str> = ServiceKind::ALL.iter().map(|k| k.name()).collect();
            Error::usage(
                format!("there is no embedding service `{name}`"),
                format!("the services are {}; `{LOCAL}` is the model in a folder", known.join(", ")),
            )
        })?;
        let model = flags.embedder_model.clone().or_else(|| env(VARIABLES[1])).or_else(|| self.model.clone());
        let model = model.or_else(|| kind.default_model().map(str::to_owned)).ok_or_else(|| {
            Error::usage(
                format!("say which model of the {name} service embeds"),
                "with --embedder-model, or `model` in [embedding] of kb.toml",
            )
        })?;
        let url = flags.embedder_url.clone().or_else(|| env(VARIABLES[2])).or_else(|| self.base_url.clone());
        let base_url = base_url_of(kind, url.as_deref().unwrap_or_default()).map_err(|e| {
            Error::usage(
                format!("the address of the embedding service: {}", e.message()),
                "give it with --embedder-url, for example http://localhost:8080/v1",
            )
        })?;
        let (query, passage) = usual_prefixes(&model);
        let max_chars = self.max_chars.map_or(kind.default_max_chars(), |max| (max > 0).then_some(max));
        Ok(ModelChoice::Service(ServiceChoice {
            query_prefix: self.query_prefix.clone().unwrap_or_else(|| query.into()),
            passage_prefix: self.passage_prefix.clone().unwrap_or_else(|| passage.into()),
            key: self.key(kind, folder)?,
            service: Service { kind, base_url, model, max_chars },
        }))
    }

    fn key(&self, kind: ServiceKind, folder: &Path) -> Result<Option<Key>> {
        let named = variable_of("[embedding]", self.api_key.as_deref(), self.api_key_env.as_deref())?;
        let Some(name) = named.or(kind.key_variable()) else { return Ok(None) };
        let value = std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        Ok(value.or_else(|| dotenv::lookup(&folder.join(".env"), name)).map(|v| Key::new(v.trim())))
    }
}

/// The service that a base's questions go to: its address by environment or by the `kb.toml` in the current folder, if
/// that names the same kind of service, else as the base was built.
pub fn query_service(info: &ModelInfo) -> Result<RemoteModel> {
    let Some(service) = &info.service else {
        return Err(Error::failed("the knowledge base was not built by a service", ""));
    };
    let config = Config::load(None)?.embedding;
    // Settings for another service say nothing about this one.
    let same = config.provider.as_deref() == Some(service.kind.name());
    let config = if same { config } else { EmbeddingConfig::default() };
    let env = std::env::var(VARIABLES[2]).ok().filter(|v| !v.trim().is_empty());
    let base_url = env.or(config.base_url.clone());
    let key = config.key(service.kind, Path::new(""))?;
    // Somebody is waiting.
    let waits = Waits([500, 1000, 2000].map(Duration::from_millis));
    RemoteModel::of(info, base_url.as_deref(), key, waits)
}
