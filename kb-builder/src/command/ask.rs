//! `kb-builder ask`

use super::print_json;
use super::refine::RefineArgs;
use super::search::{check_collections, parse_filter};
use crate::answer::{Answer, Answerer, Chat, Found, Kind, LlmFlags, Progress, Settings};
use crate::config::Config;
use crate::convert::encoding;
use crate::error::{Error, Result};
use crate::http::Client;
use crate::refine::LanguageModel;
use kb_core::answer::citations::Segment;
use kb_core::answer::prompt::{Turn, language};
use kb_core::answer::request::Message;
use kb_core::answer::stream::{EndReason, Failure};
use kb_core::answer::support::Verdict;
use kb_core::search::Filter;
use serde::Serialize;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder ask site \"how do I undo a commit\"                       sentences of the passages, no language model
  kb-builder ask site 怎样撤销提交 --provider ollama --model qwen3:4b
  kb-builder ask site \"...\" --provider deepseek --model deepseek-flash --json
  kb-builder ask site \"...\" --base-url http://localhost:8080/v1        llama.cpp, LM Studio, vLLM
  kb-builder ask site --provider ollama                               a conversation: a question a line

In a conversation a language model completes each question with what the last turns say. The key is read from the environment (DEEPSEEK_API_KEY, OPENAI_API_KEY) or from the file .env beside
kb.toml, and is never printed. [llm] in kb.toml can say all of this once. Where nothing in the knowledge
base fits the question, no language model is asked.";

/// Exit status after Ctrl-C.
const STOPPED: u8 = 130;

/// Ask a knowledge base; a language model answers if one is named
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The folder that `build` wrote
    site: PathBuf,
    /// The question; without one, questions are read from standard input, a line each
    question: Option<String>,
    /// Only this collection; may be repeated
    #[arg(long = "collection", value_name = "NAME")]
    collections: Vec<String>,
    /// Only documents with this; may be repeated
    #[arg(long = "filter", value_name = "KEY=VALUE", value_parser = parse_filter)]
    filters: Vec<Filter>,
    /// Folder of the embedding model, or the name of an installed one [default: the site's own]
    #[arg(long, value_name = "DIR")]
    encoder: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print the messages that a language model gets, too
    #[arg(long)]
    show_prompt: bool,
    #[command(flatten)]
    refine: RefineArgs,
    #[command(flatten)]
    llm: LlmFlags,
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a [Message]>,
}

/// The settings for these flags, over those of `kb.toml` and of the `.env` beside it.
pub(super) fn settings(flags: &LlmFlags, config: &Config) -> Result<Settings> {
    let folder = flags.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    Settings::resolve(flags, &config.llm, folder)
}

/// The runtime for everything that waits.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::failed(format!("the program cannot wait for the network: {e}"), ""))
}

/// Fills in the model's name where the server has only one.
pub(crate) async fn choose_model(
    client: &Client,
    settings: &mut Settings,
    lang: kb_core::document::Lang,
) -> Result<()> {
    if !settings.options.model.is_empty() {
        return Ok(());
    }
    let Some(chat) = Chat::new(client, settings) else { return Ok(()) };
    let models = chat.models().await.map_err(|f| failed(&f, lang))?;
    match models.as_slice() {
        [only] => settings.options.model.clone_from(only),
        [] => return Err(Error::usage("the server has no model yet", "for Ollama: `ollama pull NAME`")),
        several => {
            let list = several.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
            return Err(Error::usage("say which model is to answer, with --model", format!("the server has {list}")));
        }
    }
    Ok(())
}

/// A failure as an error of the program, in the question's language.
pub(super) fn failed(failure: &Failure, lang: kb_core::document::Lang) -> Error {
    Error::failed(format!("{} [{}]", failure.to_text(lang), failure.kind.code()), "")
}

/// Asks and prints.
pub fn run(args: &Args) -> Result<ExitCode> {
    let config = Config::load(args.llm.config.as_deref())?;
    let settings = settings(&args.llm, &config)?;
    if args.question.as_deref().is_some_and(|q| q.trim().is_empty()) {
        return Err(Error::usage("the question is empty", ""));
    }
    let mut answerer = Answerer::open(&args.site, args.encoder.as_deref())?;
    let llm = |what: &str| LanguageModel::new(settings.clone(), what);
    answerer.set_refiner(args.refine.open(&config.retrieval, llm)?);
    check_collections(answerer.base(), &args.collections)?;
    if let Some(note) = &answerer.note {
        eprintln!("note: {note}");
    }
    let mut session = Session { args, settings, answerer, history: Vec::new() };
    session.settings.adopt(&session.answerer.base().manifest)?;
    match &args.question {
        Some(question) => session.ask(question),
        None => session.converse(),
    }
}

/// Questions that go on from each other.
struct Session<'a> {
    args: &'a Args,
    settings: Settings,
    answerer: Answerer,
    history: Vec<Turn>,
}

impl Session<'_> {
    /// Asks every line of standard input. A question that fails does not end the conversation, but the exit
    /// status tells of it.
    fn converse(&mut self) -> Result<ExitCode> {
        let typed = std::io::stdin().is_terminal();
        let mut worst = ExitCode::SUCCESS;
        loop {
            if typed {
                eprint!("? ");
            }
            let mut bytes = Vec::new();
            match std::io::stdin().lock().read_until(b'\n', &mut bytes) {
                Ok(0) => return Ok(worst),
                Ok(_) => {}
                Err(e) => return Err(Error::failed(format!("standard input cannot be read: {e}"), "")),
            }
            // A pipe may be in another encoding. What cannot be read is asked as it is, and the conversation goes on.
            let line = encoding::decode(&bytes, None)
                .map_or_else(|_| String::from_utf8_lossy(&bytes).into_owned(), |decoded| decoded.text);
            let question = line.trim();
            if question.is_empty() {
                continue;
            }
            match self.ask(question) {
                Ok(code) if code == ExitCode::from(STOPPED) => return Ok(code),
                Ok(code) if code == ExitCode::SUCCESS => {}
                Ok(code) => worst = code,
                Err(e) => {
                    eprintln!("error: {e}");
                    if let Some(hint) = e.hint() {
                        eprintln!("  help: {hint}");
                    }
                    worst = ExitCode::from(e.exit_status());
                }
            }
            if !self.args.json {
                println!();
            }
        }
    }

    fn ask(&mut self, question: &str) -> Result<ExitCode> {
        let lang = language(question);
        let client = Client::new();
        let runtime = runtime()?;
        let asks_model = self.settings.endpoint.is_some();
        let mut full = question.to_owned();
        if asks_model && !self.history.is_empty() {
            let completed = runtime.block_on(async {
                tokio::select! {
                    completed = async {
                        choose_model(&client, &mut self.settings, lang).await?;
                        Answerer::complete(&client, &self.settings, &self.history, question).await.map_err(|f| failed(&f, lang))
                    } => completed.map(Some),
                    _ = tokio::signal::ctrl_c() => Ok(None),
                }
            })?;
            let Some(completed) = completed else { return Ok(stopped()) };
            full = completed;
        }
        let found = self.answerer.find(&full, &self.args.collections, &self.args.filters)?;
        let prompt = self.answerer.prompt(&found, &self.settings);
        if self.args.show_prompt && !self.args.json {
            for message in &prompt.messages {
                println!("--- {:?}\n{}\n", message.role, message.content);
            }
            println!("---\n");
        }
        if full != question && !self.args.json {
            println!("({})\n", plain(&full));
        }
        let mut answer = if found.relevance.relevant && asks_model {
            let written = runtime.block_on(async {
                tokio::select! {
                    answer = async {
                        choose_model(&client, &mut self.settings, lang).await?;
                        let mut screen = Screen::new(self.args.json);
                        let answer = self.answerer.with_model(&found, &client, &self.settings, &mut |p| screen.show(&p)).await;
                        answer.map_err(|f| failed(&f, lang))
                    } => answer.map(Some),
                    // Leaving the block drops the call, which closes the connection.
                    _ = tokio::signal::ctrl_c() => Ok(None),
                }
            })?;
            let Some(answer) = written else { return Ok(stopped()) };
            answer
        } else {
            let answer = self.answerer.without_model(&found, &self.settings);
            if !self.args.json {
                print_without_model(&answer);
            }
            answer
        };
        if full != question {
            question.clone_into(&mut answer.question);
            answer.understood = Some(full);
        }
        if self.args.json {
            let prompt = self.args.show_prompt.then_some(prompt.messages.as_slice());
            print_json(&Output { answer: &answer, prompt })?;
        } else {
            print_end(&answer, &found);
        }
        let complete = answer.end != Some(EndReason::Interrupted);
        self.history.push(Turn { question: answer.question, answer: answer.answer });
        // What a script would take for an answer is only its beginning.
        Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// After Ctrl-C.
fn stopped() -> ExitCode {
    println!();
    eprintln!("stopped");
    ExitCode::from(STOPPED)
}

/// What is written while the model writes.
struct Screen {
    quiet: bool,
    thinking: bool,
    /// Whether thoughts are shown: on a terminal, dimmed, beside the answer.
    show_thoughts: bool,
}

impl Screen {
    fn new(quiet: bool) -> Self {
        Self { quiet, thinking: false, show_thoughts: !quiet && std::io::stderr().is_terminal() }
    }

    fn show(&mut self, progress: &Progress) {
        match progress {
            Progress::Reasoning(text) if self.show_thoughts => {
                self.thinking = true;
                eprint!("\x1b[2m{}\x1b[0m", plain(text));
            }
            Progress::Reasoning(_) => {}
            Progress::StartAgain if !self.quiet => println!("\n(The above was the model thinking.)\n"),
            Progress::StartAgain => {}
            Progress::Segment(segment) => {
                if std::mem::take(&mut self.thinking) {
                    eprintln!();
                }
                if !self.quiet {
                    write_out(&match segment {
                        Segment::Text { text } => plain(text),
                        Segment::Citation { n, .. } => format!("[{n}]"),
                    });
                }
            }
        }
    }
}

/// Without what could steer a terminal.
fn plain(text: &str) -> String {
    // Marks of direction turn the rest of a line round.
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| (!c.is_control() || matches!(c, '\n' | '\t')) && !turns(c)).collect()
}

fn write_out(text: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that has seen enough, such as `head`, is no failure.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn print_without_model(answer: &Answer) {
    if answer.kind == Kind::Extractive {
        println!("Sentences of the passages, word for word (no language model):\n");
    }
    println!("{}", plain(&answer.answer));
}

/// Sources and remarks below the answer.
fn print_end(answer: &Answer, found: &Found) {
    match answer.end {
        Some(EndReason::Length) => println!("\n\n(The answer was cut: it reached the limit of tokens.)"),
        Some(EndReason::Interrupted) => println!("\n\n(The connection ended before the answer was complete.)"),
        Some(EndReason::Filtered) => println!("\n\n(The service's filter stopped the answer.)"),
        Some(EndReason::Stop) => println!(),
        None => {}
    }
    let cited = answer.sources.iter().any(|s| s.cited);
    if !answer.sources.is_empty() {
        println!("\n{}", if cited { "Sources:" } else { "Nearest passages:" });
    }
    for source in &answer.sources {
        let mut place = source.heading_path.join(" > ");
        if source.heading_path.first() != Some(&source.title) {
            place = if place.is_empty() { source.title.clone() } else { format!("{} > {place}", source.title) };
        }
        println!("  [{}] {}  ({}/{})", source.n, plain(&place), source.collection, source.path);
        println!("      {}", plain(&source.url));
    }
    let unbacked = answer.sentences.iter().filter(|s| matches!(s.verdict, Verdict::Weak | Verdict::Uncited)).count();
    if answer.kind == Kind::Generated && unbacked > 0 {
        println!("\n{unbacked} of {} sentences are not backed by the passages they cite.", answer.sentences.len());
    }
    if answer.prompt_cut {
        println!(
            "The server has cut the prompt: its model's window is smaller than num_ctx. Lower num_ctx in kb.toml."
        );
    }
    if answer.unresolved_citations > 0 {
        println!("{} citations named no passage and were taken out.", answer.unresolved_citations);
    }
    if matches!(answer.kind, Kind::Generated | Kind::Extractive) {
        println!("Confidence {:.2} (relevance {:.2})", answer.confidence, found.relevance.score);
    }
}
