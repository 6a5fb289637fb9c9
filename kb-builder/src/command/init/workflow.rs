//! The workflow that publishes a knowledge base from a repository on GitHub Pages.

use crate::config::FILE_NAME;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Where the workflow goes.
const WORKFLOW: &str = ".github/workflows/knowledge-base.yml";

/// Writes into the current folder.
pub fn write(paths: &[PathBuf], branch: &str, force: bool) -> Result<()> {
    let branch_is_plain = branch.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c)) && !branch.is_empty();
    if !branch_is_plain {
        return Err(Error::usage(
            format!("`{}` is no name of a branch", branch),
            "letters, digits and - _ . / are fine",
        ));
    }
    let config = Path::new(FILE_NAME);
    let has_config = config.is_file();
    if !has_config && paths.is_empty() {
        return Err(Error::usage(
            format!("there is no {FILE_NAME} here that says what the knowledge base is made of"),
            "name its folders: kb-builder init notes --github-pages",
        ));
    }
    if has_config && !paths.is_empty() {
        return Err(Error::usage(
            format!("{FILE_NAME} is there already"),
            "change its [[source]] entries, and name no folders",
        ));
    }
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return Err(Error::usage(
            format!("there is no {}", missing.display()),
            "name a folder that is in this repository",
        ));
    }
    let workflow = Path::new(WORKFLOW);
    if workflow.exists() && !force {
        return Err(Error::usage(format!("{WORKFLOW} is there already"), "give --force to replace it"));
    }
    if !has_config {
        create(config, &settings(paths))?;
    }
    create(workflow, &text(branch))?;
    println!("Next: commit, push, and choose \"GitHub Actions\" in the repository's settings, under Pages.");
    Ok(())
}

fn create(path: &Path, text: &str) -> Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
    }
    std::fs::write(path, text).map_err(|e| Error::io("write", path, e))?;
    println!("wrote {}", path.display());
    Ok(())
}

fn settings(paths: &[PathBuf]) -> String {
    let source = |path: &PathBuf| {
        // Debug of a string is a TOML string for everything that file names hold in practice; `/` works everywhere.
        format!("[[source]]\npath = {:?}\n", path.to_string_lossy().replace('\\', "/"))
    };
    let sources: Vec<String> = paths.iter().map(source).collect();
    format!(
        "# What the knowledge base is made of; every key is in the guide, under configuration.\n\n{}",
        sources.join("\n")
    )
}

/// The workflow. The runner compiles kb-builder once and keeps it, as it keeps the vectors of passages.
fn text(branch: &str) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    format!(
        "\
# Builds the knowledge base that kb.toml describes and publishes it on GitHub Pages.
name: knowledge base
on:
  push:
    branches: [{branch}]
  workflow_dispatch:
permissions:
  contents: read
  pages: write
  id-token: write
concurrency:
  group: pages
  cancel-in-progress: true
jobs:
  publish:
    runs-on: ubuntu-latest
    environment:
      name: github-pages
      url: ${{{{ steps.deployment.outputs.page_url }}}}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/cache@v4
        with:
          path: |
            ~/.cargo/bin/kb-builder
            ~/.cache/kb-builder
          key: kb-builder-${{{{ runner.os }}}}-${{{{ github.run_id }}}}
          restore-keys: kb-builder-${{{{ runner.os }}}}-
      - name: kb-builder
        run: command -v kb-builder || cargo install --git {repository} kb-builder
      - run: kb-builder build --out _site
      - uses: actions/configure-pages@v5
      - uses: actions/upload-pages-artifact@v3
        with:
          path: _site
      - id: deployment
        uses: actions/deploy-pages@v4
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_keeps_githubs_expressions_and_the_branch() {
        let text = text("release/1");
        assert!(text.contains("branches: [release/1]"));
        assert!(text.contains("url: ${{ steps.deployment.outputs.page_url }}"));
        assert!(!text.contains('\t') && !text.contains("{{{"));
    }
}
