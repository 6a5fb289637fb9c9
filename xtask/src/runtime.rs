//! `cargo xtask wasm`: compiles the browser modules and puts them into `prebuilt/runtime`.
//!
//! | module | feature of kb-wasm | runs on |
//! |---|---|---|
//! | `kb_search` | `search` | browsers without SIMD as well |
//! | `kb_encoder` | `encoder` | browsers with SIMD |
//! | `kb_answer` | `answer` | browsers without SIMD as well |
//!
//! The same sources and tools give the same bytes wherever the clone lies: paths are taken out of the modules, and
//! `--check` builds them again and compares.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::stamp::{self, Stamp};
use crate::toolchain::{self, WASM32, WasmToolchain};
use crate::{paths, run, tools};

/// One browser module.
struct Module {
    /// Base name of its files.
    name: &'static str,
    /// The feature of kb-wasm that it is built with.
    feature: &'static str,
    /// Whether its code uses 128-bit SIMD.
    simd: bool,
    /// Cargo's profile: `small` where the download counts, `release` where the arithmetic does.
    profile: &'static str,
    /// How wasm-opt optimises, run after run, if that pays: on the encoder -O2 takes minutes and gains nothing after gzip.
    optimise: &'static [&'static [&'static str]],
    /// The most that it may weigh on the wire: bytes after gzip.
    max_gzipped: usize,
}

/// wasm-opt for modules whose download counts. More makes fewer bytes, and more of them after gzip: -Oz adds a twentieth.
/// Further runs find another hundredth, arguments that nobody passes included.
const SMALL: &[&[&str]] = &[&["-O1", "-O1"], &["--dae-optimizing", "-O1"]];

const MODULES: [Module; 3] = [
    Module {
        name: "kb_search",
        feature: "search",
        simd: false,
        profile: "small",
        optimise: SMALL,
        max_gzipped: 200_000,
    },
    Module {
        name: "kb_encoder",
        feature: "encoder",
        simd: true,
        profile: "release",
        optimise: &[&[]],
        max_gzipped: 2_010_000,
    },
    Module {
        name: "kb_answer",
        feature: "answer",
        simd: false,
        profile: "small",
        optimise: SMALL,
        max_gzipped: 190_000,
    },
];

/// Flags of wasm-opt beside the level of optimisation. The features are those that rustc switches on for wasm32 by itself; SIMD is added per module, so
/// that a module which must not have it is refused when it does.
const WASM_OPT: [&str; 8] = [
    "--strip-debug",
    "--strip-producers",
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// The folder of the prebuilt modules.
pub fn dir() -> PathBuf {
    paths::root().join("prebuilt/runtime")
}

/// Runs the command line's `wasm [--check]`.
pub fn run(args: &[String]) -> Result<bool> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => build().map(|()| true),
        ["--check"] => {
            check_inputs()?;
            check_rebuild().map(|()| true)
        }
        _ => bail!("wasm takes no argument but --check"),
    }
}

/// Writes `kb-wasm/src/types.d.ts` from the structs that cross the border; the modules' declarations contain it.
fn write_types() -> Result<()> {
    let mut cargo = toolchain::cargo();
    cargo.args(["test", "--quiet", "--release", "--locked", "--package", "kb-wasm", "--features", "answer", "--lib"]);
    run::check(cargo.args(["types::written"]).env("KB_WRITE_TYPES", "1"))
}

/// Rebuilds `prebuilt/runtime`.
fn build() -> Result<()> {
    write_types()?;
    let recorded = Stamp::read(&dir()).ok();
    let toolchain = toolchain::wasm(recorded.as_ref().and_then(|s| s.rustc()))?;
    let fresh = paths::wasm_target().join("runtime");
    let stamp = build_into(&toolchain, &fresh)?;
    stamp.write(&fresh)?;
    let out = dir();
    if out.is_dir() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    for entry in fs::read_dir(&fresh)? {
        let path = entry?.path();
        fs::copy(&path, out.join(path.file_name().unwrap_or_default()))?;
    }
    println!("prebuilt/runtime is up to date");
    Ok(())
}

/// Compares the stamp with the sources and with the files beside it. Takes seconds and needs no wasm tool.
pub fn check_inputs() -> Result<()> {
    let stamp = Stamp::read(&dir())?;
    let files = stamp::checksums(&dir())?;
    ensure!(files == stamp.files, "prebuilt/runtime holds other files than its stamp names: run `cargo xtask wasm`");
    let inputs = stamp::inputs()?;
    ensure!(
        inputs == stamp.inputs,
        "prebuilt/runtime was built from other sources (stamp {:.12}, sources {inputs:.12}): run `cargo xtask wasm`",
        stamp.inputs
    );
    println!("prebuilt/runtime: {} files, built from these sources", files.len());
    Ok(())
}

/// Builds the modules again and compares them with the prebuilt ones: every byte when the tools are those of the stamp;
/// else only what does not depend on the compiler's version, the JavaScript and its types.
pub fn check_rebuild() -> Result<()> {
    let stamp = Stamp::read(&dir())?;
    let toolchain = toolchain::wasm(stamp.rustc())?;
    let rebuilt = build_into(&toolchain, &paths::wasm_target().join("runtime"))?;
    let same_tools = rebuilt.tools == stamp.tools;
    let counts =
        |name: &str| same_tools || name.ends_with(".js") || (name.ends_with(".d.ts") && !name.contains("_bg."));
    for (name, hash) in rebuilt.files.iter().filter(|(name, _)| counts(name)) {
        ensure!(stamp.files.get(name) == Some(hash), "prebuilt/runtime/{name} differs from what the sources give");
    }
    ensure!(rebuilt.files.keys().eq(stamp.files.keys()), "a rebuild gives other files than prebuilt/runtime has");
    if same_tools {
        println!("prebuilt/runtime: a rebuild gives the same bytes");
    } else {
        println!(
            "prebuilt/runtime: built by other tools ({:?}, here {:?}); the JavaScript is the same",
            stamp.tools, rebuilt.tools
        );
    }
    Ok(())
}

fn build_into(toolchain: &WasmToolchain, out: &Path) -> Result<Stamp> {
    let bindgen = tools::wasm_bindgen()?;
    let optimiser = tools::wasm_opt()?;
    if out.is_dir() {
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out)?;
    fetch(toolchain)?;
    for module in &MODULES {
        module.build(toolchain, &bindgen, &optimiser, out)?;
    }
    let bindgen_version = format!("wasm-bindgen {}", tools::locked_version("wasm-bindgen")?);
    Ok(Stamp {
        inputs: stamp::inputs()?,
        tools: vec![toolchain.version.clone(), bindgen_version, tools::wasm_opt_version()],
        files: stamp::checksums(out)?,
    })
}

/// Downloads the sources of the dependencies, so that [`flags`] knows where they lie.
fn fetch(toolchain: &WasmToolchain) -> Result<()> {
    run::retry("cargo fetch", || {
        run::check(toolchain.cargo().args(["fetch", "--quiet", "--locked", "--target", WASM32]))
    })
}

/// Flags of rustc for every wasm32 build, in the form of `CARGO_ENCODED_RUSTFLAGS`.
pub fn flags(simd: bool) -> Result<String> {
    let mut flags = vec!["--cfg".to_string(), "getrandom_backend=\"wasm_js\"".to_string()];
    if simd {
        flags.push("-Ctarget-feature=+simd128".to_string());
    }
    let home = std::env::var_os("CARGO_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|h| h.join(".cargo"))).context("no home folder")?;
    if let Ok(registries) = fs::read_dir(home.join("registry/src")) {
        let mut folders: Vec<PathBuf> = registries.flatten().map(|e| e.path()).collect();
        folders.sort();
        flags.extend(folders.iter().map(|f| format!("--remap-path-prefix={}=/crates", f.display())));
    }
    Ok(flags.join("\u{1f}"))
}

/// The build folder for code with or without SIMD. Cargo does not tell apart artefacts by flags when paths are remapped.
pub fn target_dir(simd: bool) -> PathBuf {
    paths::wasm_target().join(if simd { "simd" } else { "plain" })
}

impl Module {
    fn build(&self, toolchain: &WasmToolchain, bindgen: &Path, optimiser: &[PathBuf; 2], out: &Path) -> Result<()> {
        let target = target_dir(self.simd);
        let mut cargo = toolchain.cargo();
        cargo.env("CARGO_TARGET_DIR", &target).env("CARGO_ENCODED_RUSTFLAGS", flags(self.simd)?);
        cargo.args([
            "build",
            "--profile",
            self.profile,
            "--locked",
            "--lib",
            "--package",
            "kb-wasm",
            "--target",
            WASM32,
        ]);
        run::check(cargo.args(["--no-default-features", "--features", self.feature]))?;

        let compiled = target.join(WASM32).join(self.profile).join("kb_wasm.wasm");
        let mut bind = toolchain.command(bindgen);
        bind.arg(&compiled)
            .args(["--target", "web", "--remove-name-section", "--out-name", self.name, "--out-dir"])
            .arg(out);
        run::check(&mut bind)?;

        let wasm = out.join(format!("{}_bg.wasm", self.name));
        let [node, script] = optimiser;
        for level in self.optimise {
            let mut optimise = Command::new(node);
            optimise.arg(script).args(WASM_OPT).args(*level);
            if self.simd {
                optimise.arg("--enable-simd");
            }
            run::check(optimise.arg(&wasm).arg("-o").arg(&wasm))?;
        }
        self.measure(&wasm)
    }

    fn measure(&self, wasm: &Path) -> Result<()> {
        let bytes = fs::read(wasm)?;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(&bytes)?;
        let gzipped = packer.finish()?.len();
        println!("{}: {} bytes, {gzipped} gzipped", self.name, bytes.len());
        ensure!(
            gzipped <= self.max_gzipped,
            "{} may have {} bytes gzipped, but has {gzipped}",
            self.name,
            self.max_gzipped
        );
        Ok(())
    }
}
