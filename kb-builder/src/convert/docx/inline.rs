//! The inside of a Word paragraph as inline Markdown.

use super::super::escape;
use super::super::office::math;
use super::super::xml::Element;
use super::Docx;
use super::styles::Format;
use roxmltree::Node;

/// Elements nested deeper than this are read as plain text.
const MAX_DEPTH: usize = 60;

/// What a paragraph holds.
#[derive(Debug, Default)]
pub struct Inline<'a, 'i> {
    /// Pieces in order; neighbouring text is one piece.
    pieces: Vec<Piece>,
    /// Footnotes and endnotes that it refers to: the mark that was given, and the note.
    pub notes: Vec<(usize, Node<'a, 'i>)>,
    /// Text boxes that hang on it.
    pub boxes: Vec<Node<'a, 'i>>,
    /// Letters by size in half points, and how many of them are bold and of one width.
    sizes: Vec<(u32, usize)>,
    bold: usize,
    monospace: usize,
    letters: usize,
    /// The address that a field asks for, before its text begins.
    field: Option<String>,
    /// The same, and where its text began.
    linked_from: Option<(String, usize)>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Markdown(String),
    Break,
}

impl<'a, 'i> Inline<'a, 'i> {
    /// Reads the children of a paragraph. `base` is what its style says of the letters.
    pub fn read(paragraph: Node<'a, 'i>, base: &Format, docx: &Docx<'a, 'i>) -> Self {
        let mut inline = Self::default();
        inline.children(paragraph, base, docx, 0);
        inline
    }

    /// As inline Markdown; line breaks are `\n`.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(t) => out.push_str(&escape::text(t)),
                Piece::Markdown(m) => out.push_str(m),
                Piece::Break => out.push('\n'),
            }
        }
        let lines: Vec<String> = out.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        lines.join("\n").trim().to_string()
    }

    /// As it stands, for code.
    pub fn plain(&self) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(t) | Piece::Markdown(t) => out.push_str(t),
                Piece::Break => out.push('\n'),
            }
        }
        out
    }

    /// The one formula that the paragraph consists of.
    pub fn only_math(&self) -> Option<&str> {
        let mut found = None;
        for piece in &self.pieces {
            match piece {
                Piece::Markdown(m) if found.is_none() => found = m.strip_prefix('$').and_then(|m| m.strip_suffix('$')),
                Piece::Text(t) if t.trim().is_empty() => {}
                _ => return None,
            }
        }
        found
    }

    /// Whether every letter is bold.
    pub fn is_bold(&self) -> bool {
        self.letters > 0 && self.bold == self.letters
    }

    /// Whether every letter has one width, as in code.
    pub fn is_monospace(&self) -> bool {
        self.letters > 0 && self.monospace == self.letters
    }

    /// The size of most letters in half points, 0 if unknown, and how many letters there are.
    pub fn size(&self) -> (u32, usize) {
        let most = self.sizes.iter().max_by_key(|(size, n)| (*n, *size));
        (most.map_or(0, |(size, _)| *size), self.letters)
    }

    fn children(&mut self, node: Node<'a, 'i>, base: &Format, docx: &Docx<'a, 'i>, depth: usize) {
        for child in node.children().filter(|c| c.is_element()) {
            self.element(child, base, docx, depth + 1);
        }
    }

    fn element(&mut self, node: Node<'a, 'i>, base: &Format, docx: &Docx<'a, 'i>, depth: usize) {
        if depth > MAX_DEPTH {
            self.text(&node.content());
            return;
        }
        match node.name() {
            "r" => self.run(node, base, docx, depth),
            "hyperlink" => {
                let web = node.attr("id").and_then(|id| docx.relations.web(id)).map(str::to_string);
                self.link(web, |inline| inline.children(node, base, docx, depth));
            }
            "fldSimple" => {
                let web = node.attr("instr").and_then(field_link);
                self.link(web, |inline| inline.children(node, base, docx, depth));
            }
            "oMath" | "oMathPara" => {
                let latex = math::latex(node);
                if !latex.is_empty() {
                    self.pieces.push(Piece::Markdown(format!("${latex}$")));
                }
            }
            "AlternateContent" => {
                let chosen = node.child("Choice").or_else(|| node.child("Fallback"));
                if let Some(chosen) = chosen {
                    self.children(chosen, base, docx, depth);
                }
            }
            // Deleted and moved text, properties, comments.
            "del" | "moveFrom" | "pPr" | "rPr" | "sdtPr" | "commentReference" => {}
            _ => self.children(node, base, docx, depth),
        }
    }

    fn run(&mut self, run: Node<'a, 'i>, base: &Format, docx: &Docx<'a, 'i>, depth: usize) {
        let properties = run.child("rPr");
        let format =
            Format::read(None, properties).or(&docx.styles.letters(properties.and_then(|p| p.val("rStyle")))).or(base);
        if format.hidden == Some(true) {
            return;
        }
        let position = properties.and_then(|p| p.val("vertAlign"));
        for child in run.children().filter(|c| c.is_element()) {
            match child.name() {
                "t" => {
                    let text = child.text().unwrap_or_default();
                    self.measure(text, &format);
                    match position {
                        Some("superscript") => self.text(&raised(text)),
                        Some("subscript") => self.text(&lowered(text)),
                        _ => self.text(text),
                    }
                }
                "tab" | "ptab" => self.text("\t"),
                "br" | "cr" => match child.attr("type") {
                    Some("page" | "column") => self.text(" "),
                    _ => self.pieces.push(Piece::Break),
                },
                "noBreakHyphen" => self.text("-"),
                "sym" => {
                    let code = child.attr("char").and_then(|c| u32::from_str_radix(c, 16).ok());
                    // Signs of Symbol and Wingdings have no meaning outside of these fonts.
                    if let Some(c) = code.filter(|c| !(0xF000..=0xF0FF).contains(c)).and_then(char::from_u32) {
                        self.text(c.encode_utf8(&mut [0; 4]));
                    }
                }
                "footnoteReference" => self.note(child, &docx.footnotes, docx),
                "endnoteReference" => self.note(child, &docx.endnotes, docx),
                "ruby" => {
                    // The reading above the characters would stand in the middle of a word.
                    if let Some(base_text) = child.child("rubyBase") {
                        self.children(base_text, base, docx, depth + 1);
                    }
                }
                "AlternateContent" => {
                    if let Some(chosen) = child.child("Choice").or_else(|| child.child("Fallback")) {
                        self.drawing(chosen);
                    }
                }
                "drawing" | "pict" | "object" => self.drawing(child),
                "instrText" => self.field = field_link(child.text().unwrap_or_default()).or(self.field.take()),
                "fldChar" => match child.attr("fldCharType") {
                    Some("begin") => self.field = None,
                    Some("separate") => self.linked_from = self.field.take().map(|url| (url, self.pieces.len())),
                    _ => {
                        if let Some((url, from)) = self.linked_from.take() {
                            self.close_link(&url, from);
                        }
                    }
                },
                _ => {}
            }
        }
    }

    fn text(&mut self, text: &str) {
        let count = self.pieces.len();
        match self.pieces.last_mut() {
            // A link's text is apart from what follows it.
            Some(Piece::Text(last)) if self.linked_from.as_ref().is_none_or(|(_, from)| *from < count) => {
                last.push_str(text);
            }
            _ => self.pieces.push(Piece::Text(text.to_string())),
        }
    }

    fn measure(&mut self, text: &str, format: &Format) {
        let letters = text.chars().filter(|c| !c.is_whitespace()).count();
        self.letters += letters;
        self.bold += if format.bold == Some(true) { letters } else { 0 };
        self.monospace += if format.monospace == Some(true) { letters } else { 0 };
        let size = format.size.unwrap_or(0);
        match self.sizes.iter_mut().find(|(s, _)| *s == size) {
            Some((_, n)) => *n += letters,
            None => self.sizes.push((size, letters)),
        }
    }

    fn note(&mut self, reference: Node, of: &super::Notes<'a, 'i>, docx: &Docx<'a, 'i>) {
        let Some(note) = reference.attr("id").and_then(|id| of.get(id)) else { return };
        let mark = docx.next_note();
        self.pieces.push(Piece::Markdown(format!("[^{mark}]")));
        self.notes.push((mark, *note));
    }

    /// A picture's description and the text boxes in it.
    fn drawing(&mut self, node: Node<'a, 'i>) {
        for inner in node.descendants() {
            match inner.name() {
                "txbxContent" => {
                    let nested = inner.ancestors().skip(1).take_while(|a| *a != node);
                    // A box inside a box comes with the outer one, and of alternatives only the first counts.
                    if !nested.into_iter().any(|a| matches!(a.name(), "txbxContent" | "Fallback")) {
                        self.boxes.push(inner);
                    }
                }
                "docPr" => {
                    if let Some(description) = inner.attr("descr").filter(|d| is_written(d)) {
                        self.text(description.lines().next().unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
    }

    fn link(&mut self, web: Option<String>, fill: impl FnOnce(&mut Self)) {
        let Some(url) = web else { return fill(self) };
        let outer = self.linked_from.take();
        // The link's text must begin with a piece of its own.
        let from = self.pieces.len();
        self.linked_from = Some((url.clone(), from));
        fill(self);
        self.linked_from = outer;
        self.close_link(&url, from);
    }

    /// Makes the pieces from `from` on the text of a link, if it leads to the web.
    fn close_link(&mut self, url: &str, from: usize) {
        let pieces = self.pieces.split_off(from.min(self.pieces.len()));
        let inner = Inline { pieces, ..Inline::default() };
        let text = inner.markdown();
        let web = url.starts_with("https://") || url.starts_with("http://");
        let plain_target = !url.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '\\'));
        if web && plain_target && !text.is_empty() && !text.contains(['[', ']', '\n']) {
            self.pieces.push(Piece::Markdown(format!("[{text}]({url})")));
        } else {
            self.pieces.extend(inner.pieces);
        }
    }
}

/// The address in a field such as `HYPERLINK "https://…" \o "tip"`.
fn field_link(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim_start();
    let url = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split_whitespace().next()?,
    };
    (!url.starts_with('\\')).then(|| url.to_string())
}

/// Whether a picture's description is the author's, not Word's own guess.
fn is_written(description: &str) -> bool {
    !description.trim().is_empty()
        && !["自动生成", "automatically generated", "自動產生"].iter().any(|m| description.contains(m))
}

/// Raised digits and signs, where Unicode has all of them.
fn raised(text: &str) -> String {
    const RAISED: [(&str, &str); 4] = [("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"), ("+-−=()", "⁺⁻⁻⁼⁽⁾"), ("n", "ⁿ"), ("i", "ⁱ")];
    moved(text, &RAISED)
}

/// Lowered digits, where Unicode has all of them.
fn lowered(text: &str) -> String {
    moved(text, &[("0123456789", "₀₁₂₃₄₅₆₇₈₉"), ("+-−=()", "₊₋₋₌₍₎")])
}

fn moved(text: &str, table: &[(&str, &str)]) -> String {
    let one = |c: char| table.iter().find_map(|(from, to)| to.chars().nth(from.chars().position(|f| f == c)?));
    text.chars().map(one).collect::<Option<String>>().unwrap_or_else(|| text.to_string())
}
