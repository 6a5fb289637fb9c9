//! The tools that the tests and the rebuild of `prebuilt/` need. Each is looked for first, and installed when it is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{paths, run, toolchain};

/// wasm-pack from crates.io: runs the browser modules' tests.
const WASM_PACK: &str = "0.15.1";
/// binaryen from npm: has wasm-opt.
const BINARYEN: &str = "132.0.0";
/// The oldest Node.js that the test tools run on.
const NODE_MAJOR: u32 = 20;

/// wasm-bindgen's command-line program, of exactly the version that Cargo.lock has for the crate.
pub fn wasm_bindgen() -> Result<PathBuf> {
    let version = locked_version("wasm-bindgen")?;
    let why = "turns a compiled module into one that a page can load";
    cargo_tool("wasm-bindgen", "wasm-bindgen-cli", &version, why)
}

/// wasm-pack.
pub fn wasm_pack() -> Result<PathBuf> {
    cargo_tool("wasm-pack", "wasm-pack", WASM_PACK, "runs the tests of the browser modules")
}

/// The version of a crate in Cargo.lock.
pub fn locked_version(name: &str) -> Result<String> {
    let lock = fs::read_to_string(paths::root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    version_in_lock(&lock, name).with_context(|| format!("Cargo.lock has no {name}"))
}

fn version_in_lock(lock: &str, name: &str) -> Option<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|l| *l != wanted).skip(1);
    Some(lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?.to_string())
}

fn cargo_tool(program: &str, package: &str, version: &str, why: &str) -> Result<PathBuf> {
    let tools = paths::tools();
    let ours = tools.join("bin").join(paths::program_name(program));
    let candidates = std::iter::once(ours.clone()).chain(paths::which(&[program]));
    for path in candidates.filter(|p| p.is_file()) {
        let said = run::output(Command::new(&path).arg("--version")).unwrap_or_default();
        if said.split_whitespace().any(|word| word == version) {
            return Ok(path);
        }
    }
    println!("setup: {program} {version}: missing; installing it from crates.io, some minutes ({why})");
    fs::create_dir_all(&tools)?;
    let install = |locked: bool| {
        let mut command = toolchain::cargo();
        // Outside the clone, so that its settings for cargo don't apply.
        command.current_dir(&tools).env("CARGO_TARGET_DIR", tools.join("build")).env_remove("RUSTFLAGS");
        // These programs run for seconds: a fast build of them matters more than their speed.
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_PROFILE_RELEASE_LTO", "off");
        command.args(["install", package, "--version", version, "--force", "--root"]).arg(&tools);
        if locked {
            command.arg("--locked");
        }
        run::check(&mut command)
    };
    // A registry mirror may lag behind the lock file that a package ships: then let cargo choose.
    if install(true).is_err() {
        run::retry(&format!("installing {package}"), || install(false))?;
    }
    Ok(ours)
}

/// Removes what compiling the tools left behind.
pub fn clean_up() -> Result<()> {
    let build = paths::tools().join("build");
    if build.is_dir() {
        fs::remove_dir_all(&build).with_context(|| format!("cannot remove {}", build.display()))?;
    }
    Ok(())
}

/// `node`, of a version that is new enough.
pub fn node() -> Result<PathBuf> {
    let need = format!("Node.js {NODE_MAJOR} or newer is needed for the tests (not for the demo)");
    let path = paths::which(&["node"]).with_context(|| format!("{need}: there is no `node` in PATH"))?;
    let version = run::output(Command::new(&path).arg("--version"))?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|m| m.parse::<u32>().ok());
    if major.is_none_or(|m| m < NODE_MAJOR) {
        bail!("{need}: {} is {version}", path.display());
    }
    Ok(path)
}

/// `npm`.
pub fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// `node` and the script of wasm-opt, as the first words of a command.
pub fn wasm_opt() -> Result<[PathBuf; 2]> {
    let node = node()?;
    let dir = paths::tools().join("npm");
    let package = dir.join("node_modules/binaryen");
    let script = package.join("bin/wasm-opt");
    let described = fs::read_to_string(package.join("package.json")).unwrap_or_default();
    if !script.is_file() || !described.contains(&format!("\"version\": \"{BINARYEN}\"")) {
        println!("setup: wasm-opt {BINARYEN}: missing; installing npm's binaryen (makes the browser modules smaller)");
        fs::create_dir_all(&dir)?;
        run::retry("npm install", || {
            let mut command = npm();
            command.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&dir);
            run::check(command.arg(format!("binaryen@{BINARYEN}")).current_dir(&dir))
        })?;
    }
    Ok([node, script])
}

/// A line that names wasm-opt's version, for the stamp of a build.
pub fn wasm_opt_version() -> String {
    format!("binaryen {BINARYEN}")
}

/// Installs the packages of `dir/package-lock.json` into `dir/node_modules`, unless just these are there.
pub fn npm_ci(dir: &Path) -> Result<()> {
    node()?;
    let lock = fs::read(dir.join("package-lock.json"))
        .with_context(|| format!("no package-lock.json in {}", dir.display()))?;
    let installed = dir.join("node_modules/.installed-lock.json");
    if fs::read(&installed).is_ok_and(|old| old == lock) {
        return Ok(());
    }
    println!(
        "setup: npm packages of {}: missing or old; installing them (the browser tests run on them)",
        dir.display()
    );
    run::retry("npm ci", || run::check(npm().args(["ci", "--no-audit", "--no-fund"]).current_dir(dir)))?;
    fs::write(installed, lock)?;
    Ok(())
}

/// A Chromium or Chrome, and its driver when one was found.
pub struct Browser {
    /// The browser.
    pub chrome: PathBuf,
    /// chromedriver; without it wasm-pack fetches a fitting one.
    pub driver: Option<PathBuf>,
}

/// The browser of the tests: `CHROME`, else one in `PATH` or at a usual place, else Debian's package.
pub fn browser() -> Result<Browser> {
    let apt = toolchain::is_debian_root();
    if let Some(found) = find_browser().filter(|b| b.driver.is_some() || !apt) {
        return Ok(found);
    }
    if !apt {
        bail!("the browser tests need Chrome or Chromium: install one, or name it in the variable CHROME");
    }
    println!("setup: Chromium and its driver: missing; installing Debian's packages (the browser tests run in it)");
    toolchain::apt_install(&["chromium", "chromium-driver"])?;
    find_browser().context("the package chromium is installed, but there is no `chromium` in PATH")
}

fn find_browser() -> Option<Browser> {
    let named = |var: &str| std::env::var_os(var).filter(|v| !v.is_empty()).map(PathBuf::from);
    let usual = [
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
        "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
    ];
    let chrome = named("CHROME")
        .or_else(|| paths::which(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]))
        .or_else(|| usual.iter().map(PathBuf::from).find(|p| p.is_file()))?;
    Some(Browser { chrome, driver: named("CHROMEDRIVER").or_else(|| paths::which(&["chromedriver"])) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_belongs_to_the_exact_name() {
        let lock =
            "[[package]]\nname = \"a-b\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"2.3.4\"\n";
        assert_eq!(version_in_lock(lock, "a").as_deref(), Some("2.3.4"));
        assert_eq!(version_in_lock(lock, "b"), None);
    }
}
