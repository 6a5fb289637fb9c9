//! The compilers: the one that runs this, for native code, and one that has the standard library for wasm32.
//!
//! Libraries built by two versions of rustc don't mix, so everything for wasm32 goes through one [`WasmToolchain`] and
//! into a build folder of its own.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{paths, run};

/// The target of the browser modules.
pub const WASM32: &str = "wasm32-unknown-unknown";

/// Where Debian's packages put rustc and cargo.
const SYSTEM_BIN: &str = "/usr/bin";

/// A command that runs cargo for native code, without the variables that the outer cargo set for this program.
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    clean(&mut command);
    command.current_dir(paths::root());
    command
}

/// Takes away what `cargo run` adds to the environment: build scripts that watch it would run again each time.
fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || text == "CARGO_BIN_NAME" {
            command.env_remove(&name);
        }
    }
    command.env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH").env_remove("CARGO");
    command.env("CARGO_TERM_COLOR", "never");
}

/// A rustc and a cargo that can compile for wasm32.
#[derive(Clone, Debug)]
pub struct WasmToolchain {
    /// What `rustc --version` says.
    pub version: String,
    /// A folder that must come first in `PATH`; `None` for the toolchain that runs this.
    bin: Option<PathBuf>,
    /// The linker to name; `None` for the toolchain's own.
    linker: Option<PathBuf>,
}

impl WasmToolchain {
    /// `program args…` with this toolchain first in `PATH`, and the build folder for wasm32.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        clean(&mut command);
        command.current_dir(paths::root());
        command.env("CARGO_TARGET_DIR", paths::wasm_target()).env_remove("RUSTFLAGS");
        let mut path: Vec<PathBuf> = self.bin.iter().cloned().collect();
        path.push(paths::tools().join("bin"));
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        if let Ok(joined) = std::env::join_paths(path) {
            command.env("PATH", joined);
        }
        if self.bin.is_some() {
            for name in ["RUSTC", "RUSTDOC", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN"] {
                command.env_remove(name);
            }
        }
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        command
    }

    /// Cargo of this toolchain.
    pub fn cargo(&self) -> Command {
        match &self.bin {
            Some(bin) => self.command(bin.join("cargo")),
            None => self.command(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"))),
        }
    }

    /// Whether this toolchain has clippy; Debian's package of it is installed when it is missing.
    pub fn ensure_clippy(&self) -> Result<bool> {
        let Some(bin) = &self.bin else {
            return Ok(run::output(self.cargo().args(["clippy", "--version"])).is_ok());
        };
        let program = bin.join("cargo-clippy");
        if !program.is_file() && is_debian_root() {
            println!("setup: clippy for Debian's rustc: missing; installing it (lints the code for wasm32)");
            apt_install(&["rust-web-clippy"])?;
        }
        Ok(program.is_file())
    }

    /// The folder of this rustc's libraries.
    pub fn sysroot(&self) -> Result<PathBuf> {
        let rustc = match &self.bin {
            Some(bin) => bin.join("rustc"),
            None => PathBuf::from(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())),
        };
        run::output(self.command(rustc).args(["--print", "sysroot"])).map(PathBuf::from)
    }
}

/// The toolchain that runs this, whether it has wasm32 or not.
fn active() -> Result<WasmToolchain> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    clean(&mut command);
    Ok(WasmToolchain { version: run::output(command.arg("--version"))?, bin: None, linker: None })
}

/// Debian's toolchain in /usr/bin, if it is there and new enough.
fn system() -> Option<WasmToolchain> {
    let bin = PathBuf::from(SYSTEM_BIN);
    if !bin.join("rustc").is_file() || !bin.join("cargo").is_file() {
        return None;
    }
    let linker = ["wasm-ld-22", "wasm-ld"].iter().map(|n| bin.join(n)).find(|p| p.is_file());
    let mut toolchain = WasmToolchain { version: String::new(), bin: Some(bin.clone()), linker };
    toolchain.version = run::output(toolchain.command(bin.join("rustc")).arg("--version")).ok()?;
    (minor(&toolchain.version)? >= minor(concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"), ".0"))?).then_some(toolchain)
}

/// The middle number of `rustc 1.96.0 (…)`.
fn minor(version: &str) -> Option<u32> {
    version.split_whitespace().nth(1)?.split('.').nth(1)?.parse().ok()
}

/// Whether this toolchain has the standard library, and the test library, for wasm32.
fn has_wasm32(toolchain: &WasmToolchain) -> bool {
    let Ok(sysroot) = toolchain.sysroot() else { return false };
    let Ok(entries) = fs::read_dir(wasm_libraries(&sysroot)) else { return false };
    let names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    ["libstd-", "libtest-"].iter().all(|p| names.iter().any(|n| n.starts_with(p) && n.ends_with(".rlib")))
}

fn wasm_libraries(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(WASM32).join("lib")
}

/// Toolchains on this machine that can compile for wasm32 now.
fn present() -> Result<Vec<WasmToolchain>> {
    let mut all = vec![active()?];
    all.extend(system());
    all.retain(has_wasm32);
    Ok(all)
}

/// A toolchain for wasm32: one that is there (`wanted`, a rustc version, before the others), else one that is installed now.
pub fn wasm(wanted: Option<&str>) -> Result<WasmToolchain> {
    let mut found = present()?;
    if let Some(i) = found.iter().position(|t| Some(t.version.as_str()) == wanted) {
        return Ok(found.swap_remove(i));
    }
    if !found.is_empty() {
        return Ok(found.swap_remove(0));
    }
    install().context("no Rust compiler here can compile for wasm32, which the browser modules and their tests need")
}

fn install() -> Result<WasmToolchain> {
    let why = "the browser modules are compiled for it";
    if paths::which(&["rustup"]).is_some() {
        println!("setup: {WASM32} for rustc: missing; asking rustup for it ({why})");
        let mut command = Command::new("rustup");
        command.args(["target", "add", WASM32]).env("RUSTUP_MAX_RETRIES", "1");
        if let Err(e) = run::check_within(&mut command, Duration::from_secs(120)) {
            println!("setup: rustup could not: {e:#}");
        } else if let Some(toolchain) = Some(active()?).filter(has_wasm32) {
            return Ok(toolchain);
        }
    }
    if !is_debian_root() {
        bail!(
            "install it with `rustup target add {WASM32}` (or your system's package of the Rust standard library for wasm32) and run this again"
        );
    }
    println!(
        "setup: rustc with {WASM32}: installing Debian's rustc and building its standard library, about 3 minutes ({why})"
    );
    apt_install(&["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy", "lld-22"])?;
    let toolchain = system()
        .context("the packages are installed, but /usr/bin/rustc is missing or older than this project needs")?;
    build_std(&toolchain)?;
    Some(toolchain).filter(has_wasm32).context("the standard library for wasm32 was built, but is not complete")
}

/// Builds the standard library for wasm32 from the packaged source, and puts it where rustc looks for it.
fn build_std(toolchain: &WasmToolchain) -> Result<()> {
    let dir = paths::tools().join("wasm-std");
    fs::create_dir_all(dir.join("src"))?;
    fs::write(dir.join("Cargo.toml"), "[package]\nname = \"empty\"\nedition = \"2021\"\n[lib]\n[workspace]\n")?;
    fs::write(dir.join("src/lib.rs"), "#![no_std]\n")?;
    let mut build = toolchain.cargo();
    build.current_dir(&dir).env("CARGO_TARGET_DIR", dir.join("target")).env("RUSTC_BOOTSTRAP", "1");
    build.args(["build", "--release", "--target", WASM32, "-Zbuild-std=std,panic_abort,proc_macro,test"]);
    run::retry("building the standard library", || run::check(&mut build))?;

    let libraries = wasm_libraries(&toolchain.sysroot()?);
    fs::create_dir_all(&libraries)?;
    for entry in fs::read_dir(dir.join("target").join(WASM32).join("release/deps"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if (name.ends_with(".rlib") || name.ends_with(".rmeta")) && !name.starts_with("libempty-") {
            fs::copy(&path, libraries.join(&name))
                .with_context(|| format!("cannot write to {}", libraries.display()))?;
        }
    }
    fs::remove_dir_all(&dir)?;
    Ok(())
}

/// Whether packages can be installed here with apt-get, without asking anybody.
pub fn is_debian_root() -> bool {
    let root = || run::output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0");
    Path::new("/etc/debian_version").is_file() && paths::which(&["apt-get"]).is_some() && root()
}

/// Installs Debian packages.
pub fn apt_install(packages: &[&str]) -> Result<()> {
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(["-qq", "-o", "Dpkg::Use-Pty=0"]).args(args).env("DEBIAN_FRONTEND", "noninteractive");
        run::check(&mut command)
    };
    run::retry("apt-get", || {
        apt(&["update"])?;
        apt(&[&["install", "-y", "--no-install-recommends"], packages].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_number_of_a_version() {
        assert_eq!(minor("rustc 1.96.0 (abcdef 2026-05-01)"), Some(96));
        assert_eq!(minor("rustc 1.91.1-nightly (abcdef 2026-05-01)"), Some(91));
        assert_eq!(minor("rustc"), None);
    }
}
