//! The program: reads the arguments, runs a command, says what went wrong and what to do about it.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    quiet_when_nobody_reads();
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

/// `println!` panics when standard output is closed or full. Neither is a fault of the program: a reader such as `head`
/// that has seen enough ends it quietly, as other programs do.
fn quiet_when_nobody_reads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if let Some(why) = said.strip_prefix("failed printing to stdout: ") {
            if !why.starts_with("Broken pipe") {
                eprintln!("error: cannot write the output: {why}");
            }
            std::process::exit(1);
        }
        usual(panic);
    }));
}
