//! What is said about a `kb.toml` that cannot be read: a sentence for its author, with the line.

/// Keys that stand above every section.
const TOP: [&str; 3] = ["preset", "title", "language"];

/// The error of the parser, in words and with its line.
pub(super) fn of_parser(error: &toml::de::Error, text: &str) -> String {
    let line = error.span().map(|s| text[..s.start.min(text.len())].matches('\n').count() + 1);
    at(line, &sentence(error.message().lines().next().unwrap_or_default()))
}

/// A sentence about the value of a key, which it begins with (`lexical_weight must be 0 to 1`), with the line of that
/// key. The key is looked for below `section`, the first time it stands there.
pub(super) fn of_value(section: &str, sentence: &str, text: &str) -> String {
    let key = sentence.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    at(line_of(section, key, text), sentence)
}

fn at(line: Option<usize>, sentence: &str) -> String {
    line.map_or_else(|| sentence.to_owned(), |line| format!("line {line}: {sentence}"))
}

/// The line, from 1, that sets `key` in `[section]`.
fn line_of(section: &str, key: &str, text: &str) -> Option<usize> {
    let mut inside = false;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if let Some(name) = line.strip_prefix('[') {
            inside = name.split(']').next().is_some_and(|name| name.trim() == section);
        }
        let value = line.strip_prefix(key).map(str::trim_start);
        if inside && !key.is_empty() && value.is_some_and(|v| v.starts_with('=')) {
            return Some(i + 1);
        }
    }
    None
}

/// What the parser says, in words for who wrote the file.
fn sentence(message: &str) -> String {
    if message.starts_with("unknown field") {
        return unknown(message);
    }
    let wrong = ["invalid type: ", "invalid value: "].iter().find_map(|begin| message.strip_prefix(begin));
    match wrong.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => format!("{} is not {}", thing(found), wanted(expected)),
        None => message.to_owned(),
    }
}

/// An unknown key: where it belongs, or which one is meant, from those that the parser lists.
fn unknown(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(unknown) = quoted.next() else { return message.to_owned() };
    let known: Vec<&str> = quoted.collect();
    if TOP.contains(&unknown) && !known.contains(&unknown) {
        return format!(
            "`{unknown}` stands above the first section; below a line in brackets it counts as a key of that section"
        );
    }
    let likeness = |known: &str| strsim::jaro_winkler(unknown, known);
    match known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))) {
        Some(known) => format!("unknown key `{unknown}`, did you mean `{known}`?"),
        None => format!("unknown key `{unknown}`"),
    }
}

/// What stands in the file: `string "a"`, ``integer `5` ``, `sequence`.
fn thing(found: &str) -> String {
    match found {
        "sequence" => "a list".into(),
        "map" => "a section".into(),
        _ => {
            let value = found.find(['"', '`']).map_or(found, |start| &found[start..]);
            value.replace('`', "")
        }
    }
}

/// What the parser wants, by the names of Rust's types.
fn wanted(expected: &str) -> String {
    match expected {
        "f32" | "f64" => "a number",
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number of 0 or more",
        "a string" | "string" | "path string" => "text in quotation marks",
        "a boolean" | "bool" => "true or false",
        "a sequence" => "a list in square brackets",
        other if other.starts_with("struct ") || other == "a map" => "a section",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use std::path::Path;

    fn refused(text: &str) -> String {
        Config::parse(text, Path::new("")).expect_err("refused")
    }

    #[test]
    fn a_value_of_another_type_is_told_in_words() {
        assert_eq!(refused("title = 3\n"), "line 1: 3 is not text in quotation marks");
        let text = "[retrieval]\nlexical_weight = \"much\"\n";
        assert_eq!(refused(text), "line 2: \"much\" is not a number");
        assert_eq!(refused("[site]\noriginals = 1\n"), "line 2: 1 is not true or false");
        assert_eq!(refused("[retrieval]\ntop_k = -3\n"), "line 2: -3 is not a whole number of 0 or more");
        let text = "[[source]]\npath = \"a\"\ninclude = \"*.md\"\n";
        assert_eq!(refused(text), "line 3: \"*.md\" is not a list in square brackets");
    }

    #[test]
    fn a_value_out_of_its_range_is_told_with_its_line() {
        let text = "title = \"a\"\n[site]\nout = \"x\"\n\n[retrieval]\n  top_k = 101\n";
        assert_eq!(refused(text), "line 6: top_k must be 1 to 100");
        assert!(refused("[chunking]\nsize = 10\n").starts_with("line 2: size must be"));
        let text = "[watcher]\ninterval = 0\n";
        assert_eq!(refused(text), "line 2: interval is 0 seconds, it must be 0.1 to 86400");
        assert!(refused("[site]\nout = \"\"\n").starts_with("line 2: out is empty"));
    }

    #[test]
    fn a_key_of_the_whole_file_below_a_section_is_told_where_it_belongs() {
        let said = refused("[[source]]\npath = \"a\"\npreset = \"llm-wiki\"\n");
        assert!(said.starts_with("line 3: `preset` stands above the first section"), "{said}");
    }
}
