//! Fragment identifiers as published pages have them.

use std::collections::HashMap;

/// Gives every heading of a page its identifier, after GitHub's rule (which mdBook, VitePress and
/// Docusaurus follow): lower case, spaces to hyphens, everything dropped but letters, digits, marks,
/// `-` and `_`; a repetition gets `-1`, `-2` and so on. Letters of every script are kept.
#[derive(Default)]
pub struct Slugger {
    /// How often a slug, or what it was made from, was given.
    given: HashMap<String, u32>,
}

impl Slugger {
    /// The identifier of the next heading of the page, whose text without markup is `title`.
    pub fn slug(&mut self, title: &str) -> String {
        let base = slug_of(title);
        let mut slug = base.clone();
        while self.given.contains_key(&slug) {
            let n = self.given.entry(base.clone()).or_default();
            *n += 1;
            slug = format!("{base}-{n}");
        }
        self.given.insert(slug.clone(), 0);
        slug
    }

    /// Takes note of an identifier that the author gave.
    pub fn reserve(&mut self, id: &str) {
        self.given.entry(id.to_owned()).or_default();
    }
}

fn slug_of(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for c in title.trim().chars() {
        match c {
            '-' | '_' => slug.push(c),
            _ if c.is_whitespace() => slug.push('-'),
            _ if c.is_alphanumeric() || is_mark(c) => slug.extend(c.to_lowercase()),
            _ => {}
        }
    }
    slug
}

/// Combining marks of the scripts that need them; `char` knows no category of its own for them.
fn is_mark(c: char) -> bool {
    matches!(c as u32, 0x300..=0x36F | 0x483..=0x487 | 0x591..=0x5BD | 0x64B..=0x65F | 0x900..=0x903 | 0x93A..=0x94F
        | 0x981..=0xDFF | 0xE31..=0xE4E | 0xEB1..=0xECD | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x3099..=0x309A)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs from the fixtures of github-slugger, which were taken from github.com itself, and from
    /// published mdBook pages.
    #[test]
    fn slugs_are_githubs() {
        for (title, slug) in [
            ("Hello World", "hello-world"),
            ("What Is Ownership?", "what-is-ownership"),
            ("I ♥ unicode", "i--unicode"),
            ("Dash-dash", "dash-dash"),
            ("en–dash", "endash"),
            ("trailing *emphasis*", "trailing-emphasis"),
            ("Using `Box<T>` to Point to Data on the Heap", "using-boxt-to-point-to-data-on-the-heap"),
            ("The \u{201c}?\u{201d} Operator", "the--operator"),
            ("最短路 (Dijkstra)", "最短路-dijkstra"),
            ("一、什么是图？", "一什么是图"),
            ("Привет", "привет"),
            ("snake_case", "snake_case"),
        ] {
            assert_eq!(Slugger::default().slug(title), slug);
        }
    }

    #[test]
    fn repetitions_are_numbered() {
        let mut slugger = Slugger::default();
        let slugs: Vec<_> = ["Same", "same", "Same", "same-1", "other"].iter().map(|t| slugger.slug(t)).collect();
        assert_eq!(slugs, ["same", "same-1", "same-2", "same-1-1", "other"]);
    }
}
