//! `kb-builder sources`: the list, a block, and adding to a kb.toml that is there.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, stderr};

fn stdout(s: &Sandbox, args: &[&str]) -> String {
    String::from_utf8(s.expect(0, args).stdout).expect("UTF-8")
}

#[test]
fn the_list_and_one_of_it() {
    let s = Sandbox::new();
    let list = stdout(&s, &["sources", "list"]);
    assert!(list.lines().count() >= 20, "{list}");
    for name in
        ["numpy", "pandas", "requests", "flask", "django", "react", "vue", "rust-book", "tokio", "pytorch", "git"]
    {
        assert!(list.lines().any(|l| l.split(' ').next() == Some(name)), "{name} in {list}");
    }
    let json = s.json(&["sources", "list", "--json"]);
    assert_eq!(json["sources"].as_array().map(Vec::len), Some(list.lines().count()));
    let numpy = json["sources"].as_array().expect("a list").iter().find(|e| e["name"] == "numpy").expect("there");
    assert_eq!((&numpy["github"], &numpy["licence"]), (&"numpy/numpy".into(), &"BSD-3-Clause".into()));
    let block = stdout(&s, &["sources", "show", "numpy"]);
    assert!(
        block.contains("[[source]]\nname = \"numpy\"\ngithub = \"numpy/numpy\"\n") && block.contains("BSD-3"),
        "{block}"
    );
    assert_eq!(s.json(&["sources", "show", "NumPy", "--json"])["name"], "numpy");
    let output = s.expect(2, &["sources", "show", "nunpy"]);
    assert!(stderr(&output).contains("did you mean `numpy`"), "{}", stderr(&output));
}

#[test]
fn adding_keeps_what_is_there_and_refuses_twice() {
    let s = Sandbox::new();
    s.expect(0, &["sources", "add", "numpy"]);
    let made = std::fs::read_to_string(s.path("kb.toml")).expect("is made");
    assert!(made.contains("name = \"numpy\""), "{made}");

    let own = "# mine\ntitle = \"x\"   # kept\r\n[[source]]\r\npath = \"notes\"";
    s.write("kb.toml", own);
    let said = stdout(&s, &["sources", "add", "flask", "git"]);
    assert!(said.contains("flask, git added") && said.contains("BSD-3-Clause"), "{said}");
    let text = std::fs::read_to_string(s.path("kb.toml")).expect("is there");
    assert!(text.starts_with(own), "{text}");
    let table: toml::Table = text.parse().expect("is TOML");
    assert_eq!(table["source"].as_array().map(Vec::len), Some(3));

    // Twice at once, by name, by its short form, and by another name for the same files.
    for (there, names) in [
        ("", &["git", "git"][..]),
        ("[[source]]\nname = \"git\"\npath = \"x\"\n", &["git"]),
        ("[[source]]\nready = \"git\"\n", &["numpy", "git"]),
        ("[[source]]\nname = \"np\"\ngithub = \"numpy/numpy\"\nfolder = \"doc/source/user\"\n", &["numpy"]),
    ] {
        s.write("kb.toml", there);
        let output = s.expect(2, &[&["sources", "add"], names].concat());
        assert!(stderr(&output).contains("already") || stderr(&output).contains("twice"), "{}", stderr(&output));
        assert_eq!(std::fs::read_to_string(s.path("kb.toml")).expect("is there"), there);
    }
    // What cannot be read, or cannot take a [[source]], is left alone.
    for there in ["title = [\n", "source = [{ path = \"x\" }]\n", "titel = \"x\"\n"] {
        s.write("kb.toml", there);
        s.expect(2, &["sources", "add", "git"]);
        assert_eq!(std::fs::read_to_string(s.path("kb.toml")).expect("is there"), there);
    }
    let left: Vec<_> = common::files(&s.path("")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["kb.toml"]);
}

#[test]
fn another_file_can_be_named() {
    let s = Sandbox::new();
    let said = stdout(&s, &["sources", "add", "tokio", "--config", "course.toml"]);
    assert!(said.contains("kb-builder build --config course.toml"), "{said}");
    assert!(!s.path("kb.toml").exists());
}
