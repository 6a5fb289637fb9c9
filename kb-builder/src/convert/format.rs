//! The formats that can be read, by the suffix of a file's name.

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// CommonMark with the GitHub extensions, mdBook's includes resolved.
    Markdown,
    /// Plain text.
    Text,
    /// HTML: the main content of a page.
    Html,
    /// reStructuredText, as Sphinx reads it.
    Rst,
    /// A Jupyter notebook.
    Notebook,
    /// A table as text, its columns separated by commas, semicolons or tabs.
    Delimited,
    /// A GNU manual.
    Texinfo,
    /// Source code; only read where an author asks for it.
    Code,
    /// A Word document (Office Open XML).
    Docx,
    /// A presentation (Office Open XML).
    Pptx,
    /// A book.
    Epub,
    /// Pages.
    Pdf,
}

/// Every format with its name and its suffixes.
const FORMATS: [(Format, &str, &[&str]); 11] = [
    (Format::Markdown, "markdown", &["md", "markdown", "mdown", "mkd", "mdx"]),
    (Format::Text, "text", &["txt", "text"]),
    (Format::Html, "html", &["html", "htm", "xhtml"]),
    (Format::Rst, "rst", &["rst", "rest"]),
    (Format::Notebook, "notebook", &["ipynb"]),
    (Format::Delimited, "table", &["csv", "tsv", "tab"]),
    (Format::Texinfo, "texinfo", &["texi", "texinfo", "txi"]),
    (Format::Docx, "docx", &["docx", "docm", "dotx"]),
    (Format::Pptx, "pptx", &["pptx", "pptm", "ppsx"]),
    (Format::Epub, "epub", &["epub"]),
    (Format::Pdf, "pdf", &["pdf"]),
];

impl Format {
    /// The format of a document by its suffix, `None` if no converter reads it. Source code is not among
    /// the documents, see [`Format::of_code`].
    pub fn of(path: &str) -> Option<Self> {
        let suffix = super::suffix(path);
        FORMATS.iter().find(|(_, _, suffixes)| suffixes.contains(&suffix.as_str())).map(|(format, ..)| *format)
    }

    /// Like [`Format::of`], and source code as well.
    pub fn of_code(path: &str) -> Option<Self> {
        Self::of(path).or_else(|| super::code::is_code(&super::suffix(path)).then_some(Self::Code))
    }

    /// The format of this name, see [`Format::name`].
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.iter().find(|(_, n, _)| *n == name).map(|(format, ..)| *format)
    }

    /// One word that names the format.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, _)| name)
    }

    /// Whether a file of this format is text in some encoding. Others are converted in a process of
    /// their own, and their originals are copied as they are.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Docx | Self::Pptx | Self::Epub | Self::Pdf)
    }

    /// Suffixes of documents, for help and reports.
    pub fn suffixes() -> String {
        FORMATS.iter().flat_map(|(_, _, suffixes)| suffixes.iter().copied()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_go_by_suffix() {
        assert_eq!(Format::of("a/b.MD"), Some(Format::Markdown));
        assert_eq!(Format::of("讲义.DOCX"), Some(Format::Docx));
        assert_eq!(Format::of("a.b/README"), None);
        for suffix in Format::suffixes().split(' ') {
            assert!(Format::of(&format!("x.{suffix}")).is_some(), "{suffix}");
        }
        for (format, name, _) in FORMATS {
            assert_eq!((Format::named(name), format.name()), (Some(format), name));
        }
    }
}
