//! Running the program in a folder of its own, with a cache of its own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder to run in.
pub struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, making its folders.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("mkdir");
        std::fs::write(path, bytes).expect("write");
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kb-builder"));
        command.args(args).current_dir(self.0.path()).env("KB_CACHE", self.path("cache")).env_remove("KB_MODEL");
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// Runs and expects this exit status.
    pub fn expect(&self, status: i32, args: &[&str]) -> Output {
        let output = self.run(args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{args:?}\n{out}\n{err}");
        output
    }

    /// Runs, expects success and reads the JSON on standard output.
    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.expect(0, args).stdout).expect("JSON")
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files below a folder: path and bytes, in order.
pub fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    fn walk(dir: &Path, prefix: &str, out: &mut Vec<(String, Vec<u8>)>) {
        for entry in std::fs::read_dir(dir).expect("folder") {
            let entry = entry.expect("entry");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), out);
            } else {
                out.push((name, std::fs::read(entry.path()).expect("file")));
            }
        }
    }
    let mut out = Vec::new();
    walk(dir, "", &mut out);
    out.sort();
    out
}

/// A small course in two languages.
pub fn course(sandbox: &Sandbox) {
    sandbox.write("zh/图论/最短路.md", "---\ntags: [图论]\n---\n# 最短路\n\n## Dijkstra 算法\n\n每次取出距离最小的点，松弛它的出边。边权必须非负。\n\n## Floyd 算法\n\n三重循环枚举中间点，求出所有点对的距离。\n");
    sandbox.write("zh/字符串.md", "# 字符串\n\n## 前缀函数\n\n最长的、既是前缀又是后缀的真子串的长度。\n");
    sandbox.write("en/ownership.md", "# Ownership\n\nAssigning a value to another variable moves it, and the old name can no longer be used.\n\n## Borrowing {#refs}\n\nA reference lets you look at a value without taking it.\n");
    sandbox.write("en/guide.rst", "Arrays\n======\n\nSlicing\n-------\n\nA slice shows a part of an array without copying, see :func:`numpy.copy`.\n");
}
