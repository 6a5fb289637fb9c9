//! Python by its indentation: docstrings and signatures of the module, its classes and their functions.

use super::super::escape;

/// Deepest nesting of classes and functions that gets a heading.
const MAX_DEPTH: usize = 4;

/// The documentation in a module.
pub fn to_markdown(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks: Vec<String> = Vec::new();
    if let Some((text, _)) = docstring(&lines, 0) {
        blocks.push(documentation(&text));
    }
    // The definitions that are open: their indentation and their name.
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let Some((name, is_class)) = definition(line.trim_start()) else {
            at = after_string(&lines, at);
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let (signature, end) = signature(&lines, at);
        while open.last().is_some_and(|(outer, _)| *outer >= indent) {
            open.pop();
        }
        let path: Vec<&str> = open.iter().map(|(_, n)| n.as_str()).chain([name]).collect();
        let text = docstring(&lines, end);
        // A private one without a word is no documentation.
        let private = name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__"));
        if open.len() < MAX_DEPTH && (text.is_some() || !private) {
            let level = (open.len() + 2).min(5) as u8;
            blocks.push(escape::heading(level, &escape::code_span(&path.join(".")), &path.join(".")));
            blocks.push(escape::code_block("python", &signature));
            if let Some((text, _)) = &text {
                blocks.push(documentation(text));
            }
        }
        if is_class || open.is_empty() || text.is_some() {
            open.push((indent, name.to_string()));
        }
        at = text.map_or(end, |(_, end)| end);
    }
    blocks.retain(|b| !b.trim().is_empty());
    blocks.join("\n\n") + "\n"
}

/// The name that a line defines, and whether it is a class.
fn definition(line: &str) -> Option<(&str, bool)> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let (rest, is_class) = match line.strip_prefix("def ") {
        Some(rest) => (rest, false),
        None => (line.strip_prefix("class ")?, true),
    };
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    (end > 0).then(|| (&rest[..end], is_class))
}

/// A definition up to the colon that ends its head, and the line after it.
fn signature(lines: &[&str], from: usize) -> (String, usize) {
    let mut depth = 0_i32;
    let mut out: Vec<&str> = Vec::new();
    for (i, line) in lines[from..].iter().enumerate().take(200) {
        out.push(line.trim());
        for c in line.split('#').next().unwrap_or_default().chars() {
            depth += match c {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            };
        }
        if depth <= 0 {
            let mut text = out.join(" ").replace("( ", "(").replace(" )", ")").replace(",)", ")");
            if let Some(head) = text.trim_end().strip_suffix(':') {
                text = head.to_string();
            }
            return (text, from + i + 1);
        }
    }
    (lines[from].trim().to_string(), from + 1)
}

/// The string that stands first from line `at` on, and the line after it.
pub(super) fn docstring(lines: &[&str], at: usize) -> Option<(String, usize)> {
    let first = lines[at..].iter().position(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#'))? + at;
    let start = lines[first].trim_start().trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B']);
    let quote = ["\"\"\"", "'''"].into_iter().find(|q| start.starts_with(q));
    let Some(quote) = quote else {
        let quote = start.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let inner = start[1..].strip_suffix(quote)?;
        return Some((inner.to_string(), first + 1));
    };
    let opened = &start[3..];
    if let Some(end) = opened.find(quote) {
        return Some((opened[..end].to_string(), first + 1));
    }
    let mut out = vec![opened.to_string()];
    for (i, line) in lines[first + 1..].iter().enumerate() {
        if let Some(end) = line.find(quote) {
            out.push(line[..end].to_string());
            return Some((dedent(&out), first + i + 2));
        }
        out.push(line.to_string());
    }
    None
}

/// The line after line `at`, or after the long string that begins in it.
fn after_string(lines: &[&str], at: usize) -> usize {
    for quote in ["\"\"\"", "'''"] {
        if lines[at].matches(quote).count() % 2 == 1 && !lines[at].trim_start().starts_with('#') {
            let end = lines[at + 1..].iter().position(|l| l.contains(quote));
            return end.map_or(lines.len(), |i| at + i + 2);
        }
    }
    at + 1
}

/// Takes the indentation that all lines but the first share from them.
fn dedent(lines: &[String]) -> String {
    let indent = lines[1..].iter().filter(|l| !l.trim().is_empty()).map(|l| l.len() - l.trim_start().len()).min();
    let rest = lines[1..].iter().map(|l| l.get(indent.unwrap_or(0)..).unwrap_or_default().trim_end());
    std::iter::once(lines[0].trim()).chain(rest).collect::<Vec<_>>().join("\n").trim().to_string()
}

/// A docstring as Markdown: most are reStructuredText. Its underlined titles are names of parts, such as
/// `Parameters`, and no headings of the page.
fn documentation(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let underline = lines.get(at + 1).map_or("", |l| l.trim());
        let is_title = !lines[at].trim().is_empty()
            && underline.len() >= 3
            && underline.len() + 2 >= lines[at].trim().len()
            && underline.bytes().all(|b| b == underline.as_bytes()[0] && b"-=~^".contains(&b));
        if is_title {
            out.push(format!("**{}**", lines[at].trim()));
            out.push(String::new());
            at += 2;
        } else {
            out.push(lines[at].to_string());
            at += 1;
        }
    }
    super::super::rst::to_markdown(&out.join("\n"), &mut super::super::Notes::default()).trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docstrings_and_signatures_are_sections() {
        let source = r#"#!/usr/bin/env python
"""Graph tools."""
import os

class Graph(dict):
    """A graph.

    Kept as a dict.
    """

    def add(
        self,
        u, v=(1, 2),
    ) -> None:
        """Adds an edge.

        Parameters
        ----------
        u : int
            Start.
        """
        def helper():
            return """def no(): pass"""

    def _private(self): pass

TEXT = """
def in_a_string(): pass
"""

async def main(): 'Runs.'
"#;
        let m = to_markdown(source);
        let headings: Vec<&str> = m.lines().filter(|l| l.starts_with('#')).collect();
        assert_eq!(
            headings,
            [
                "## `Graph` {#Graph}",
                "### `Graph.add` {#Graph.add}",
                "#### `Graph.add.helper` {#Graph.add.helper}",
                "## `main` {#main}"
            ]
        );
        assert!(m.starts_with("Graph tools.\n"), "{m}");
        assert!(m.contains("```python\ndef add(self, u, v=(1, 2)) -> None\n```"), "{m}");
        assert!(m.contains("A graph.\n\nKept as a dict."), "{m}");
        assert!(m.contains("Adds an edge.\n\nParameters\n"), "{m}");
    }

    #[test]
    fn unclosed_strings_and_brackets_end_well() {
        to_markdown("def f(\n");
        to_markdown("\"\"\"open\n");
        assert_eq!(to_markdown("x = 1\n"), "\n");
    }
}
