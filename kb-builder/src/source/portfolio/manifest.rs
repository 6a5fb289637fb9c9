//! What a project is made with, from the files in which it says so itself.

use super::wire::line;
use std::collections::BTreeSet;

/// Most names that are taken from one file.
const MAX_NAMES: usize = 80;
/// Longest name, in bytes; longer ones are no names.
const MAX_NAME: usize = 80;
/// Largest manifest that is fetched, in bytes.
pub const MAX_BYTES: u64 = 512 * 1024;

/// Reads the names of what a file asks for.
type Reader = fn(&str) -> Vec<String>;

/// The files that are understood, by their names in lower case, the telling ones first.
const MANIFESTS: [(&str, Reader); 16] = [
    ("cargo.toml", cargo),
    ("package.json", package_json),
    ("pyproject.toml", pyproject),
    ("requirements.txt", requirements),
    ("environment.yml", environment),
    ("pipfile", pipfile),
    ("setup.cfg", setup_cfg),
    ("go.mod", go_mod),
    ("pom.xml", pom),
    ("build.gradle", gradle),
    ("build.gradle.kts", gradle),
    ("gemfile", gemfile),
    ("composer.json", composer),
    ("pubspec.yaml", pubspec),
    ("cmakelists.txt", cmake),
    ("dockerfile", dockerfile),
];
/// Names that say something by being there.
const MARKS: [(&str, &str); 6] = [
    ("docker-compose.yml", "Docker Compose"),
    ("docker-compose.yaml", "Docker Compose"),
    ("compose.yaml", "Docker Compose"),
    ("makefile", "Make"),
    ("flake.nix", "Nix"),
    ("justfile", "just"),
];

/// Whether a file of this name is understood.
pub fn is_manifest(name: &str) -> bool {
    rank(name).is_some()
}

/// Where a file stands among those that are understood: the lower, the more it says.
pub fn rank(name: &str) -> Option<usize> {
    let lower = name.to_lowercase();
    MANIFESTS.iter().position(|(n, _)| *n == lower)
}

/// The tool that a file stands for by being there.
pub fn tool(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    MARKS.iter().find(|(n, _)| *n == lower).map(|(_, tool)| *tool)
}

/// The names of what a file asks for, each once. A file that cannot be read has none.
pub fn names(file: &str, bytes: &[u8]) -> Vec<String> {
    let Some((_, read)) = rank(file).and_then(|i| MANIFESTS.get(i)) else { return Vec::new() };
    let text = String::from_utf8_lossy(bytes);
    let mut seen = BTreeSet::new();
    let found = read(text.trim_start_matches('\u{feff}')).into_iter().filter_map(|n| line(Some(&n)));
    let short = found.filter(|n| n.len() <= MAX_NAME && n.chars().any(char::is_alphanumeric));
    short.filter(|n| seen.insert(n.to_lowercase())).take(MAX_NAMES).collect()
}

/// The name in front of versions, extras and markers: `numpy[all]>=1.2; python_version > "3"`.
fn requirement(text: &str) -> Option<String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

fn requirements(text: &str) -> Vec<String> {
    let lines = text.lines().map(|l| l.split('#').next().unwrap_or_default().trim());
    lines.filter(|l| !l.starts_with('-') && !l.contains("://")).filter_map(requirement).collect()
}

fn keys(table: Option<&toml::Value>) -> Vec<String> {
    table.and_then(toml::Value::as_table).map(|t| t.keys().cloned().collect()).unwrap_or_default()
}

fn cargo(text: &str) -> Vec<String> {
    let Ok(table) = text.parse::<toml::Table>() else { return Vec::new() };
    let mut out = keys(table.get("dependencies"));
    out.extend(keys(table.get("workspace").and_then(|w| w.get("dependencies"))));
    for part in table.get("target").and_then(toml::Value::as_table).into_iter().flat_map(|t| t.values()) {
        out.extend(keys(part.get("dependencies")));
    }
    out.extend(keys(table.get("build-dependencies")));
    out.extend(keys(table.get("dev-dependencies")));
    out
}

fn pyproject(text: &str) -> Vec<String> {
    let Ok(table) = text.parse::<toml::Table>() else { return Vec::new() };
    let listed = |list: Option<&toml::Value>| -> Vec<String> {
        let items = list.and_then(toml::Value::as_array).into_iter().flatten();
        items.filter_map(toml::Value::as_str).filter_map(requirement).collect()
    };
    let project = table.get("project");
    let mut out = listed(project.and_then(|p| p.get("dependencies")));
    for extra in project.and_then(|p| p.get("optional-dependencies")?.as_table()).into_iter().flat_map(|t| t.values()) {
        out.extend(listed(Some(extra)));
    }
    let poetry = table.get("tool").and_then(|t| t.get("poetry"));
    out.extend(keys(poetry.and_then(|p| p.get("dependencies"))).into_iter().filter(|n| n != "python"));
    out
}

fn pipfile(text: &str) -> Vec<String> {
    let Ok(table) = text.parse::<toml::Table>() else { return Vec::new() };
    ["packages", "dev-packages"].iter().flat_map(|key| keys(table.get(*key))).collect()
}

/// The indented lines below `install_requires =`.
fn setup_cfg(text: &str) -> Vec<String> {
    let below = text.lines().skip_while(|l| !l.replace(' ', "").starts_with("install_requires="));
    below.skip(1).take_while(|l| l.starts_with([' ', '\t'])).filter_map(|l| requirement(l.trim())).collect()
}

/// The items of the first list below `dependencies:`, and of the one for pip inside it.
fn environment(text: &str) -> Vec<String> {
    let below = text.lines().skip_while(|l| l.trim() != "dependencies:").skip(1);
    let items = below.take_while(|l| l.starts_with([' ', '-'])).filter_map(|l| l.trim().strip_prefix("- "));
    items.filter(|i| !i.ends_with(':')).filter_map(|i| requirement(i.rsplit("::").next().unwrap_or(i).trim())).collect()
}

/// The keys below `dependencies:` at the first indentation.
fn pubspec(text: &str) -> Vec<String> {
    let below = text.lines().skip_while(|l| l.trim_end() != "dependencies:").skip(1);
    let inside = below.take_while(|l| l.starts_with(' ') || l.trim().is_empty());
    let keys = inside.filter_map(|l| l.strip_prefix("  ").filter(|l| !l.starts_with(' ')));
    keys.filter_map(|l| l.split_once(':')).map(|(key, _)| key.to_owned()).collect()
}

fn object_keys(text: &str, parts: &[&str]) -> Vec<String> {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let objects = parts.iter().filter_map(|part| json.get(part)?.as_object());
    objects.flat_map(|o| o.keys().cloned()).collect()
}

fn package_json(text: &str) -> Vec<String> {
    object_keys(text, &["dependencies", "peerDependencies", "devDependencies"])
}

fn composer(text: &str) -> Vec<String> {
    object_keys(text, &["require", "require-dev"])
}

/// Modules that are asked for directly.
fn go_mod(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut out = Vec::new();
    for line in text.lines().map(str::trim).filter(|l| !l.contains("// indirect")) {
        let module = match line.strip_prefix("require") {
            Some(rest) if rest.trim() == "(" => {
                inside = true;
                continue;
            }
            Some(rest) => rest,
            None if line == ")" => {
                inside = false;
                continue;
            }
            None if inside => line,
            None => continue,
        };
        out.extend(module.split_whitespace().next().filter(|m| !m.starts_with("//")).map(str::to_owned));
    }
    out
}

fn pom(text: &str) -> Vec<String> {
    let options = roxmltree::ParsingOptions { nodes_limit: 100_000, ..roxmltree::ParsingOptions::default() };
    let Ok(document) = roxmltree::Document::parse_with_options(text, options) else { return Vec::new() };
    let dependencies = document.descendants().filter(|n| n.tag_name().name() == "dependency");
    let id = |n: roxmltree::Node| n.children().find(|c| c.tag_name().name() == "artifactId")?.text().map(str::to_owned);
    dependencies.filter_map(id).collect()
}

/// `implementation("group:artifact:1.0")` and its like.
fn gradle(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|l| {
        ["implementation", "api", "compileOnly", "runtimeOnly", "testImplementation"].iter().any(|w| l.starts_with(w))
    });
    let quoted = lines.filter_map(|l| l.split(['"', '\'']).nth(1));
    quoted.filter_map(|q| q.split(':').nth(1)).map(str::to_owned).collect()
}

fn gemfile(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|l| l.trim().strip_prefix("gem "));
    lines.filter_map(|l| l.split(['"', '\'']).nth(1)).map(str::to_owned).collect()
}

fn cmake(text: &str) -> Vec<String> {
    let calls = text.split("find_package").skip(1);
    calls.filter_map(|rest| rest.trim_start().strip_prefix('(')).filter_map(|rest| requirement(rest.trim())).collect()
}

/// The images that stages begin with, without those that are stages themselves.
fn dockerfile(text: &str) -> Vec<String> {
    let mut stages: Vec<&str> = Vec::new();
    let mut out = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if !words.next().is_some_and(|w| w.eq_ignore_ascii_case("from")) {
            continue;
        }
        let Some(image) = words.find(|w| !w.starts_with("--")) else { continue };
        if !stages.contains(&image) && image != "scratch" {
            out.push(image.split('@').next().unwrap_or(image).to_owned());
        }
        stages.extend(words.nth(1));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, text: &str, expected: &[&str]) {
        assert_eq!(names(file, text.as_bytes()), expected, "{file}");
    }

    #[test]
    fn files_of_many_languages_are_read() {
        check(
            "requirements.txt",
            "# c\nnumpy>=1.2\nrequests[socks] ; python_version > '3'\n-r more.txt\ngit+https://e.org/x\nPyYAML # yaml\n",
            &["numpy", "requests", "PyYAML"],
        );
        check(
            "Cargo.toml",
            "[dependencies]\nserde = \"1\"\n[dev-dependencies]\ntempfile = \"3\"\n[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n[workspace.dependencies]\ntokio = { version = \"1\" }\n",
            &["serde", "tokio", "libc", "tempfile"],
        );
        check(
            "package.json",
            r#"{"dependencies":{"react":"^18"},"devDependencies":{"vite":"5","react":"x"}}"#,
            &["react", "vite"],
        );
        check(
            "pyproject.toml",
            "[project]\ndependencies = [\"fastapi>=0.1\"]\n[project.optional-dependencies]\ndev = [\"pytest\"]\n[tool.poetry.dependencies]\npython = \"3\"\nrich = \"*\"\n",
            &["fastapi", "pytest", "rich"],
        );
        check(
            "go.mod",
            "module x\n\ngo 1.22\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\tgolang.org/x/sys v0.1 // indirect\n)\nrequire github.com/c/d v2\n",
            &["github.com/a/b", "github.com/c/d"],
        );
        check(
            "Dockerfile",
            "FROM --platform=x rust:1.80 AS build\nRUN x\nFROM build\nfrom debian:12-slim\n",
            &["rust:1.80", "debian:12-slim"],
        );
        check(
            "pom.xml",
            "<project><dependencies><dependency><groupId>g</groupId><artifactId>junit</artifactId></dependency></dependencies></project>",
            &["junit"],
        );
        check(
            "environment.yml",
            "name: x\ndependencies:\n  - python=3.11\n  - conda-forge::scipy\n  - pip:\n    - torch==2\n",
            &["python", "scipy", "torch"],
        );
        check(
            "setup.cfg",
            "[options]\ninstall_requires =\n    click>=8\n    attrs\npackages = x\n",
            &["click", "attrs"],
        );
        check("build.gradle.kts", "dependencies {\n  implementation(\"io.ktor:ktor-server:2\")\n}", &["ktor-server"]);
        check("Gemfile", "gem 'rails', '~> 7'\n", &["rails"]);
        check("CMakeLists.txt", "find_package(OpenCV REQUIRED)\nfind_package( Boost 1.7)", &["OpenCV", "Boost"]);
        check(
            "pubspec.yaml",
            "name: x\ndependencies:\n  flutter:\n    sdk: flutter\n  http: ^1\n\ndev_dependencies:\n  lints: 1\n",
            &["flutter", "http"],
        );
        check("Pipfile", "[packages]\nflask = \"*\"\n", &["flask"]);
        check("composer.json", r#"{"require":{"php":">=8","monolog/monolog":"2"}}"#, &["monolog/monolog", "php"]);
    }

    #[test]
    fn what_is_damaged_or_endless_has_few_names() {
        for file in ["Cargo.toml", "package.json", "pom.xml", "go.mod", "Dockerfile", "environment.yml", "unknown.txt"]
        {
            assert!(names(file, b"\xff\x00[[[{\nrequire\nFROM\n").is_empty(), "{file}");
        }
        let many: String = (0..500).map(|i| format!("p{i}\n")).collect();
        assert_eq!(names("requirements.txt", many.as_bytes()).len(), MAX_NAMES);
        assert!(names("requirements.txt", "x".repeat(500).as_bytes()).is_empty());
    }
}
