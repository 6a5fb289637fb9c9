//! `cargo xtask bench`: the measurements behind docs/BENCHMARKS.md, one command each. Every one prints JSON; run them on
//! an otherwise idle machine, and compare within a run, not between machines.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{demo, paths, run, toolchain, tools};

/// A benchmark: its name, what it measures, and the function that runs it with the rest of the command line.
struct Bench {
    name: &'static str,
    measures: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const BENCHES: [Bench; 7] = [
    Bench {
        name: "encoder",
        measures: "the encoder natively beside onnxruntime: questions of 8 to 128 tokens, tokens a second (needs Python)",
        run: encoder,
    },
    Bench {
        name: "encoder-web",
        measures: "the encoder in Chromium beside onnxruntime-web: the same questions, load time, memory (needs Python, Node)",
        run: encoder_web,
    },
    Bench {
        name: "vectors",
        measures: "exact scan and graph at 1,000, 10,000 and 100,000 vectors: recall, time, bytes (takes sizes)",
        run: vectors,
    },
    Bench {
        name: "page",
        measures: "the page on slow 4G beside Pagefind: bytes, time to type, to the first result, to paint (takes --site, --lang, --query)",
        run: page,
    },
    Bench {
        name: "intake",
        measures: "converting and cutting Markdown by one core, the index of words, and the memory of a build of 200 MB (takes MB; memory on Linux)",
        run: intake,
    },
    Bench { name: "bundle", measures: "bytes of each section of the demo, in all and a chunk", run: bundle },
    Bench {
        name: "answers",
        measures: "answers in Chromium: first token on the screen, stop, and 50,000 tokens of six kinds (needs Node)",
        run: answers,
    },
];

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

fn model() -> PathBuf {
    paths::root().join("prebuilt/models/multilingual-e5-small-zh-en-q4")
}

/// Builds an example of kb-core and gives its path.
fn example(name: &str, features: &str) -> Result<PathBuf> {
    let mut cargo = toolchain::cargo();
    cargo.args(["build", "--release", "--locked", "--package", "kb-core", "--features", features, "--example", name]);
    run::check(&mut cargo)?;
    Ok(paths::native_target().join("release/examples").join(paths::program_name(name)))
}

/// Python with the packages of the benchmarks, in an environment of its own.
fn python() -> Result<PathBuf> {
    let dir = paths::tools().join("bench-python");
    let python = dir.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = paths::root().join("tests/bench/requirements.txt");
    let done = dir.join("requirements.txt");
    let wanted_text = std::fs::read(&wanted).context("tests/bench/requirements.txt")?;
    if std::fs::read(&done).is_ok_and(|old| old == wanted_text) {
        return Ok(python);
    }
    println!("setup: onnxruntime for Python: missing; installing it (the other side of the benchmark)");
    run::check(Command::new("python3").args(["-m", "venv"]).arg(&dir))?;
    run::retry("pip install", || {
        run::check(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&wanted))
    })?;
    std::fs::write(done, wanted_text)?;
    Ok(python)
}

fn encoder(_: &[String]) -> Result<()> {
    let ours = example("encoder_bench", "encoder,parallel")?;
    let python = python()?;
    let bench = paths::root().join("tests/bench");
    let texts = paths::native_target().join("bench-texts.json");
    run::check(Command::new(&python).arg(bench.join("texts.py")).arg(&texts))?;
    for threads in ["1", "2"] {
        println!("threads: {threads}");
        run::check(Command::new(&ours).arg(model()).arg(&texts).env("RAYON_NUM_THREADS", threads))?;
        let mut theirs = Command::new(&python);
        theirs.arg(bench.join("onnxruntime_native.py")).arg(model()).arg("--texts").arg(&texts);
        theirs.args(["--threads", threads, "--cache"]).arg(paths::native_target().join("bench-variants"));
        run::check(&mut theirs)?;
    }
    Ok(())
}

fn encoder_web(_: &[String]) -> Result<()> {
    let program = demo::compile()?;
    let site = demo::site();
    if !site.is_dir() {
        demo::build(&program, &site)?;
    }
    let bench = paths::root().join("tests/bench");
    let variants = paths::native_target().join("bench-variants");
    run::check(Command::new(python()?).arg(bench.join("variants.py")).arg(model()).arg(&variants))?;
    let web = bench.join("onnxruntime-web");
    tools::npm_ci(&web)?;
    let mut node = Command::new(tools::node()?);
    node.current_dir(&web).arg("bench.mjs").arg("--models").arg(&variants).arg("--site").arg(&site);
    run::check(node.arg("--chromium").arg(tools::browser()?.chrome))
}

fn page(args: &[String]) -> Result<()> {
    let bench = paths::root().join("tests/bench/page");
    tools::npm_ci(&bench)?;
    let mut node = Command::new(tools::node()?);
    node.current_dir(&bench).arg("bench.mjs").arg("--chromium").arg(tools::browser()?.chrome);
    if !args.iter().any(|arg| arg == "--site") {
        let site = demo::site();
        if !site.is_dir() {
            demo::build(&demo::compile()?, &site)?;
        }
        node.arg("--site").arg(site);
    }
    run::check(node.args(args))
}

fn vectors(sizes: &[String]) -> Result<()> {
    run::check(Command::new(example("vector_bench", "vector")?).args(sizes))
}

fn intake(args: &[String]) -> Result<()> {
    let program = demo::compile()?;
    let mut cargo = toolchain::cargo();
    run::check(cargo.args(["build", "--release", "--locked", "--package", "kb-builder", "--example", "intake_bench"]))?;
    let ours = paths::native_target().join("release/examples").join(paths::program_name("intake_bench"));
    run::check(Command::new(&ours).arg("speed"))?;
    run::check(Command::new(&ours).arg("index"))?;
    // A corpus of another size would leave files of this one.
    let folder = paths::native_target().join("bench-intake");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).context("a folder for the corpus")?;
    run::check(Command::new(&ours).arg("build").arg(program).arg(&folder).args(args))?;
    std::fs::remove_dir_all(&folder).context("the corpus cannot be removed")
}

fn bundle(_: &[String]) -> Result<()> {
    let program = demo::compile()?;
    demo::build(&program, &demo::site())?;
    run::check(Command::new(program).arg("inspect").arg(demo::site()).arg("--json"))
}

fn answers(_: &[String]) -> Result<()> {
    let program = demo::compile()?;
    let folder = paths::root().join("tests/browser");
    tools::npm_ci(&folder)?;
    let mut node = Command::new(tools::node()?);
    node.current_dir(&folder).arg("measure-answers.mjs").env("KB_BUILDER", program);
    run::check(node.env("CHROME", tools::browser()?.chrome))
}
