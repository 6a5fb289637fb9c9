//! A page that reloads itself when its site was built anew: put in by the server that shows it, never by a build.

use crate::site::BUNDLE_DIR;
use kb_core::bundle::MANIFEST_FILE;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Where it is below the site's base. No file of a site is served under a name that begins with a dot.
pub const FOLDER: &str = ".reload/";

/// The script. It is a file of its own and asks its own server only, as the page's security policy wants.
pub const SCRIPT: &str = "\
// Put into the page by kb-builder's own server; no site has it. Reloads the page when the site was built anew.
const { dataset: { version }, src } = document.currentScript;
async function look() {
  if (document.hidden) return;
  try {
    const answer = await fetch(new URL('version', src), { cache: 'no-store' });
    // The site is not there for a moment while it is replaced.
    if (answer.ok && (await answer.text()) !== version) location.reload();
  } catch {
    // The server has ended; it may come back.
  }
}
setInterval(look, 1000);
document.addEventListener('visibilitychange', look);
";

/// What is another text after each build; none while there is no site.
pub fn version(root: &Path) -> Option<String> {
    let mut version = String::new();
    for file in [root.join(BUNDLE_DIR).join(MANIFEST_FILE), root.join("index.html")] {
        let about = std::fs::metadata(file).ok()?;
        let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        version.push_str(&format!("{:x}-{:x}.", about.len(), modified.as_nanos()));
    }
    Some(version)
}

/// The page with the script in its head.
pub fn inject(html: Vec<u8>, base: &str, version: &str) -> Vec<u8> {
    let tag = format!("<script src=\"{base}{FOLDER}script.js\" data-version=\"{version}\"></script>\n");
    let head = b"</head>";
    let at = html.windows(head.len()).position(|part| part.eq_ignore_ascii_case(head)).unwrap_or(html.len());
    [&html[..at], tag.as_bytes(), &html[at..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_goes_into_the_head_and_the_rest_stays() {
        let page = inject(b"<head><title>x</title></HEAD><body>y".to_vec(), "/kb/", "1-2.");
        let text = String::from_utf8(page).expect("UTF-8");
        assert_eq!(
            text,
            "<head><title>x</title><script src=\"/kb/.reload/script.js\" data-version=\"1-2.\"></script>\n</HEAD><body>y"
        );
    }

    #[test]
    fn a_version_follows_the_bundle_and_the_page() {
        let dir = tempfile::tempdir().expect("dir");
        assert_eq!(version(dir.path()), None);
        std::fs::create_dir(dir.path().join("kb")).expect("mkdir");
        std::fs::write(dir.path().join("kb/manifest.json"), "{}").expect("write");
        std::fs::write(dir.path().join("index.html"), "a").expect("write");
        let one = version(dir.path());
        assert!(one.is_some() && one == version(dir.path()));
        std::fs::write(dir.path().join("index.html"), "ab").expect("write");
        assert_ne!(one, version(dir.path()));
    }
}
