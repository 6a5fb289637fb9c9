//! `[watcher]`: how often changes are looked for.

use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Seconds between two looks at the files, where nothing else is said.
const INTERVAL_SECONDS: f64 = 30.0;
/// Seconds without a further change before a build begins, where nothing else is said.
const SETTLE_SECONDS: f64 = 1.0;

/// `[watcher]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WatcherConfig {
    /// Seconds between two looks at the files, 0.1 to 86,400. Default: 30.
    #[schemars(range(min = 0.1, max = 86400))]
    pub interval: Option<f64>,
    /// Seconds that nothing must have changed before a build begins, 0 to 600: an editor that deletes a file and writes it
    /// anew, or saves ten files at once, makes one build. Default: 1.
    #[schemars(range(min = 0, max = 600))]
    pub settle: Option<f64>,
}

/// The pace of watching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time between two looks at the files.
    pub interval: Duration,
    /// Time that nothing must have changed before a build begins.
    pub settle: Duration,
}

impl WatcherConfig {
    /// The pace with its defaults; `interval` is what a flag says. The error is a sentence.
    pub fn pace(&self, interval: Option<f64>) -> Result<Pace, String> {
        let within = |name: &str, value: f64, low: f64, high: f64| {
            let ok = (low..=high).contains(&value);
            ok.then(|| Duration::from_secs_f64(value))
                .ok_or_else(|| format!("{name} is {value} seconds, it must be {low} to {high}"))
        };
        Ok(Pace {
            interval: within("interval", interval.or(self.interval).unwrap_or(INTERVAL_SECONDS), 0.1, 86_400.0)?,
            settle: within("settle", self.settle.unwrap_or(SETTLE_SECONDS), 0.0, 600.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_stronger_than_the_file_and_nonsense_is_refused() {
        let pace = |interval, settle, flag| WatcherConfig { interval, settle }.pace(flag);
        let seconds = |i, s| Ok(Pace { interval: Duration::from_millis(i), settle: Duration::from_millis(s) });
        assert_eq!(pace(None, None, None), seconds(30_000, 1_000));
        assert_eq!(pace(Some(5.0), Some(0.5), None), seconds(5_000, 500));
        assert_eq!(pace(Some(5.0), Some(0.0), Some(1.5)), seconds(1_500, 0));
        for (interval, settle) in [(Some(0.0), None), (Some(f64::NAN), None), (Some(1e9), None), (None, Some(-1.0))] {
            assert!(pace(interval, settle, None).is_err(), "{interval:?} {settle:?}");
        }
    }
}
