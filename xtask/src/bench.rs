//! `cargo xtask bench`: the measurements behind docs/BENCHMARKS.md, one command each.

use anyhow::{Result, bail};

/// A benchmark: its name, what it measures, and the function that runs it with the rest of the command line.
struct Bench {
    name: &'static str,
    measures: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const BENCHES: [Bench; 0] = [];

/// Runs the named benchmark, or lists them all.
pub fn run(args: &[String]) -> Result<bool> {
    let Some((name, rest)) = args.split_first() else {
        for bench in &BENCHES {
            println!("{:<12} {}", bench.name, bench.measures);
        }
        return Ok(true);
    };
    match BENCHES.iter().find(|b| b.name == name) {
        Some(bench) => (bench.run)(rest).map(|()| true),
        None => bail!("there is no benchmark `{name}`; `cargo xtask bench` lists them"),
    }
}
