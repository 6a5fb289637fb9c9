//! `cargo xtask setup`: everything that the tests need, installed where it is missing.

use anyhow::{Result, bail};

use crate::{paths, stamp, toolchain, tools};

/// What to set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The compiler for wasm32, wasm-bindgen, wasm-pack, wasm-opt.
    pub wasm: bool,
    /// Chromium and its driver.
    pub browser: bool,
    /// The npm packages of the browser tests.
    pub node: bool,
}

impl Parts {
    /// Reads `--wasm`, `--browser`, `--node`; all three without a flag.
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut parts = Self { wasm: false, browser: false, node: false };
        for arg in args {
            match arg.as_str() {
                "--wasm" => parts.wasm = true,
                "--browser" => parts.browser = true,
                "--node" => parts.node = true,
                other => bail!("setup does not know `{other}` (there are --wasm, --browser and --node)"),
            }
        }
        Ok(if args.is_empty() { Self { wasm: true, browser: true, node: true } } else { parts })
    }
}

/// Installs what is missing, and names what is there.
pub fn run(parts: &Parts) -> Result<()> {
    if parts.wasm {
        let recorded = stamp::Stamp::read(&paths::root().join("prebuilt/runtime")).ok();
        let toolchain = toolchain::wasm(recorded.as_ref().and_then(|s| s.rustc()))?;
        println!("{:<14} {}", "wasm32", toolchain.version);
        println!("{:<14} {}", "wasm-bindgen", tools::wasm_bindgen()?.display());
        println!("{:<14} {}", "wasm-pack", tools::wasm_pack()?.display());
        println!("{:<14} {}", "wasm-opt", tools::wasm_opt()?[1].display());
        tools::clean_up()?;
    }
    if parts.browser {
        let browser = tools::browser()?;
        println!("{:<14} {}", "browser", browser.chrome.display());
        let driver =
            browser.driver.map_or("none found; wasm-pack fetches one".to_string(), |d| d.display().to_string());
        println!("{:<14} {driver}", "chromedriver");
    }
    if parts.node {
        println!("{:<14} {}", "node", tools::node()?.display());
        tools::npm_ci(&paths::root().join("tests/browser"))?;
        println!("{:<14} tests/browser/node_modules", "npm packages");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flag_means_everything() {
        assert_eq!(Parts::parse(&[]).expect("parts"), Parts { wasm: true, browser: true, node: true });
        let browser = Parts { wasm: false, browser: true, node: false };
        assert_eq!(Parts::parse(&["--browser".into()]).expect("parts"), browser);
        assert!(Parts::parse(&["--nodes".into()]).is_err());
    }
}
