//! Python scripts that are pages, as Sphinx-Gallery has them: the module's string and the comments below a mark are
//! text in reStructuredText, what stands between them is code. Tutorials of scientific libraries are written so.

use super::super::{Notes, rst};
use super::python::docstring;

/// The page in a script; nothing if it is none.
pub fn to_markdown(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    if !lines.iter().any(|l| is_mark(l)) {
        return None;
    }
    let (opening, mut at) = docstring(&lines, 0)?;
    // One text, so that all underlines are seen together.
    let mut page = format!("{opening}\n\n");
    while at < lines.len() {
        let end = lines[at..].iter().position(|l| is_mark(l)).map_or(lines.len(), |n| at + n);
        push_code(&mut page, &lines[at..end]);
        let Some(mark) = lines.get(end) else { break };
        let title = mark.trim_start_matches(['#', ' ', '%']).trim();
        // `[markdown]` is for notebooks.
        if !title.is_empty() && !title.starts_with('[') {
            page += &format!("**{title}**\n\n");
        }
        at = end + 1;
        while let Some(comment) = lines.get(at).filter(|l| !is_mark(l)).and_then(|l| l.strip_prefix('#')) {
            page += comment.strip_prefix(' ').unwrap_or(comment);
            page.push('\n');
            at += 1;
        }
        page.push('\n');
    }
    Some(rst::to_markdown(&page, &mut Notes::default()))
}

/// Whether text begins after this line: `# %%`, or a line of many `#`.
fn is_mark(line: &str) -> bool {
    let line = line.trim_end();
    line.starts_with("# %%") || line.starts_with("#%%") || line.len() >= 20 && line.bytes().all(|b| b == b'#')
}

fn push_code(page: &mut String, lines: &[&str]) {
    let is_blank = |l: &&str| l.trim().is_empty();
    let Some(first) = lines.iter().position(|l| !is_blank(l)) else { return };
    let last = lines.iter().rposition(|l| !is_blank(l)).unwrap_or(first);
    *page += ".. code-block:: python\n\n";
    for line in &lines[first..=last] {
        *page += &format!("    {line}\n");
    }
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_code_take_turns() {
        let script = "\"\"\"\nTensors\n=======\n\nA tensor is an array.\n\"\"\"\n\nimport torch\n\n\
            ####################################\n# Making one\n# ----------\n# From ``lists``, by a call.\n\nx = torch.ones(2)\n\n\
            # a comment of the code\ny = x\n\n# %%\n# The end.\n";
        let page = to_markdown(script).expect("is a page");
        for part in [
            "# Tensors",
            "A tensor is an array.",
            "```python\nimport torch\n```",
            "## Making one",
            "From `lists`, by a call.",
            "x = torch.ones(2)\n\n# a comment of the code\ny = x\n```",
            "The end.",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn other_scripts_are_no_pages() {
        for script in ["", "\"\"\"Doc.\"\"\"\nx = 1\n", "# %%\nx = 1\n", "####################\n", "\"\"\"open\n# %%\n"]
        {
            assert_eq!(to_markdown(script), None, "{script}");
        }
    }
}
