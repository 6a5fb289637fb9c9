//! MDX (Docusaurus, Nextra, Astro) to Markdown: what is JavaScript in it is no text.

/// Removes imports, exports, comments in braces, and lines that are nothing but the tag of a component.
/// What stands between such tags stays, code stays as it is.
pub fn to_markdown(text: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|m| trimmed.starts_with(m)) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            out.push(line);
            continue;
        }
        if fence.is_some() {
            out.push(line);
            continue;
        }
        let end: fn(&str) -> bool = if is_module(line) {
            // A statement ends where its brackets are closed and a blank line follows.
            |_| false
        } else if trimmed.starts_with("{/*") {
            |l| l.contains("*/}")
        } else if is_tag(trimmed) {
            |l| l.trim_end().ends_with('>')
        } else {
            out.push(line);
            continue;
        };
        if end(line) {
            continue;
        }
        if is_module(line) {
            while lines.peek().is_some_and(|l| !l.trim().is_empty()) {
                lines.next();
            }
            continue;
        }
        // A tag or comment over several lines, if it is closed at all before the paragraph ends.
        let rest: Vec<&str> = lines.clone().take_while(|l| !l.trim().is_empty()).collect();
        match rest.iter().position(|l| end(l)) {
            Some(length) => {
                for _ in 0..=length {
                    lines.next();
                }
            }
            None => out.push(line),
        }
    }
    out.push("");
    out.join("\n")
}

/// An import or export that stands at the left margin.
fn is_module(line: &str) -> bool {
    let import =
        line.starts_with("import ") && (line.contains(" from ") || line.contains('{') || line.contains(['"', '\'']));
    let export = ["export const ", "export default ", "export function ", "export let ", "export {"];
    import || export.iter().any(|e| line.starts_with(e))
}

/// Whether a line begins with the tag of a component (a capital letter) and has no text behind it.
fn is_tag(line: &str) -> bool {
    let name = line.strip_prefix("</").or_else(|| line.strip_prefix('<')).unwrap_or_default();
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) && !line.starts_with("<>") && !line.starts_with("</>") {
        return false;
    }
    // `<Note>text</Note>` has text; `<Tabs>` and `<Card title="x" />` have none.
    match line.find('>') {
        Some(at) => line[at + 1..].trim().is_empty() || line.ends_with("/>") && line.matches('<').count() == 1,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javascript_goes_and_text_stays() {
        let page = "import Tabs from '@theme/Tabs';\nimport {\n  A,\n} from 'b';\n\n# Title\n\n{/* a comment */}\n\n<Tabs>\n<TabItem value=\"x\"\n  label=\"X\">\n\nText with <Badge>one</Badge>.\n\n</TabItem>\n</Tabs>\n\n```js\nimport x from 'y';\n<Tabs>\n```\n\nimport taxes fall.\n\na < B and x > y\n";
        assert_eq!(
            to_markdown(page),
            "\n# Title\n\n\n\nText with <Badge>one</Badge>.\n\n\n```js\nimport x from 'y';\n<Tabs>\n```\n\nimport taxes fall.\n\na < B and x > y\n"
        );
    }

    #[test]
    fn an_open_tag_takes_nothing_with_it() {
        assert_eq!(to_markdown("<Open\n\ntext\n"), "<Open\n\ntext\n");
    }
}
