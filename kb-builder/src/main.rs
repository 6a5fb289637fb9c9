//! The program: reads the arguments, runs a command, says what went wrong and what to do about it.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Ok(program) = std::env::current_exe() {
        kb_builder::convert::worker::use_program(program);
    }
    match kb_builder::command::Cli::parse().run() {
        Ok(code) => code,
        Err(e) => {
            eprintln!("error: {e}");
            if let Some(hint) = e.hint() {
                eprintln!("  help: {hint}");
            }
            ExitCode::from(e.exit_status())
        }
    }
}
