//! Jupyter notebooks to Markdown: text cells as they stand, code cells as code, short outputs.

use super::{Markdown, escape};
use kb_core::{Error, ErrorKind, Result};
use serde_json::Value;

/// Longer outputs are logs or data: only their beginning is kept. Lines.
const MAX_OUTPUT_LINES: usize = 12;
/// Longest output that is kept, in characters.
const MAX_OUTPUT_CHARS: usize = 800;

/// Converts a notebook of format 3, 4 or 5.
///
/// # Errors
/// [`ErrorKind::Convert`] for what is no notebook.
pub fn to_markdown(text: &str) -> Result<Markdown> {
    let notebook: Value =
        serde_json::from_str(text).map_err(|e| Error::new(ErrorKind::Convert, format!("it is no JSON: {e}")))?;
    let cells = notebook["cells"].as_array().or_else(|| notebook["worksheets"][0]["cells"].as_array());
    let Some(cells) = cells else {
        return Err(Error::new(ErrorKind::Convert, "it is no notebook: it has no cells"));
    };
    let metadata = &notebook["metadata"];
    let language = [&metadata["kernelspec"]["language"], &metadata["language_info"]["name"]]
        .iter()
        .find_map(|v| v.as_str())
        .unwrap_or("python")
        .to_string();
    let mut blocks = Vec::new();
    for cell in cells {
        let source = joined(if cell["source"].is_null() { &cell["input"] } else { &cell["source"] });
        match cell["cell_type"].as_str() {
            Some("markdown") => blocks.push(source.trim().to_string()),
            // Format 3 had cells for headings.
            Some("heading") => {
                let level = cell["level"].as_u64().unwrap_or(1).clamp(1, 6) as u8;
                blocks.push(escape::heading(level, &source, ""));
            }
            Some("code") if !source.trim().is_empty() => {
                blocks.push(escape::code_block(&language, &source));
                blocks.extend(cell["outputs"].as_array().into_iter().flatten().filter_map(output));
            }
            _ => {}
        }
    }
    blocks.retain(|b| !b.is_empty());
    let title = metadata["title"].as_str().map(str::to_string);
    Ok(Markdown { text: blocks.join("\n\n") + "\n", title, ..Markdown::default() })
}

/// A string, or a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// The text of an output, `None` for pictures and nothing.
fn output(output: &Value) -> Option<String> {
    let text = match output["output_type"].as_str()? {
        "stream" => joined(&output["text"]),
        "error" | "pyerr" => {
            format!("{}: {}", output["ename"].as_str().unwrap_or("Error"), output["evalue"].as_str().unwrap_or(""))
        }
        _ => {
            let data = if output["data"].is_object() { &output["data"]["text/plain"] } else { &output["text"] };
            joined(data)
        }
    };
    let text = without_colours(&text);
    // What stands for a picture or a table in a terminal says nothing.
    if text.trim().is_empty() || text.starts_with("<Figure") || text.starts_with("<IPython") {
        return None;
    }
    let mut kept: String =
        text.trim_end().lines().take(MAX_OUTPUT_LINES).map(str::trim_end).collect::<Vec<_>>().join("\n");
    let mut cut = text.trim_end().lines().count() > MAX_OUTPUT_LINES;
    if let Some((at, _)) = kept.char_indices().nth(MAX_OUTPUT_CHARS) {
        kept.truncate(at);
        cut = true;
    }
    if cut {
        kept.push_str("\n…");
    }
    Some(escape::code_block("text", &kept))
}

/// Removes the escape sequences that terminals take for colours.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 2..];
        let end = tail.find(|c: char| c.is_ascii_alphabetic()).map_or(tail.len(), |i| i + 1);
        rest = &tail[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_text_and_code_with_short_outputs() {
        let m = to_markdown(
            r##"{"nbformat":4,"metadata":{"kernelspec":{"language":"python"}},"cells":[
            {"cell_type":"markdown","source":["# 标题\n","\n","文字 $x$"]},
            {"cell_type":"code","source":"print(1)","outputs":[
              {"output_type":"stream","name":"stdout","text":["\u001b[31m1\u001b[0m\n"]},
              {"output_type":"display_data","data":{"image/png":"AAAA","text/plain":"<Figure size 1x1>"}},
              {"output_type":"error","ename":"ValueError","evalue":"bad","traceback":[]}]},
            {"cell_type":"raw","source":"dropped"},{"cell_type":"code","source":"","outputs":[]}]}"##,
        )
        .expect("converts");
        assert_eq!(
            m.text,
            "# 标题\n\n文字 $x$\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n```text\nValueError: bad\n```\n"
        );
    }

    #[test]
    fn long_outputs_are_cut() {
        let lines = "row\\n".repeat(100);
        let text = format!(
            r#"{{"cells":[{{"cell_type":"code","source":"f()","outputs":[{{"output_type":"execute_result","data":{{"text/plain":"{lines}"}}}}]}}]}}"#
        );
        let m = to_markdown(&text).expect("converts");
        assert_eq!(m.text.matches("row").count(), MAX_OUTPUT_LINES);
        assert!(m.text.ends_with("…\n```\n"), "{}", m.text);
    }

    #[test]
    fn other_json_is_refused() {
        assert!(to_markdown("{\"a\":1}").expect_err("is refused").message().contains("no notebook"));
        assert!(to_markdown("[").expect_err("is refused").message().contains("JSON"));
    }
}
