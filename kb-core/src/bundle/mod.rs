//! The file formats of a knowledge base: a manifest in JSON, and section files that it names by hash.
//! FORMAT.md beside this file describes every byte.
//!
//! Whatever the bytes, reading them ends in a value or an [`Error`](crate::Error), never in a panic or
//! in memory for data that are not there.

mod assemble;
pub mod chunks;
pub(crate) mod codec;
mod crc32;
pub mod docs;
mod frame;
mod manifest;
mod meta;
mod pack;
pub mod text;

pub(crate) use assemble::identify_missing;
pub use assemble::{Bundle, BundleBuilder, BundleFile, SealedBundle, open_bundle, open_sections};
pub use frame::{FORMAT_VERSION, HEADER_BYTES, MAX_SECTION_BYTES, SectionKind, open, seal};
pub use manifest::{CollectionInfo, Counts, MANIFEST_FILE, Manifest, ManifestProbe, SectionRef, sha256_hex};
pub use pack::{Packed, pack, unpack};
