//! Source code to Markdown. Read only where an author asks for it: a folder of notes may hold any amount of
//! code that is not meant to be searched.

mod gallery;
mod items;
mod python;

use super::Markdown;

/// Languages by the suffixes of their files, and how a comment that documents an item begins.
const LANGUAGES: [(&str, &[&str], Comments); 20] = [
    ("python", &["py", "pyi"], Comments::Hash),
    ("rust", &["rs"], Comments::Slashes),
    ("c", &["c", "h"], Comments::Slashes),
    ("cpp", &["cc", "cpp", "cxx", "hpp", "hh", "hxx", "cu"], Comments::Slashes),
    ("java", &["java"], Comments::Slashes),
    ("kotlin", &["kt", "kts"], Comments::Slashes),
    ("scala", &["scala"], Comments::Slashes),
    ("go", &["go"], Comments::Slashes),
    ("javascript", &["js", "mjs", "cjs", "jsx"], Comments::Slashes),
    ("typescript", &["ts", "tsx"], Comments::Slashes),
    ("csharp", &["cs"], Comments::Slashes),
    ("swift", &["swift"], Comments::Slashes),
    ("php", &["php"], Comments::Slashes),
    ("dart", &["dart"], Comments::Slashes),
    ("ruby", &["rb"], Comments::Hash),
    ("bash", &["sh", "bash", "zsh"], Comments::Hash),
    ("r", &["r"], Comments::Hash),
    ("julia", &["jl"], Comments::Hash),
    ("lua", &["lua"], Comments::Dashes),
    ("sql", &["sql"], Comments::Dashes),
];

/// How a language writes comments of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comments {
    /// `//`, and `/* … */` for longer ones.
    Slashes,
    /// `#`
    Hash,
    /// `--`
    Dashes,
}

/// Whether a file with this suffix is source code.
pub fn is_code(suffix: &str) -> bool {
    language(suffix).is_some()
}

fn language(suffix: &str) -> Option<&'static (&'static str, &'static [&'static str], Comments)> {
    LANGUAGES.iter().find(|(_, suffixes, _)| suffixes.contains(&suffix))
}

/// Converts a file: Python to the docstrings and signatures of its modules, classes and functions, or to the page that
/// a script is, other languages to their top-level items.
pub fn to_markdown(text: &str, path: &str) -> Markdown {
    let name = path.rsplit('/').next().unwrap_or(path).to_string();
    let (language, comments) = language(&super::suffix(path))
        .map_or(("", Comments::Slashes), |(language, _, comments)| (*language, *comments));
    // A script that is a page has a title of its own.
    if let Some(text) = Some(text).filter(|_| language == "python").and_then(gallery::to_markdown) {
        return Markdown { text, ..Markdown::default() };
    }
    let body =
        if language == "python" { python::to_markdown(text) } else { items::to_markdown(text, language, comments) };
    Markdown { text: body, title: Some(name), ..Markdown::default() }
}
