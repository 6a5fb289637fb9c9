//! Markdown is the common form already; what is left to do is mdBook's preprocessor lines.

use super::Notes;

/// Reads another file of the same source, by its path inside the collection.
pub type Sibling<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// Replaces mdBook's `{{#include FILE}}`, `{{#rustdoc_include FILE}}` and `{{#playground FILE}}` by
/// the file where the source has it, and drops them where not, together with a code fence that they
/// leave empty. `path` is the document's own path, which the names are relative to.
pub fn resolve_includes(text: &str, path: &str, sibling: Sibling, notes: &mut Notes) -> String {
    if !text.contains("{{#") {
        return text.to_string();
    }
    let mut out: Vec<String> = Vec::new();
    let mut dropped_in_fence = false;
    let (mut resolved, mut dropped) = (0, 0);
    for line in text.lines() {
        let Some((before, directive, after)) = split_directive(line) else {
            let closes_empty = is_fence(line) && out.last().is_some_and(|l| is_fence(l));
            if closes_empty && dropped_in_fence {
                out.pop();
            } else {
                out.push(line.to_string());
            }
            if is_fence(line) {
                dropped_in_fence = false;
            }
            continue;
        };
        match directive {
            Directive::Include { file, part, hide } => match included(path, file, part, hide, sibling) {
                Some(body) => {
                    resolved += 1;
                    out.extend(body.lines().map(str::to_string));
                }
                None => {
                    dropped += 1;
                    dropped_in_fence = true;
                    let rest = format!("{before}{after}");
                    if !rest.trim().is_empty() {
                        out.push(rest);
                    }
                }
            },
            Directive::Other => {
                let rest = format!("{before}{after}");
                if !rest.trim().is_empty() {
                    out.push(rest);
                }
            }
        }
    }
    if resolved > 0 {
        notes.count("mdBook include resolved", resolved);
    }
    if dropped > 0 {
        notes.count("mdBook include dropped, the file is not in the source", dropped);
    }
    out.push(String::new());
    out.join("\n")
}

enum Directive<'a> {
    Include {
        file: &'a str,
        part: Option<&'a str>,
        hide: bool,
    },
    /// `{{#title …}}`, `{{#rustdoc_hidden …}}`: no text of the page.
    Other,
}

/// The text before a `{{#…}}`, what it says, and the text after. An escaped `\{{#` is text.
fn split_directive(line: &str) -> Option<(&str, Directive<'_>, &str)> {
    let start = line.find("{{#")?;
    if line[..start].ends_with('\\') {
        return None;
    }
    let length = line[start..].find("}}")?;
    let inner = &line[start + 3..start + length];
    let (verb, argument) = inner.trim().split_once(char::is_whitespace).unwrap_or((inner, ""));
    let directive = match verb {
        "include" | "rustdoc_include" | "playground" | "playpen" => {
            // Only a first word is the file: playground takes attributes after it.
            let target = argument.split_whitespace().next().unwrap_or_default();
            let (file, part) = match target.split_once(':') {
                Some((file, part)) => (file, Some(part)),
                None => (target, None),
            };
            Directive::Include { file, part, hide: verb == "rustdoc_include" }
        }
        "title" | "rustdoc_hidden" => Directive::Other,
        _ => return None,
    };
    Some((&line[..start], directive, &line[start + length + 2..]))
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// The wanted part of an included file. `part` is an anchor name or `FIRST:LAST` line numbers from 1.
fn included(document: &str, file: &str, part: Option<&str>, hide: bool, sibling: Sibling) -> Option<String> {
    let bytes = sibling(&join(document, file)?)?;
    let text = super::encoding::decode(&bytes, None).ok()?.text;
    let is_anchor_line = |l: &str| l.contains("ANCHOR: ") || l.contains("ANCHOR_END: ");
    let lines: Vec<&str> = text.lines().collect();
    let chosen: Vec<&str> = match part {
        None => lines,
        Some(range) if range.starts_with(|c: char| c.is_ascii_digit() || c == ':') => {
            let (first, last) = range.split_once(':').unwrap_or((range, range));
            let first = first.parse::<usize>().unwrap_or(1).max(1);
            let last = last.parse::<usize>().unwrap_or(lines.len()).min(lines.len());
            lines.get(first - 1..last)?.to_vec()
        }
        Some(name) => {
            let tag = |l: &&str, word: &str| l.split_once(word).is_some_and(|(_, n)| n.trim() == name);
            let start = lines.iter().position(|l| tag(l, "ANCHOR: "))?;
            let length =
                lines[start + 1..].iter().position(|l| tag(l, "ANCHOR_END: ")).unwrap_or(lines.len() - start - 1);
            lines[start + 1..start + 1 + length].to_vec()
        }
    };
    // rustdoc hides lines that begin with `# `.
    let hidden = |l: &str| hide && (l.trim() == "#" || l.trim_start().starts_with("# "));
    Some(chosen.into_iter().filter(|l| !is_anchor_line(l) && !hidden(l)).collect::<Vec<_>>().join("\n"))
}

/// `relative` as seen from the document's folder, without `.` and `..`; `None` when it leads out.
fn join(document: &str, relative: &str) -> Option<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(path: &str) -> Option<Vec<u8>> {
        let text = match path {
            "listings/a/main.rs" => {
                "# hidden\nfn main() {\n    // ANCHOR: here\n    run();\n    // ANCHOR_END: here\n}\n"
            }
            "src/out.txt" => "one\ntwo\nthree\n",
            _ => return None,
        };
        Some(text.as_bytes().to_vec())
    }

    fn run(text: &str) -> String {
        resolve_includes(text, "src/ch1.md", &files, &mut Notes::default())
    }

    #[test]
    fn files_of_the_source_are_put_in() {
        assert_eq!(
            run("```rust\n{{#rustdoc_include ../listings/a/main.rs:here}}\n```\n"),
            "```rust\n    run();\n```\n"
        );
        assert_eq!(
            run("```\n{{#include ../listings/a/main.rs}}\n```\n"),
            "```\n# hidden\nfn main() {\n    run();\n}\n```\n"
        );
        assert_eq!(run("{{#include out.txt:2:3}}\n"), "two\nthree\n");
        assert_eq!(run("{{#include out.txt:2}}\n"), "two\n");
    }

    #[test]
    fn what_is_not_there_goes_with_its_empty_fence() {
        let mut notes = Notes::default();
        let text = "before\n\n```rust\n{{#rustdoc_include ../listings/b/main.rs:all}}\n```\n\nafter\n";
        assert_eq!(resolve_includes(text, "src/ch1.md", &files, &mut notes), "before\n\n\nafter\n");
        assert_eq!(notes.list(), ["mdBook include dropped, the file is not in the source: 1"]);
        assert_eq!(run("```rust\nlet x = 1;\n{{#include nope.rs}}\n```\n"), "```rust\nlet x = 1;\n```\n");
        assert_eq!(run("{{#include ../../etc/passwd}}\nx\n"), "x\n", "never out of the source");
    }

    #[test]
    fn other_double_braces_are_text() {
        for text in ["\\{{#include x}}\n", "{{#if x}}\n", "{{ x }}\n", "```\n```\n{{#if\n"] {
            assert_eq!(run(text), text);
        }
    }
}
