//! `cargo xtask lint`: formatting, and clippy for both targets.

use anyhow::Result;

use crate::report::{Outcome, Report};
use crate::stamp::Stamp;
use crate::toolchain::{self, WASM32};
use crate::{run, runtime};

/// Runs all lints.
pub fn run() -> Result<bool> {
    let mut report = Report::default();
    native(&mut report);
    wasm(&mut report);
    Ok(report.close())
}

/// Formatting, and clippy for native code.
pub fn native(report: &mut Report) {
    report.step("fmt", || {
        run::check(toolchain::cargo().args(["fmt", "--all", "--check"]))?;
        Ok(Outcome::Passed)
    });
    report.step("clippy", || {
        // The release profile: build scripts and macros are then shared with the tests that follow.
        let mut clippy = toolchain::cargo();
        run::check(clippy.args([
            "clippy",
            "--quiet",
            "--release",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))?;
        Ok(Outcome::Passed)
    });
}

/// Clippy for wasm32.
pub fn wasm(report: &mut Report) {
    report.step("clippy-wasm32", || {
        let toolchain = toolchain::wasm(Stamp::read(&runtime::dir()).ok().as_ref().and_then(Stamp::rustc))?;
        if !toolchain.ensure_clippy()? {
            return Ok(Outcome::Skipped(format!("{} has no clippy", toolchain.version)));
        }
        let mut clippy = toolchain.cargo();
        clippy.env("CARGO_TARGET_DIR", runtime::target_dir(true)).env("CARGO_ENCODED_RUSTFLAGS", runtime::flags(true)?);
        clippy.args(["clippy", "--quiet", "--release", "--package", "kb-wasm", "--target", WASM32]);
        run::check(clippy.args(["--all-features", "--all-targets", "--", "-D", "warnings"]))?;
        Ok(Outcome::Passed)
    });
}
