//! Any language by its layout: what begins at the left margin after a blank line is an item.
//!
//! This knows no grammar. It is right for formatted code, and where it is wrong two items stand in one
//! passage; no text is lost.

use super::super::escape;
use super::Comments;

/// Longest line that becomes a heading, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// The file as a sequence of items: a heading, the comment before the item as text, its code.
pub fn to_markdown(text: &str, language: &str, comments: Comments) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks: Vec<String> = Vec::new();
    let mut start = 0;
    for at in 1..=lines.len() {
        let begins = at == lines.len() || begins_item(&lines, at);
        if begins {
            item(&lines[start..at], language, comments, &mut blocks);
            start = at;
        }
    }
    blocks.join("\n\n") + "\n"
}

/// Whether an item begins at line `at`: at the left margin, after a blank line, and no closing bracket.
fn begins_item(lines: &[&str], at: usize) -> bool {
    let first = lines[at].chars().next().unwrap_or(' ');
    lines[at - 1].trim().is_empty() && !first.is_whitespace() && !matches!(first, '}' | ')' | ']' | '*')
}

fn item(lines: &[&str], language: &str, comments: Comments, blocks: &mut Vec<String>) {
    let lines: Vec<&str> = lines.iter().map(|l| l.trim_end()).collect();
    let start = lines.iter().position(|l| !l.is_empty()).unwrap_or(lines.len());
    let (documentation, code_from) = comment(&lines[start..], comments);
    let code: Vec<&str> = lines[start + code_from..].to_vec();
    let title = code.iter().find(|l| is_declaration(l)).map(|l| title(l));
    if let Some(title) = title.filter(|t| !t.is_empty()) {
        blocks.push(escape::heading(2, &escape::code_span(&title), ""));
    }
    if !documentation.is_empty() {
        blocks.push(documentation);
    }
    if code.iter().any(|l| !l.is_empty()) {
        blocks.push(escape::code_block(language, code.join("\n").trim_matches('\n')));
    }
}

/// Whether a line can name an item: no attribute, import, or bracket.
fn is_declaration(line: &str) -> bool {
    let line = line.trim();
    let skipped = [
        "#", "@", "//", "/*", "*", "{", "}", "(", ")", "import ", "use ", "from ", "using ", "package ", "include",
        "require", "\"use ",
    ];
    !line.is_empty() && !skipped.iter().any(|s| line.starts_with(s))
}

fn title(line: &str) -> String {
    let line = line.trim().trim_end_matches(['{', ':', ';', '=', '(']).trim();
    line.chars().take(MAX_TITLE_CHARS).collect()
}

/// The comment that opens an item, without its marks, and the number of lines that it takes.
fn comment(lines: &[&str], comments: Comments) -> (String, usize) {
    let mut text: Vec<String> = Vec::new();
    let mut at = 0;
    let mark = match comments {
        Comments::Slashes => "//",
        Comments::Hash => "#",
        Comments::Dashes => "--",
    };
    while at < lines.len() {
        let line = lines[at].trim_start();
        if comments == Comments::Slashes && line.starts_with("/*") {
            let length = lines[at..].iter().position(|l| l.contains("*/"));
            let Some(length) = length else { break };
            for (i, l) in lines[at..=at + length].iter().enumerate() {
                let l = if i == 0 {
                    l.trim_start().trim_start_matches("/*").trim_start_matches(['*', '!'])
                } else {
                    l.trim_start()
                };
                let l = l.split("*/").next().unwrap_or_default();
                text.push(l.trim_start().trim_start_matches('*').trim().to_string());
            }
            at += length + 1;
        } else if line.starts_with(mark)
            && !line.starts_with("#!")
            && !line.starts_with("#[")
            && !line.starts_with("#include")
            && !line.starts_with("#define")
            && !line.starts_with("#if")
        {
            text.push(line.trim_start_matches(['/', '#', '-', '!']).trim().to_string());
            at += 1;
        } else {
            break;
        }
    }
    let lines: Vec<String> = text.iter().map(|l| escape::line_start(&escape::text(l))).collect();
    (lines.join("\n").trim().to_string(), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_their_comment_and_their_code() {
        let source = "// Copyright\n\nuse std::fmt;\n\n/// Adds *two* numbers.\n/// Never fails.\n#[inline]\nfn add(a: i32, b: i32) -> i32 {\n    a\n\n    + b\n}\n\nstruct S;\n";
        assert_eq!(
            to_markdown(source, "rust", Comments::Slashes),
            "Copyright\n\n```rust\nuse std::fmt;\n```\n\n## `fn add(a: i32, b: i32) -> i32`\n\nAdds \\*two\\* numbers.\nNever fails.\n\n\
             ```rust\n#[inline]\nfn add(a: i32, b: i32) -> i32 {\n    a\n\n    + b\n}\n```\n\n## `struct S`\n\n```rust\nstruct S;\n```\n"
        );
    }

    #[test]
    fn block_comments_lose_their_stars() {
        let source = "/**\n * Frees it.\n * @param p the thing\n */\nvoid release(void *p);\n";
        assert_eq!(
            to_markdown(source, "c", Comments::Slashes),
            "## `void release(void *p)`\n\nFrees it.\n@param p the thing\n\n```c\nvoid release(void *p);\n```\n"
        );
        // A comment that never ends is code.
        assert!(to_markdown("/* open\nx\n", "c", Comments::Slashes).contains("/* open"));
    }
}
