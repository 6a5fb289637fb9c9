//! The fonts of a document: what their letters are, and how they look.

use super::collection::Collection;
use hayro_cmap::{BfString, load_embedded};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn};
use hayro_syntax::object::{Array, Dict, Name};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A font, and what its dictionary says.
pub struct KnownFont<'a> {
    /// To read codes and widths.
    pub font: Font<'a>,
    /// Counts the fonts of a document from 0.
    pub number: usize,
    /// Whether its letters are bold.
    pub bold: bool,
    dict: Dict<'a>,
    collection: OnceCell<Option<Collection>>,
}

impl KnownFont<'_> {
    /// What a code stands for.
    pub fn unicode(&self, code: u32) -> Option<BfString> {
        let (own, is_type3) = match self.font.glyph(self.font.map_code(code), code) {
            FontGlyph::Outline(glyph) => (glyph.as_unicode(), false),
            FontGlyph::Type3(glyph) => (glyph.as_unicode(), true),
        };
        own.or_else(|| self.collection.get_or_init(|| Collection::of(&self.dict)).as_ref()?.unicode(code))
            .or_else(|| if is_type3 { tex_letter(code).map(BfString::String) } else { None })
    }
}

/// The fonts that were met, by their dictionary.
pub struct KnownFonts<'a> {
    cache: FontCache<'a>,
    outlines: FontResolverFn,
    cmaps: CMapResolverFn,
    known: HashMap<(usize, usize), Option<Rc<KnownFont<'a>>>>,
    count: usize,
}

impl<'a> KnownFonts<'a> {
    /// None yet.
    pub fn new() -> Self {
        Self {
            cache: FontCache::new(),
            // A font that is not embedded needs some outlines, or it is not read at all; they are never drawn.
            outlines: Arc::new(|query| {
                Some(match query {
                    FontQuery::Standard(font) => font.get_font_data(),
                    FontQuery::Fallback(query) => query.pick_standard_font().get_font_data(),
                })
            }),
            cmaps: Arc::new(load_embedded),
            known: HashMap::new(),
            count: 0,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The font of a dictionary, `None` if it cannot be read.
    pub fn get(&mut self, dict: &Dict<'a>) -> Option<Rc<KnownFont<'a>>> {
        // A dictionary is a part of the file: its place is its identity.
        let key = (dict.data().as_ptr() as usize, dict.data().len());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let font = self.cache.font(dict, &self.outlines, &self.cmaps);
        let known = font.map(|font| {
            self.count += 1;
            let (bold, number, collection) = (is_bold(dict), self.count - 1, OnceCell::new());
            Rc::new(KnownFont { font, number, bold, dict: dict.clone(), collection })
        });
        self.known.insert(key, known.clone());
        known
    }
}

/// Whether a font is bold: by its weight, by a flag, or by its name, as TeX's fonts have neither.
fn is_bold(font: &Dict) -> bool {
    let descendant = font.get::<Array>("DescendantFonts").and_then(|a| a.iter::<Dict>().next());
    let descriptor = descendant.as_ref().unwrap_or(font).get::<Dict>("FontDescriptor");
    let said = descriptor.is_some_and(|d| {
        const FORCE_BOLD: i64 = 1 << 18;
        d.get::<f32>("FontWeight").is_some_and(|w| w >= 600.0)
            || d.get::<i64>("Flags").is_some_and(|f| f & FORCE_BOLD != 0)
    });
    let name = font.get::<Name>("BaseFont").map(|n| n.as_str().to_lowercase()).unwrap_or_default();
    said || ["bold", "black", "heavy", "cmbx", "sfbx", "ecbx"].iter().any(|b| name.contains(b))
}

/// TeX's bitmap fonts (Type 3) do not say what their letters are, but number them as TeX does: ASCII, with
/// ligatures and signs below it as in the encodings OT1 and T1.
fn tex_letter(code: u32) -> Option<String> {
    let text = match code {
        0x0B | 0x1B => "ff",
        0x0C | 0x1C => "fi",
        0x0D | 0x1D => "fl",
        0x0E | 0x1E => "ffi",
        0x0F | 0x1F => "ffl",
        0x10 => "“",
        0x11 => "”",
        0x15 => "–",
        0x16 => "—",
        0x27 => "’",
        0x60 => "‘",
        code @ 0x20..=0x7E => return char::from_u32(code).map(String::from),
        _ => return None,
    };
    Some(text.to_string())
}
