//! The page and the browser runtime, put into the program by build.rs.

/// Path in the site and bytes, ordered by path.
pub const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/site_files.rs"));

/// Whether the program carries a browser runtime. One that was compiled without still builds and
/// searches on this machine.
pub fn has_runtime() -> bool {
    FILES.iter().any(|(path, _)| path.starts_with("assets/runtime/") && path.ends_with(".wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_nothing_of_its_development() {
        assert!(FILES.iter().any(|(path, _)| *path == "index.html"));
        for (path, _) in FILES {
            assert!(["index.html", "404.html", "sw.js"].contains(path) || path.starts_with("assets/"), "{path}");
            assert!(!path.contains("node_modules") && !path.contains(".test."), "{path}");
        }
    }
}
