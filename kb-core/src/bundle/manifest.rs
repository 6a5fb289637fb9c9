//! `manifest.json`: what a bundle is, and which section files it consists of.

use super::frame::{self, FORMAT_VERSION, HEADER_BYTES, MAX_SECTION_BYTES, SectionKind};
#[cfg(feature = "build")]
use crate::answer::AnswerLimits;
use crate::answer::prompt::TemplateChanges;
use crate::embed::ModelInfo;
use crate::search::{RetrievalOptions, Synonyms};
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Name of the manifest in a bundle's folder.
pub const MANIFEST_FILE: &str = "manifest.json";

/// Longest manifest: 16 MiB.
const MAX_MANIFEST_BYTES: usize = 16 << 20;

/// Most numbers in a vector.
const MAX_DIM: usize = 8192;

/// The manifest of a bundle. Its JSON is the same for the same bundle: it holds no clock and no path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub format: u16,
    /// Program and version: `kb-builder 0.1.0`.
    pub generator: String,
    /// First 16 hex digits of a SHA-256 over the sections and the model: two bundles with the same id
    /// answer alike.
    pub id: String,
    /// When it was built, if the author wants that in the file: an ISO 8601 date or time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Title for people.
    pub title: String,
    /// Main language as a code: `zh`, `en`; empty if unknown.
    #[serde(default)]
    pub language: String,
    /// The collections in the order of their first documents.
    pub collections: Vec<CollectionInfo>,
    /// The model that made the vectors; none for a bundle without vectors.
    #[serde(default)]
    pub model: Option<ModelInfo>,
    /// How the base is searched, where the author wants it otherwise than by default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retrieval: RetrievalOptions,
    /// The author's list of synonyms, as [`Synonyms::with`] reads it; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub synonyms: String,
    /// What the author replaces of the words that a language model gets with the passages. Checked by
    /// [`Templates::with`](crate::answer::prompt::Templates::with) where it is used: a reader that only searches need not know it.
    #[serde(default, skip_serializing_if = "TemplateChanges::is_empty")]
    pub templates: TemplateChanges,
    /// How much an answer may rest on. Not in readers that only search: the page hands it to those that answer.
    #[cfg(feature = "build")]
    #[serde(default, skip_serializing_if = "is_default")]
    pub answers: AnswerLimits,
    /// Totals.
    pub counts: Counts,
    /// The section files, sorted by kind, parts of one kind in order.
    pub sections: Vec<SectionRef>,
}

/// The one field of a manifest that every version has.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct ManifestProbe {
    /// See [`Manifest::format`].
    pub format: u16,
}

/// A collection of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionInfo {
    /// Its name.
    pub name: String,
    /// How many documents it has.
    pub documents: u32,
    /// How many chunks it has.
    pub chunks: u32,
}

/// Totals of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Documents.
    pub documents: u32,
    /// Chunks.
    pub chunks: u32,
    /// Bytes of text in all documents.
    pub text_bytes: u64,
}

/// One section file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionRef {
    /// What it holds.
    pub kind: SectionKind,
    /// Name of the file beside the manifest: `text-0123456789abcdef.kbs`.
    pub file: String,
    /// Length of the file.
    pub bytes: u64,
    /// SHA-256 of the file, 64 hex digits.
    pub sha256: String,
    /// For `text`: index of the first document in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_document: Option<u32>,
}

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`ErrorKind::NotABundle`] for bytes that are not such JSON, [`ErrorKind::NewerFormat`],
    /// [`ErrorKind::TooLarge`], and [`ErrorKind::Corrupt`] for fields that are missing or contradict.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::check_length(json.len())?;
        let probe: ManifestProbe = serde_json::from_slice(json).map_err(|e| {
            let cut_off = e.is_eof() && !json.trim_ascii().is_empty();
            Self::not_a_manifest(cut_off, &e.to_string())
        })?;
        Self::from_parsed(probe, || serde_json::from_slice(json).map_err(|e| e.to_string()))
    }

    /// A manifest whose JSON somebody else has parsed: the browser does it without a parser of ours. `probe` is looked
    /// at first, since a later version may have changed everything else; `whole` then gives the rest.
    ///
    /// # Errors
    /// [`ErrorKind::NewerFormat`], and [`ErrorKind::Corrupt`] for fields that are missing or contradict.
    pub fn from_parsed(
        probe: ManifestProbe,
        whole: impl FnOnce() -> std::result::Result<Self, String>,
    ) -> Result<Self> {
        if probe.format > FORMAT_VERSION {
            let what =
                format!("the manifest has format version {}, this program reads up to {FORMAT_VERSION}", probe.format);
            return Err(Error::new(ErrorKind::NewerFormat, what));
        }
        let manifest = whole().map_err(|e| corrupt(format!("the manifest cannot be read ({e})")))?;
        manifest.check()?;
        Ok(manifest)
    }

    /// That a manifest is no longer than this program reads.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`].
    pub fn check_length(bytes: usize) -> Result<()> {
        if bytes <= MAX_MANIFEST_BYTES {
            return Ok(());
        }
        let what = format!("the manifest has {bytes} bytes, the limit is {MAX_MANIFEST_BYTES}");
        Err(Error::new(ErrorKind::TooLarge, what))
    }

    /// What to say of bytes that are no manifest: [`ErrorKind::Corrupt`] if its end is missing, else
    /// [`ErrorKind::NotABundle`].
    pub fn not_a_manifest(cut_off: bool, why: &str) -> Error {
        let kind = if cut_off { ErrorKind::Corrupt } else { ErrorKind::NotABundle };
        Error::new(kind, format!("the manifest is not that of a knowledge base ({why})"))
    }

    /// The manifest as JSON for people to read, with a line end.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if it cannot be written, which no manifest made here brings about.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)
            .map_err(|e| Error::new(ErrorKind::InvalidInput, format!("the manifest cannot be written ({e})")))?;
        json.push(b'\n');
        Ok(json)
    }

    /// The section of `kind`, the first one of `text`.
    pub fn section(&self, kind: SectionKind) -> Option<&SectionRef> {
        self.sections.iter().find(|s| s.kind == kind)
    }

    /// The sections of `kind`, in order.
    pub fn sections_of(&self, kind: SectionKind) -> impl Iterator<Item = &SectionRef> {
        self.sections.iter().filter(move |s| s.kind == kind)
    }

    /// The section that holds the text of `document`.
    pub fn text_section(&self, document: u32) -> Option<&SectionRef> {
        self.sections_of(SectionKind::Text).take_while(|s| s.first_document <= Some(document)).last()
    }

    /// That `model` is the one that made this bundle's vectors.
    ///
    /// # Errors
    /// [`ErrorKind::ModelMismatch`], naming the model that is wanted; [`ErrorKind::Missing`] if the
    /// bundle has no vectors.
    pub fn check_model(&self, model: &ModelInfo) -> Result<()> {
        let Some(wanted) = &self.model else {
            return Err(Error::new(ErrorKind::Missing, "the knowledge base was built without a model"));
        };
        if wanted.fingerprint == model.fingerprint && wanted.dim == model.dim {
            return Ok(());
        }
        let short = |m: &ModelInfo| format!("`{}` ({} numbers, fingerprint {:.12})", m.name, m.dim, m.fingerprint);
        let what = format!("the knowledge base wants the model {}, the one at hand is {}", short(wanted), short(model));
        Err(Error::new(ErrorKind::ModelMismatch, what))
    }

    fn check(&self) -> Result<()> {
        if self.format == 0 {
            return Err(corrupt("the manifest has format version 0, which does not exist"));
        }
        let mut last: Option<&SectionRef> = None;
        for section in &self.sections {
            section.check()?;
            if let Some(last) = last {
                let next_part = match section.kind {
                    SectionKind::Text => last.first_document < section.first_document,
                    kind => kind == SectionKind::Terms,
                };
                if last.kind > section.kind || (last.kind == section.kind && !next_part) {
                    return Err(corrupt(format!(
                        "the manifest lists section `{}` twice or out of order",
                        section.kind.name()
                    )));
                }
            }
            last = Some(section);
        }
        if self.section(SectionKind::Text).is_some_and(|s| s.first_document != Some(0)) {
            return Err(corrupt("the manifest's first section `text` does not start at document 0"));
        }
        let total = |of: fn(&CollectionInfo) -> u32| self.collections.iter().map(|c| u64::from(of(c))).sum::<u64>();
        if total(|c| c.documents) != u64::from(self.counts.documents)
            || total(|c| c.chunks) != u64::from(self.counts.chunks)
        {
            return Err(corrupt("the manifest's counts are not the sums over its collections"));
        }
        if self.model.as_ref().is_some_and(|m| m.dim == 0 || m.dim > MAX_DIM) {
            return Err(corrupt(format!("the manifest's model does not have 1 to {MAX_DIM} numbers in a vector")));
        }
        if let Err(e) = self.retrieval.check() {
            return Err(corrupt(format!("the manifest's settings of retrieval are out of range: {}", e.message())));
        }
        if let Err(e) = Synonyms::with(&self.synonyms) {
            return Err(corrupt(format!("the manifest's list of synonyms cannot be read: {}", e.message())));
        }
        if self.section(SectionKind::Vectors).is_some() && self.model.is_none() {
            return Err(corrupt("the manifest lists vectors but no model"));
        }
        Ok(())
    }
}

impl SectionRef {
    /// Checks `file` against this entry and takes the payload out of it.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for another length or hash than promised, and those of [`open`](super::open).
    pub fn open(&self, file: &[u8]) -> Result<Vec<u8>> {
        // The frame speaks first: "this is a web page" helps more than "another length".
        let payload = frame::open(self.kind, file)?;
        if file.len() as u64 != self.bytes || sha256_hex(file) != self.sha256 {
            return Err(self.kind.corrupt("the file is whole but not the one that the manifest names"));
        }
        Ok(payload)
    }

    fn check(&self) -> Result<()> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        // Names become paths and URLs: no separators, no `..`, no hidden files.
        let stem = self.file.strip_suffix(".kbs").unwrap_or_default();
        if stem.is_empty() || stem.len() > 100 || !stem.bytes().all(plain) {
            return Err(self.kind.corrupt("the manifest gives it an unacceptable file name"));
        }
        if self.sha256.len() != 64 || !self.sha256.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(self.kind.corrupt("the manifest's SHA-256 is not 64 hex digits"));
        }
        if self.bytes > (MAX_SECTION_BYTES + HEADER_BYTES) as u64 {
            return Err(self.kind.error(ErrorKind::TooLarge, format!("the manifest says {} bytes", self.bytes)));
        }
        if self.first_document.is_some() != (self.kind == SectionKind::Text) {
            return Err(self.kind.corrupt("the manifest's first_document belongs to `text`, and only there"));
        }
        Ok(())
    }
}

/// SHA-256 of `bytes` in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn corrupt(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, what)
}
