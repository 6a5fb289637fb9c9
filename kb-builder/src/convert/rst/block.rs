//! Cuts lines into blocks and turns each into Markdown.

use super::super::escape;
use super::lines::{dedent, indent, indented_end, is_blank, trim_blank};
use super::section::{adornment, title_at};
use super::{Parser, list, table};

/// Blocks nested deeper than this are taken as plain text, so that no document exhausts the stack.
const MAX_DEPTH: usize = 40;

/// Where a run of lines stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The document itself: sections are only here.
    Top,
    /// Inside a list, a quote or a directive, this deep.
    Nested(usize),
}

impl Place {
    pub fn deeper(self) -> Self {
        match self {
            Self::Top => Self::Nested(1),
            Self::Nested(n) => Self::Nested(n + 1),
        }
    }
}

impl Parser<'_> {
    /// The Markdown blocks of some lines, to be joined by blank lines.
    pub fn blocks(&mut self, lines: &[&str], place: Place) -> Vec<String> {
        if matches!(place, Place::Nested(n) if n > MAX_DEPTH) {
            return vec![escape::text(&trim_blank(lines).join(" "))];
        }
        let mut out = Vec::new();
        let mut i = 0;
        while i < lines.len() {
            if is_blank(lines[i]) {
                i += 1;
                continue;
            }
            let before = i;
            i = self.block(lines, i, place, &mut out);
            debug_assert!(i > before, "every block takes a line");
            i = i.max(before + 1);
        }
        out.retain(|b| !b.trim().is_empty());
        out
    }

    /// Converts the block that begins at line `i`; returns the index of the line after it.
    fn block(&mut self, lines: &[&str], i: usize, place: Place, out: &mut Vec<String>) -> usize {
        let line = lines[i];
        let title = title_at(lines, i);
        if title.is_none() && !line.starts_with(".. _") {
            // A label names the title straight after it, or else something that has no anchor here.
            self.sections.label = None;
        }
        if indent(line) > 0 {
            let end = indented_end(lines, i, 1);
            let body = self.blocks(&dedent(&lines[i..end]), place.deeper());
            out.push(escape::prefixed(&body.join("\n\n"), "> ", "> "));
            return end;
        }
        if line == ".." || line.starts_with(".. ") {
            return self.explicit(lines, i, place, out);
        }
        if line == "__" || line.starts_with("__ ") {
            return i + 1;
        }
        if let Some(title) = title {
            if place == Place::Top {
                out.push(self.heading(&title));
            } else {
                out.push(format!("**{}**", self.inline(title.text)));
            }
            return i + title.lines;
        }
        if let Some((rows, end)) = table::grid(lines, i).or_else(|| table::simple(lines, i)) {
            let rows: Vec<Vec<String>> = rows.into_iter().map(|r| r.iter().map(|c| self.inline(c)).collect()).collect();
            out.push(escape::table(&rows));
            return end;
        }
        if adornment(line).is_some_and(|_| line.len() >= 4) {
            // A transition.
            return i + 1;
        }
        if line.starts_with(">>> ") || line == ">>>" {
            let end = (i..lines.len()).find(|j| is_blank(lines[*j])).unwrap_or(lines.len());
            let code = lines[i..end].join("\n");
            // Sessions that follow one another are one example, and stay in one passage.
            match out.last_mut().and_then(|l| l.strip_suffix("\n```").filter(|l| l.starts_with("```python\n>>>"))) {
                Some(before) => {
                    let joined = format!("{before}\n\n{code}\n```");
                    out.pop();
                    out.push(joined);
                }
                None => out.push(escape::code_block("python", &code)),
            }
            return end;
        }
        if line == "|" || line.starts_with("| ") {
            let end = (i..lines.len())
                .find(|j| !(lines[*j].starts_with('|') || indent(lines[*j]) > 0))
                .unwrap_or(lines.len());
            let text: Vec<String> = lines[i..end]
                .iter()
                .map(|l| self.inline(l.trim_start_matches('|').trim()))
                .filter(|l| !l.is_empty())
                .collect();
            out.push(text.join("\n"));
            return end;
        }
        if let Some(end) = self.list(lines, i, place, out) {
            return end;
        }
        if list::field(line).is_some() {
            return self.fields(lines, i, place, out);
        }
        if lines.get(i + 1).is_some_and(|next| indent(next) > 0 && !is_blank(next)) && !line.ends_with("::") {
            let end = indented_end(lines, i + 1, 1);
            self.definition(line, &lines[i + 1..end], place, out);
            return end;
        }
        self.paragraph(lines, i, out)
    }

    /// `..` and what follows it: a directive, a target, a substitution, a footnote or a comment.
    fn explicit(&mut self, lines: &[&str], i: usize, place: Place, out: &mut Vec<String>) -> usize {
        let end = indented_end(lines, i + 1, 1).max(i + 1);
        let rest = lines[i].strip_prefix("..").unwrap_or_default().trim_start();
        if rest.is_empty() {
            // An empty comment ends at once when a blank line follows it.
            return if lines.get(i + 1).is_none_or(|l| is_blank(l)) { i + 1 } else { end };
        }
        if rest.starts_with('_') {
            if let Some((label, _)) = super::target(lines[i]).filter(|(_, url)| url.is_empty()) {
                self.sections.label = Some(label);
            }
            return end;
        }
        if rest.starts_with('|') {
            return end;
        }
        if let Some((name, text)) = footnote(rest) {
            let mut body: Vec<&str> = vec![text];
            let continuation = dedent(&lines[i + 1..end]);
            body.extend(&continuation);
            let blocks = self.blocks(&body, place.deeper());
            let label = if name.is_empty() { String::new() } else { format!("[{name}] ") };
            out.push(format!("{}{}", escape::text(&label), blocks.join("\n\n")));
            return end;
        }
        if let Some((name, argument)) = directive_line(rest) {
            let mut body = dedent(&lines[i + 1..end]);
            if lines.get(i + 1).is_some_and(|l| is_blank(l)) {
                body.insert(0, "");
            }
            out.extend(self.directive(name, argument, &body, place));
        }
        end
    }

    /// Text up to a blank line, and the literal block that a `::` at its end announces.
    fn paragraph(&mut self, lines: &[&str], i: usize, out: &mut Vec<String>) -> usize {
        let ends = |j: &usize| {
            is_blank(lines[*j])
                || indent(lines[*j]) > 0
                || (lines[*j].starts_with(".. ") && directive_line(lines[*j][3..].trim_start()).is_some())
        };
        let end = (i + 1..lines.len()).find(ends).unwrap_or(lines.len());
        let text = lines[i..end].join("\n");
        let Some(before) = text.strip_suffix("::") else {
            out.push(self.paragraph_text(&text));
            return end;
        };
        // `::` alone and ` ::` vanish, `text::` keeps one colon.
        let shown = if before.is_empty() || before.ends_with(char::is_whitespace) {
            before.trim_end().to_string()
        } else {
            format!("{before}:")
        };
        if !shown.is_empty() {
            out.push(self.paragraph_text(&shown));
        }
        let Some(start) = (end..lines.len()).find(|j| !is_blank(lines[*j])) else { return lines.len() };
        let stop = if indent(lines[start]) > 0 {
            indented_end(lines, start, 1)
        } else {
            // A quoted literal block: every line begins with the same punctuation.
            let Some(quote) = lines[start].chars().next().filter(char::is_ascii_punctuation) else { return end };
            (start..lines.len()).find(|j| !lines[*j].starts_with(quote)).unwrap_or(lines.len())
        };
        let code = dedent(&lines[start..stop]);
        let language =
            if code.first().is_some_and(|l| l.starts_with(">>>")) { "python" } else { &self.literal_language };
        out.push(escape::code_block(language, &code.join("\n")));
        stop
    }

    fn paragraph_text(&self, text: &str) -> String {
        self.inline(text)
            .lines()
            .map(|l| escape::line_start(l.trim()))
            .filter(|l| !l.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// A term and its definition. The term stays in one paragraph with the first of its text.
    fn definition(&mut self, term: &str, body: &[&str], place: Place, out: &mut Vec<String>) {
        // `term : classifier`
        let (term, classifier) = term.split_once(" : ").map_or((term, None), |(t, c)| (t, Some(c)));
        let mut head = format!("**{}**", self.inline(term).trim());
        if let Some(classifier) = classifier {
            head.push_str(&format!(" ({})", self.inline(classifier).trim()));
        }
        let mut blocks = self.blocks(&dedent(body), place.deeper()).into_iter();
        match blocks.next() {
            Some(first) if is_paragraph(&first) => out.push(format!("{head}\n{first}")),
            Some(first) => out.extend([head, first]),
            None => out.push(head),
        }
        out.extend(blocks);
    }
}

/// Whether a Markdown block is running text, so that a line can be put before it.
fn is_paragraph(block: &str) -> bool {
    !block.starts_with("```")
        && !block.starts_with("$$")
        && !block.starts_with(['|', '>', '#', '-', '+'])
        && !block.starts_with(|c: char| c.is_ascii_digit())
}

/// `name:: argument`, the name checked.
pub fn directive_line(rest: &str) -> Option<(&str, &str)> {
    let (name, argument) = rest.split_once("::")?;
    let name = name.trim_end();
    let valid =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | ':' | '.'));
    (valid && (argument.is_empty() || argument.starts_with(' '))).then(|| (name, argument.trim()))
}

/// `[1] text`, `[#name] text`, `[*] text`, `[CIT2002] text`: the label to show and the text.
fn footnote(rest: &str) -> Option<(&str, &str)> {
    let (label, text) = rest.strip_prefix('[')?.split_once(']')?;
    let valid = !label.is_empty() && !label.contains(char::is_whitespace) && (text.is_empty() || text.starts_with(' '));
    valid.then(|| (label.trim_start_matches(['#', '*']), text.trim_start()))
}
