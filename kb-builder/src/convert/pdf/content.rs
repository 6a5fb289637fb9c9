//! The content of a page: the operators that place text (ISO 32000-1, 9), carried out without drawing.

use super::font::{KnownFont, KnownFonts};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream, String as PdfString};
use hayro_syntax::page::Resources;
use kurbo::{Affine, Vec2};
use std::rc::Rc;

/// Forms inside of forms deeper than this are left out.
const MAX_DEPTH: usize = 12;
/// Saved states beyond this are damage.
const MAX_STATES: usize = 1_000;

/// What reading a page comes across.
pub trait Visitor<'a> {
    /// A letter: its font, its code, and the place of the thousandth of its size.
    fn letter(&mut self, font: &KnownFont<'a>, code: u32, place: Affine);
    /// A picture.
    fn picture(&mut self);
}

/// Parameters that `q` saves and `Q` brings back.
#[derive(Clone)]
struct State<'a> {
    /// From the units of the content to points of the page.
    ctm: Affine,
    font: Option<Rc<KnownFont<'a>>>,
    size: f64,
    char_space: f64,
    word_space: f64,
    /// 1 for letters of their usual width.
    scale: f64,
    leading: f64,
    rise: f64,
}

/// Carries out the content `ops` of a page whose units `upright` turns into points from its top left.
pub fn read<'a>(
    ops: TypedIter<'_>,
    resources: &Resources<'a>,
    upright: Affine,
    fonts: &mut KnownFonts<'a>,
    visitor: &mut dyn Visitor<'a>,
) {
    let state = State {
        ctm: upright,
        font: None,
        size: 1.0,
        char_space: 0.0,
        word_space: 0.0,
        scale: 1.0,
        leading: 0.0,
        rise: 0.0,
    };
    run(ops, resources, state, 0, fonts, visitor);
}

fn run<'a>(
    mut ops: TypedIter<'_>,
    resources: &Resources<'a>,
    mut state: State<'a>,
    depth: usize,
    fonts: &mut KnownFonts<'a>,
    visitor: &mut dyn Visitor<'a>,
) {
    let mut saved: Vec<State<'a>> = Vec::new();
    let mut text = Text::default();
    while let Some(op) = ops.next() {
        match op {
            TypedInstruction::SaveState(_) if saved.len() < MAX_STATES => saved.push(state.clone()),
            TypedInstruction::RestoreState(_) => state = saved.pop().unwrap_or(state),
            TypedInstruction::Transform(m) => state.ctm *= matrix([m.0, m.1, m.2, m.3, m.4, m.5]),
            TypedInstruction::BeginText(_) => text = Text::default(),
            TypedInstruction::SetTextMatrix(m) => text.set(matrix([m.0, m.1, m.2, m.3, m.4, m.5])),
            TypedInstruction::TextFont(f) => {
                state.font = resources.get_font(f.0).and_then(|dict| fonts.get(&dict));
                state.size = f.1.as_f64();
            }
            TypedInstruction::SetGraphicsState(gs) => {
                let font = resources.get_ext_g_state(gs.0).and_then(|dict| dict.get::<Array>("Font"));
                if let Some(font) = font {
                    let mut parts = font.flex_iter();
                    if let (Some(dict), Some(size)) = (parts.next::<Dict<'a>>(), parts.next::<Number>()) {
                        (state.font, state.size) = (fonts.get(&dict), size.as_f64());
                    }
                }
            }
            TypedInstruction::CharacterSpacing(n) => state.char_space = n.0.as_f64(),
            TypedInstruction::WordSpacing(n) => state.word_space = n.0.as_f64(),
            TypedInstruction::HorizontalScaling(n) => state.scale = n.0.as_f64() / 100.0,
            TypedInstruction::TextLeading(n) => state.leading = n.0.as_f64(),
            TypedInstruction::TextRise(n) => state.rise = n.0.as_f64(),
            TypedInstruction::NextLine(n) => text.next_line(n.0.as_f64(), n.1.as_f64()),
            TypedInstruction::NextLineAndSetLeading(n) => {
                state.leading = -n.1.as_f64();
                text.next_line(n.0.as_f64(), n.1.as_f64());
            }
            TypedInstruction::NextLineUsingLeading(_) => text.next_line(0.0, -state.leading),
            TypedInstruction::ShowText(s) => text.show(s.0, &state, visitor),
            TypedInstruction::NextLineAndShowText(s) => {
                text.next_line(0.0, -state.leading);
                text.show(s.0, &state, visitor);
            }
            TypedInstruction::ShowTextWithParameters(s) => {
                (state.word_space, state.char_space) = (s.0.as_f64(), s.1.as_f64());
                text.next_line(0.0, -state.leading);
                text.show(s.2, &state, visitor);
            }
            TypedInstruction::ShowTexts(parts) => {
                for part in parts.0.iter::<Object>() {
                    match part {
                        Object::String(s) => text.show(&s, &state, visitor),
                        Object::Number(n) => text.step_back(n.as_f64(), &state),
                        _ => {}
                    }
                }
            }
            TypedInstruction::InlineImage(_) => visitor.picture(),
            TypedInstruction::XObject(x) => {
                if let Some(stream) = resources.get_x_object(x.0) {
                    object(&stream, resources, &state, depth, fonts, visitor);
                }
            }
            _ => {}
        }
    }
}

/// A picture, or a form: content of its own.
fn object<'a>(
    stream: &Stream<'a>,
    outer: &Resources<'a>,
    state: &State<'a>,
    depth: usize,
    fonts: &mut KnownFonts<'a>,
    visitor: &mut dyn Visitor<'a>,
) {
    let dict = stream.dict();
    if dict.get::<Name>("Subtype").is_some_and(|s| s.as_str() == "Image") {
        return visitor.picture();
    }
    let Ok(content) = stream.decoded() else { return };
    if depth >= MAX_DEPTH {
        return;
    }
    let mut inner = state.clone();
    if let Some(numbers) = dict.get::<Array>("Matrix") {
        let numbers: Vec<Number> = numbers.iter::<Number>().collect();
        if let Ok(numbers) = <[Number; 6]>::try_from(numbers) {
            inner.ctm *= matrix(numbers);
        }
    }
    let own = dict.get::<Dict<'a>>("Resources").map(Resources::new);
    run(TypedIter::new(&content), own.as_ref().unwrap_or(outer), inner, depth + 1, fonts, visitor);
}

fn matrix(numbers: [Number; 6]) -> Affine {
    Affine::new(numbers.map(|n| n.as_f64()))
}

/// Where text goes on.
struct Text {
    matrix: Affine,
    line: Affine,
}

impl Default for Text {
    fn default() -> Self {
        Self { matrix: Affine::IDENTITY, line: Affine::IDENTITY }
    }
}

impl Text {
    fn set(&mut self, matrix: Affine) {
        (self.matrix, self.line) = (matrix, matrix);
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.set(self.line * Affine::translate((x, y)));
    }

    fn advance(&mut self, by: Vec2) {
        self.matrix *= Affine::translate(by);
    }

    /// A number between two strings moves the next one back, in thousandths.
    fn step_back(&mut self, thousandths: f64, state: &State) {
        let by = -thousandths / 1000.0 * state.size;
        let horizontal = state.font.as_ref().is_none_or(|f| f.font.is_horizontal());
        self.advance(if horizontal { Vec2::new(by * state.scale, 0.0) } else { Vec2::new(0.0, by) });
    }

    fn show<'a>(&mut self, text: &PdfString, state: &State<'a>, visitor: &mut dyn Visitor<'a>) {
        let Some(known) = &state.font else { return };
        let font = &known.font;
        let bytes = text.as_bytes();
        let letter = Affine::new([state.size * state.scale, 0.0, 0.0, state.size, 0.0, state.rise]);
        let mut at = 0;
        while at < bytes.len() {
            let (code, length) = font.read_code(bytes, at);
            at += length.max(1);
            let origin = Affine::translate(font.origin_displacement(code) / 1000.0);
            visitor.letter(known, code, state.ctm * self.matrix * letter * origin * Affine::scale(0.001));
            // Word spacing belongs to the single byte 32, whatever it stands for.
            let space = state.char_space + if code == 32 && length == 1 { state.word_space } else { 0.0 };
            let step = font.code_advance(code) / 1000.0 * state.size;
            self.advance(if font.is_horizontal() {
                Vec2::new((step.x + space) * state.scale, 0.0)
            } else {
                Vec2::new(0.0, step.y + space)
            });
        }
    }
}
