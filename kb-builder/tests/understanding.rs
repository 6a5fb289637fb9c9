//! What a question asks for: synonyms, sorts of passages, routes.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, stderr};
use serde_json::Value;

/// A base of one collection, with an author's list of synonyms.
fn site() -> Sandbox {
    let s = Sandbox::new();
    s.write("notes/tool.md", "# Frobnicator\n\n## What is a frobnicator\n\nA frobnicator is a machine that turns gears. It was invented to make the turning of gears less of a burden for those who have to turn many of them every day.\n\n## Installing the frobnicator\n\n1. Fetch the frobnicator archive from the server and unpack it somewhere.\n2. Run the installer of the frobnicator with the rights of an administrator.\n3. Start the machine again and wait until the lamp is green.\n\n## Options of the frobnicator\n\n- `--gears`: how many gears the frobnicator turns at once\n- `--speed`: how fast they turn, in rounds a minute\n- `--quiet`: print nothing about the frobnicator at all\n");
    s.write("notes/安装.md", "# 指南\n\n## 如何安装软件\n\n先下载安装包，再运行它，最后重新启动电脑就可以使用了。这里还有更多的说明文字，使这一节足够长，不会和别的小节合并在一起，所以再写一句话。\n");
    s.write("notes/cluster.md", "# Clusters\n\nkubernetes schedules containers on nodes.\n");
    s.write("synonyms.txt", "# ours\nwidget = frobnicator\n");
    s.write("kb.toml", "[[source]]\npath = \"notes\"\n[retrieval]\nsynonyms = \"synonyms.txt\"\n");
    s.expect(0, &["build", "--no-model", "-q"]);
    s
}

fn search(s: &Sandbox, args: &[&str]) -> Value {
    let mut all = vec!["search", "site"];
    all.extend(args);
    all.extend(["--json", "--explain", "--facets"]);
    s.json(&all)
}

#[test]
fn words_that_no_passage_has_stand_for_their_synonyms() {
    let s = site();
    // The author's own, and one that comes with the program.
    for (word, path, other) in [("widget", "tool.md", "frobnicator"), ("k8s", "cluster.md", "kubernetes")] {
        let found = search(&s, &[word]);
        assert_eq!(found["hits"][0]["path"], path, "{found}");
        assert_eq!(found["understanding"]["synonyms"], serde_json::json!([[word, [other]]]));
        assert_eq!(search(&s, &[word, "--no-expand"])["hits"], serde_json::json!([]));
    }
    let found = search(&s, &["软件咋装"]);
    assert_eq!(found["hits"][0]["path"], "安装.md");
    assert_eq!(found["understanding"]["plan"]["rewritten"], "软件如何安装");
    // A word that is there stays what it is.
    assert_eq!(search(&s, &["frobnicator"])["understanding"]["synonyms"], serde_json::json!([]));
}

#[test]
fn sorts_of_passages_are_filtered_counted_and_preferred() {
    let s = site();
    let kinds = |args: &[&str]| -> Vec<String> {
        let found = search(&s, args);
        found["hits"].as_array().expect("hits").iter().map(|h| h["kind"].as_str().expect("kind").to_owned()).collect()
    };
    let all = kinds(&["frobnicator"]);
    assert!(["concept", "steps", "parameters"].iter().all(|k| all.contains(&(*k).to_owned())), "{all:?}");
    assert_eq!(kinds(&["frobnicator", "--filter", "type=steps"]), ["steps"]);
    assert!(!kinds(&["frobnicator", "--filter", "type!=steps"]).contains(&"steps".to_owned()));
    let found = search(&s, &["frobnicator"]);
    let facet = found["facets"].as_array().expect("facets").iter().find(|f| f["key"] == "type").expect("a facet");
    assert!(facet["values"].as_array().expect("values").contains(&serde_json::json!(["steps", 1])), "{facet}");
    // The route puts one sort first and leaves nothing out; the parts still add up to the score.
    let routed = search(&s, &["which flag of the frobnicator sets the default value", "--route"]);
    assert_eq!(routed["hits"][0]["kind"], "parameters", "{routed}");
    let plain = search(&s, &["which flag of the frobnicator sets the default value"]);
    assert_eq!(routed["hits"].as_array().map(Vec::len), plain["hits"].as_array().map(Vec::len));
    for hit in routed["hits"].as_array().expect("hits") {
        let parts = hit["explanation"]["parts"].as_array().expect("parts");
        let number = |v: &Value| v.as_f64().expect("a number");
        let sum: f64 = parts.iter().map(|p| number(&p["weight"]) * number(&p["value"])).sum();
        assert!((sum - number(&hit["score"])).abs() < 1e-5, "{hit}");
    }
    assert_eq!(kinds(&["frobnicator", "--per-document", "1"]).len(), 1);
}

#[test]
fn a_list_that_cannot_be_read_is_told_with_its_line() {
    let s = Sandbox::new();
    s.write("notes/a.md", "# A\n\nText.\n");
    s.write("synonyms.txt", "a = b\nnonsense\n");
    s.write("kb.toml", "[[source]]\npath = \"notes\"\n[retrieval]\nsynonyms = \"synonyms.txt\"\n");
    let output = s.expect(2, &["build", "--no-model", "-q"]);
    assert!(stderr(&output).contains("line 2") && stderr(&output).contains("nonsense"), "{}", stderr(&output));
}

#[test]
fn passages_are_joined_for_a_prompt() {
    let s = site();
    let found = s.json(&["search", "site", "frobnicator", "--context", "400", "--json"]);
    let text = found["context"].as_str().expect("a text");
    assert!(text.starts_with("[notes/tool.md: Frobnicator") && text.chars().count() <= 400, "{text}");
    let printed = s.expect(0, &["search", "site", "frobnicator", "--context"]).stdout;
    assert!(String::from_utf8_lossy(&printed).contains("[notes/tool.md: Frobnicator"));
}
