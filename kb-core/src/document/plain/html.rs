//! HTML inside Markdown: tags, comments, entities.

/// Something that begins on a line, spans lines and is dropped.
pub(super) struct Dropped {
    /// Where it begins in the line.
    pub at: usize,
    /// The text that ends it.
    pub end: &'static str,
}

/// Whether a comment, script or style begins on this line and does not end on it.
pub(super) fn opens_dropped(line: &str) -> Option<Dropped> {
    const KINDS: [(&str, &str); 3] = [("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>")];
    KINDS.iter().find_map(|(open, end)| {
        let mut from = 0;
        loop {
            let at = from + line[from..].find(open)?;
            match line[at..].find(end) {
                Some(n) => from = at + n + end.len(),
                None => return Some(Dropped { at, end }),
            }
        }
    })
}

/// What stands at a `<`.
pub(super) enum Angle {
    /// A tag or comment of this length; whether it separates words.
    Tag(usize, bool),
    /// `<https://…>`: length of the whole; what is inside is shown.
    Autolink(usize),
    /// A plain less-than sign.
    Text,
}

/// Elements that stand in a line of text; every other element separates words.
const INLINE: [&str; 28] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q",
    "rp", "rt", "ruby", "s", "samp", "small", "span", "strong", "sub", "sup", "u",
];

/// Elements that separate words and may follow one directly: `word<br>`.
const BLOCK: [&str; 34] = [
    "blockquote",
    "br",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "iframe",
    "img",
    "li",
    "ol",
    "p",
    "picture",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
    "video",
];

/// Longest tag that is recognised, in bytes: keeps the search linear.
const MAX_TAG_BYTES: usize = 2_000;

/// Looks at `text`, which begins with `<`; `before` is the character before it.
pub(super) fn angle(text: &str, before: Option<char>) -> Angle {
    if let Some(rest) = text.strip_prefix("<!--") {
        return rest.find("-->").map_or(Angle::Text, |end| Angle::Tag(end + 7, false));
    }
    let window = &text.as_bytes()[..text.len().min(MAX_TAG_BYTES)];
    let Some(close) = end_of_tag(window) else { return Angle::Text };
    let inside = &text[1..close];
    let is_link = inside.contains("://") || inside.starts_with("mailto:");
    if is_link && !inside.contains([' ', '\n', '<', '"']) {
        return Angle::Autolink(close + 1);
    }
    let name = inside.trim_start_matches('/');
    let name = name.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':'))).next().unwrap_or("");
    let letters = name.starts_with(|c: char| c.is_ascii_alphabetic());
    // `Vec<T>` and `a<b and c>d` are prose: an unknown name right after a word is no tag.
    let after_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let is_html = INLINE.binary_search(&name).is_ok() || BLOCK.binary_search(&name).is_ok();
    let empty_fragment = matches!(inside, "" | "/") && !after_word;
    let tag = letters
        && (is_html || !after_word || inside.starts_with('/'))
        && well_formed(&inside[name.len() + usize::from(inside.starts_with('/'))..]);
    if tag || empty_fragment || inside.starts_with(['!', '?']) {
        return Angle::Tag(close + 1, INLINE.binary_search(&name).is_err());
    }
    Angle::Text
}

/// The `>` that ends a tag, quotes and braces (of JSX) respected.
fn end_of_tag(bytes: &[u8]) -> Option<usize> {
    let mut quote = 0;
    let mut braces = 0_u32;
    for (i, &b) in bytes.iter().enumerate().skip(1) {
        match b {
            _ if quote != 0 => quote = if b == quote { 0 } else { quote },
            b'"' | b'\'' if bytes[..i].ends_with(b"=") => quote = b,
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            b'>' if braces == 0 => return Some(i),
            b'<' if braces == 0 => return None,
            b'\n' if bytes.get(i + 1) == Some(&b'\n') => return None,
            _ => {}
        }
    }
    None
}

/// Whether what follows a tag's name can be attributes.
fn well_formed(attributes: &str) -> bool {
    let rest = attributes.trim_end_matches('/');
    rest.is_empty()
        || rest.starts_with(char::is_whitespace)
            && (rest.trim().is_empty() || rest.contains('=') || !rest.contains([',', ';', '(']))
}

/// The character that an entity at the beginning of `text` stands for, and the entity's length.
pub(super) fn entity(text: &str) -> Option<(char, usize)> {
    let window = text.as_bytes().get(1..text.len().min(12))?;
    let length = window.iter().position(|b| *b == b';')?;
    let name = text.get(1..1 + length)?;
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "middot" => '·',
        "times" => '×',
        "larr" => '←',
        "rarr" => '→',
        "le" => '≤',
        "ge" => '≥',
        "ne" => '≠',
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']);
            let code = hex.map_or_else(|| number.parse(), |h| u32::from_str_radix(h, 16)).ok()?;
            char::from_u32(code).filter(|c| !c.is_control())?
        }
    };
    Some((c, length + 2))
}
