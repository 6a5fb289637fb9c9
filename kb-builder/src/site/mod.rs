//! The output folder: written beside its place, then put there in one step.

mod assets;
mod interrupt;
mod listing;
mod page;
#[cfg(test)]
mod slim;
#[cfg(test)]
mod slim_tests;
mod swap;

use crate::error::{Error, Result};
use crate::model::{FILES, ModelFolder};
use kb_core::bundle::{MANIFEST_FILE, SealedBundle};
use std::path::{Path, PathBuf};

pub use assets::{FILES as PAGE_FILES, has_runtime};
pub use interrupt::is_the_usual_end;
pub use listing::escape;
pub use page::{Page, PageDocument};
pub use swap::check_target;

/// Folder of the bundle in a site.
pub const BUNDLE_DIR: &str = "kb";
/// Folder of the model in a site.
pub const MODEL_DIR: &str = "model";
/// Folder of the originals in a site.
pub const ORIGINALS_DIR: &str = "files";

/// A site that is being written into a folder beside its place. Dropped before [`Site::publish`], it
/// leaves nothing.
pub struct Site {
    target: PathBuf,
    temp: Option<PathBuf>,
    /// Held until the site is published or given up.
    _lock: Option<swap::Lock>,
}

impl Site {
    /// Begins a site that is going to be at `target`. `locks` is a folder for lock files; where it
    /// cannot be made the build goes on without a lock.
    pub fn begin(target: &Path, locks: &Path) -> Result<Self> {
        let lock = match swap::lock(target, locks) {
            Ok(lock) => Some(lock),
            Err(Error::Io { .. }) => None,
            Err(e) => return Err(e),
        };
        swap::check_target(target)?;
        // A link stays, and the site goes where it leads.
        let target = swap::behind_link(target)?;
        interrupt::listen_from_now();
        // One step, so that no interrupt comes between the two.
        let temp = interrupt::made(|| swap::new_sibling(&target))?;
        Ok(Self { target, temp: Some(temp), _lock: lock })
    }

    /// Writes a file by its `/` separated path in the site. What the site before had there, byte for byte, is taken
    /// over as it is: nothing has to be written, and whoever copies what changed need not copy it.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let before = below(&self.target, path);
        self.put(path, |file| match holds(&before, bytes) && std::fs::hard_link(&before, file).is_ok() {
            true => Ok(()),
            // Not every file system has links.
            false => std::fs::write(file, bytes),
        })
    }

    /// Makes a file and the folders above it.
    fn put(&self, path: &str, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<()> {
        let Some(temp) = &self.temp else { return Ok(()) };
        let file = below(temp, path);
        interrupt::whole(|| {
            if let Some(dir) = file.parent() {
                std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
            }
            make(&file).map_err(|e| Error::io("write", &file, e))
        })
    }

    /// Writes the page, the browser runtime and the marker that GitHub Pages must not run Jekyll.
    pub fn write_page(&self, page: &Page) -> Result<()> {
        for (path, bytes) in page.files() {
            self.write(&path, &bytes)?;
        }
        self.write(".nojekyll", b"")
    }

    /// Writes the bundle, its manifest last. That is always a new file: its time says when the site was built.
    pub fn write_bundle(&self, bundle: &SealedBundle) -> Result<()> {
        for file in &bundle.files {
            self.write(&format!("{BUNDLE_DIR}/{}", file.name), &file.bytes)?;
        }
        self.put(&format!("{BUNDLE_DIR}/{MANIFEST_FILE}"), |file| std::fs::write(file, &bundle.manifest_json))
    }

    /// Writes the model's files.
    pub fn write_model(&self, model: &ModelFolder) -> Result<()> {
        for name in FILES {
            let description;
            let bytes = match name {
                "model.onnx" => &model.onnx,
                "tokenizer.json" => &model.tokenizer,
                _ => {
                    description = model.description()?;
                    &description
                }
            };
            self.write(&format!("{MODEL_DIR}/{name}"), bytes)?;
        }
        Ok(())
    }

    /// Puts the site in its place; what was there before is gone afterwards, or untouched on an error.
    pub fn publish(mut self) -> Result<()> {
        match &self.temp {
            Some(temp) => interrupt::uninterrupted(temp, || swap::replace(&self.target, temp))?,
            None => return Ok(()),
        }
        self.temp = None;
        Ok(())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(temp) = &self.temp {
            // Nothing can be done about a folder that does not go; its name says what it is.
            let _ = interrupt::uninterrupted(temp, || std::fs::remove_dir_all(temp));
        }
    }
}

/// The place of a `/` separated path in a folder.
fn below(folder: &Path, path: &str) -> PathBuf {
    path.split('/').fold(folder.to_path_buf(), |dir, part| dir.join(part))
}

/// Whether `file` is a file, no link, and has these bytes.
fn holds(file: &Path, bytes: &[u8]) -> bool {
    let has_length = std::fs::symlink_metadata(file).is_ok_and(|m| m.is_file() && m.len() == bytes.len() as u64);
    has_length && std::fs::read(file).is_ok_and(|found| found == bytes)
}

/// The name of a copied original in the site. A page that a browser would run gets `.txt` behind it:
/// a script in a document must not run where the reader's settings are.
pub fn original_path(collection: &str, path: &str) -> String {
    // `x.html.txt` gets one too, or it would take the place of `x.html`.
    let mut name = path;
    while let Some(shorter) = name.strip_suffix(".txt") {
        name = shorter;
    }
    let runs = matches!(crate::convert::suffix(name).as_str(), "html" | "htm" | "xhtml" | "svg" | "xml");
    format!("{ORIGINALS_DIR}/{collection}/{path}{}", if runs { ".txt" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::original_path;

    #[test]
    fn no_two_originals_have_one_place() {
        assert_eq!(original_path("c", "a/x.html"), "files/c/a/x.html.txt");
        assert_eq!(original_path("c", "a/x.html.txt"), "files/c/a/x.html.txt.txt");
        assert_eq!(original_path("c", "a/x.md.txt"), "files/c/a/x.md.txt");
        assert_eq!(original_path("c", "notes.txt"), "files/c/notes.txt");
    }
}
