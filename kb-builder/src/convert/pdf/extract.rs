//! Reading a PDF: every page as glyphs with their text and their place.

use super::content::{self, Visitor};
use super::damage;
use super::font::{KnownFont, KnownFonts};
use super::line::Glyph;
use hayro_cmap::BfString;
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use kb_core::{Error, ErrorKind, Result};
use kurbo::{Affine, Point, Rect};
use std::collections::HashSet;

/// Most pages that are read.
const MAX_PAGES: usize = 20_000;
/// Most glyphs that one document may have: five hundred times a thick book.
const MAX_GLYPHS: usize = 50_000_000;

/// What a document holds.
pub struct Document {
    pub pages: Vec<Page>,
    /// Pages that the document should have and that were not found.
    pub lost: usize,
    pub title: Option<String>,
    pub author: Option<String>,
}

/// What a page holds.
#[derive(Default)]
pub struct Page {
    /// Glyphs in the order in which they are drawn.
    pub glyphs: Vec<Glyph>,
    /// How many pictures it shows.
    pub images: usize,
    /// Letters of fonts that do not say what they are.
    pub unknown: usize,
    /// Letters that stand sideways or upside down: stamps and watermarks.
    pub turned: usize,
    /// Whether text of it may be missing.
    pub damaged: bool,
}

/// Reads a document.
///
/// # Errors
/// [`ErrorKind::Convert`] for what is no PDF or needs a password, [`ErrorKind::TooLarge`] beyond the limits.
pub fn read(bytes: &[u8]) -> Result<Document> {
    let refuse = |message: &str| Error::new(ErrorKind::Convert, message);
    let pdf = Pdf::new(bytes.to_vec()).map_err(|e| match e {
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => refuse("it is encrypted in an unknown way"),
        LoadPdfError::Decryption(_) => refuse("it is protected by a password: save a copy without one"),
        LoadPdfError::Invalid => refuse("it is no PDF, or damaged"),
    })?;
    let pages = pdf.pages();
    if pages.len() > MAX_PAGES {
        return Err(Error::new(ErrorKind::TooLarge, format!("it has {} pages, more than {MAX_PAGES}", pages.len())));
    }
    let mut fonts = KnownFonts::new();
    let mut looks = Looks::default();
    let mut out = Vec::with_capacity(pages.len());
    let mut glyphs = 0;
    for page in pages.iter() {
        let (width, height) = page.render_dimensions();
        let bounds = Rect::new(-1.0, -1.0, f64::from(width) + 1.0, f64::from(height) + 1.0);
        let upright = Affine::new(page.initial_transform(true).as_coeffs());
        let mut collector = Collector { page: Page::default(), looks: &mut looks, bounds };
        content::read(page.typed_operations(), page.resources(), upright, &mut fonts, &mut collector);
        glyphs += collector.page.glyphs.len();
        if glyphs > MAX_GLYPHS {
            return Err(Error::new(ErrorKind::TooLarge, format!("it has more than {MAX_GLYPHS} letters")));
        }
        let damaged = damage::is_damaged(page);
        out.push(Page { damaged, ..collector.page });
    }
    looks.mark_monospace(fonts.count(), &mut out);
    let metadata = pdf.metadata();
    Ok(Document {
        pages: out,
        lost: damage::lost_pages(&pdf),
        title: metadata.title.as_deref().map(text),
        author: metadata.author.as_deref().map(text),
    })
}

/// A string of the properties: UTF-16 or UTF-8 with a mark, else PDFDocEncoding, which is Latin-1 nearly.
fn text(bytes: &[u8]) -> String {
    let (text, ..) = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode(bytes),
        None => encoding_rs::WINDOWS_1252.decode(bytes),
    };
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_string()
}

/// How the letters of each font look, by its number.
#[derive(Default)]
struct Looks {
    /// Widths of letters in thousandths, and which letters were seen.
    widths: Vec<(HashSet<i32>, HashSet<String>)>,
    /// Font of every glyph, page by page in the order of the glyphs.
    used: Vec<usize>,
}

/// Fewest different letters that show that a font has one width.
const MIN_LETTERS: usize = 6;

impl Looks {
    fn note(&mut self, font: usize, text: &str, width: f64) {
        if self.widths.len() <= font {
            self.widths.resize_with(font + 1, Default::default);
        }
        let (widths, letters) = &mut self.widths[font];
        if text.len() == 1 && text.as_bytes()[0].is_ascii_alphanumeric() && letters.len() < 200 {
            widths.insert(width.round() as i32);
            letters.insert(text.to_string());
        }
        self.used.push(font);
    }

    /// Fonts do not reliably say that they have one width; their letters show it.
    fn mark_monospace(&mut self, fonts: usize, pages: &mut [Page]) {
        self.widths.resize_with(fonts.max(self.widths.len()), Default::default);
        let one = |widths: &HashSet<i32>| widths.iter().next().copied().filter(|_| widths.len() == 1);
        let known: HashSet<i32> = self
            .widths
            .iter()
            .filter(|(_, letters)| letters.len() >= MIN_LETTERS)
            .filter_map(|(w, _)| one(w))
            .collect();
        // The bold font of a program's keywords has few letters, but the same width.
        let monospace: Vec<bool> =
            self.widths.iter().map(|(w, _)| one(w).is_some_and(|w| known.contains(&w))).collect();
        for (glyph, font) in pages.iter_mut().flat_map(|p| &mut p.glyphs).zip(&self.used) {
            glyph.monospace = monospace[*font];
        }
    }
}

struct Collector<'l> {
    page: Page,
    looks: &'l mut Looks,
    /// What of the page is seen.
    bounds: Rect,
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn letter(&mut self, known: &KnownFont<'a>, code: u32, place: Affine) {
        let [a, b, c, d, x, y] = place.as_coeffs();
        let size = 1000.0 * c.hypot(d);
        if !(size.is_finite() && x.is_finite() && y.is_finite())
            || size <= 0.01
            || !self.bounds.contains(Point::new(x, y))
        {
            return;
        }
        let Some(text) = known.unicode(code).map(normalised).filter(|t| !t.is_empty()) else {
            self.page.unknown += 1;
            return;
        };
        // Upright letters point to the right.
        if b.abs() > 0.2 * a.abs() || a <= 0.0 {
            self.page.turned += usize::from(!text.trim().is_empty());
            return;
        }
        let units = known.font.code_advance(code).x.max(0.0);
        self.looks.note(known.number, &text, units);
        self.page.glyphs.push(Glyph {
            text,
            x: x as f32,
            y: y as f32,
            width: (units * a) as f32,
            size: size as f32,
            bold: known.bold,
            monospace: false,
        });
    }

    fn picture(&mut self) {
        self.page.images += 1;
    }
}

/// The text of a glyph: ligatures taken apart, radicals as the characters that they look like.
fn normalised(text: BfString) -> String {
    let text = match text {
        BfString::Char(c) => c.to_string(),
        BfString::String(s) => s,
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Fonts for Chinese map some characters to the radicals of the same shape.
            '\u{2e80}'..='\u{2fd5}' | '\u{fb00}'..='\u{fb06}' => kb_core::text::fold(c, &mut |f| out.push(f)),
            '\u{1d400}'..='\u{1d7ff}' | 'ℎ' => out.push(super::super::office::math::plain_letter(c)),
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{3000}' | '\t' => out.push(' '),
            // Private use: signs of fonts such as Wingdings; their common bullet is worth keeping.
            '\u{f0b7}' | '\u{f06c}' | '\u{f0a7}' | '\u{f0d8}' | '\u{f06e}' => out.push('•'),
            '\u{e000}'..='\u{f8ff}' | '\u{fffd}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
