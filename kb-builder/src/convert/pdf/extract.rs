//! Reading a PDF: every page as glyphs with their text and their place.

use super::collection::Collections;
use super::line::Glyph;
use hayro_cmap::BfString;
use hayro_interpret::font::{Glyph as Drawn, GlyphRun};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, RenderContent, SoftMask, TransformExt, interpret_page,
};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use kb_core::{Error, ErrorKind, Result};
use kurbo::{Affine, BezPath, Point, Rect};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Most pages that are read.
const MAX_PAGES: usize = 20_000;
/// Most glyphs that one document may have: five hundred times a thick book.
const MAX_GLYPHS: usize = 50_000_000;

/// What a document holds.
pub struct Document {
    pub pages: Vec<Page>,
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
    let cache = InterpreterCache::new();
    let mut fonts = Fonts::default();
    // Made when it is needed: most documents say what their letters are.
    let collections = OnceCell::new();
    let by_collection = |glyph: &Drawn| {
        let Drawn::Outline(outline) = glyph else { return None };
        let name = outline.font_data()?.postscript_name?;
        collections.get_or_init(|| Collections::of(&pdf)).unicode(&name, outline.char_code())
    };
    let mut out = Vec::with_capacity(pages.len());
    let mut glyphs = 0;
    for page in pages.iter() {
        let (width, height) = page.render_dimensions();
        let upright = page.initial_transform(true).to_kurbo();
        let settings = InterpreterSettings { render_content: RenderContent::PAGE, ..InterpreterSettings::default() };
        let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let mut context = Context::new(upright, bounds, &cache, pdf.xref(), settings);
        let mut collector =
            Collector { page: Page::default(), fonts: &mut fonts, bounds, by_collection: &by_collection };
        interpret_page(page, &mut context, &mut collector);
        glyphs += collector.page.glyphs.len();
        if glyphs > MAX_GLYPHS {
            return Err(Error::new(ErrorKind::TooLarge, format!("it has more than {MAX_GLYPHS} letters")));
        }
        out.push(collector.page);
    }
    fonts.mark_monospace(&mut out);
    let metadata = pdf.metadata();
    Ok(Document {
        pages: out,
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

/// What is known of the fonts of a document.
#[derive(Default)]
struct Fonts {
    /// Number of a font by its key.
    numbers: HashMap<u128, usize>,
    bold: Vec<bool>,
    /// By font: widths of its letters in thousandths, and which letters were seen.
    widths: Vec<(HashSet<i32>, HashSet<String>)>,
    /// Font of every glyph, page by page in the order of the glyphs.
    used: Vec<usize>,
}

/// Fewest different letters that show that a font has one width.
const MIN_LETTERS: usize = 6;

impl Fonts {
    /// The number of a glyph's font. All fonts of PostScript's Type 1 and 3 are one here: they do not say
    /// what they are.
    fn number(&mut self, glyph: &Drawn) -> usize {
        let data = match glyph {
            Drawn::Outline(outline) => outline.font_data(),
            Drawn::Type3(_) => None,
        };
        let key = data.as_ref().map_or(0, |d| d.cache_key);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let is_bold = data.is_some_and(|data| {
            let name = data.postscript_name.unwrap_or_default().to_lowercase();
            data.weight.is_some_and(|w| w >= 600) || ["bold", "black", "heavy"].iter().any(|b| name.contains(b))
        });
        let number = self.bold.len();
        self.numbers.insert(key, number);
        self.bold.push(is_bold);
        self.widths.push(Default::default());
        number
    }

    fn note(&mut self, font: usize, text: &str, width: f32) {
        let (widths, letters) = &mut self.widths[font];
        if text.len() == 1 && text.as_bytes()[0].is_ascii_alphanumeric() && letters.len() < 200 {
            widths.insert(width.round() as i32);
            letters.insert(text.to_string());
        }
        self.used.push(font);
    }

    /// Fonts do not reliably say that they have one width; their letters show it.
    fn mark_monospace(&self, pages: &mut [Page]) {
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

struct Collector<'f> {
    page: Page,
    fonts: &'f mut Fonts,
    bounds: Rect,
    /// What a letter is by its number in a character collection.
    by_collection: &'f dyn Fn(&Drawn) -> Option<BfString>,
}

impl Collector<'_> {
    fn glyph(&mut self, glyph: &Drawn, place: Affine) {
        let text = glyph
            .as_unicode()
            .or_else(|| (self.by_collection)(glyph))
            .or_else(|| tex_letter(glyph).map(BfString::String));
        let Some(text) = text.map(normalised).filter(|t| !t.is_empty()) else {
            self.page.unknown += 1;
            return;
        };
        let advance = match glyph {
            Drawn::Outline(outline) => outline.advance_width(),
            Drawn::Type3(glyph) => glyph.advance_width(),
        };
        // A glyph is a thousand units high; upright letters point to the right and, downwards, up.
        let [a, b, c, d, x, y] = place.as_coeffs();
        let size = 1000.0 * c.hypot(d);
        if !(size.is_finite() && x.is_finite() && y.is_finite()) || size <= 0.01 {
            return;
        }
        if b.abs() > 0.2 * a.abs() || a <= 0.0 {
            self.page.turned += usize::from(!text.trim().is_empty());
            return;
        }
        let outside = Rect::new(self.bounds.x0 - 1.0, self.bounds.y0 - 1.0, self.bounds.x1 + 1.0, self.bounds.y1 + 1.0);
        if !outside.contains(Point::new(x, y)) {
            return;
        }
        let font = self.fonts.number(glyph);
        let units = advance.filter(|w| w.is_finite() && *w >= 0.0).unwrap_or(500.0);
        self.fonts.note(font, &text, units);
        self.page.glyphs.push(Glyph {
            text,
            x: x as f32,
            y: y as f32,
            width: (f64::from(units) * a) as f32,
            size: size as f32,
            bold: self.fonts.bold[font],
            monospace: false,
        });
    }
}

impl<'a> Device<'a> for Collector<'_> {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        // Letters that are filled and outlined are drawn twice.
        let again = matches!(mode, DrawMode::Stroke(_)) && self.page.glyphs.last().is_some();
        for glyph in run.glyphs() {
            let place = props.transform * glyph.transform();
            let [.., x, y] = place.as_coeffs();
            let doubled = again
                && self
                    .page
                    .glyphs
                    .iter()
                    .rev()
                    .take(run.glyphs().len())
                    .any(|g| (f64::from(g.x) - x).abs() < 0.01 && (f64::from(g.y) - y).abs() < 0.01);
            if !doubled {
                self.glyph(glyph, place);
            }
        }
    }
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {
        self.page.images += 1;
    }
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// TeX's bitmap fonts (Type 3) do not say what their letters are, but number them as TeX does: ASCII, with
/// ligatures and signs below it as in the encodings OT1 and T1.
fn tex_letter(glyph: &Drawn) -> Option<String> {
    let Drawn::Type3(glyph) = glyph else { return None };
    let text = match glyph.char_code() {
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
