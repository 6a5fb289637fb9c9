//! Where things are: the clone, the build folders, the folder of tools.

use std::path::{Path, PathBuf};

/// The top of the clone.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Cargo's build folder for native code: `CARGO_TARGET_DIR`, or `target` in the clone.
pub fn native_target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR").filter(|v| !v.is_empty()) {
        Some(dir) => std::path::absolute(&dir).unwrap_or_else(|_| PathBuf::from(dir)),
        None => root().join("target"),
    }
}

/// The build folder for wasm32. Apart from the native one, since another compiler may fill it.
pub fn wasm_target() -> PathBuf {
    native_target().join("wasm")
}

/// A file of the native release build, with the platform's suffix for programs.
pub fn native_program(name: &str) -> PathBuf {
    native_target().join("release").join(program_name(name))
}

/// `name` with `.exe` on Windows.
pub fn program_name(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// The folder of tools: `KB_TOOLS`, or `kb-builder/tools` in the user's cache folder.
pub fn tools() -> PathBuf {
    match std::env::var_os("KB_TOOLS").filter(|v| !v.is_empty()) {
        Some(dir) => std::path::absolute(&dir).unwrap_or_else(|_| PathBuf::from(dir)),
        None => cache_dir().join("kb-builder").join("tools"),
    }
}

fn cache_dir() -> PathBuf {
    let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || var("HOME").or_else(|| var("USERPROFILE")).unwrap_or_else(std::env::temp_dir);
    if cfg!(windows) {
        var("LOCALAPPDATA").unwrap_or_else(|| home().join("AppData").join("Local"))
    } else if cfg!(target_os = "macos") {
        home().join("Library").join("Caches")
    } else {
        var("XDG_CACHE_HOME").unwrap_or_else(|| home().join(".cache"))
    }
}

/// The first of `names` that is a program in `PATH`.
pub fn which(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| dirs.iter().map(|d| d.join(program_name(name))).find(|p| p.is_file()))
}
