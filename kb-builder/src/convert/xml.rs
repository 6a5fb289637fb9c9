//! Reading XML by local names: producers differ in prefixes, and strict and transitional Office files in namespaces.

use kb_core::{Error, ErrorKind, Result};
use roxmltree::{Document, Node, ParsingOptions};

/// Most elements and texts that are read of one part.
const MAX_NODES: u32 = 8_000_000;

/// Parses a part. A document type declaration is allowed, as old EPUB files have one; entities that refer
/// to one another without end are an error of the parser.
pub fn parse<'t>(text: &'t str, part: &str) -> Result<Document<'t>> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options)
        .map_err(|e| Error::new(ErrorKind::Convert, format!("its part {part} is not well-formed: {e}")))
}

/// What this crate asks of an element.
pub trait Element<'a, 'i: 'a>: Sized {
    /// The local name, empty for what is no element.
    fn name(&self) -> &'a str;
    /// The value of the attribute with this local name.
    fn attr(&self, name: &str) -> Option<&'a str>;
    /// The first child element with this local name.
    fn child(&self, name: &str) -> Option<Node<'a, 'i>>;
    /// The child elements with this local name.
    fn all(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>>;
    /// The attribute `val` of the first child with this name, as Office writes nearly every property.
    fn val(&self, name: &str) -> Option<&'a str>;
    /// An Office switch: there and not switched off.
    fn switch(&self, name: &str) -> Option<bool>;
    /// All text below, as it stands.
    fn content(&self) -> String;
}

impl<'a, 'i: 'a> Element<'a, 'i> for Node<'a, 'i> {
    fn name(&self) -> &'a str {
        if self.is_element() { self.tag_name().name() } else { "" }
    }

    fn attr(&self, name: &str) -> Option<&'a str> {
        self.attributes().find(|a| a.name() == name).map(|a| a.value())
    }

    fn child(&self, name: &str) -> Option<Node<'a, 'i>> {
        self.children().find(|c| c.name() == name)
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
        self.children().filter(move |c| c.name() == name)
    }

    fn val(&self, name: &str) -> Option<&'a str> {
        self.child(name)?.attr("val")
    }

    fn switch(&self, name: &str) -> Option<bool> {
        self.child(name).map(|c| !matches!(c.attr("val"), Some("0" | "false" | "off" | "none")))
    }

    fn content(&self) -> String {
        self.descendants().filter(|n| n.is_text()).filter_map(|n| n.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_local_and_switches_can_be_off() {
        let text =
            r#"<w:r xmlns:w="u:w"><w:b/><w:i w:val="0"/><w:sz w:val="24"/><w:t>a</w:t><w:t>b</w:t><x>c</x></w:r>"#;
        let document = parse(text, "p").expect("parses");
        let r = document.root_element();
        assert_eq!((r.name(), r.val("sz"), r.content().as_str()), ("r", Some("24"), "abc"));
        assert_eq!((r.switch("b"), r.switch("i"), r.switch("u")), (Some(true), Some(false), None));
        assert_eq!(r.all("t").count(), 2);
    }

    #[test]
    fn entities_cannot_multiply() {
        let mut text = String::from("<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">");
        for (name, of) in ["b", "c", "d", "e", "f", "g", "h", "i", "j"].iter().zip("abcdefghi".chars()) {
            text += &format!("<!ENTITY {name} \"{}\">", format!("&{of};").repeat(10));
        }
        text += "]><x>&j;</x>";
        assert!(parse(&text, "p").is_err());
    }
}
