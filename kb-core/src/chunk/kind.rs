//! What a passage is, told by rules at build time, so that a reader can ask for one sort of passage and a
//! question can be led to the sort that answers it.

use serde::{Deserialize, Serialize};

/// The sort of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkKind {
    /// Running text that is nothing else of these.
    #[default]
    Text,
    /// Says what something is.
    Concept,
    /// Things to do one after the other.
    Steps,
    /// Options, arguments, fields with their meaning.
    Parameters,
    /// What to beware of.
    Warning,
    /// Mostly code.
    Code,
    /// Mostly a table.
    Table,
    /// Of a portfolio: who somebody is.
    Identity,
    /// Of a portfolio: what a project is.
    ProjectOverview,
    /// Of a portfolio: what a project is made with.
    ProjectTech,
    /// Of a portfolio: how a project came about.
    ProjectStory,
    /// Of a portfolio: more about a project.
    ProjectDetail,
}

impl ChunkKind {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Concept,
        Self::Steps,
        Self::Parameters,
        Self::Warning,
        Self::Code,
        Self::Table,
        Self::Identity,
        Self::ProjectOverview,
        Self::ProjectTech,
        Self::ProjectStory,
        Self::ProjectDetail,
    ];

    /// The number that stands for it in a bundle: its place in [`Self::ALL`].
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The sort with this number. One of a later version is plain text to this one.
    pub fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or_default()
    }

    /// Whether it is a sort that only portfolios have.
    pub fn is_of_portfolio(self) -> bool {
        self >= Self::Identity
    }

    /// The name that filters use: `text`, `project_overview`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Concept => "concept",
            Self::Steps => "steps",
            Self::Parameters => "parameters",
            Self::Warning => "warning",
            Self::Code => "code",
            Self::Table => "table",
            Self::Identity => "identity",
            Self::ProjectOverview => "project_overview",
            Self::ProjectTech => "project_tech",
            Self::ProjectStory => "project_story",
            Self::ProjectDetail => "project_detail",
        }
    }

    /// The sort of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

#[cfg(feature = "build")]
pub use rules::kind_of;

#[cfg(feature = "build")]
mod rules {
    use super::ChunkKind;

    /// From this share of its characters on, code or a table is what a passage is, in percent.
    const MOSTLY: usize = 55;
    /// So many numbered items are a procedure.
    const STEPS: usize = 3;
    /// So many items that begin with a name in code, or in bold, and go on to explain it.
    const NAMED_ITEMS: usize = 3;

    /// What headings say of what is below them, by words in them.
    const HEADINGS: [(ChunkKind, &[&str]); 4] = [
        (
            ChunkKind::Warning,
            &["warning", "caution", "pitfall", "caveat", "danger", "警告", "注意", "陷阱", "常见错误", "易错"],
        ),
        (
            ChunkKind::Parameters,
            &[
                "parameter",
                "argument",
                "option",
                "flags",
                "attributes",
                "configuration",
                "settings",
                "参数",
                "选项",
                "配置项",
                "属性",
                "設定",
            ],
        ),
        (
            ChunkKind::Steps,
            &[
                "how to",
                "install",
                "getting started",
                "quick start",
                "quickstart",
                "tutorial",
                "step",
                "步骤",
                "安装",
                "教程",
                "快速开始",
                "快速入门",
                "操作",
            ],
        ),
        (
            ChunkKind::Concept,
            &[
                "what is",
                "what are",
                "introduction",
                "overview",
                "definition",
                "concept",
                "什么是",
                "简介",
                "概述",
                "概念",
                "定义",
                "介绍",
            ],
        ),
    ];

    /// How a sentence that defines something goes on, near its beginning.
    const DEFINING: [&str; 12] = [
        " is a ",
        " is an ",
        " is the ",
        " are a ",
        " refers to ",
        " means ",
        "是一种",
        "是一个",
        "是指",
        "指的是",
        "称为",
        "是一类",
    ];
    /// How far into a passage such a sentence is looked for, in characters.
    const DEFINING_WITHIN: usize = 80;

    /// The sort of the passage `text`, in Markdown, whose own heading is `heading` (empty for none).
    pub fn kind_of(text: &str, heading: &str) -> ChunkKind {
        let shape = Shape::of(text);
        if shape.code * 100 >= shape.all * MOSTLY && shape.code > 0 {
            return ChunkKind::Code;
        }
        if shape.table * 100 >= shape.all * MOSTLY && shape.table > 0 {
            return ChunkKind::Table;
        }
        let heading = heading.to_lowercase();
        let says = |kind| HEADINGS.iter().any(|(k, words)| *k == kind && words.iter().any(|w| heading.contains(w)));
        if shape.warns || says(ChunkKind::Warning) {
            ChunkKind::Warning
        } else if shape.named_items >= NAMED_ITEMS || (says(ChunkKind::Parameters) && shape.lists()) {
            ChunkKind::Parameters
        } else if shape.numbered >= STEPS || (says(ChunkKind::Steps) && (shape.numbered > 0 || shape.code > 0)) {
            ChunkKind::Steps
        } else if says(ChunkKind::Concept) || shape.defines {
            ChunkKind::Concept
        } else {
            ChunkKind::Text
        }
    }

    /// What the lines of a passage are. Sizes are characters.
    #[derive(Default)]
    struct Shape {
        all: usize,
        code: usize,
        table: usize,
        numbered: usize,
        named_items: usize,
        items: usize,
        warns: bool,
        defines: bool,
    }

    impl Shape {
        fn of(text: &str) -> Self {
            let mut shape = Self::default();
            let mut fence: Option<&str> = None;
            let mut is_first = true;
            for line in text.lines() {
                let trimmed = line.trim();
                let size = trimmed.chars().count();
                if trimmed.starts_with('#') && fence.is_none() {
                    continue;
                }
                shape.all += size;
                let marks = ["```", "~~~"].into_iter().find(|f| trimmed.starts_with(f));
                match (fence, marks) {
                    (Some(open), Some(mark)) if open == mark => {
                        shape.code += size;
                        fence = None;
                        continue;
                    }
                    (None, Some(mark)) => fence = Some(mark),
                    _ => {}
                }
                if fence.is_some() {
                    shape.code += size;
                    continue;
                }
                if trimmed.starts_with('|') {
                    shape.table += size;
                }
                shape.item(trimmed);
                if is_first && !trimmed.is_empty() {
                    is_first = false;
                    let start: String = trimmed.chars().take(DEFINING_WITHIN).collect::<String>().to_lowercase();
                    shape.defines = DEFINING.iter().any(|d| start.contains(d));
                    shape.warns = opens_warning(&start);
                }
            }
            shape
        }

        fn item(&mut self, line: &str) {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let after = &line[digits..];
            if (1..=2).contains(&digits) && [". ", ") ", "、"].iter().any(|mark| after.starts_with(mark)) {
                self.numbered += 1;
            } else if let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
                self.items += 1;
                self.named_items += usize::from(names_something(item.trim_start()));
            }
        }

        fn lists(&self) -> bool {
            self.items >= 2 || self.table > 0
        }
    }

    /// Whether an item begins with a name in code or bold and goes on to say what it is.
    fn names_something(item: &str) -> bool {
        ["`", "**"].iter().any(|mark| {
            let inner = item.strip_prefix(mark).and_then(|rest| rest.split_once(mark));
            inner.is_some_and(|(name, rest)| {
                let rest = rest.trim_start_matches(['*', '`']).trim_start();
                let explains = [":", "：", "-", "–", "—", "(", "（", "="].iter().any(|m| rest.starts_with(m))
                    || name.ends_with([':', '：']);
                !name.is_empty() && explains && rest.chars().count() > 2
            })
        })
    }

    /// Whether a passage's first line, in lower case, opens an admonition that warns.
    fn opens_warning(line: &str) -> bool {
        let line = line.trim_start_matches(['>', ' ', '*', ':', '!', '[', '<', '⚠', '\u{fe0f}']);
        ["warning", "caution", "danger", "警告", "注意：", "注意:", "危险"].iter().any(|w| line.starts_with(w))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn sorts_are_told_by_shape_and_heading() {
            let params = "- `--out DIR`: where to write\n- `--quiet`: no progress\n- `-k N` — how many\n";
            for (text, heading, expected) in [
                ("```sh\ngit rebase -i main\ngit push --force\n```\nDone.", "", ChunkKind::Code),
                ("| a | b |\n|---|---|\n| 1 | 2 |\nNote.", "", ChunkKind::Table),
                ("1. Open it.\n2. Write.\n3. Save.\n", "", ChunkKind::Steps),
                (
                    "Run this:\n\n```\nmake\n```\nand then wait until it has finished its long work.",
                    "Install",
                    ChunkKind::Steps,
                ),
                (params, "", ChunkKind::Parameters),
                ("- one thing\n- another thing\n", "Optional arguments", ChunkKind::Parameters),
                ("> [!WARNING]\n> This deletes everything.", "", ChunkKind::Warning),
                ("**注意：** 不要这样做。", "", ChunkKind::Warning),
                ("Never do this.", "Common pitfalls", ChunkKind::Warning),
                ("A heap is a tree in which parents are smaller.", "Heaps", ChunkKind::Concept),
                ("## 堆\n\n堆是一种特殊的树。", "堆", ChunkKind::Concept),
                ("Some words.", "什么是并查集", ChunkKind::Concept),
                ("Yesterday we went out. It was fine.", "News", ChunkKind::Text),
                ("", "", ChunkKind::Text),
            ] {
                assert_eq!(kind_of(text, heading), expected, "{text} under {heading}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back() {
        for (i, kind) in ChunkKind::ALL.into_iter().enumerate() {
            assert_eq!((usize::from(kind.code()), ChunkKind::from_code(kind.code())), (i, kind));
            assert_eq!(ChunkKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_string(&kind).expect("a name"), format!("\"{}\"", kind.name()));
        }
        assert_eq!(ChunkKind::from_code(200), ChunkKind::Text);
        assert_eq!(ChunkKind::from_name("nonsense"), None);
    }
}
