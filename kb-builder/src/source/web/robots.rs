//! robots.txt (RFC 9309): which pages a site does not want to be fetched.

use std::time::Duration;

/// Longest file that is read, in bytes; RFC 9309 asks for at least this much.
pub const MAX_BYTES: usize = 500 * 1024;
/// Longest pause between requests that a site can ask for.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// The rules that hold for this program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Robots {
    /// Whether it allows, and the pattern of paths.
    rules: Vec<(bool, String)>,
    /// Pause between two requests that the site asks for.
    pub delay: Option<Duration>,
    /// Addresses of sitemaps.
    pub sitemaps: Vec<String>,
}

impl Robots {
    /// Reads a file; the group that names `agent` holds, else the one for all.
    pub fn parse(text: &str, agent: &str) -> Self {
        let (mut own, mut all) = (Self::default(), Self::default());
        let mut named = false;
        // The groups that the lines at hand belong to.
        let (mut for_own, mut for_all) = (false, false);
        let mut in_agents = false;
        let mut sitemaps = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if !in_agents {
                        (for_own, for_all) = (false, false);
                    }
                    in_agents = true;
                    for_all |= value == "*";
                    if value.eq_ignore_ascii_case(agent) {
                        for_own = true;
                        named = true;
                    }
                }
                "sitemap" => sitemaps.push(value.to_string()),
                "allow" | "disallow" | "crawl-delay" => {
                    in_agents = false;
                    for (here, robots) in [(for_own, &mut own), (for_all, &mut all)] {
                        if !here {
                            continue;
                        }
                        if key == "crawl-delay" {
                            let seconds = value.parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0);
                            robots.delay = seconds.map(|s| Duration::from_secs_f64(s.min(3600.0)).min(MAX_DELAY));
                        } else if !value.is_empty() {
                            robots.rules.push((key == "allow", value.to_string()));
                        }
                    }
                }
                _ => {}
            }
        }
        Self { sitemaps, ..if named { own } else { all } }
    }

    /// Whether a path, with its query, may be fetched: the longest matching rule counts, of equals the
    /// one that allows.
    pub fn allows(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|(_, pattern)| matches(pattern, path));
        matching.max_by_key(|(allow, pattern)| (pattern.len(), *allow)).is_none_or(|(allow, _)| *allow)
    }
}

/// Whether a pattern, in which `*` stands for anything and a `$` at the end for the end, matches the
/// beginning of a path.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (i, part) in parts.iter().enumerate() {
        let last = i + 1 == parts.len();
        if last && to_end {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    !to_end || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9309 and of Google's description of it.
    #[test]
    fn the_longest_rule_counts() {
        let robots = Robots::parse(
            "User-agent: *\nDisallow: /private/\nAllow: /private/open # a comment\nDisallow: /*.gif$\nCrawl-delay: 2\n\nUser-agent: other\nDisallow: /\n\nSitemap: https://e.org/s.xml\n",
            "kb-builder",
        );
        for (path, allowed) in [
            ("/", true),
            ("/private/x", false),
            ("/private/open/y", true),
            ("/a/b.gif", false),
            ("/a/b.gif?x", true),
            ("/private", true),
        ] {
            assert_eq!(robots.allows(path), allowed, "{path}");
        }
        assert_eq!(robots.delay, Some(Duration::from_secs(2)));
        assert_eq!(robots.sitemaps, ["https://e.org/s.xml"]);
    }

    #[test]
    fn the_group_of_the_own_name_replaces_the_one_for_all() {
        let text = "user-agent: a\nuser-agent: KB-Builder\ndisallow: /x\n\nuser-agent: *\ndisallow: /\n";
        let robots = Robots::parse(text, "kb-builder");
        assert!(robots.allows("/y") && !robots.allows("/x1"));
        assert!(!Robots::parse(text, "someone").allows("/y"));
        assert!(Robots::parse("", "kb-builder").allows("/"));
        assert!(Robots::parse("user-agent: *\ndisallow:\n", "kb-builder").allows("/"));
    }

    #[test]
    fn patterns() {
        for (pattern, path, is) in [
            ("/fish*", "/fish.html", true),
            ("/fish*.php", "/fishheads/catfish.php?parameters", true),
            ("/*.php$", "/a.php5", false),
            ("/*.php$", "/folder/a.php", true),
            ("/fish", "/Fish", false),
            ("*/x$", "/a/x", true),
        ] {
            assert_eq!(matches(pattern, path), is, "{pattern} {path}");
        }
    }
}
