//! Which language model answers, and how: flag, then environment, then `[llm]` of `kb.toml`, then default.

use super::dotenv;
use crate::error::{Error, Result};
use kb_core::answer::prompt::{TemplateChange, TemplateChanges, Templates};
use kb_core::answer::request::{ChatOptions, Endpoint, Provider};
use kb_core::answer::{AnswerLimits, MAX_PASSAGES};
use kb_core::bundle::Manifest;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Environment variables for the provider, the address and the model.
pub const VARIABLES: [&str; 3] = ["KB_LLM_PROVIDER", "KB_LLM_BASE_URL", "KB_LLM_MODEL"];

/// How long a server may be silent. A large model on a small computer reads a long prompt for a minute.
const IDLE_SECONDS: u64 = 120;

/// `[llm]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LlmConfig {
    /// Kind of service: `ollama`, `deepseek` or `openai-compatible`.
    #[schemars(with = "Option<crate::config::ProviderName>")]
    pub provider: Option<Provider>,
    /// Address of the service. Default: the provider's own.
    pub base_url: Option<String>,
    /// Name of the model on that server.
    pub model: Option<String>,
    /// Name of the environment variable that holds the key. Default: `DEEPSEEK_API_KEY`, `OPENAI_API_KEY`.
    pub api_key_env: Option<String>,
    /// The same as `"${NAME}"`. A key itself is refused here.
    pub api_key: Option<String>,
    /// How long Ollama keeps the model in memory. Default: `5m`.
    pub keep_alive: Option<String>,
    /// Most tokens of an answer. Default: 2048.
    pub max_tokens: Option<u32>,
    /// The model's window in tokens. Default: 8192.
    pub num_ctx: Option<u32>,
    /// 0 to 2. Default: 0.2.
    pub temperature: Option<f32>,
    /// Whether the model is asked to think first, or not to. Default: nothing is said about it.
    pub think: Option<bool>,
    /// How many seconds the server may be silent. Default: 120.
    pub idle_timeout: Option<u64>,
    /// Most passages that an answer rests on, 1 to 5. Default: 5.
    pub passages: Option<u32>,
    /// Most characters of these passages together, 100 to 1,000,000. Default: what the window has room for.
    pub context: Option<u32>,
    /// The words of the prompt, by language.
    pub templates: TemplatesConfig,
}

/// `[llm.templates]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TemplatesConfig {
    /// For questions in Chinese.
    pub zh: TemplateConfig,
    /// For all others.
    pub en: TemplateConfig,
}

/// `[llm.templates.zh]` and `[llm.templates.en]`: what is left out stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TemplateConfig {
    /// The rules; `{refusal}` is replaced.
    pub system: Option<String>,
    /// Holds `{passages}` and `{question}`.
    pub user: Option<String>,
    /// The sentence that says that nothing was found.
    pub refusal: Option<String>,
    /// The rules for rewriting a follow-up question.
    pub rewrite: Option<String>,
}

/// What the command line says about the language model.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct LlmFlags {
    /// Kind of service: ollama, deepseek or openai-compatible [default: none, the passages answer]
    #[arg(long, value_name = "NAME", value_parser = parse_provider, help_heading = "Language model")]
    pub provider: Option<Provider>,
    /// Address of the service [default: the provider's own]
    #[arg(long, value_name = "URL", help_heading = "Language model")]
    pub base_url: Option<String>,
    /// Name of the model on that server [default: the only one it has]
    #[arg(long = "model", value_name = "NAME", help_heading = "Language model")]
    pub llm: Option<String>,
    /// Environment variable, or entry of `.env`, that holds the key [default: DEEPSEEK_API_KEY or OPENAI_API_KEY]
    #[arg(long, value_name = "NAME", help_heading = "Language model")]
    pub api_key_env: Option<String>,
    /// Configuration with the section [llm] [default: kb.toml here, if there is one]
    #[arg(long, value_name = "FILE", help_heading = "Language model")]
    pub config: Option<PathBuf>,
    /// Answer with the passages' own sentences, whatever kb.toml or the environment say
    #[arg(long, conflicts_with_all = ["provider", "base_url", "llm"], help_heading = "Language model")]
    pub no_llm: bool,
}

/// The provider with this name, as an argument of the command line.
pub fn parse_provider(name: &str) -> std::result::Result<Provider, String> {
    let known: Vec<&str> = Provider::ALL.iter().map(|p| p.name()).collect();
    Provider::from_name(name).ok_or_else(|| format!("the providers are {}", known.join(", ")))
}

/// A key that is printed nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key as somebody wrote it down.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the one header that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Everything that is known about the language model when a question is asked.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The service; none if the passages answer.
    pub endpoint: Option<Endpoint>,
    /// How it is to answer; the model may still be without a name.
    pub options: ChatOptions,
    /// The key, if there is one.
    pub key: Option<Key>,
    /// How long the server may be silent.
    pub idle: Duration,
    /// How much of what was found an answer rests on.
    pub limits: AnswerLimits,
    /// The words of the prompt.
    pub templates: Templates,
    /// What `kb.toml` says of them.
    changes: TemplateChanges,
}

impl Settings {
    /// Puts flags, environment, file and defaults together. `folder` is that of `kb.toml`: its `.env` is
    /// read for the key.
    pub fn resolve(flags: &LlmFlags, config: &LlmConfig, folder: &Path) -> Result<Self> {
        let env = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        Self::from_parts(flags, config, &env, &|name| dotenv::lookup(&folder.join(".env"), name))
    }

    fn from_parts(
        flags: &LlmFlags,
        config: &LlmConfig,
        env: &dyn Fn(&str) -> Option<String>,
        file: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let from_env = match env(VARIABLES[0]) {
            Some(name) => Some(
                parse_provider(&name)
                    .map_err(|e| Error::usage(format!("{}: no provider `{name}`", VARIABLES[0]), e))?,
            ),
            None => None,
        };
        let base_url = flags.base_url.clone().or_else(|| env(VARIABLES[1])).or_else(|| config.base_url.clone());
        let model = flags.llm.clone().or_else(|| env(VARIABLES[2])).or_else(|| config.model.clone());
        let provider = flags.provider.or(from_env).or(config.provider).or(match (&base_url, &model) {
            // An address without a kind most likely speaks what everybody speaks.
            (Some(_), _) => Some(Provider::OpenAiCompatible),
            (None, Some(_)) => Some(Provider::Ollama),
            (None, None) => None,
        });
        let endpoint = match provider.filter(|_| !flags.no_llm) {
            Some(provider) => Some(Endpoint::new(provider, base_url.as_deref()).map_err(|e| {
                Error::usage(e.message(), "give it with --base-url, for example http://localhost:8080/v1")
            })?),
            None => None,
        };
        let default = ChatOptions::default();
        let options = ChatOptions {
            model: model.unwrap_or_default(),
            max_tokens: in_range("max_tokens", config.max_tokens.unwrap_or(default.max_tokens), 1, 65_536)?,
            num_ctx: in_range("num_ctx", config.num_ctx.unwrap_or(default.num_ctx), 512, 10_000_000)?,
            temperature: config.temperature.unwrap_or(default.temperature),
            keep_alive: config.keep_alive.clone().unwrap_or(default.keep_alive),
            think: config.think,
        };
        if !(0.0..=2.0).contains(&options.temperature) {
            return Err(Error::usage("[llm] temperature is not from 0 to 2", "0.2 keeps to the passages"));
        }
        let key = match &endpoint {
            Some(endpoint) => key(flags, config, endpoint.provider(), env, file)?,
            None => None,
        };
        let changes = config.templates.checked()?;
        let templates = Templates::default().with(&changes)?;
        Ok(Self {
            endpoint,
            options,
            key,
            idle: Duration::from_secs(config.idle_timeout.unwrap_or(IDLE_SECONDS).max(1)),
            limits: config.limits()?,
            templates,
            changes,
        })
    }

    /// Takes over the words and limits that a site was built with, where `kb.toml` says nothing else.
    pub fn adopt(&mut self, of_site: &Manifest) -> Result<()> {
        self.templates = Templates::default().with(&of_site.templates.overlaid(&self.changes))?;
        self.limits = self.limits.or(of_site.answers);
        Ok(())
    }
}

impl LlmConfig {
    /// How much an answer may rest on, checked.
    pub fn limits(&self) -> Result<AnswerLimits> {
        Ok(AnswerLimits {
            passages: self.passages.map(|n| in_range("passages", n, 1, MAX_PASSAGES as u32)).transpose()?,
            context: self.context.map(|n| in_range("context", n, 100, 1_000_000)).transpose()?,
        })
    }
}

impl TemplatesConfig {
    /// The same for a bundle, if a prompt can be made with it.
    pub fn checked(&self) -> Result<TemplateChanges> {
        let change = |of: &TemplateConfig| TemplateChange {
            system: of.system.clone(),
            user: of.user.clone(),
            refusal: of.refusal.clone(),
            rewrite: of.rewrite.clone(),
        };
        let changes = TemplateChanges { zh: change(&self.zh), en: change(&self.en) };
        match Templates::default().with(&changes) {
            Ok(_) => Ok(changes),
            Err(e) => Err(Error::usage(format!("[llm.templates]: {}", e.message()), "")),
        }
    }
}

/// The key from the variable that was named, else the provider's usual one; from the environment, else
/// from `.env`.
fn key(
    flags: &LlmFlags,
    config: &LlmConfig,
    provider: Provider,
    env: &dyn Fn(&str) -> Option<String>,
    file: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Key>> {
    let named = flags.api_key_env.as_deref();
    let named = named.or(variable_of("[llm]", config.api_key.as_deref(), config.api_key_env.as_deref())?);
    let Some(name) = named.or(provider.key_variable()) else { return Ok(None) };
    let found = env(name).or_else(|| file(name)).map(|k| Key(k.trim().to_owned())).filter(|k| !k.0.is_empty());
    // A variable that was asked for by name is a promise; the usual one may be missing where no key is needed.
    if found.is_none() && named.is_some() {
        return Err(Error::usage(
            format!("the variable {name}, which is to hold the key, is not set"),
            format!("set it in the environment, or write {name}=… into the file .env beside kb.toml"),
        ));
    }
    if found.is_none() && provider.needs_key() {
        return Err(Error::usage(
            format!("{} needs a key, and there is none", provider.name()),
            format!("set {name} in the environment, or write {name}=… into the file .env beside kb.toml"),
        ));
    }
    Ok(found)
}

/// The variable that holds a section's key, by `api_key = "${NAME}"` or `api_key_env = "NAME"`. A key that stands in the
/// file itself would end up in version control.
pub fn variable_of<'a>(section: &str, key: Option<&'a str>, name: Option<&'a str>) -> Result<Option<&'a str>> {
    let Some(key) = key else { return Ok(name) };
    let inside = key.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match inside.filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
        Some(name) => Ok(Some(name)),
        None => Err(Error::usage(
            format!("{section} api_key holds a key; kb.toml is no place for one"),
            "write api_key = \"${NAME}\", and NAME=… into the environment or into the file .env beside kb.toml",
        )),
    }
}

fn in_range(name: &str, value: u32, low: u32, high: u32) -> Result<u32> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(Error::usage(format!("[llm] {name} is {value}, it must be {low} to {high}"), ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_core::bundle::BundleBuilder;

    fn resolve(flags: LlmFlags, config: &str, env: &[(&str, &str)], file: &[(&str, &str)]) -> Result<Settings> {
        let config: LlmConfig = toml::from_str(config).expect("TOML");
        let get =
            |list: &[(&str, &str)], name: &str| list.iter().find(|(k, _)| *k == name).map(|(_, v)| (*v).to_owned());
        Settings::from_parts(&flags, &config, &|n| get(env, n), &|n| get(file, n))
    }

    fn url(settings: &Settings) -> &str {
        settings.endpoint.as_ref().map_or("", Endpoint::base_url)
    }

    #[test]
    fn flag_then_environment_then_file_then_default() {
        let file = "provider = \"deepseek\"\nmodel = \"file\"\nmax_tokens = 9\n";
        let env = [("KB_LLM_MODEL", "env"), ("KB_LLM_PROVIDER", "ollama")];
        let env = [env[0], env[1], ("DEEPSEEK_API_KEY", "k")];
        let s =
            resolve(LlmFlags { llm: Some("flag".into()), ..LlmFlags::default() }, file, &env, &[]).expect("settings");
        assert_eq!((s.options.model.as_str(), url(&s)), ("flag", "http://localhost:11434"));
        let s = resolve(LlmFlags::default(), file, &[env[0], env[2]], &[]).expect("settings");
        assert_eq!((s.options.model.as_str(), url(&s)), ("env", "https://api.deepseek.com"));
        let s = resolve(LlmFlags::default(), file, &env[2..], &[]).expect("settings");
        assert_eq!((s.options.model.as_str(), s.options.max_tokens, s.options.num_ctx), ("file", 9, 8192));
        assert_eq!(s.options.temperature, 0.2);
    }

    #[test]
    fn without_anything_there_is_no_model() {
        assert!(
            resolve(LlmFlags::default(), "", &[("OPENAI_API_KEY", "k")], &[]).expect("settings").endpoint.is_none()
        );
        let off = LlmFlags { no_llm: true, ..LlmFlags::default() };
        assert!(resolve(off, "model = \"x\"", &[], &[]).expect("settings").endpoint.is_none());
        let s = resolve(LlmFlags { llm: Some("qwen3".into()), ..LlmFlags::default() }, "", &[], &[]).expect("settings");
        assert_eq!(url(&s), "http://localhost:11434");
        let base = LlmFlags { base_url: Some("http://localhost:1/v1".into()), ..LlmFlags::default() };
        assert_eq!(
            resolve(base, "", &[], &[]).expect("settings").endpoint.expect("one").provider(),
            Provider::OpenAiCompatible
        );
    }

    #[test]
    fn keys_are_found_and_never_shown() {
        let deepseek = LlmFlags { provider: Some(Provider::DeepSeek), ..LlmFlags::default() };
        let keys = [("DEEPSEEK_API_KEY", "from-env"), ("OPENAI_API_KEY", "other")];
        let s = resolve(deepseek.clone(), "", &keys, &[("DEEPSEEK_API_KEY", "from-file")]).expect("settings");
        assert_eq!(s.key.as_ref().map(Key::expose), Some("from-env"));
        assert!(!format!("{s:?}").contains("from-env"));
        let s = resolve(deepseek.clone(), "", &[], &[("DEEPSEEK_API_KEY", "from-file")]).expect("settings");
        assert_eq!(s.key.as_ref().map(Key::expose), Some("from-file"));
        let named = LlmFlags { api_key_env: Some("MINE".into()), ..deepseek };
        let s = resolve(named, "", &keys, &[("MINE", "m")]).expect("settings");
        assert_eq!(s.key.as_ref().map(Key::expose), Some("m"));
        let ollama = LlmFlags { provider: Some(Provider::Ollama), ..LlmFlags::default() };
        assert!(resolve(ollama, "", &keys, &[]).expect("settings").key.is_none(), "no key where none is asked for");
    }

    #[test]
    fn mistakes_are_told() {
        let message = |config: &str| resolve(LlmFlags::default(), config, &[], &[]).expect_err("refused").to_string();
        assert!(message("provider = \"openai-compatible\"").contains("base URL"));
        assert!(message("temperature = 3.0").contains("temperature"));
        assert!(message("num_ctx = 1").contains("num_ctx"));
        assert!(message("passages = 6").contains("1 to 5") && message("context = 1").contains("context"));
        assert!(message("templates.zh.user = \"{question}\"").contains("{passages}"));
        let s = resolve(LlmFlags::default(), "templates.en.refusal = \"No.\"", &[], &[]).expect("settings");
        assert_eq!(s.templates.en.refusal, "No.");
        assert_eq!(s.templates.en.user, Templates::default().en.user);
        // A site's own words count where the file says nothing.
        let mut s = s;
        let words = |text: &str| TemplateChange { refusal: Some(text.into()), ..TemplateChange::default() };
        let mut site = BundleBuilder::new("test", &[], &[]).finish().expect("an empty base").manifest;
        site.templates = TemplateChanges { zh: words("没有。"), en: words("Nothing.") };
        site.answers = AnswerLimits { passages: Some(2), context: Some(900) };
        s.adopt(&site).expect("adopts");
        assert_eq!(s.limits, site.answers);
        let mut own = resolve(LlmFlags::default(), "passages = 4", &[], &[]).expect("settings");
        own.adopt(&site).expect("adopts");
        assert_eq!(own.limits, AnswerLimits { passages: Some(4), context: Some(900) });
        assert_eq!((s.templates.zh.refusal.as_str(), s.templates.en.refusal.as_str()), ("没有。", "No."));
        assert!(resolve(LlmFlags::default(), "", &[("KB_LLM_PROVIDER", "x")], &[]).is_err());
        for tokens in [0, 100_000] {
            assert!(message(&format!("max_tokens = {tokens}")).contains("1 to 65536"));
        }
        let deepseek = LlmFlags { provider: Some(Provider::DeepSeek), ..LlmFlags::default() };
        let missing = resolve(deepseek.clone(), "", &[], &[]).expect_err("refused");
        assert!(missing.to_string().contains("needs a key") && missing.hint().is_some_and(|h| h.contains(".env")));
        let named = LlmFlags { api_key_env: Some("MINE".into()), ..deepseek };
        let missing = resolve(named, "", &[("DEEPSEEK_API_KEY", "k")], &[]).expect_err("refused");
        assert!(missing.to_string().contains("MINE"), "{missing}");
    }
}
