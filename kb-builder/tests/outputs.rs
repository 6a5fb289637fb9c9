//! What may be written where, and which addresses may become links.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, files, stderr};

#[test]
fn addresses_that_are_none_are_refused_before_anything_is_written() {
    let s = Sandbox::new();
    course(&s);
    for (flag, value, said) in [
        ("--url-base", "javascript:alert(1)", "no address"),
        ("--url-base", "https://e.org/{name}.html", "placeholder"),
        ("--site-url", "nope", "no address"),
    ] {
        let output = s.expect(2, &["build", "zh", "--no-model", flag, value]);
        assert!(stderr(&output).contains(said) && stderr(&output).contains(value), "{}", stderr(&output));
    }
    s.write("kb.toml", "[[source]]\npath = \"zh\"\nurl_base = \"javascript:{path}\"\n");
    s.expect(2, &["build", "--no-model"]);
    assert!(!s.path("site").exists());
    s.write("page.html", "<p>notes");
    s.expect(2, &["attach", "page.html", "--src", "javascript:alert(1)"]);
    assert!(!s.path("page.kb.html").exists());
}

#[test]
fn files_of_somebody_else_are_replaced_on_demand_only() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "--no-model"]);
    s.write("thesis.html", "<p>mine");
    let output = s.expect(2, &["export", "site", "--single-file", "thesis.html"]);
    assert!(stderr(&output).contains("--force"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(s.path("thesis.html")).expect("read"), "<p>mine");
    s.write("page.html", "<p>notes");
    s.expect(2, &["attach", "page.html", "--site", "site", "--out", "thesis.html"]);
    s.expect(0, &["export", "site", "--single-file", "thesis.html", "--force"]);
    // What the program wrote itself it may replace, and the page that is named twice is meant.
    s.expect(0, &["export", "site", "--single-file", "thesis.html"]);
    s.expect(0, &["attach", "page.html", "--site", "site", "--out", "page.html"]);
    s.expect(0, &["attach", "page.html", "--src", "../kb/", "--out", "page.html"]);
    s.write("table.csv", "a,b\n1,2\n");
    let output = s.expect(2, &["attach", "table.csv", "--site", "site"]);
    assert!(stderr(&output).contains("no HTML page"), "{}", stderr(&output));
}

#[test]
fn a_source_inside_the_output_is_refused() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "--no-model"]);
    let before = files(&s.path("site"));
    let output = s.expect(2, &["build", "site/files", "--no-model", "-o", "site"]);
    assert!(stderr(&output).contains("inside the folder to write"), "{}", stderr(&output));
    assert_eq!(files(&s.path("site")), before);
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_the_site_goes_where_it_leads() {
    let s = Sandbox::new();
    course(&s);
    std::fs::create_dir(s.path("disk")).expect("mkdir");
    std::os::unix::fs::symlink(s.path("disk"), s.path("public")).expect("link");
    for _ in 0..2 {
        s.expect(0, &["build", "zh", "--no-model", "-o", "public"]);
        assert!(s.path("public").is_symlink());
        assert!(s.path("disk/kb/manifest.json").is_file());
    }
    std::os::unix::fs::symlink(s.path("nowhere"), s.path("broken")).expect("link");
    s.expect(2, &["build", "zh", "--no-model", "-o", "broken"]);
}

#[test]
fn sites_and_handouts_among_the_sources_are_left_aside() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "--no-model", "-o", "zh/old-site"]);
    s.expect(0, &["export", "zh/old-site", "--single-file", "zh/handout.html"]);
    let output = s.expect(0, &["build", "zh", "--no-model", "-o", "site"]);
    for name in ["old-site", "handout.html"] {
        assert!(stderr(&output).contains(name), "{name}: {}", stderr(&output));
    }
    let names: Vec<String> = files(&s.path("site")).into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|n| n.contains("old-site") || n.contains("handout")), "{names:?}");
}

#[test]
fn two_originals_never_share_a_place() {
    let s = Sandbox::new();
    s.write("notes/x.html", "<h1>Page</h1><p>The first of both.");
    s.write("notes/x.html.txt", "The second of both.");
    s.expect(0, &["build", "notes", "--no-model"]);
    let text = |name: &str| std::fs::read_to_string(s.path(name)).expect("copy");
    assert!(text("site/files/notes/x.html.txt").contains("first"));
    assert!(text("site/files/notes/x.html.txt.txt").contains("second"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_leaves_nothing_beside_the_output() {
    let s = Sandbox::new();
    // Enough that the build is still at work when the signal comes.
    for n in 0..3000 {
        s.write(&format!("many/{n}.md"), format!("# Page {n}\n\n{}\n", format!("words about topic {n} ").repeat(200)));
    }
    let mut child = s.command(&["build", "many", "--no-model", "-o", "out"]).spawn().expect("starts");
    let temp = s.path(".out.kb-new");
    let begun = std::time::Instant::now();
    while !temp.is_dir() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(temp.is_dir(), "the build did not begin");
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    assert!(!temp.exists() && !s.path("out").exists());
}
