// Also part of build.rs, which has no crate to take it from: std alone, and no doc comment for a module.

/// A script or style sheet without the comments that begin a line and without indentation: a third less on the wire, and
/// every line of code as it was written. A file that this might change is given back as it is.
pub fn slim(source: &str) -> String {
    // Inside a template over several lines, a string or a comment that goes on, a line is not what it seems.
    let open = |line: &str| line.rsplit_once("/*").is_some_and(|(_, behind)| !behind.contains("*/"));
    let goes_on = |line: &str| line.matches('`').count() % 2 == 1 || line.ends_with('\\') || open(line);
    if code_lines(source).iter().any(|line| goes_on(line)) {
        return source.to_owned();
    }
    let mut out = String::with_capacity(source.len());
    for line in code_lines(source) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The lines that are not empty without the comments that begin them, trimmed.
fn code_lines(source: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = source;
    while !rest.is_empty() {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("/*") {
            // A comment that does not end is a mistake that the browser shall report.
            let Some((_, behind)) = comment.split_once("*/") else { break };
            rest = behind;
            continue;
        }
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        if !line.is_empty() && !line.starts_with("//") {
            lines.push(line.trim_end());
        }
        rest = behind;
    }
    lines
}
