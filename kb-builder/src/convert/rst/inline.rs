//! Inline markup: roles as their text, literals as code, references as their names.

use super::super::escape;
use super::{Names, normalised};

/// Inline Markdown of a paragraph. Emphasis is left out, as in the other converters.
pub fn convert(text: &str, names: &Names) -> String {
    let mut writer = Writer { text, at: 0, plain: String::new(), out: String::new(), names, nested: false };
    writer.run();
    writer.out
}

/// Markup is looked for this far, in bytes, so that stray marks in a long paragraph cost no more
/// than its length.
const WINDOW_BYTES: usize = 4096;

/// Longest name of a reference without backticks.
const MAX_NAME_CHARS: usize = 100;

/// Longer substitutions are not put in, and none inside another: a document must not grow without end.
const MAX_SUBSTITUTION_BYTES: usize = 1000;

struct Writer<'a> {
    text: &'a str,
    /// Byte position in `text`.
    at: usize,
    /// Text without markup that waits to be escaped as a whole.
    plain: String,
    out: String,
    names: &'a Names,
    /// Whether this is the text of a substitution.
    nested: bool,
}

impl<'a> Writer<'a> {
    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let taken = match c {
                '\\' => self.escaped(),
                '`' => self.literal() || self.interpreted(),
                ':' => self.role(),
                '*' => self.emphasis(),
                '|' => self.substitution(),
                '[' => self.footnote(),
                '_' => self.reference(),
                _ => false,
            };
            if !taken {
                self.plain.push(c);
                self.at += c.len_utf8();
            }
        }
        self.flush();
    }

    /// The text from here on, as far as markup is looked for.
    fn rest(&self) -> &'a str {
        let rest = &self.text[self.at..];
        &rest[..rest.floor_char_boundary(WINDOW_BYTES)]
    }

    /// Markup may begin here: after white space, an opening bracket or quote, or `-`, `:`, `/`.
    fn may_start(&self) -> bool {
        self.text[..self.at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '`' | '_' | '*' | '\\' | '.'))
            || self.text[..self.at].chars().next_back().is_some_and(is_cjk)
    }

    fn flush(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        self.out.push_str(&escape::text(&plain));
    }

    /// Writes Markdown as it is and moves on by `length` bytes of the source.
    fn emit(&mut self, markdown: &str, length: usize) -> bool {
        self.flush();
        self.out.push_str(markdown);
        self.at += length;
        true
    }

    /// A backslash: before white space it joins, before anything else it takes the meaning away.
    fn escaped(&mut self) -> bool {
        match self.rest()[1..].chars().next() {
            Some(c) if c.is_whitespace() => self.at += 1 + c.len_utf8(),
            Some(c) => {
                self.plain.push(c);
                self.at += 1 + c.len_utf8();
            }
            None => self.at += 1,
        }
        true
    }

    /// ``` ``code`` ```
    fn literal(&mut self) -> bool {
        let Some(inner) = self.rest().strip_prefix("``") else { return false };
        let Some(mut end) = inner.find("``").filter(|e| *e > 0) else { return false };
        // The closing pair is the last two of a run of backticks.
        while inner[end + 2..].starts_with('`') {
            end += 1;
        }
        self.emit(&escape::code_span(&inner[..end]), end + 4)
    }

    /// `` :role:`text` ``
    fn role(&mut self) -> bool {
        let rest = &self.rest()[1..];
        let Some(end) = rest.find(":`") else { return false };
        let name = &rest[..end];
        let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | '+' | '.'));
        if !valid || !self.may_start() {
            return false;
        }
        let Some(content) = closing_backtick(&rest[end + 2..]) else { return false };
        let markdown = role_text(name, content, self.names);
        self.emit(&markdown, 1 + end + 2 + content.len() + 1)
    }

    /// `` `text` ``, `` `text <url>`_ ``, `` `text`:role: ``
    fn interpreted(&mut self) -> bool {
        let inner = &self.rest()[1..];
        let Some(content) = closing_backtick(inner).filter(|c| !c.is_empty() && !c.starts_with(char::is_whitespace))
        else {
            return false;
        };
        if !self.may_start() {
            return false;
        }
        let mut length = content.len() + 2;
        let after = &inner[content.len() + 1..];
        if let Some(rest) = after.strip_prefix('_') {
            length += if rest.starts_with('_') { 2 } else { 1 };
            let markdown = self.link(content);
            return self.emit(&markdown, length);
        }
        if let Some((name, _)) = after
            .strip_prefix(':')
            .and_then(|a| a.split_once(':'))
            .filter(|(n, _)| !n.is_empty() && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
        {
            let markdown = role_text(name, content, self.names);
            return self.emit(&markdown, length + name.len() + 2);
        }
        // The default role: in Sphinx projects nearly always a name of code.
        let text = unescape(content);
        let markdown = if text.contains(char::is_whitespace) {
            escape::text(&text)
        } else {
            escape::code_span(text.trim_start_matches('~'))
        };
        self.emit(&markdown, length)
    }

    /// The text of a hyperlink reference, as a link where its target is a web address.
    fn link(&self, content: &str) -> String {
        let (text, target) = titled(content);
        let text = unescape(text);
        let url = match target {
            // `<name_>` refers to a target elsewhere in the document.
            Some(t) => t.strip_suffix('_').and_then(|n| self.names.urls.get(&normalised(n))).map_or(t, String::as_str),
            None => self.names.urls.get(&normalised(&text)).map_or("", String::as_str),
        };
        web_link(&escape::text(&text), url)
    }

    /// `*text*` and `**text**`: the text.
    fn emphasis(&mut self) -> bool {
        let fence = if self.rest().starts_with("**") { "**" } else { "*" };
        let inner = &self.rest()[fence.len()..];
        if !self.may_start() || inner.starts_with(|c: char| c.is_whitespace() || c == '*') {
            return false;
        }
        let end = inner.match_indices(fence).map(|(i, _)| i).find(|i| {
            let (before, after) = (&inner[..*i], &inner[i + fence.len()..]);
            *i > 0
                && !before.ends_with(|c: char| c.is_whitespace() || c == '\\')
                && after.chars().next().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '*')
        });
        let Some(end) = end.filter(|e| !inner[..*e].contains("\n\n")) else { return false };
        let text = unescape(&inner[..end]);
        self.emit(&escape::text(&text), end + 2 * fence.len())
    }

    /// `|name|`, also with `_` after it.
    fn substitution(&mut self) -> bool {
        let inner = &self.rest()[1..];
        let Some((name, after)) = inner.split_once('|') else { return false };
        let Some(value) = self.names.substitutions.get(name.trim()) else { return false };
        if self.nested || value.len() > MAX_SUBSTITUTION_BYTES {
            return false;
        }
        let mut nested =
            Writer { text: value, at: 0, plain: String::new(), out: String::new(), names: self.names, nested: true };
        nested.run();
        let tail = after.bytes().take_while(|b| *b == b'_').count().min(2);
        let markdown = nested.out;
        self.emit(&markdown, name.len() + 2 + tail)
    }

    /// `[1]_`, `[#name]_`, `[CIT2002]_`
    fn footnote(&mut self) -> bool {
        let inner = &self.rest()[1..];
        let Some((label, after)) = inner.split_once(']') else { return false };
        let valid =
            after.starts_with('_') && !label.is_empty() && !label.contains(|c: char| c.is_whitespace() || c == '[');
        if !valid {
            return false;
        }
        let shown = label.trim_start_matches(['#', '*']);
        self.plain.push_str(&if shown.is_empty() { String::new() } else { format!("[{shown}]") });
        self.at += label.len() + 3;
        true
    }

    /// `name_` where the document has such a target: the underscore goes.
    fn reference(&mut self) -> bool {
        let after = self.rest()[1..].chars().next();
        if after.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return false;
        }
        let in_word = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | '+');
        let word_bytes: usize =
            self.plain.chars().rev().take(MAX_NAME_CHARS).take_while(in_word).map(char::len_utf8).sum();
        let start = self.plain.len() - word_bytes;
        let word = self.plain[start..].to_string();
        let Some(url) = self.names.urls.get(&normalised(&word)).filter(|_| !word.is_empty()) else {
            let known = self.names.titles.contains_key(&normalised(&word));
            self.at += usize::from(known);
            return known;
        };
        self.plain.truncate(start);
        let markdown = web_link(&escape::text(&word), url);
        self.emit(&markdown, 1)
    }
}

/// The text up to the closing backtick.
fn closing_backtick(s: &str) -> Option<&str> {
    let mut escaped = false;
    for (i, c) in s.char_indices() {
        match c {
            '`' if !escaped => return Some(&s[..i]),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// `title <target>` taken apart.
fn titled(content: &str) -> (&str, Option<&str>) {
    let content = content.trim();
    match content.strip_suffix('>').and_then(|c| c.rsplit_once('<')) {
        Some((title, target)) if !title.trim().is_empty() && !title.ends_with('\\') => {
            (title.trim_end(), Some(target.trim()))
        }
        Some((_, target)) if !target.is_empty() => (target, Some(target)),
        _ => (content, None),
    }
}

fn web_link(text: &str, url: &str) -> String {
    let web = url.starts_with("https://") || url.starts_with("http://");
    let plain =
        !url.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>')) && !text.contains(['[', ']']);
    if web && plain { format!("[{text}]({url})") } else { text.to_string() }
}

/// The Markdown of a role: code for what names code, its text for the rest.
fn role_text(role: &str, content: &str, names: &Names) -> String {
    // The domain does not matter: `c:func`, `py:class`, `external+neps:doc`.
    let name = role.rsplit(':').next().unwrap_or(role);
    if name == "math" {
        // TeX keeps its backslashes.
        return format!("${}$", content.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if matches!(
        name,
        "code"
            | "literal"
            | "kbd"
            | "samp"
            | "regexp"
            | "command"
            | "program"
            | "file"
            | "mimetype"
            | "makevar"
            | "token"
    ) {
        return escape::code_span(&unescape(content));
    }
    let (title, target) = titled(content);
    let title = unescape(title);
    match name {
        "class" | "func" | "meth" | "mod" | "attr" | "obj" | "data" | "const" | "exc" | "type" | "macro" | "member"
        | "enumerator" | "enum" | "var" | "struct" | "union" | "expr" | "texpr" | "concept" | "function" | "method"
        | "attribute" | "module" | "option" | "envvar" | "decorator" => escape::code_span(object_name(&title)),
        "ref" | "numref" if target.is_none() => {
            let label = normalised(&title);
            let shown =
                names.titles.get(&label).map(|t| unescape_title(t)).unwrap_or_else(|| title.replace(['-', '_'], " "));
            escape::text(&shown)
        }
        "doc" | "download" if target.is_none() => escape::text(title.rsplit('/').next().unwrap_or(&title)),
        "pep" if target.is_none() => format!("PEP {}", escape::text(&title)),
        "rfc" if target.is_none() => format!("RFC {}", escape::text(&title)),
        "raw-html" | "raw-latex" => String::new(),
        _ => escape::text(title.trim_start_matches(['!', '~'])),
    }
}

/// What Sphinx shows of an object: `~a.b.c` as `c`, without a leading `!` or `.`.
fn object_name(name: &str) -> &str {
    match name.strip_prefix('~') {
        Some(full) => full.rsplit('.').next().unwrap_or(full),
        None => name.trim_start_matches(['!', '.']),
    }
}

/// A title that a label stands for, without its own markup.
fn unescape_title(title: &str) -> String {
    convert(title, &Names::default()).chars().filter(|c| !matches!(c, '`' | '\\')).collect()
}

/// Takes backslash escapes away; `\ ` is nothing.
fn unescape(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut chars = s.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().filter(|c| !c.is_whitespace())),
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Authors who write Chinese or Japanese put markup between characters without a space.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x3000..=0x303f | 0xff00..=0xffef)
}
