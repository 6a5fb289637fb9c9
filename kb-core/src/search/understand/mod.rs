//! What a question asks for, told by rules and offline: its intent, the names in it, what to look up in place of
//! spoken words, the two halves of a comparison, and the sorts of passages that answer it.

mod synonyms;

pub use synonyms::{MAX_SYNONYM_BYTES, Synonyms};

use super::knowledge_base::EXPLAINS;
use crate::chunk::ChunkKind;
use crate::text::fold_str;
use serde::{Deserialize, Serialize};

/// What sort of answer a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intent {
    /// A fact.
    #[default]
    Factual,
    /// A way to do something.
    HowTo,
    /// What two things have in common or not.
    Comparison,
    /// A judgement.
    Opinion,
}

/// Most names that are kept of one question.
const MAX_ENTITIES: usize = 16;
/// Longest half of a comparison in characters; what is longer is a sentence and not a name.
const MAX_HALF_CHARS: usize = 40;

/// Words of a question that tell its intent, in lower case. A comparison is asked for before the others:
/// "how do I compare a and b" is one.
const INTENTS: [(Intent, &[&str]); 3] = [
    (
        Intent::Comparison,
        &[
            " vs ",
            " vs. ",
            " versus ",
            "difference between",
            "differences between",
            "differ from",
            "compare",
            "compared to",
            "区别",
            "差别",
            "差异",
            "对比",
            "比较",
            "有何不同",
            "有什么不同",
            "哪个更",
            "異同",
            "异同",
        ],
    ),
    (
        Intent::Opinion,
        &[
            "should i",
            "should we",
            "recommend",
            "worth ",
            "which is best",
            "best way",
            "best practice",
            "your opinion",
            "推荐",
            "值得",
            "建议",
            "好不好",
            "该不该",
            "最好用",
            "怎么看",
            "合适吗",
        ],
    ),
    (
        Intent::HowTo,
        &[
            "how to",
            "how do",
            "how can",
            "how should",
            "steps to",
            "way to",
            "如何",
            "怎么",
            "怎样",
            "咋",
            "步骤",
            "方法",
            "怎麼",
        ],
    ),
];

/// Words that lead a question to sorts of passages, in lower case.
const ROUTES: [(&[ChunkKind], &[&str]); 9] = [
    (
        &[ChunkKind::Warning],
        &["warning", "pitfall", "caveat", "avoid", "beware", "mistake", "注意", "警告", "陷阱", "避免", "坑"],
    ),
    (
        &[ChunkKind::Parameters, ChunkKind::Table],
        &[
            "parameter",
            "argument",
            "option",
            "flag",
            "setting",
            "default value",
            "参数",
            "选项",
            "默认值",
            "配置项",
            "取值",
        ],
    ),
    (&[ChunkKind::Code], &["example", "sample", "snippet", "code", "示例", "例子", "样例", "代码", "范例"]),
    (
        &[ChunkKind::Steps, ChunkKind::Code],
        &["how to", "how do", "how can", "install", "set up", "steps", "如何", "怎么", "怎样", "咋", "安装", "步骤"],
    ),
    (
        &[ChunkKind::Concept],
        &[
            "what is",
            "what are",
            "what's",
            "definition",
            "meaning of",
            "什么是",
            "是什么",
            "定义",
            "概念",
            "含义",
            "何为",
        ],
    ),
    (
        &[ChunkKind::Identity],
        &[
            "who are you",
            "who is",
            "about you",
            "contact",
            "background",
            "你是谁",
            "介绍一下你",
            "联系",
            "简历",
            "是谁",
            "自我介绍",
        ],
    ),
    (
        &[ChunkKind::ProjectTech],
        &[
            "tech stack",
            "stack",
            "technolog",
            "framework",
            "language",
            "built with",
            "技术栈",
            "技术",
            "框架",
            "语言",
            "用什么写",
        ],
    ),
    (
        &[ChunkKind::ProjectStory],
        &[
            "why did",
            "motivation",
            "history",
            "story",
            "challenge",
            "evolve",
            "为什么做",
            "动机",
            "历史",
            "故事",
            "经历",
            "挑战",
            "历程",
        ],
    ),
    (&[ChunkKind::ProjectOverview], &["project", "portfolio", "worked on", "built", "项目", "作品", "做过"]),
];

/// Where a question leads in a portfolio when nothing in it says so.
const PORTFOLIO_DEFAULT: [ChunkKind; 3] =
    [ChunkKind::ProjectOverview, ChunkKind::ProjectDetail, ChunkKind::ProjectTech];

/// What was understood of a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Plan {
    /// The sort of answer.
    pub intent: Intent,
    /// Names in it: identifiers, words in code marks or quotation marks, capitalised words inside a sentence.
    pub entities: Vec<String>,
    /// The question with spoken words replaced, if that changes it.
    pub rewritten: Option<String>,
    /// The two things of a comparison; empty for another question.
    pub sub_questions: Vec<String>,
    /// The sorts of passages that answer it, empty where nothing says so.
    pub kinds: Vec<ChunkKind>,
}

impl Plan {
    /// Understands `question`; `present` are the sorts of passages that the base has.
    pub fn of(question: &str, synonyms: &Synonyms, present: &[ChunkKind]) -> Self {
        let rewritten = synonyms.rewrite(question);
        let text = format!(" {} ", fold_str(&rewritten));
        let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
        let intent = INTENTS.iter().find(|(_, words)| has(words)).map_or(Intent::Factual, |(intent, _)| *intent);
        let mut kinds = Vec::new();
        for (route, words) in &ROUTES {
            if has(words) {
                kinds.extend(
                    route.iter().filter(|k| present.contains(k) && !kinds.contains(*k)).copied().collect::<Vec<_>>(),
                );
            }
        }
        if kinds.is_empty() {
            kinds.extend(PORTFOLIO_DEFAULT.iter().filter(|k| present.contains(k)));
        }
        Self {
            intent,
            // What only an explanation shows stays out of the page.
            entities: if EXPLAINS { entities(question) } else { Vec::new() },
            sub_questions: if EXPLAINS && intent == Intent::Comparison { halves(&rewritten) } else { Vec::new() },
            rewritten: (rewritten != question).then(|| rewritten.into_owned()),
            kinds,
        }
    }
}

/// Names in a question, each once, in their order.
fn entities(question: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut first_word = true;
    for word in question.split(|c: char| c.is_whitespace() || "，。？！、；：“”「」『』（）".contains(c))
    {
        for part in ascii_runs(word) {
            let name = part.trim_matches(|c: char| !c.is_ascii_alphanumeric() && !"+#-_".contains(c));
            let name = name.trim_end_matches('-');
            let letters = name.bytes().any(|b| b.is_ascii_alphabetic());
            let inner_capital = name.bytes().skip(1).any(|b| b.is_ascii_uppercase());
            let marked = name.contains(['_', '.', ':', '+', '#', '/'])
                || name.starts_with("--")
                || name.bytes().any(|b| b.is_ascii_digit());
            let capital = name.bytes().next().is_some_and(|b| b.is_ascii_uppercase()) && !first_word && name.len() > 1;
            first_word = false;
            if letters
                && (inner_capital || marked || capital)
                && !found.iter().any(|f| f == name)
                && found.len() < MAX_ENTITIES
            {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// The runs of printable ASCII in a word: `用React写` has one.
fn ascii_runs(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !c.is_ascii_graphic()).filter(|run| !run.is_empty())
}

/// The two things that a question compares.
fn halves(question: &str) -> Vec<String> {
    let folded = fold_str(question);
    // Folding keeps no lengths, so that the halves come out of the folded text.
    let text = folded.trim().trim_end_matches(['?', '？', '.', '。', ' ']);
    let english = ["differences between ", "difference between ", "compare ", "comparison of ", "comparing "]
        .iter()
        .find_map(|start| text.split_once(start).map(|(_, rest)| rest))
        .and_then(|rest| [" and ", " with ", " to ", " vs ", " vs. "].iter().find_map(|mid| rest.split_once(mid)));
    let versus = || [" vs ", " vs. ", " versus "].iter().find_map(|mid| text.split_once(mid));
    let chinese = || {
        let end = [
            "的区别",
            "的差别",
            "的差异",
            "的不同",
            "的异同",
            "有什么区别",
            "有何区别",
            "有什么不同",
            "有何不同",
            "有什么差别",
            "之间",
            "区别",
            "对比",
            "比较",
            "哪个",
        ]
        .iter()
        .filter_map(|end| text.find(end))
        .min()?;
        let before = text[..end].trim_end_matches(['的', ' ', '，', ',']);
        ["和", "与", "跟", "同", "、", "相比", " vs "].iter().find_map(|mid| before.split_once(mid))
    };
    let Some((a, b)) = english.or_else(versus).or_else(chinese) else { return Vec::new() };
    let halves: Vec<String> =
        [last_words(a), b].iter().map(|h| h.trim().trim_matches(['`', '"', ',']).to_owned()).collect();
    let names = halves.iter().all(|h| (1..=MAX_HALF_CHARS).contains(&h.chars().count()));
    if names && halves[0] != halves[1] { halves } else { Vec::new() }
}

/// What is left of the first thing without how the question began: `what is better, a` is `a`.
fn last_words(text: &str) -> &str {
    let starts = ["what is the ", "what's the ", "which is better ", "which is better,", "is "];
    let text = starts.iter().find_map(|s| text.trim_start().strip_prefix(s)).unwrap_or(text);
    text.rsplit([',', '，', ':', '：']).next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(question: &str) -> Plan {
        Plan::of(question, &Synonyms::default(), &ChunkKind::ALL[..7])
    }

    #[test]
    fn intents_are_told_in_both_languages() {
        for (question, expected) in [
            ("How do I undo a commit?", Intent::HowTo),
            ("numpy 咋装", Intent::HowTo),
            ("如何配置代理", Intent::HowTo),
            ("git merge vs rebase", Intent::Comparison),
            ("栈和队列的区别", Intent::Comparison),
            ("Should I use threads or processes?", Intent::Opinion),
            ("哪本书值得读", Intent::Opinion),
            ("What is a heap?", Intent::Factual),
            ("最短路径", Intent::Factual),
        ] {
            assert_eq!(plan(question).intent, expected, "{question}");
        }
    }

    #[test]
    fn names_are_kept_as_they_are_written() {
        for (question, expected) in [
            ("Why does np.linalg.norm fail in NumPy?", vec!["np.linalg.norm", "NumPy"]),
            ("用useEffect还是useMemo", vec!["useEffect", "useMemo"]),
            ("What does E0382 mean for Rust", vec!["E0382", "Rust"]),
            ("C++ 的 --no-deps 选项", vec!["C++", "--no-deps"]),
            ("What is love", vec![]),
        ] {
            assert_eq!(plan(question).entities, expected, "{question}");
        }
    }

    #[test]
    fn comparisons_have_two_halves() {
        for (question, expected) in [
            ("What is the difference between merge and rebase?", vec!["merge", "rebase"]),
            ("git merge vs rebase", vec!["git merge", "rebase"]),
            ("栈和队列的区别是什么？", vec!["栈", "队列"]),
            ("BFS与DFS有什么不同", vec!["bfs", "dfs"]),
            ("compare arrays with lists", vec!["arrays", "lists"]),
            ("排序的比较次数", vec![]),
            ("how do I undo a commit", vec![]),
        ] {
            assert_eq!(plan(question).sub_questions, expected, "{question}");
        }
    }

    #[test]
    fn questions_lead_to_sorts_of_passages() {
        let kinds = |question: &str| plan(question).kinds;
        assert_eq!(kinds("How to install it"), [ChunkKind::Steps, ChunkKind::Code]);
        assert_eq!(kinds("什么是并查集"), [ChunkKind::Concept]);
        assert_eq!(kinds("默认值是多少"), [ChunkKind::Parameters, ChunkKind::Table]);
        assert_eq!(kinds("ownership"), []);
        let portfolio = |question: &str| Plan::of(question, &Synonyms::default(), &ChunkKind::ALL[7..]).kinds;
        assert_eq!(portfolio("你是谁"), [ChunkKind::Identity]);
        assert_eq!(portfolio("what is the tech stack"), [ChunkKind::ProjectTech]);
        assert_eq!(portfolio("为什么做这个项目")[0], ChunkKind::ProjectStory);
        assert_eq!(portfolio("foliochat"), PORTFOLIO_DEFAULT);
    }

    #[test]
    fn nothing_odd_breaks_it() {
        for question in ["", " ", "？？？", "和的区别", "vs", " vs ", "difference between  and ", "😀 vs 😀", "a\u{0}b"]
        {
            plan(question);
        }
    }
}
