//! A synthetic corpus of Markdown.

/// Numbers that only look random, so that every run has the same corpus.
pub struct Numbers(pub u64);

impl Numbers {
    /// A number from 0 to `n` - 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Words by falling frequency, as in a language (Zipf): few are common, most are rare.
pub struct Vocabulary(Vec<String>);

impl Vocabulary {
    /// 40,000 made-up words.
    pub fn new() -> Self {
        const SYLLABLES: [&str; 24] = [
            "ba", "con", "de", "er", "fo", "gra", "hel", "in", "ja", "ko", "lu", "ment", "no", "or", "pre", "qui",
            "re", "sta", "tion", "un", "ver", "wi", "ex", "zo",
        ];
        let mut n = Numbers(7);
        Self((0..40_000).map(|i| (0..1 + i % 4).map(|_| SYLLABLES[n.below(24)]).collect()).collect())
    }

    /// Any of them, the common ones more often.
    pub fn word(&self, n: &mut Numbers) -> &str {
        let top = 1 + n.below(self.0.len());
        &self.0[n.below(top).min(n.below(top))]
    }
}

/// A page of notes: headings, prose in two languages, lists, links, code, a table.
fn page(v: &Vocabulary, seed: u64) -> String {
    const HAN: &str = "图的最短路是从一个点到另一个点边权之和最小的路径可以用队列或者堆来求出每次取出距离最小的点";
    let han: Vec<char> = HAN.chars().collect();
    let mut n = Numbers(seed);
    let mut text = format!("---\ntags: [bench, page-{seed}]\n---\n# {} {}\n\n", v.word(&mut n), v.word(&mut n));
    for section in 0..8 {
        text += &format!("## {} {} {section}\n\n", v.word(&mut n), v.word(&mut n));
        for _ in 0..3 {
            for i in 0..70 {
                match n.below(40) {
                    0 => text += &format!("[{}](https://example.org/{i}) ", v.word(&mut n)),
                    1 => text += &format!("**{}** ", v.word(&mut n)),
                    2 => text += &format!("`{}()` ", v.word(&mut n)),
                    3 => text += ". ",
                    _ => {
                        text += v.word(&mut n);
                        text.push(' ');
                    }
                }
            }
            text += "\n\n";
        }
        if section % 4 == 1 {
            text.extend((0..120).map(|_| han[n.below(han.len())]));
            text += "。\n\n";
        }
        match section % 4 {
            0 => (0..5).for_each(|_| text += &format!("- {} {} {}\n", v.word(&mut n), v.word(&mut n), v.word(&mut n))),
            2 => {
                text +=
                    &format!("```rust\nfn {}() {{\n    {}({});\n}}\n```\n", v.word(&mut n), v.word(&mut n), n.below(99))
            }
            3 => {
                text += &format!("| {} | {} |\n|---|---|\n| 1 | {} |\n", v.word(&mut n), v.word(&mut n), v.word(&mut n))
            }
            _ => {}
        }
        text.push('\n');
    }
    text
}

/// Pages of this many bytes together.
pub fn corpus(bytes: usize) -> impl Iterator<Item = String> {
    let v = Vocabulary::new();
    let mut done = 0;
    (0..).map(move |seed| page(&v, seed)).take_while(move |page| {
        let wanted = done < bytes;
        done += page.len();
        wanted
    })
}
