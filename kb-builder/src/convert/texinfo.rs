//! Texinfo to Markdown: sections, examples, lists, definitions; menus and indexes are left out.

use super::{Notes, escape};

/// Commands that begin a section, with its level.
const SECTIONS: [(&str, u8); 18] = [
    ("top", 1),
    ("part", 1),
    ("chapter", 2),
    ("unnumbered", 2),
    ("appendix", 2),
    ("majorheading", 2),
    ("chapheading", 2),
    ("section", 3),
    ("unnumberedsec", 3),
    ("appendixsec", 3),
    ("heading", 3),
    ("subsection", 4),
    ("unnumberedsubsec", 4),
    ("appendixsubsec", 4),
    ("subheading", 4),
    ("subsubsection", 5),
    ("unnumberedsubsubsec", 5),
    ("subsubheading", 5),
];
/// Environments whose lines are code.
const CODE: [&str; 8] =
    ["example", "smallexample", "lisp", "smalllisp", "verbatim", "display", "format", "smalldisplay"];
/// Environments that are for another output or hold no text.
const DROPPED: [&str; 16] = [
    "menu",
    "detailmenu",
    "ifhtml",
    "iftex",
    "ifxml",
    "ifdocbook",
    "html",
    "tex",
    "xml",
    "docbook",
    "ignore",
    "titlepage",
    "direntry",
    "copying",
    "macro",
    "ifset",
];

/// The text of a manual, without its header.
pub fn to_markdown(text: &str, notes: &mut Notes) -> (String, Option<String>) {
    let mut writer = Writer::default();
    let mut title = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("\\input texinfo") {
            continue;
        }
        let Some((name, argument)) = line_command(line) else {
            writer.text(line);
            continue;
        };
        if let Some((_, level)) = SECTIONS.iter().find(|(n, _)| *n == name) {
            writer.heading(*level, argument);
        } else if DROPPED.contains(&name) {
            skip(&mut lines, name);
        } else if CODE.contains(&name) {
            let mut code = Vec::new();
            for line in lines.by_ref().take_while(|l| !is_end(l, name)) {
                match line_command(line) {
                    Some(("c" | "comment" | "group" | "end" | "noindent" | "cindex" | "findex", _))
                        if name != "verbatim" => {}
                    _ if name == "verbatim" => code.push(line.to_string()),
                    _ => code.push(plain(line)),
                }
            }
            writer.block(escape::code_block("", code.join("\n").trim_matches('\n')));
        } else {
            match name {
                "settitle" | "title" => title = title.or(Some(plain(argument))),
                "itemize" | "enumerate" | "table" | "ftable" | "vtable" | "multitable" => writer.open(name),
                "item" | "itemx" | "headitem" => writer.item(argument),
                "tab" => writer.text(&format!("— {argument}")),
                "end" => writer.close(argument),
                "quotation" | "smallquotation" | "cartouche" | "group" | "ifinfo" | "ifnottex" | "ifnothtml"
                | "ifplaintext" | "ifclear" => {
                    writer.flush();
                }
                "node" => writer.node = argument.split(',').next().unwrap_or_default().trim().to_string(),
                "anchor" | "c" | "comment" | "cindex" | "findex" | "vindex" | "kindex" | "pindex" | "tindex" => {}
                "exdent" | "center" => writer.text(argument),
                "bye" => break,
                _ if name.starts_with("def") && !argument.is_empty() => {
                    let call = plain(argument);
                    writer.block(escape::code_span(&call));
                }
                // Settings such as `@setfilename`: a command with an argument that is no text.
                _ if is_setting(name) => {}
                _ => writer.text(line),
            }
        }
    }
    writer.flush();
    notes.count_some("Texinfo command without a meaning here, its text kept", writer.unknown);
    (writer.blocks.join("\n\n") + "\n", title)
}

fn is_setting(name: &str) -> bool {
    [
        "setfilename",
        "set",
        "clear",
        "include",
        "documentencoding",
        "documentlanguage",
        "dircategory",
        "finalout",
        "setchapternewpage",
        "defcodeindex",
        "defindex",
        "syncodeindex",
        "synindex",
        "paragraphindent",
        "printindex",
        "contents",
        "summarycontents",
        "shortcontents",
        "page",
        "sp",
        "need",
        "noindent",
        "indent",
        "insertcopying",
        "author",
        "subtitle",
        "vskip",
        "headings",
        "everyheading",
        "afourpaper",
        "smallbook",
        "raisesections",
        "lowersections",
        "alias",
        "columnfractions",
        "kbdinputstyle",
        "exampleindent",
        "footnotestyle",
    ]
    .contains(&name)
}

/// Leaves out an environment, others of the same name inside of it too.
fn skip<'a>(lines: &mut impl Iterator<Item = &'a str>, name: &str) {
    let mut depth = 1;
    for line in lines {
        if is_end(line, name) {
            depth -= 1;
        } else if line_command(line).is_some_and(|(n, _)| n == name) {
            depth += 1;
        }
        if depth == 0 {
            return;
        }
    }
}

fn is_end(line: &str, name: &str) -> bool {
    line.trim().strip_prefix("@end").is_some_and(|rest| rest.trim() == name)
}

/// The command that a line begins with and the rest, `None` for text and for commands with braces.
fn line_command(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('@')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (name, argument) = rest.split_at(end);
    (end > 0 && !argument.starts_with('{')).then(|| (name, argument.trim()))
}

#[derive(Default)]
struct Writer {
    blocks: Vec<String>,
    paragraph: Vec<String>,
    /// Open lists: whether their items are terms, and the number of the next item.
    lists: Vec<(bool, Option<usize>)>,
    /// What stands before the paragraph: the marker of an item.
    marker: Option<String>,
    node: String,
    unknown: usize,
}

impl Writer {
    fn text(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.flush();
        } else {
            self.paragraph.push(line.trim().to_string());
        }
    }

    fn flush(&mut self) {
        let text = inline(&self.paragraph.join("\n"), &mut self.unknown);
        self.paragraph.clear();
        let text: Vec<String> = text.lines().map(|l| escape::line_start(l.trim())).filter(|l| !l.is_empty()).collect();
        if text.is_empty() {
            return;
        }
        let depth = self.lists.len().saturating_sub(1);
        let indent = "   ".repeat(depth);
        let block = match self.marker.take() {
            Some(marker) => {
                let rest = format!("{indent}{}", " ".repeat(marker.chars().count()));
                escape::prefixed(&text.join("\n"), &format!("{indent}{marker}"), &rest)
            }
            None if self.lists.is_empty() => text.join("\n"),
            None => {
                let inner = format!("{indent}   ");
                escape::prefixed(&text.join("\n"), &inner, &inner)
            }
        };
        self.blocks.push(block);
    }

    fn block(&mut self, block: String) {
        self.flush();
        if !block.trim().is_empty() {
            self.blocks.push(block);
        }
    }

    fn heading(&mut self, level: u8, title: &str) {
        self.flush();
        self.lists.clear();
        let title = inline(title, &mut self.unknown);
        // A manual's page on the web is named after its node.
        let anchor = node_anchor(&std::mem::take(&mut self.node));
        if !title.trim().is_empty() {
            self.blocks.push(escape::heading(level, &title, &anchor));
        }
    }

    fn open(&mut self, name: &str) {
        self.flush();
        self.lists.push((name.ends_with("table") && name != "multitable", (name == "enumerate").then_some(1)));
    }

    fn close(&mut self, name: &str) {
        self.flush();
        if matches!(name, "itemize" | "enumerate" | "table" | "ftable" | "vtable" | "multitable") {
            self.marker = None;
            self.lists.pop();
        }
    }

    fn item(&mut self, argument: &str) {
        self.flush();
        let marker = match self.lists.last_mut() {
            Some((true, _)) => {
                let term = inline(argument, &mut self.unknown);
                self.blocks.push(format!("- {}", term.trim()));
                return;
            }
            Some((_, Some(number))) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "- ".to_string(),
        };
        self.marker = Some(marker);
        if !argument.is_empty() {
            self.paragraph.push(argument.to_string());
        }
    }
}

/// The anchor that makeinfo gives to a node in HTML: `-` for a space, `_00xx` for signs.
fn node_anchor(node: &str) -> String {
    let mut out = String::new();
    for c in node.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c),
            ' ' => out.push('-'),
            c => out.push_str(&format!("_{:04x}", c as u32)),
        }
    }
    out
}

fn plain(text: &str) -> String {
    let mut out = String::new();
    expand(text, false, &mut out, &mut 0, 0);
    out
}

fn inline(text: &str, unknown: &mut usize) -> String {
    let mut out = String::new();
    expand(text, true, &mut out, unknown, 0);
    out
}

/// Commands with braces nested deeper than this are kept as text.
const MAX_DEPTH: usize = 20;

/// Replaces commands by what they stand for.
fn expand(text: &str, markdown: bool, out: &mut String, unknown: &mut usize, depth: usize) {
    let mut rest = text;
    let put = |s: &str, out: &mut String| if markdown { out.push_str(&escape::text(s)) } else { out.push_str(s) };
    while let Some(at) = rest.find('@') {
        put(&rest[..at], out);
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if end == 0 {
            // `@@`, `@{`, `@}`, `@.`, `@*`
            let c = rest.chars().next().unwrap_or(' ');
            match c {
                '*' => out.push('\n'),
                '@' | '{' | '}' | '.' | '!' | '?' | '-' | '/' | ' ' => put(c.encode_utf8(&mut [0; 4]), out),
                _ => {}
            }
            rest = &rest[c.len_utf8().min(rest.len())..];
            continue;
        }
        let name = &rest[..end];
        rest = &rest[end..];
        let Some(inner) = braced(rest).filter(|_| depth < MAX_DEPTH) else { continue };
        rest = &rest[inner.len() + 2..];
        let first = || inner.split(',').next().unwrap_or_default().trim();
        match name {
            "dots" | "enddots" => out.push('…'),
            "copyright" => out.push('©'),
            "result" | "expansion" => out.push('⇒'),
            "error" => out.push_str("error→"),
            "equiv" => out.push('≡'),
            "point" => out.push('⋆'),
            "minus" => out.push('−'),
            "bullet" => out.push('•'),
            "TeX" | "LaTeX" | "ss" => out.push_str(if name == "ss" { "ß" } else { name }),
            "tie" => out.push(' '),
            "anchor" | "image" | "cindex" | "hyphenation" => {}
            "math" => out.push_str(&if markdown { format!("${inner}$") } else { inner.to_string() }),
            "code" | "samp" | "command" | "option" | "env" | "file" | "kbd" | "key" | "verb" | "t" | "indicateurl" => {
                let code = plain(inner);
                out.push_str(&if markdown { escape::code_span(&code) } else { code });
            }
            "uref" | "url" | "email" => {
                let mut parts = inner.split(',').map(str::trim);
                let (target, label) = (plain(parts.next().unwrap_or_default()), parts.next().map(plain));
                let label = label.filter(|l| !l.is_empty()).unwrap_or_else(|| target.clone());
                if markdown
                    && target.starts_with("http")
                    && !label.contains(['[', ']'])
                    && !target.contains(['(', ')', ' '])
                {
                    out.push_str(&format!("[{}]({target})", escape::text(&label)));
                } else {
                    put(&label, out);
                }
            }
            "xref" | "pxref" | "ref" | "inforef" => {
                let label = inner.split(',').map(str::trim).filter(|p| !p.is_empty()).nth(2).unwrap_or_else(first);
                out.push_str(match name {
                    "xref" => "See ",
                    "pxref" => "see ",
                    _ => "",
                });
                put(&plain(label), out);
            }
            "footnote" => {
                out.push_str(" (");
                expand(inner, markdown, out, unknown, depth + 1);
                out.push(')');
            }
            "acronym" | "abbr" => put(&plain(first()), out),
            "value" => put(inner, out),
            "var" | "emph" | "strong" | "dfn" | "cite" | "i" | "b" | "r" | "sc" | "asis" | "w" | "dmn"
            | "sansserif" | "slanted" | "sub" | "sup" => {
                expand(inner, markdown, out, unknown, depth + 1);
            }
            _ => {
                *unknown += 1;
                expand(inner, markdown, out, unknown, depth + 1);
            }
        }
    }
    put(rest, out);
}

/// The text between the brace that `text` begins with and the one that closes it.
fn braced(text: &str) -> Option<&str> {
    if !text.starts_with('{') {
        return None;
    }
    let mut depth = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '@' => escaped = true,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[1..at]);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_becomes_sections() {
        let manual = "\\input texinfo\n@settitle The Tool\n@c a comment\n@node Top\n@top The Tool\n@menu\n* Use::  how\n@end menu\n\
            @node Basic Use\n@chapter Basic @code{use}\nRun @command{tool} with @var{file}, see @ref{Top}.\n\n\
            @example\n@group\nif (x) @{ y @}\n@end group\n@end example\n\n@itemize @bullet\n@item one\ntwo lines\n@item two\n@end itemize\n\
            @table @code\n@item -v\nVerbose.\n@end table\n@deftypefun int run (int @var{n})\nRuns.\n@end deftypefun\n@bye\nafter\n";
        let (text, title) = to_markdown(manual, &mut Notes::default());
        assert_eq!(title.as_deref(), Some("The Tool"));
        assert_eq!(
            text,
            "# The Tool {#Top}\n\n## Basic `use` {#Basic-Use}\n\nRun `tool` with file, see Top.\n\n\
             ```\nif (x) { y }\n```\n\n- one\n  two lines\n\n- two\n\n- -v\n\n   Verbose.\n\n`int run (int n)`\n\nRuns.\n"
        );
    }

    #[test]
    fn signs_and_nesting() {
        assert_eq!(plain("a@@b @{x@} @dots{} @emph{@code{f}}"), "a@b {x} … f");
        assert_eq!(inline("@url{https://e.org/, site} @unknown{kept}", &mut 0), "[site](https://e.org/) kept");
        let deep = "@emph{".repeat(500) + "x" + &"}".repeat(500);
        plain(&deep);
        assert_eq!(braced("{open"), None);
    }
}
