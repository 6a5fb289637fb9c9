//! Directives: what each kind becomes in Markdown.

use super::super::escape;
use super::Parser;
use super::block::Place;
use super::lines::{dedent, is_blank, trim_blank};
use super::list::bullet_items;
use super::table;

/// A directive's parts.
struct Directive<'a> {
    /// Without its domain: `function` for `py:function`.
    name: &'a str,
    argument: &'a str,
    /// `:key: value` lines at the top of the body.
    options: Vec<(&'a str, &'a str)>,
    /// Lines of the first paragraph that are no options: more of the argument, or content already.
    first: Vec<&'a str>,
    /// The lines after the first blank one.
    rest: Vec<&'a str>,
}

impl<'a> Directive<'a> {
    /// `body` begins with a blank line where one stands under the directive: then all of it is content.
    fn parse(name: &'a str, argument: &'a str, body: &[&'a str]) -> Self {
        let head_end = body.iter().position(|l| is_blank(l)).unwrap_or(body.len());
        let (head, rest) = body.split_at(head_end);
        let mut options = Vec::new();
        let mut first = Vec::new();
        for line in head {
            match super::list::field(line).filter(|(key, _)| !key.contains(' ')) {
                // Options come before content; a field list further down is content.
                Some(option) if first.is_empty() || options.is_empty() => options.push(option),
                _ if !options.is_empty() && first.is_empty() && line.starts_with(' ') => {}
                _ => first.push(*line),
            }
        }
        Self { name, argument, options, first, rest: trim_blank(rest).to_vec() }
    }

    fn option(&self, key: &str) -> Option<&'a str> {
        self.options.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
    }

    /// The content of a directive without an argument: what stands on its first line belongs to it.
    fn all_content(&self) -> Vec<&'a str> {
        let mut lines: Vec<&str> = Vec::new();
        if !self.argument.is_empty() {
            lines.push(self.argument);
        }
        lines.extend(&self.first);
        lines.push("");
        lines.extend(&self.rest);
        trim_blank(&lines).to_vec()
    }

    /// The content of a directive whose argument has been read.
    fn content(&self) -> Vec<&'a str> {
        let mut lines = self.first.clone();
        lines.push("");
        lines.extend(&self.rest);
        trim_blank(&lines).to_vec()
    }
}

impl Parser<'_> {
    /// The Markdown blocks of a directive.
    pub fn directive(&mut self, name: &str, argument: &str, body: &[&str], place: Place) -> Vec<String> {
        let name = name.rsplit(':').next().unwrap_or(name);
        let d = Directive::parse(name, argument, body);
        let place = place.deeper();
        match d.name {
            "note" | "warning" | "tip" | "important" | "caution" | "danger" | "hint" | "attention" | "error"
            | "todo" | "legacy" | "seealso" => {
                let title = if d.name == "seealso" { "See also".to_string() } else { capitalised(d.name) };
                self.admonition(&title, &d.all_content(), place)
            }
            "admonition" | "topic" | "sidebar" => {
                let title = self.inline(d.argument);
                self.admonition(&title, &d.content(), place)
            }
            "versionadded" | "versionchanged" | "deprecated" | "versionremoved" => self.version(&d, place),
            "code-block" | "code" | "sourcecode" | "parsed-literal" | "prompt" | "console" | "productionlist" => {
                let language = if matches!(d.name, "parsed-literal" | "productionlist") { "" } else { d.argument };
                vec![escape::code_block(language, &d.content().join("\n"))]
            }
            "testcode" | "doctest" | "ipython" | "plot" | "jupyter-execute" => vec![python(&d.content())],
            "testoutput" => vec![escape::code_block("", &d.content().join("\n"))],
            "math" => formulas(&d.all_content()),
            "list-table" => self.list_table(&d, place),
            "csv-table" => self.csv_table(&d),
            "table" => self.titled(&d, place),
            "tab-item" | "dropdown" | "card" | "grid-item-card" | "tab" | "details" | "collapse" => {
                self.titled(&d, place)
            }
            "rubric" | "centered" => vec![format!("**{}**", self.inline(d.argument))],
            "image" => d.option("alt").map(escape::text).into_iter().collect(),
            "figure" => {
                let mut blocks: Vec<String> =
                    d.option("alt").filter(|_| d.rest.is_empty()).map(escape::text).into_iter().collect();
                blocks.extend(self.blocks(&d.content(), place));
                blocks
            }
            "only" | "ifconfig" if d.argument.contains("latex") && !d.argument.contains("not") => Vec::new(),
            "autosummary" => vec![names(&d.content())],
            "highlight" => {
                self.literal_language = if matches!(d.argument, "none" | "default" | "text") {
                    String::new()
                } else {
                    d.argument.to_string()
                };
                Vec::new()
            }
            name if name.starts_with("auto") => auto(&d).into_iter().chain(self.blocks(&d.content(), place)).collect(),
            // `class` describes a class when it has a body; without one it styles the next block.
            "class" if !d.rest.is_empty() || d.argument.contains('(') => self.object(&d, place),
            name if is_object(name) => self.object(&d, place),
            name if CONTAINERS.contains(&name) => self.blocks(&d.content(), place),
            name if DROPPED.contains(&name) => Vec::new(),
            name => {
                self.notes.count(&format!("unknown directive `{name}`, its body is kept"), 1);
                self.blocks(&d.content(), place)
            }
        }
    }

    fn admonition(&mut self, title: &str, content: &[&str], place: Place) -> Vec<String> {
        let mut blocks = vec![format!("**{title}**")];
        blocks.extend(self.blocks(content, place));
        vec![escape::prefixed(&blocks.join("\n\n"), "> ", "> ")]
    }

    fn version(&mut self, d: &Directive, place: Place) -> Vec<String> {
        let (version, text) = d.argument.split_once(' ').unwrap_or((d.argument, ""));
        let what = match d.name {
            "versionadded" => "New in version",
            "versionchanged" => "Changed in version",
            "versionremoved" => "Removed in version",
            _ => "Deprecated since version",
        };
        let mut content = vec![text];
        content.extend(d.content());
        self.admonition(&format!("{what} {}", escape::text(version)), &content, place)
    }

    /// A body under a title that stands in the argument.
    fn titled(&mut self, d: &Directive, place: Place) -> Vec<String> {
        let title = self.inline(d.argument);
        let mut blocks: Vec<String> = if title.is_empty() { Vec::new() } else { vec![format!("**{title}**")] };
        blocks.extend(self.blocks(&d.content(), place));
        blocks
    }

    /// The description of a function, class, macro or option: its signatures as code, then its text.
    fn object(&mut self, d: &Directive, place: Place) -> Vec<String> {
        // Several signatures stand on lines of their own; a backslash continues one.
        let mut signatures = vec![d.argument.to_string()];
        for line in &d.first {
            match signatures.last_mut() {
                Some(last) if last.ends_with('\\') => {
                    last.pop();
                    last.push_str(line.trim_start());
                }
                _ => signatures.push((*line).to_string()),
            }
        }
        let shown: Vec<String> = signatures.iter().map(|s| escape::code_span(s)).filter(|s| !s.is_empty()).collect();
        let mut blocks = vec![shown.join("\n")];
        blocks.extend(self.blocks(&d.rest, place));
        blocks
    }

    fn list_table(&mut self, d: &Directive, place: Place) -> Vec<String> {
        let header_rows = d.option("header-rows").and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(0);
        let mut rows: table::Rows = Vec::new();
        for row in bullet_items(&d.rest) {
            let mut cells = Vec::new();
            for cell in bullet_items(&row) {
                cells.push(flat(&self.blocks(&cell, place.deeper())));
            }
            rows.push(cells);
        }
        self.finished_table(d, rows, header_rows > 0)
    }

    fn csv_table(&mut self, d: &Directive) -> Vec<String> {
        let delimiter = match d.option("delim") {
            Some("tab") => '\t',
            Some("space") => ' ',
            Some(s) => s.chars().next().unwrap_or(','),
            None => ',',
        };
        let mut rows = table::csv(&d.content().join("\n"), delimiter);
        let header = d.option("header").map(|h| table::csv(h, delimiter)).and_then(|h| h.into_iter().next());
        let has_header = header.is_some() || d.option("header-rows").is_some_and(|n| n.trim() != "0");
        if let Some(header) = header {
            rows.insert(0, header);
        }
        let rows = rows.into_iter().map(|r| r.iter().map(|c| self.inline(c)).collect()).collect();
        self.finished_table(d, rows, has_header)
    }

    fn finished_table(&self, d: &Directive, rows: table::Rows, has_header: bool) -> Vec<String> {
        if rows.is_empty() {
            return Vec::new();
        }
        let title = self.inline(d.argument);
        let mut blocks: Vec<String> = if title.is_empty() { Vec::new() } else { vec![title] };
        blocks.push(escape::table(&table::with_header(rows, has_header)));
        blocks
    }
}

/// Directives whose body is ordinary text.
const CONTAINERS: [&str; 22] = [
    "container",
    "compound",
    "epigraph",
    "highlights",
    "pull-quote",
    "line-block",
    "only",
    "ifconfig",
    "rst-class",
    "class",
    "hlist",
    "glossary",
    "tab-set",
    "tabs",
    "grid",
    "grid-item",
    "div",
    "try_examples",
    "centered",
    "versionlabel",
    "tabbed",
    "group-tab",
];

/// Directives that steer the build or draw something that has no text.
const DROPPED: [&str; 40] = [
    "toctree",
    "index",
    "currentmodule",
    "module",
    "sectionauthor",
    "codeauthor",
    "moduleauthor",
    "contents",
    "meta",
    "include",
    "literalinclude",
    "raw",
    "testsetup",
    "testcleanup",
    "role",
    "default-role",
    "default-domain",
    "tabularcolumns",
    "sectnum",
    "target-notes",
    "todolist",
    "graphviz",
    "digraph",
    "graph",
    "mermaid",
    "inheritance-diagram",
    "footer",
    "header",
    "title",
    "date",
    "unicode",
    "replace",
    "highlightlang",
    "bibliography",
    "sphinx_gallery_tags",
    "minigallery",
    "doxygenfile",
    "namespace",
    "namespace-push",
    "namespace-pop",
];

/// Directives that describe an object of a programming language (Sphinx's domains).
fn is_object(name: &str) -> bool {
    matches!(
        name,
        "function"
            | "method"
            | "classmethod"
            | "staticmethod"
            | "attribute"
            | "property"
            | "data"
            | "exception"
            | "macro"
            | "type"
            | "member"
            | "enumerator"
            | "enum"
            | "enum-class"
            | "enum-struct"
            | "var"
            | "struct"
            | "union"
            | "alias"
            | "concept"
            | "option"
            | "envvar"
            | "confval"
            | "describe"
            | "object"
            | "decorator"
            | "decoratormethod"
            | "cmdoption"
            | "program"
            | "rst:directive"
            | "directive"
            | "setting"
    )
}

fn python(content: &[&str]) -> String {
    escape::code_block("python", &content.join("\n"))
}

/// One display formula for each paragraph of the body.
fn formulas(content: &[&str]) -> Vec<String> {
    content
        .split(|l| is_blank(l))
        .filter(|p| !p.is_empty())
        .map(|p| format!("$$\n{}\n$$", dedent(p).join("\n")))
        .collect()
}

/// The names of an `autosummary`, one an item; `~` and leading dots are for display only.
fn names(content: &[&str]) -> String {
    let name = |l: &&str| l.split_whitespace().next().map(|n| escape::code_span(n.trim_start_matches(['~', '.'])));
    content.iter().filter_map(name).map(|n| format!("- {n}")).collect::<Vec<_>>().join("\n")
}

/// `autofunction`, `autoclass`, …: the name, since the text itself is in the code.
fn auto(d: &Directive) -> Option<String> {
    Some(escape::code_span(d.argument)).filter(|n| !n.is_empty())
}

/// The blocks of a table cell as one line.
fn flat(blocks: &[String]) -> String {
    let one = |b: &String| {
        let inner = b.strip_prefix("```").and_then(|r| r.strip_suffix("```")).and_then(|r| r.split_once('\n'));
        match inner {
            Some((_, code)) => escape::code_span(code),
            None => b.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    };
    blocks.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|c| c.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}
