//! Everything that touches files, the network and the terminal: sources, converters, the build, the
//! site folder, the server, and the commands on top of them.

pub mod address;
pub mod answer;
pub mod base;
pub mod build;
pub mod cache;
pub mod command;
pub mod config;
pub mod convert;
pub mod embedding;
pub mod error;
pub mod eval;
pub mod handout;
pub mod http;
pub mod model;
pub mod preset;
pub mod refine;
pub mod report;
pub mod serve;
pub mod site;
pub mod source;
pub mod watch;

pub use error::{Error, Result};
