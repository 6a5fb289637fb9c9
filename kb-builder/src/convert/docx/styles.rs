//! Paragraph and character styles: what Word's names and inheritance say about a paragraph.

use super::super::xml::Element;
use roxmltree::Node;
use std::collections::HashMap;

/// Longest chain of styles based on one another that is followed.
const MAX_CHAIN: usize = 20;

/// What a style or a paragraph's own properties say; `None` where they say nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Format {
    /// 1 to 9 for headings, 0 for what is expressly body text.
    pub outline: Option<u8>,
    /// The numbering it belongs to, 0 for none, and the level in it.
    pub numbering: Option<u32>,
    /// See `numbering`.
    pub level: Option<usize>,
    pub bold: Option<bool>,
    pub hidden: Option<bool>,
    /// Size of the letters in half points.
    pub size: Option<u32>,
    pub monospace: Option<bool>,
}

impl Format {
    /// Reads the properties of a paragraph (`pPr`) and of its letters (`rPr`).
    pub fn read(paragraph: Option<Node>, letters: Option<Node>) -> Self {
        let numbers = paragraph.and_then(|p| p.child("numPr"));
        let number = |n: Option<&str>| n.and_then(|n| n.parse::<u32>().ok());
        Self {
            outline: paragraph.and_then(|p| number(p.val("outlineLvl"))).map(|n| if n < 9 { n as u8 + 1 } else { 0 }),
            numbering: numbers.and_then(|n| number(n.val("numId"))),
            level: numbers.and_then(|n| number(n.val("ilvl"))).map(|n| n.min(8) as usize),
            bold: letters.and_then(|r| r.switch("b")),
            hidden: letters.and_then(|r| r.switch("vanish")),
            size: letters.and_then(|r| number(r.val("sz"))),
            monospace: letters.and_then(|r| r.child("rFonts")).and_then(|f| f.attr("ascii")).map(is_monospace),
        }
    }

    /// Takes over from `base` what this one does not say.
    pub fn or(self, base: &Format) -> Self {
        Self {
            outline: self.outline.or(base.outline),
            numbering: self.numbering.or(base.numbering),
            level: self.level.or(base.level),
            bold: self.bold.or(base.bold),
            hidden: self.hidden.or(base.hidden),
            size: self.size.or(base.size),
            monospace: self.monospace.or(base.monospace),
        }
    }
}

fn is_monospace(font: &str) -> bool {
    let font = font.to_ascii_lowercase();
    ["courier", "consolas", "mono", "menlo", "monaco", "fira code", "cascadia", "jetbrains", "lucida console"]
        .iter()
        .any(|m| font.contains(m))
}

/// What a paragraph is by its style's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Nothing special.
    #[default]
    Body,
    /// The title of the document.
    Title,
    /// A heading of this level, 1 to 9.
    Heading(u8),
    /// A line of a table of contents or of an index, which has no text of its own.
    Contents,
    /// Program text.
    Code,
    /// A quotation.
    Quote,
}

/// A resolved style.
#[derive(Debug, Clone, Default)]
pub struct Style {
    pub format: Format,
    pub role: Role,
}

/// All styles of a document, resolved.
#[derive(Debug, Default)]
pub struct Styles {
    by_id: HashMap<String, Style>,
    /// Id of the paragraph style that applies where none is named.
    default: String,
    /// What holds where no style says anything.
    base: Format,
}

struct Raw {
    name: String,
    based_on: Option<String>,
    format: Format,
}

impl Styles {
    /// Reads the root of `word/styles.xml`.
    pub fn read(root: Node) -> Self {
        let mut raw = HashMap::new();
        let mut default = String::new();
        for style in root.all("style") {
            let Some(id) = style.attr("styleId") else { continue };
            if style.attr("type") == Some("paragraph") && matches!(style.attr("default"), Some("1" | "true")) {
                default = id.to_string();
            }
            raw.insert(
                id.to_string(),
                Raw {
                    name: style.val("name").unwrap_or(id).to_string(),
                    based_on: style.val("basedOn").map(str::to_string),
                    format: Format::read(style.child("pPr"), style.child("rPr")),
                },
            );
        }
        let defaults = root.child("docDefaults");
        let part = |outer, inner| defaults.and_then(|d| d.child(outer)).and_then(|d| d.child(inner));
        let base = Format::read(part("pPrDefault", "pPr"), part("rPrDefault", "rPr"));
        let by_id = raw.keys().map(|id| (id.clone(), resolve(&raw, id))).collect();
        Self { by_id, default, base }
    }

    /// The style of a paragraph that names `id`. An unknown id is judged by itself, as some producers
    /// leave out the styles that Word has built in.
    pub fn paragraph(&self, id: Option<&str>) -> Style {
        let id = id.unwrap_or(&self.default);
        let style = self.by_id.get(id).cloned().unwrap_or_else(|| Style { role: role(id), ..Style::default() });
        Style { format: style.format.or(&self.base), role: style.role }
    }

    /// What a character style says, nothing if there is none of that id.
    pub fn letters(&self, id: Option<&str>) -> Format {
        id.and_then(|id| self.by_id.get(id)).map(|s| s.format.clone()).unwrap_or_default()
    }
}

fn resolve(raw: &HashMap<String, Raw>, id: &str) -> Style {
    let mut style = Style::default();
    let mut at = Some(id.to_string());
    for _ in 0..MAX_CHAIN {
        let Some(next) = at.as_ref().and_then(|id| raw.get(id)) else { break };
        style.format = std::mem::take(&mut style.format).or(&next.format);
        if style.role == Role::Body {
            style.role = role(&next.name);
        }
        at = next.based_on.clone();
    }
    style
}

/// Words that heading styles begin with, in the languages whose Word or WPS writes them itself.
const HEADING: [&str; 12] = [
    "heading",
    "标题",
    "標題",
    "見出し",
    "제목",
    "überschrift",
    "titre",
    "titolo",
    "título",
    "заголовок",
    "kop",
    "rubrik",
];

/// What the name of a style says.
fn role(name: &str) -> Role {
    let name = name.trim().to_lowercase();
    for word in HEADING {
        let Some(rest) = name.strip_prefix(word) else { continue };
        let level = rest.trim_matches(|c: char| c.is_whitespace() || c == '_' || c == '-');
        let level = level.chars().next().filter(|_| level.chars().count() == 1).and_then(digit);
        match level {
            Some(level @ 1..) => return Role::Heading(level),
            _ if rest.is_empty() && matches!(word, "标题" | "標題") => return Role::Title,
            _ => {}
        }
    }
    match name.as_str() {
        "title" | "文档标题" => return Role::Title,
        "toc heading" | "目录标题" | "table of figures" | "index heading" => return Role::Contents,
        _ => {}
    }
    let numbered = |word: &str| {
        name.strip_prefix(word).is_some_and(|r| r.trim().chars().all(|c| digit(c).is_some()) && !r.trim().is_empty())
    };
    if numbered("toc") || numbered("目录") || numbered("目錄") || numbered("index") || name == "目录" {
        return Role::Contents;
    }
    if name.contains("code")
        || name.contains("代码")
        || name.contains("preformatted")
        || matches!(name.as_str(), "plain text" | "macro" | "html 预设格式")
    {
        return Role::Code;
    }
    if matches!(name.as_str(), "quote" | "intense quote" | "block text" | "引用" | "明显引用") {
        return Role::Quote;
    }
    Role::Body
}

/// The value of an ASCII or full-width digit.
fn digit(c: char) -> Option<u8> {
    match c {
        '0'..='9' => Some(c as u8 - b'0'),
        '０'..='９' => u8::try_from(c as u32 - '０' as u32).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::xml;
    use super::*;

    #[test]
    fn names_of_several_languages_are_headings() {
        for (name, expected) in [
            ("heading 1", Role::Heading(1)),
            ("标题 1", Role::Heading(1)),
            ("标题２", Role::Heading(2)),
            ("Heading3", Role::Heading(3)),
            ("Überschrift 2", Role::Heading(2)),
            ("标题", Role::Title),
            ("Title", Role::Title),
            ("heading 1 char", Role::Body),
            ("toc 2", Role::Contents),
            ("TOC Heading", Role::Contents),
            ("目录 1", Role::Contents),
            ("HTML Preformatted", Role::Code),
            ("Source Code", Role::Code),
            ("Normal", Role::Body),
            ("heading", Role::Body),
            ("标题栏", Role::Body),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
    }

    #[test]
    fn styles_inherit_and_own_properties_win() {
        let text = r#"<w:styles xmlns:w="w">
            <w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="21"/></w:rPr></w:rPrDefault></w:docDefaults>
            <w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>
            <w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:basedOn w:val="a"/>
              <w:pPr><w:outlineLvl w:val="0"/><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr><w:rPr><w:b/><w:sz w:val="44"/></w:rPr></w:style>
            <w:style w:type="paragraph" w:styleId="x"><w:name w:val="章标题"/><w:basedOn w:val="1"/><w:rPr><w:sz w:val="36"/></w:rPr></w:style>
            <w:style w:type="paragraph" w:styleId="l"><w:name w:val="loop"/><w:basedOn w:val="l"/></w:style>
            </w:styles>"#;
        let document = xml::parse(text, "styles").expect("parses");
        let styles = Styles::read(document.root_element());
        let x = styles.paragraph(Some("x"));
        assert_eq!(x.role, Role::Heading(1));
        assert_eq!((x.format.outline, x.format.size, x.format.bold), (Some(1), Some(36), Some(true)));
        assert_eq!(x.format.numbering, Some(3));
        assert_eq!(styles.paragraph(None).format.size, Some(21));
        assert_eq!(styles.paragraph(Some("Heading2")).role, Role::Heading(2));
        assert_eq!(styles.paragraph(Some("l")).role, Role::Body);
    }
}
