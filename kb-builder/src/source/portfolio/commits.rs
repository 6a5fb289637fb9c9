//! Which commits tell the story of a project: those by people that say what was done and why.

use super::wire::{Commit, line};

/// A commit that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its day: `2024-05-01`.
    pub day: String,
    /// The first line of its message.
    pub subject: String,
    /// The first paragraph below it, empty for none.
    pub body: String,
}

/// Longest body that is kept, in characters.
const MAX_BODY: usize = 400;
/// A body with so many characters makes up for a subject that says nothing.
const TELLING_BODY: usize = 40;

/// Programs that commit under their own name, beside those that call themselves bots.
const PROGRAMS: [&str; 12] = [
    "dependabot",
    "renovate",
    "greenkeeper",
    "github-actions",
    "github actions",
    "pre-commit-ci",
    "allcontributors",
    "semantic-release",
    "snyk",
    "imgbot",
    "mergify",
    "web-flow",
];

/// A subject of nothing but such words says nothing.
const NOISE: [&str; 93] = [
    "a",
    "again",
    "all",
    "an",
    "and",
    "bug",
    "bugfix",
    "bugs",
    "build",
    "change",
    "changed",
    "changes",
    "ci",
    "clean",
    "cleanup",
    "code",
    "comment",
    "comments",
    "commit",
    "doc",
    "docs",
    "draft",
    "edit",
    "error",
    "errors",
    "file",
    "files",
    "final",
    "first",
    "fix",
    "fixed",
    "fixes",
    "fixing",
    "fixup",
    "fmt",
    "for",
    "format",
    "formatting",
    "ignore",
    "in",
    "init",
    "initial",
    "it",
    "lint",
    "linting",
    "md",
    "minor",
    "misc",
    "more",
    "name",
    "nit",
    "nits",
    "now",
    "of",
    "oops",
    "progress",
    "readme",
    "refactor",
    "remove",
    "review",
    "rustfmt",
    "save",
    "small",
    "some",
    "spelling",
    "squash",
    "stuff",
    "style",
    "temp",
    "test",
    "testing",
    "tests",
    "the",
    "things",
    "this",
    "tidy",
    "tmp",
    "to",
    "tweak",
    "tweaks",
    "typo",
    "typos",
    "up",
    "update",
    "updated",
    "updates",
    "upload",
    "warning",
    "warnings",
    "whitespace",
    "wip",
    "work",
    "works",
];
/// The same in Chinese: what is left without these is nothing.
const NOISE_ZH: [&str; 20] = [
    "更新",
    "修复",
    "修改",
    "提交",
    "错别字",
    "格式",
    "代码",
    "文档",
    "测试",
    "初始化",
    "初始",
    "第一次",
    "小",
    "问题",
    "错误",
    "注释",
    "完善",
    "优化",
    "整理",
    "了",
];

/// The commits that say something, in their order.
pub fn telling(commits: &[Commit]) -> Vec<Step> {
    commits.iter().filter_map(step).collect()
}

fn step(commit: &Commit) -> Option<Step> {
    let body = commit.commit.as_ref()?;
    let message = body.message.as_deref()?;
    let subject = line(message.lines().next())?;
    let merged = commit.parents.as_ref().is_some_and(|p| p.len() > 1)
        || ["Merge branch", "Merge pull request", "Merge remote", "Merge tag", "Merge commit"]
            .iter()
            .any(|m| subject.starts_with(m));
    if merged || by_program(commit) || is_version(&subject) {
        return None;
    }
    let paragraph = message.lines().skip(1).skip_while(|l| l.trim().is_empty()).take_while(|l| !l.trim().is_empty());
    // Lines such as `Signed-off-by:` are about people and tools.
    let told: Vec<&str> = paragraph.filter(|l| !is_trailer(l)).collect();
    let mut text = line(Some(&told.join(" "))).unwrap_or_default();
    if text.chars().count() > MAX_BODY {
        text = text.chars().take(MAX_BODY).chain(['…']).collect();
    }
    if is_noise(&subject) && text.chars().count() < TELLING_BODY {
        return None;
    }
    let date = body.author.as_ref().and_then(|a| a.date.as_deref()).unwrap_or_default();
    let day = date.get(..10).filter(|d| d.bytes().all(|b| b.is_ascii_digit() || b == b'-')).unwrap_or_default();
    Some(Step { day: day.to_owned(), subject, body: text })
}

/// Whether a program wrote the commit.
fn by_program(commit: &Commit) -> bool {
    if commit.author.as_ref().is_some_and(|a| a.kind.as_deref() == Some("Bot")) {
        return true;
    }
    let login = commit.author.as_ref().and_then(|a| a.login.as_deref());
    let name = commit.commit.as_ref().and_then(|c| c.author.as_ref()).and_then(|a| a.name.as_deref());
    [login, name].into_iter().flatten().map(str::to_lowercase).any(|name| {
        name.ends_with("[bot]")
            || name.ends_with("-bot")
            || name.ends_with(" bot")
            || PROGRAMS.iter().any(|p| name == *p || name.starts_with(&format!("{p}-")))
    })
}

/// `Signed-off-by: …`: a word with hyphens, a colon, a space.
fn is_trailer(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(key, _)| key.ends_with("-by") && !key.contains(' '))
}

/// The words of a subject in lower case, without what tools put in front: `fix(parser):`, `:bug:`, `[ci]`.
fn words(subject: &str) -> Vec<String> {
    let lower = subject.to_lowercase();
    let rest = match lower.split_once(": ") {
        Some((kind, rest)) if kind.len() <= 30 && !kind.contains(' ') => rest,
        _ => lower.as_str(),
    };
    let of = |c: char| !c.is_alphanumeric() && c != '.' && c != '\'';
    rest.split(of).map(|w| w.trim_matches(['.', '\''])).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// Whether a subject is about nothing but a version: `v1.2.3`, `Bump serde from 1.0 to 1.1`, `chore(release): 2.0`.
fn is_version(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    if lower.starts_with("bump ") || lower.contains("(release)") || lower.contains(": bump ") || lower.contains("(deps")
    {
        return true;
    }
    const ABOUT: [&str; 14] = [
        "release", "version", "prepare", "for", "to", "update", "new", "bump", "set", "发布", "版本", "tag", "the",
        "next",
    ];
    let words = words(subject);
    let number = |w: &String| {
        let digits = w.strip_prefix('v').unwrap_or(w);
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.')
            || !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
            || ["alpha", "beta", "rc", "dev"].iter().any(|s| w.trim_end_matches(|c: char| c.is_ascii_digit()) == *s)
    };
    let plain = |w: &&String| !number(w) && !ABOUT.contains(&w.as_str());
    words.iter().any(number) && !words.iter().any(|w| plain(&w))
}

/// Whether nothing in a subject says what was done.
fn is_noise(subject: &str) -> bool {
    let words = words(subject);
    words.iter().all(|w| {
        let mut rest = w.clone();
        for noise in NOISE_ZH {
            rest = rest.replace(noise, "");
        }
        let file =
            w.rsplit_once('.').is_some_and(|(stem, suffix)| !stem.is_empty() && matches!(suffix, "md" | "txt" | "rst"));
        rest.is_empty() || NOISE.contains(&w.as_str()) || file || w.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(message: &str, login: &str) -> Commit {
        let json = serde_json::json!({
            "sha": "0a", "author": {"login": login, "type": "User"}, "parents": [{}],
            "commit": {"message": message, "author": {"name": login, "date": "2024-05-01T08:00:00Z"}},
        });
        serde_json::from_value(json).expect("a commit")
    }

    fn kept(message: &str) -> bool {
        !telling(&[commit(message, "ann")]).is_empty()
    }

    #[test]
    fn what_says_something_is_kept() {
        for message in [
            "Read GBK files",
            "fix(parser): keep the last token of a line",
            "Fix typo in the parser that dropped tokens",
            "Store vectors as int8",
            "feat: v2 of the wire format",
            "Update the index when a file moves",
            "修复中文分词的问题",
            "Merge sort for long lists",
            "wip\n\nThe graph is built in one thread so that its order never changes.",
        ] {
            assert!(kept(message), "{message}");
        }
    }

    #[test]
    fn noise_is_left_out() {
        for message in [
            "wip",
            "WIP!",
            "fix typo",
            "Fix typos in README.md",
            "typo",
            "update README",
            "Update readme.md",
            "fix",
            "fixes",
            "minor fixes",
            "cleanup",
            "fmt",
            "Initial commit",
            "first commit",
            "v1.2.3",
            "1.2.3",
            "Release v1.2.3",
            "chore(release): 2.0.0",
            "Bump serde from 1.0.1 to 1.0.2",
            "build(deps): bump x",
            "bump version to 0.3",
            "Version 2.0.0-rc1",
            "Prepare release 0.4",
            "Merge branch 'main' into dev",
            "Merge pull request #3 from a/b",
            "更新文档",
            "修复错别字",
            "提交",
            "...",
            "docs: fix typo",
            ":bug: fix",
            "发布 1.2.0",
            "",
        ] {
            assert!(!kept(message), "{message}");
        }
        let mut merge = commit("Join the two lines of work", "ann");
        merge.parents = serde_json::from_str("[{},{}]").expect("parents");
        assert!(telling(&[merge]).is_empty());
    }

    #[test]
    fn programs_are_told_by_name() {
        for login in ["dependabot[bot]", "renovate", "my-bot", "GitHub Actions", "renovate-bot", "semantic-release-bot"]
        {
            assert!(telling(&[commit("Read GBK files", login)]).is_empty(), "{login}");
        }
        assert_eq!(telling(&[commit("Read GBK files", "abbott")]).len(), 1);
        let mut bot = commit("Read GBK files", "helper");
        bot.author = serde_json::from_str(r#"{"login":"helper","type":"Bot"}"#).expect("an account");
        assert!(telling(&[bot]).is_empty());
    }

    #[test]
    fn the_first_paragraph_comes_along_without_trailers() {
        let message = "Read GBK files\n\nMany lecture notes\nare in it.\nSigned-off-by: Ann <a@e.org>\n\nMore.";
        let step = telling(&[commit(message, "ann")]).remove(0);
        assert_eq!((step.day.as_str(), step.body.as_str()), ("2024-05-01", "Many lecture notes are in it."));
    }
}
