//! Automatic numbers: what Word shows before a paragraph, which is not in its text.

use super::super::xml::Element;
use roxmltree::Node;
use std::collections::HashMap;

#[derive(Debug, Clone, Default)]
struct Level {
    /// `decimal`, `bullet`, `chineseCounting`…
    kind: String,
    /// `%1.%2`, where a percent sign and a digit stand for the number of that level.
    text: String,
    start: u32,
    /// Numbers of outer levels are shown as digits.
    legal: bool,
}

/// What stands before a numbered paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    /// A dot, a dash: any list without order.
    Bullet,
    /// A number with its punctuation as shown, such as `2.`, `第三章` or `(a)`.
    Number {
        /// As shown.
        text: String,
        /// The number where it is shown as plain digits followed by one mark.
        plain: Option<u32>,
    },
}

/// A numbering as paragraphs refer to it.
#[derive(Debug)]
struct Instance {
    /// Its abstract numbering, which counts for all instances together.
    of: u32,
    /// Levels that it starts anew.
    starts: HashMap<usize, u32>,
    /// Levels that it shows in its own way.
    levels: HashMap<usize, Level>,
}

impl Level {
    fn read(level: Node) -> Self {
        Self {
            // Newer kinds of numbers stand beside a fallback, inside an alternative.
            kind: level
                .descendants()
                .filter(|d| d.name() == "numFmt")
                .find_map(|d| d.attr("val").filter(|v| *v != "custom"))
                .unwrap_or("decimal")
                .to_string(),
            text: level.val("lvlText").unwrap_or_default().to_string(),
            start: number(level.val("start")).unwrap_or(1),
            legal: level.switch("isLgl").unwrap_or(false),
        }
    }
}

fn number(value: Option<&str>) -> Option<u32> {
    value?.parse().ok()
}

/// The level that an element is about, from 0.
fn place(level: Node) -> usize {
    number(level.attr("ilvl")).unwrap_or(0).min(8) as usize
}

/// The numberings of a document, and how far each has counted.
#[derive(Debug, Default)]
pub struct Numbering {
    abstracts: HashMap<u32, Vec<Level>>,
    instances: HashMap<u32, Instance>,
    /// By abstract numbering: the last number of each level, if it has begun.
    counters: HashMap<u32, [Option<u32>; 9]>,
    used: Vec<u32>,
}

impl Numbering {
    /// Reads the root of `word/numbering.xml`.
    pub fn read(root: Node) -> Self {
        let mut numbering = Self::default();
        for definition in root.all("abstractNum") {
            let Some(id) = number(definition.attr("abstractNumId")) else { continue };
            let mut levels = vec![Level::default(); 9];
            for level in definition.all("lvl") {
                levels[place(level)] = Level::read(level);
            }
            numbering.abstracts.insert(id, levels);
        }
        for instance in root.all("num") {
            let (Some(id), Some(of)) = (number(instance.attr("numId")), number(instance.val("abstractNumId"))) else {
                continue;
            };
            let mut own = Instance { of, starts: HashMap::new(), levels: HashMap::new() };
            for change in instance.all("lvlOverride") {
                if let Some(start) = number(change.val("startOverride")) {
                    own.starts.insert(place(change), start);
                }
                if let Some(level) = change.child("lvl") {
                    own.levels.insert(place(change), Level::read(level));
                }
            }
            numbering.instances.insert(id, own);
        }
        numbering
    }

    /// Counts a paragraph of the numbering `id` at `level` (0 to 8) and says what stands before it.
    pub fn next(&mut self, id: u32, level: usize) -> Option<Label> {
        let level = level.min(8);
        let instance = self.instances.get(&id)?;
        let shared = self.abstracts.get(&instance.of)?;
        let levels: Vec<&Level> = (0..9).map(|l| instance.levels.get(&l).unwrap_or(&shared[l])).collect();
        let starts = &instance.starts;
        let counters = self.counters.entry(instance.of).or_default();
        if !self.used.contains(&id) {
            self.used.push(id);
            for level in starts.keys() {
                counters[*level] = None;
            }
        }
        let first = |level: usize| starts.get(&level).copied().unwrap_or(levels[level].start);
        counters[level] = Some(counters[level].map_or(first(level), |n| n.saturating_add(1)));
        counters[level + 1..].fill(None);
        // A level that was jumped over shows its first number.
        for (outer, counter) in counters.iter_mut().enumerate().take(level) {
            counter.get_or_insert(first(outer));
        }
        let own = levels[level];
        if own.kind == "bullet" {
            return Some(Label::Bullet);
        }
        if own.kind == "none" || own.text.is_empty() {
            return None;
        }
        let mut text = String::new();
        let mut chars = own.text.chars();
        while let Some(c) = chars.next() {
            let place = (c == '%').then(|| chars.clone().next().and_then(|d| d.to_digit(10))).flatten();
            match place {
                Some(place @ 1..=9) => {
                    chars.next();
                    let at = place as usize - 1;
                    let kind = if own.legal { "decimal" } else { &levels[at].kind };
                    text.push_str(&shown(counters[at].unwrap_or(1), kind));
                }
                _ => text.push(c),
            }
        }
        let text = text.trim().to_string();
        let plain = text
            .strip_suffix(['.', ')', '、', '．', '）'])
            .filter(|d| d.len() < 9 && d.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|d| d.parse().ok());
        if text.is_empty() { None } else { Some(Label::Number { text, plain }) }
    }
}

/// A number in one of Word's kinds; digits for the kinds that are rare.
fn shown(n: u32, kind: &str) -> String {
    let cycle = |signs: &str| signs.chars().nth((n.max(1) as usize - 1) % signs.chars().count().max(1));
    match kind {
        "lowerLetter" => letters(n, b'a'),
        "upperLetter" => letters(n, b'A'),
        "lowerRoman" => roman(n).to_lowercase(),
        "upperRoman" => roman(n),
        "decimalZero" => format!("{n:02}"),
        "chineseCounting"
        | "chineseCountingThousand"
        | "japaneseCounting"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand" => chinese(n),
        "ideographDigital" | "taiwaneseDigital" | "japaneseDigitalTenThousand" => {
            n.to_string().bytes().map(|b| CHINESE_DIGITS[usize::from(b - b'0')]).collect()
        }
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" if n <= 20 => {
            char::from_u32(0x2460 + n.max(1) - 1).map(String::from).unwrap_or_default()
        }
        "decimalFullWidth" | "decimalFullWidth2" => {
            n.to_string().chars().filter_map(|c| char::from_u32(c as u32 + 0xFEE0)).collect()
        }
        "ideographTraditional" => cycle("甲乙丙丁戊己庚辛壬癸").map(String::from).unwrap_or_default(),
        "ideographZodiac" => cycle("子丑寅卯辰巳午未申酉戌亥").map(String::from).unwrap_or_default(),
        _ => n.to_string(),
    }
}

/// a to z, then aa to zz, as Word counts.
fn letters(n: u32, first: u8) -> String {
    let n = n.max(1) - 1;
    let letter = char::from(first + (n % 26) as u8);
    std::iter::repeat_n(letter, (n / 26).min(10) as usize + 1).collect()
}

fn roman(mut n: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if n > 3999 {
        return n.to_string();
    }
    let mut out = String::new();
    for (value, sign) in SIGNS {
        while n >= value {
            out.push_str(sign);
            n -= value;
        }
    }
    out
}

const CHINESE_DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// 一, 十, 十一, 二十, 一百零五; up to 9999.
fn chinese(n: u32) -> String {
    if n == 0 {
        return "零".into();
    }
    if n > 9999 {
        return n.to_string();
    }
    let mut out = String::new();
    let mut gap = false;
    for (value, unit) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
        let digit = n / value % 10;
        if digit == 0 {
            gap = !out.is_empty();
            continue;
        }
        if gap {
            out.push('零');
            gap = false;
        }
        // Ten to nineteen leave out the one.
        if !(digit == 1 && value == 10 && n < 20) {
            out.push(CHINESE_DIGITS[digit as usize]);
        }
        out.push_str(unit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::super::xml;
    use super::*;

    #[test]
    fn numbers_are_shown_as_word_does() {
        for (n, kind, expected) in [
            (1, "chineseCounting", "一"),
            (10, "chineseCounting", "十"),
            (12, "chineseCountingThousand", "十二"),
            (20, "japaneseCounting", "二十"),
            (105, "chineseCounting", "一百零五"),
            (1010, "chineseCounting", "一千零一十"),
            (14, "upperRoman", "XIV"),
            (27, "lowerLetter", "aa"),
            (3, "decimalEnclosedCircle", "③"),
            (2, "ideographTraditional", "乙"),
            (5, "decimalZero", "05"),
        ] {
            assert_eq!(shown(n, kind), expected, "{n} {kind}");
        }
    }

    #[test]
    fn levels_count_on_and_begin_again() {
        let text = r#"<n xmlns:w="w">
          <w:abstractNum w:abstractNumId="7">
            <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1章"/></w:lvl>
            <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl>
            <w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%3)"/></w:lvl>
            <w:lvl w:ilvl="3"><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl>
          </w:abstractNum>
          <w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num>
          <w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="2"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
        </n>"#;
        let document = xml::parse(text, "numbering").expect("parses");
        let mut n = Numbering::read(document.root_element());
        let mut text = |id, level| match n.next(id, level) {
            Some(Label::Number { text, .. }) => text,
            Some(Label::Bullet) => "•".into(),
            None => String::new(),
        };
        assert_eq!(
            [text(2, 0), text(2, 1), text(2, 1), text(2, 0), text(2, 1)],
            ["第一章", "1.1", "1.2", "第二章", "2.1"]
        );
        assert_eq!([text(2, 2), text(3, 2), text(3, 2), text(2, 3)], ["1)", "5)", "6)", "•"]);
        assert_eq!(text(9, 0), "");
        assert_eq!(n.next(2, 2), Some(Label::Number { text: "7)".into(), plain: Some(7) }));
    }
}
