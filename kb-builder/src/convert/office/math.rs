//! Office's formulas (OMML) as LaTeX.

use super::super::xml::Element;
use roxmltree::Node;

/// Formulas nested deeper than this keep their text only.
const MAX_DEPTH: usize = 60;

/// A formula `oMath` as the inside of `$…$`.
pub fn latex(math: Node) -> String {
    let mut out = String::new();
    children(math, 0, &mut out);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn children(node: Node, depth: usize, out: &mut String) {
    for child in node.children().filter(|c| c.is_element()) {
        element(child, depth + 1, out);
    }
}

/// The content of the part `name` of a construct.
fn part(node: Node, name: &str, depth: usize) -> String {
    let mut out = String::new();
    if let Some(part) = node.child(name) {
        children(part, depth + 1, &mut out);
    }
    out.trim().to_string()
}

/// A property of a construct: `<m:naryPr><m:chr m:val="∑"/></m:naryPr>`.
fn property<'a>(node: Node<'a, '_>, properties: &str, name: &str) -> Option<&'a str> {
    node.child(properties)?.val(name)
}

fn element(node: Node, depth: usize, out: &mut String) {
    if depth > MAX_DEPTH {
        out.push_str(&node.content());
        return;
    }
    match node.name() {
        "r" => {
            for t in node.children().filter(|c| c.name() == "t") {
                let text = t.text().unwrap_or_default();
                if FUNCTIONS.contains(&text.trim()) {
                    out.push_str(&format!("\\{} ", text.trim()));
                } else {
                    run(text, out);
                }
            }
        }
        "f" => {
            let (num, den) = (part(node, "num", depth), part(node, "den", depth));
            match property(node, "fPr", "type") {
                Some("lin") => out.push_str(&format!("{num}/{den}")),
                Some("noBar") => out.push_str(&format!("\\binom{{{num}}}{{{den}}}")),
                _ => out.push_str(&format!("\\frac{{{num}}}{{{den}}}")),
            }
        }
        "sSup" => out.push_str(&format!("{}^{{{}}}", part(node, "e", depth), part(node, "sup", depth))),
        "sSub" => out.push_str(&format!("{}_{{{}}}", part(node, "e", depth), part(node, "sub", depth))),
        "sSubSup" => out.push_str(&format!(
            "{}_{{{}}}^{{{}}}",
            part(node, "e", depth),
            part(node, "sub", depth),
            part(node, "sup", depth)
        )),
        "sPre" => out.push_str(&format!(
            "{{}}_{{{}}}^{{{}}}{}",
            part(node, "sub", depth),
            part(node, "sup", depth),
            part(node, "e", depth)
        )),
        "rad" => {
            let degree = part(node, "deg", depth);
            let degree = if degree.is_empty() { degree } else { format!("[{degree}]") };
            out.push_str(&format!("\\sqrt{degree}{{{}}}", part(node, "e", depth)));
        }
        "nary" => {
            // Without a sign of its own it is an integral.
            let sign = property(node, "naryPr", "chr").unwrap_or("∫");
            let sign = command(sign).map_or_else(|| sign.to_string(), |c| format!("\\{c}"));
            out.push_str(&sign);
            for (mark, name) in [('_', "sub"), ('^', "sup")] {
                let limit = part(node, name, depth);
                if !limit.is_empty() {
                    out.push_str(&format!("{mark}{{{limit}}}"));
                }
            }
            out.push(' ');
            out.push_str(&part(node, "e", depth));
        }
        "d" => {
            let open = property(node, "dPr", "begChr").unwrap_or("(");
            let close = property(node, "dPr", "endChr").unwrap_or(")");
            let separator = property(node, "dPr", "sepChr").unwrap_or("|");
            let inner: Vec<String> = node
                .all("e")
                .map(|e| {
                    let mut inner = String::new();
                    children(e, depth + 1, &mut inner);
                    inner.trim().to_string()
                })
                .collect();
            out.push_str(&format!(
                "\\left{}{}\\right{}",
                delimiter(open),
                inner.join(&format!(" {separator} ")),
                delimiter(close)
            ));
        }
        "func" => {
            let name = part(node, "fName", depth);
            let argument = part(node, "e", depth);
            out.push_str(&format!("{} {argument}", function(&name)));
        }
        "limLow" => out.push_str(&format!("{}_{{{}}}", function(&part(node, "e", depth)), part(node, "lim", depth))),
        "limUpp" => out.push_str(&format!("{}^{{{}}}", function(&part(node, "e", depth)), part(node, "lim", depth))),
        "acc" => {
            let accent = match property(node, "accPr", "chr").unwrap_or("\u{302}") {
                "\u{303}" => "tilde",
                "\u{304}" | "\u{305}" | "¯" => "bar",
                "\u{307}" => "dot",
                "\u{308}" => "ddot",
                "\u{20d7}" | "→" => "vec",
                _ => "hat",
            };
            out.push_str(&format!("\\{accent}{{{}}}", part(node, "e", depth)));
        }
        "bar" => {
            let line = if property(node, "barPr", "pos") == Some("top") { "overline" } else { "underline" };
            out.push_str(&format!("\\{line}{{{}}}", part(node, "e", depth)));
        }
        "m" => rows(node, depth, out),
        "eqArr" => {
            let lines: Vec<String> = node
                .all("e")
                .map(|e| {
                    let mut line = String::new();
                    children(e, depth + 1, &mut line);
                    line.trim().to_string()
                })
                .collect();
            out.push_str(&format!("\\begin{{aligned}}{}\\end{{aligned}}", lines.join(" \\\\ ")));
        }
        // A display formula and a line of one.
        "oMathPara" | "oMath" => {
            if !out.is_empty() {
                out.push(' ');
            }
            children(node, depth, out);
        }
        name if name.ends_with("Pr") => {}
        _ => children(node, depth, out),
    }
}

fn rows(matrix: Node, depth: usize, out: &mut String) {
    let mut lines = Vec::new();
    for row in matrix.all("mr") {
        let cells: Vec<String> = row
            .all("e")
            .map(|e| {
                let mut cell = String::new();
                children(e, depth + 1, &mut cell);
                cell.trim().to_string()
            })
            .collect();
        lines.push(cells.join(" & "));
    }
    out.push_str(&format!("\\begin{{matrix}}{}\\end{{matrix}}", lines.join(" \\\\ ")));
}

/// Text of a formula: signs that have a command become it, so that a reader can search for either.
fn run(text: &str, out: &mut String) {
    for c in text.chars() {
        // Formulas use the letters of the mathematical block for italics: readers type plain ones.
        let c = plain_letter(c);
        let mut sign = [0; 4];
        match (c, command(c.encode_utf8(&mut sign))) {
            (_, Some(command)) => {
                out.push('\\');
                out.push_str(command);
                out.push(' ');
            }
            ('{' | '}' | '#' | '%' | '&' | '$' | '_', None) => {
                out.push('\\');
                out.push(c);
            }
            // An invisible operator.
            ('\u{2061}'..='\u{2064}' | '\u{200b}', None) => {}
            _ => out.push(c),
        }
    }
}

/// A mathematical italic or bold letter as a plain one.
pub fn plain_letter(c: char) -> char {
    let n = c as u32;
    let ascii = |n: u32| char::from_u32(n).unwrap_or(c);
    match n {
        0x210E => 'h',
        // Thirteen alphabets of Latin letters, fifty-two each.
        0x1D400..=0x1D6A3 => {
            let at = (n - 0x1D400) % 52;
            if at < 26 { ascii(u32::from('A') + at) } else { ascii(u32::from('a') + at - 26) }
        }
        // Greek in bold, italic, bold italic and two sans serif alphabets, fifty-eight each.
        0x1D6A8..=0x1D7C9 => match (n - 0x1D6A8) % 58 {
            at @ 0..=16 => ascii(0x391 + at),
            17 => 'ϴ',
            at @ 18..=24 => ascii(0x391 + at),
            25 => '∇',
            at @ 26..=50 => ascii(0x3B1 + at - 26),
            51 => '∂',
            52 => 'ε',
            53 => 'θ',
            54 => 'κ',
            55 => 'φ',
            56 => 'ρ',
            _ => 'π',
        },
        0x1D7CE..=0x1D7FF => ascii(u32::from('0') + (n - 0x1D7CE) % 10),
        _ => c,
    }
}

/// Commands of the signs that lecture notes use most.
const COMMANDS: [(&str, &str); 74] = [
    ("α", "alpha"),
    ("β", "beta"),
    ("γ", "gamma"),
    ("δ", "delta"),
    ("ε", "varepsilon"),
    ("ϵ", "epsilon"),
    ("ζ", "zeta"),
    ("η", "eta"),
    ("θ", "theta"),
    ("ι", "iota"),
    ("κ", "kappa"),
    ("λ", "lambda"),
    ("μ", "mu"),
    ("ν", "nu"),
    ("ξ", "xi"),
    ("π", "pi"),
    ("ρ", "rho"),
    ("σ", "sigma"),
    ("τ", "tau"),
    ("υ", "upsilon"),
    ("φ", "varphi"),
    ("ϕ", "phi"),
    ("χ", "chi"),
    ("ψ", "psi"),
    ("ω", "omega"),
    ("Γ", "Gamma"),
    ("Δ", "Delta"),
    ("Θ", "Theta"),
    ("Λ", "Lambda"),
    ("Ξ", "Xi"),
    ("Π", "Pi"),
    ("Σ", "Sigma"),
    ("Φ", "Phi"),
    ("Ψ", "Psi"),
    ("Ω", "Omega"),
    ("∑", "sum"),
    ("∏", "prod"),
    ("∫", "int"),
    ("∬", "iint"),
    ("∮", "oint"),
    ("⋃", "bigcup"),
    ("⋂", "bigcap"),
    ("∂", "partial"),
    ("∇", "nabla"),
    ("∞", "infty"),
    ("√", "sqrt"),
    ("≤", "le"),
    ("≥", "ge"),
    ("≠", "ne"),
    ("≈", "approx"),
    ("≡", "equiv"),
    ("∼", "sim"),
    ("∝", "propto"),
    ("±", "pm"),
    ("×", "times"),
    ("÷", "div"),
    ("⋅", "cdot"),
    ("∙", "cdot"),
    ("∈", "in"),
    ("∉", "notin"),
    ("⊂", "subset"),
    ("⊆", "subseteq"),
    ("∪", "cup"),
    ("∩", "cap"),
    ("∅", "emptyset"),
    ("∀", "forall"),
    ("∃", "exists"),
    ("¬", "neg"),
    ("∧", "land"),
    ("∨", "lor"),
    ("→", "to"),
    ("⇒", "Rightarrow"),
    ("⇔", "Leftrightarrow"),
    ("…", "dots"),
];

fn command(sign: &str) -> Option<&'static str> {
    COMMANDS.iter().find(|(s, _)| *s == sign).map(|(_, command)| *command)
}

/// The names that LaTeX sets upright.
const FUNCTIONS: [&str; 20] = [
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log", "ln", "lg",
    "exp", "lim", "max", "min", "det",
];

/// A function's name as its command, with the limits that stand on it.
fn function(name: &str) -> String {
    let (head, tail) = name.split_at(name.find(['_', '^']).unwrap_or(name.len()));
    if FUNCTIONS.contains(&head.trim()) { format!("\\{}{tail}", head.trim()) } else { name.to_string() }
}

fn delimiter(sign: &str) -> String {
    match sign {
        "" => ".".into(),
        "{" | "}" => format!("\\{sign}"),
        "‖" => "\\|".into(),
        "⌊" => "\\lfloor ".into(),
        "⌋" => "\\rfloor ".into(),
        "⌈" => "\\lceil ".into(),
        "⌉" => "\\rceil ".into(),
        "⟨" | "〈" => "\\langle ".into(),
        "⟩" | "〉" => "\\rangle ".into(),
        sign => sign.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::xml;
    use super::*;

    fn of(inner: &str) -> String {
        let text = format!("<m:oMath xmlns:m=\"m\">{inner}</m:oMath>");
        latex(xml::parse(&text, "m").expect("parses").root_element())
    }

    fn r(text: &str) -> String {
        format!("<m:r><m:t>{text}</m:t></m:r>")
    }

    #[test]
    fn constructs_become_commands() {
        let (a, b, n) = (r("a"), r("b"), r("n"));
        assert_eq!(of(&format!("<m:f><m:num>{a}</m:num><m:den>{b}</m:den></m:f>")), r"\frac{a}{b}");
        assert_eq!(of(&format!("<m:sSup><m:e>{a}</m:e><m:sup>{n}</m:sup></m:sSup>")), "a^{n}");
        assert_eq!(of(&format!("<m:rad><m:deg>{n}</m:deg><m:e>{a}</m:e></m:rad>")), r"\sqrt[n]{a}");
        assert_eq!(of(&format!("<m:rad><m:radPr/><m:deg/><m:e>{a}</m:e></m:rad>")), r"\sqrt{a}");
        assert_eq!(
            of(&format!(
                "<m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr><m:sub>{}</m:sub><m:sup>{n}</m:sup><m:e>{a}</m:e></m:nary>",
                r("i=1")
            )),
            r"\sum_{i=1}^{n} a"
        );
        assert_eq!(
            of(&format!("<m:d><m:dPr><m:begChr m:val=\"[\"/><m:endChr m:val=\"]\"/></m:dPr><m:e>{a}</m:e></m:d>")),
            r"\left[a\right]"
        );
        assert_eq!(
            of(&format!(
                "<m:func><m:fName><m:limLow><m:e>{}</m:e><m:lim>{}</m:lim></m:limLow></m:fName><m:e>{a}</m:e></m:func>",
                r("lim"),
                r("n→∞")
            )),
            r"\lim_{n\to \infty} a"
        );
        assert_eq!(
            of(&format!(
                "<m:m><m:mr><m:e>{a}</m:e><m:e>{b}</m:e></m:mr><m:mr><m:e>{b}</m:e><m:e>{a}</m:e></m:mr></m:m>"
            )),
            r"\begin{matrix}a & b \\ b & a\end{matrix}"
        );
    }

    #[test]
    fn mathematical_letters_are_plain_ones() {
        assert_eq!(of(&r("𝑥=𝛼+ℎ·𝟐")), r"x=\alpha +h·2");
        assert_eq!(of(&r("50%")), r"50\%");
        assert_eq!(of(&(r("log") + &r("n"))), r"\log n");
    }

    #[test]
    fn depth_is_limited() {
        let deep = format!("{}{}{}", "<m:box><m:e>".repeat(400), r("x"), "</m:e></m:box>".repeat(400));
        assert_eq!(of(&deep), "x");
    }
}
