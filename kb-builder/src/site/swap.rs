//! Replacing a folder in one step.

use super::BUNDLE_DIR;
use crate::error::{Error, Result};
use kb_core::bundle::MANIFEST_FILE;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// What a site has at its top.
const OURS: [&str; 13] = [
    ".nojekyll",
    "404.html",
    "assets",
    "catalog.json",
    "documents.html",
    "files",
    "index.html",
    "kb",
    "llms.txt",
    "manifest.webmanifest",
    "model",
    "sw.js",
    ".DS_Store",
];

/// That `target` may be replaced: it does not exist, is empty, or is a site of ours.
pub fn check_target(target: &Path) -> Result<()> {
    if target.is_file() {
        return Err(Error::usage(
            format!("{} is a file", target.display()),
            "name a folder, by --out or `out` in [site]",
        ));
    }
    let mut entries = match std::fs::read_dir(target) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Error::io("read", target, e)),
    };
    if target.join(BUNDLE_DIR).join(MANIFEST_FILE).is_file() {
        // A site, but perhaps with things that somebody put beside it: they would go with the old one.
        let foreign = entries.flatten().map(|e| e.file_name()).find(|name| !OURS.iter().any(|our| name == our));
        return match foreign {
            None => Ok(()),
            Some(name) => Err(Error::usage(
                format!("{} holds {}, which kb-builder did not write", target.display(), name.to_string_lossy()),
                "a build replaces the whole folder: move that elsewhere, or write to another one (--out, or `out` in [site]) and copy the site from there",
            )),
        };
    }
    if entries.next().is_none() {
        return Ok(());
    }
    Err(Error::usage(
        format!("{} holds something that kb-builder did not write; it is left as it is", target.display()),
        "write to another folder (--out, or `out` in [site]), or empty that one yourself",
    ))
}

/// Where `target` leads if it is a symbolic link, else `target` itself.
pub fn behind_link(target: &Path) -> Result<PathBuf> {
    if !target.is_symlink() {
        return Ok(target.to_path_buf());
    }
    target.canonicalize().map_err(|_| {
        Error::usage(
            format!("{} is a link that leads nowhere", target.display()),
            "make its folder, or name that folder",
        )
    })
}

/// The right to write `target`: held by one process at a time, given back when it ends, however it ends.
pub struct Lock(#[expect(dead_code, reason = "holding the file open holds the lock")] File);

/// Takes the lock of `target`. Lock files lie in `dir`, not beside the output, and stay there.
pub fn lock(target: &Path, dir: &Path) -> Result<Lock> {
    let absolute = std::path::absolute(target).map_err(|e| Error::io("read", target, e))?;
    let id = kb_core::bundle::sha256_hex(absolute.to_string_lossy().as_bytes());
    let path = dir.join(format!("{}.lock", &id[..16]));
    std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
    let file = File::create(&path).map_err(|e| Error::io("create", &path, e))?;
    match file.try_lock() {
        // Some network folders have no locks: two builds at once are the only danger.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(Error::failed(
            format!("another kb-builder is writing {}", target.display()),
            "wait until it has finished",
        )),
    }
}

/// Creates an empty folder beside `target`, on the same file system, under a name that says what it
/// is. Removes what an interrupted build left, and puts back a site that it had moved aside. Needs the
/// [`Lock`].
pub fn new_sibling(target: &Path) -> Result<PathBuf> {
    let parent = parent(target);
    std::fs::create_dir_all(&parent).map_err(|e| Error::io("create", &parent, e))?;
    let (new, old) = siblings(target)?;
    if old.exists() {
        if target.exists() {
            remove(&old)?;
        } else {
            std::fs::rename(&old, target).map_err(|e| Error::io("move", &old, e))?;
        }
    }
    if new.exists() {
        remove(&new)?;
    }
    std::fs::create_dir(&new).map_err(|e| Error::io("create", &new, e))?;
    Ok(new)
}

/// Moves `new` to `target`. The two change places in one step where the system can do that, so that at any moment
/// there is a whole site at `target`. Elsewhere the folder that was there is moved aside first, and for an instant
/// there is none; what an interruption then leaves is put right by [`new_sibling`].
pub fn replace(target: &Path, new: &Path) -> Result<()> {
    check_target(target)?;
    if exchanged(target, new) {
        return remove(new);
    }
    let (_, old) = siblings(target)?;
    let had_old = match std::fs::rename(target, &old) {
        Ok(()) => true,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
        Err(e) => return Err(Error::io("move", target, e)),
    };
    if let Err(e) = std::fs::rename(new, target) {
        if had_old {
            // Back to what was there.
            std::fs::rename(&old, target).map_err(|e| Error::io("move", &old, e))?;
        }
        return Err(Error::io("move", new, e));
    }
    if had_old { remove(&old) } else { Ok(()) }
}

/// Whether the two folders have changed places.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchanged(a: &Path, b: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    // Some file systems cannot, and there may be nothing to change places with.
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchanged(_: &Path, _: &Path) -> bool {
    false
}

fn remove(dir: &Path) -> Result<()> {
    std::fs::remove_dir_all(dir).map_err(|e| Error::io("remove", dir, e))
}

/// Where the new site is written, and where the old one waits for the moment of the exchange.
fn siblings(target: &Path) -> Result<(PathBuf, PathBuf)> {
    let (parent, name) = (parent(target), name(target)?);
    Ok((parent.join(format!(".{name}.kb-new")), parent.join(format!(".{name}.kb-old"))))
}

fn parent(target: &Path) -> PathBuf {
    let absolute = std::path::absolute(target).unwrap_or_else(|_| target.to_path_buf());
    absolute.parent().map(Path::to_path_buf).unwrap_or(absolute)
}

fn name(target: &Path) -> Result<String> {
    let absolute = std::path::absolute(target).map_err(|e| Error::io("read", target, e))?;
    match absolute.file_name() {
        Some(name) => Ok(name.to_string_lossy().into_owned()),
        None => Err(Error::usage(
            format!("{} cannot be replaced", target.display()),
            "name another folder, by --out or `out` in [site]",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn site(dir: &Path, text: &str) {
        fs::create_dir_all(dir.join("kb")).expect("mkdir");
        fs::write(dir.join("kb/manifest.json"), text).expect("write");
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .expect("dir")
            .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_site_takes_the_place_of_an_old_one_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().expect("dir");
        let target = dir.path().join("out");
        for text in ["first", "second"] {
            let new = new_sibling(&target).expect("sibling");
            site(&new, text);
            replace(&target, &new).expect("replaces");
            assert_eq!(fs::read_to_string(target.join("kb/manifest.json")).expect("read"), text);
            assert_eq!(names(dir.path()), ["out"]);
        }
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    #[test]
    fn there_is_a_site_at_every_moment_of_the_exchange() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let dir = tempfile::tempdir().expect("dir");
        let target = dir.path().join("out");
        site(&target, "0");
        let other = dir.path().join("other");
        site(&other, "x");
        if !exchanged(&target, &other) {
            return; // A file system that cannot.
        }
        let (done, missed) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    missed.fetch_or(!target.is_dir(), Ordering::Relaxed);
                }
            });
            for i in 0..300 {
                let new = new_sibling(&target).expect("sibling");
                site(&new, &i.to_string());
                replace(&target, &new).expect("replaces");
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(!missed.load(Ordering::Relaxed));
    }

    #[test]
    fn a_site_with_something_beside_it_is_left_alone() {
        let dir = tempfile::tempdir().expect("dir");
        site(dir.path(), "site");
        assert!(check_target(dir.path()).is_ok());
        fs::write(dir.path().join("CNAME"), "notes.example.org").expect("write");
        let refused = check_target(dir.path()).expect_err("refused");
        assert!(refused.to_string().contains("CNAME"), "{refused}");
    }

    #[test]
    fn what_an_interrupted_build_left_is_put_right() {
        let dir = tempfile::tempdir().expect("dir");
        let target = dir.path().join("out");
        site(&dir.path().join(".out.kb-old"), "good");
        fs::create_dir(dir.path().join(".out.kb-new")).expect("mkdir");
        fs::write(dir.path().join(".out.kb-new/half"), "x").expect("write");
        let new = new_sibling(&target).expect("sibling");
        assert_eq!(fs::read_to_string(target.join("kb/manifest.json")).expect("read"), "good");
        assert!(names(&new).is_empty());
        site(&dir.path().join(".out.kb-old"), "older");
        new_sibling(&target).expect("sibling");
        assert_eq!(names(dir.path()), [".out.kb-new", "out"]);
    }

    #[test]
    fn one_build_at_a_time_for_one_target() {
        let dir = tempfile::tempdir().expect("dir");
        let target = dir.path().join("out");
        let held = lock(&target, dir.path()).expect("locks");
        assert!(lock(&target, dir.path()).is_err());
        lock(&dir.path().join("other"), dir.path()).expect("another target is free");
        drop(held);
        lock(&target, dir.path()).expect("free again");
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused_and_untouched() {
        let dir = tempfile::tempdir().expect("dir");
        let target = dir.path().join("thesis");
        fs::create_dir(&target).expect("mkdir");
        check_target(&target).expect("an empty folder may be used");
        fs::write(target.join("chapter1.tex"), "x").expect("write");
        let e = check_target(&target).expect_err("refused");
        assert_eq!(e.exit_status(), 2);
        assert!(e.to_string().contains("did not write"), "{e}");
        let new = new_sibling(&target).expect("sibling");
        assert!(replace(&target, &new).is_err());
        assert_eq!(names(&target), ["chapter1.tex"]);
        let file = dir.path().join("file");
        fs::write(&file, "x").expect("write");
        assert!(check_target(&file).is_err());
    }
}
