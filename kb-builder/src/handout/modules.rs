//! The page's ES modules as one classic script. A page opened from the disk may import nothing, and its workers neither.
//!
//! Each module becomes a function; `prelude.js` calls them. Only the forms that the modules of this project and
//! wasm-bindgen use are understood, at the beginning of a line; anything else is an error, never a wrong script.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The script around the modules.
const PRELUDE: &str = include_str!("prelude.js");

/// Makes one script of `entries` and everything that they import. `read` gives a module's text by its path;
/// `page` is the module that is run on the page; in a worker, its name says which.
pub fn script<'a>(page: &str, entries: &[&str], read: impl Fn(&str) -> Option<&'a str>) -> Result<String> {
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    let mut waiting: Vec<String> = entries.iter().map(|e| e.to_string()).collect();
    while let Some(path) = waiting.pop() {
        if modules.contains_key(&path) {
            continue;
        }
        let text = read(&path).ok_or_else(|| unusable(&path, "it is not there"))?;
        let (code, imports) = wrap(&path, text)?;
        waiting.extend(imports);
        modules.insert(path, code);
    }
    let mut list = String::new();
    for (path, code) in &modules {
        let _ = write!(list, "\n{path:?}: (__exports, __load, __meta) => {{\n{code}\n}},");
    }
    let script = PRELUDE.replacen("/*MODULES*/", &list, 1).replacen("'/*PAGE*/'", &format!("{page:?}"), 1);
    Ok(ascii(&script))
}

/// The body of a module's function, and the modules that it imports.
fn wrap(path: &str, text: &str) -> Result<(String, Vec<String>)> {
    let mut imports = Vec::new();
    let mut exports: Vec<(String, String)> = Vec::new();
    let mut body = String::with_capacity(text.len());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("import ") {
            let (names, from) = import(rest).ok_or_else(|| unusable(path, line))?;
            let target = resolve(path, &from).ok_or_else(|| unusable(path, line))?;
            let _ = writeln!(body, "const {names} = __load({target:?});");
            imports.push(target);
        } else if let Some(rest) = line.strip_prefix("export ") {
            if let Some(list) = rest.strip_prefix('{') {
                let list = list.strip_suffix("};").ok_or_else(|| unusable(path, line))?;
                for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
                    let (local, name) = item.split_once(" as ").unwrap_or((item, item));
                    exports.push((name.to_string(), local.to_string()));
                }
            } else {
                let name = declared(rest).ok_or_else(|| unusable(path, line))?;
                exports.push((name.to_string(), name.to_string()));
                body.push_str(rest);
            }
            body.push('\n');
        } else {
            body.push_str(line);
            body.push('\n');
        }
    }
    let body = dynamic_imports(path, &body.replace("import.meta", "__meta"), &mut imports)?;
    let mut head = String::from("Object.defineProperties(__exports, {");
    for (name, local) in &exports {
        let _ = write!(head, " {name:?}: {{ enumerable: true, get: () => {local} }},");
    }
    head.push_str(" });\n");
    Ok((head + &body, imports))
}

/// `{ a, b as c } from './x.js';` as the names for a destructuring and the module's address.
fn import(rest: &str) -> Option<(String, String)> {
    let (names, from) = rest.strip_suffix(';')?.split_once(" from ")?;
    let from = from.strip_prefix('\'')?.strip_suffix('\'')?;
    let (default, named) = match names.split_once('{') {
        Some((before, list)) => (before.trim().trim_end_matches(',').trim(), list.strip_suffix('}')?),
        None => (names, ""),
    };
    if default.contains('*') {
        return None;
    }
    let mut parts = Vec::new();
    if !default.is_empty() {
        parts.push(format!("default: {default}"));
    }
    for item in named.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        parts.push(item.replacen(" as ", ": ", 1));
    }
    Some((format!("{{ {} }}", parts.join(", ")), from.to_string()))
}

/// The name that a declaration behind `export` declares.
fn declared(rest: &str) -> Option<&str> {
    let kinds = ["async function ", "function ", "class ", "const "];
    let behind = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = behind.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(behind.len());
    Some(&behind[..end]).filter(|name| !name.is_empty())
}

/// Rewrites `import('./x.js')`. In comments, where types are named so, it does no harm.
fn dynamic_imports(path: &str, body: &str, imports: &mut Vec<String>) -> Result<String> {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find("import('") {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let spec = &behind["import('".len()..];
        let end = spec.find('\'').ok_or_else(|| unusable(path, "an import that does not end"))?;
        let target = resolve(path, &spec[..end]);
        let in_comment = before
            .rsplit('\n')
            .next()
            .is_some_and(|line| line.contains("/*") || line.trim_start().starts_with('*') || line.contains("//"));
        match target {
            Some(target) if !in_comment => {
                let _ = write!(out, "__meta.import({target:?}");
                imports.push(target);
            }
            _ => {
                let _ = write!(out, "import('{}'", &spec[..end]);
            }
        }
        rest = &spec[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The path of a module that `from` names by a relative address.
fn resolve(from: &str, to: &str) -> Option<String> {
    if !to.starts_with("./") && !to.starts_with("../") {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The script in ASCII, so that it is the same in a page of any encoding, and without what would end it there.
fn ascii(script: &str) -> String {
    let mut out = String::with_capacity(script.len() + script.len() / 8);
    for c in script.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.replace("</script", "<\\/script").replace("<!--", "<\\!--")
}

fn unusable(path: &str, what: &str) -> Error {
    Error::failed(
        format!("{path} cannot be put into a handout: {what}"),
        "this is a mistake in kb-builder; please report it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::PAGE_FILES;

    #[test]
    fn the_forms_of_imports_and_exports() {
        let text = "import init, { A as B, C } from '../r/k.js';\nimport { d } from './d.js';\nexport const e = 1;\n\
                    export async function f() {}\nexport { A, g as default };\nlet x = import('./y.js');\n";
        let (code, imports) = wrap("a/b/m.js", text).expect("wraps");
        assert_eq!(imports, ["a/r/k.js", "a/b/d.js", "a/b/y.js"]);
        assert!(code.contains("const { default: init, A: B, C } = __load(\"a/r/k.js\");"), "{code}");
        assert!(code.contains("\"default\": { enumerable: true, get: () => g }"), "{code}");
        assert!(code.contains("\nconst e = 1;\n") && code.contains("\nasync function f() {}\n"), "{code}");
        assert!(code.contains("__meta.import(\"a/b/y.js\")"), "{code}");
        for bad in [
            "import * as x from './x.js';",
            "import {",
            "export default 3;",
            "import { a } from 'npm';",
            "export * from './a.js';",
        ] {
            assert!(wrap("m.js", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_module_of_the_page_can_be_carried() {
        for (path, bytes) in PAGE_FILES.iter().filter(|(path, _)| path.starts_with("assets/") && path.ends_with(".js"))
        {
            let text = std::str::from_utf8(bytes).expect("UTF-8");
            let (code, _) = wrap(path, text).unwrap_or_else(|e| panic!("{e}"));
            assert!(!code.lines().any(|l| l.starts_with("import ") || l.starts_with("export ")), "{path}");
        }
    }

    #[test]
    fn a_script_stays_inside_its_element_and_in_ascii() {
        let read = |_: &str| Some("const a = '</script><!-- 最短路 😀';\n");
        let text = script("m.js", &["m.js"], read).expect("script");
        assert!(text.is_ascii());
        assert!(!text.contains("</script") && !text.contains("<!--"));
        assert!(text.contains("\\u6700\\u77ed\\u8def \\ud83d\\ude00"));
    }
}
