//! How the command ends: exit codes, and the message that goes with each.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | a check failed (training diverged) |
//! | 2 | usage: options that cannot be followed |
//! | 3 | bad input: files or values that are not what they should be |
//! | 130 | interrupted, with nothing to keep |

use std::process::ExitCode;

use gnan::ErrorKind;

use crate::remedy::CommandLine;
use crate::screen::eprint_line;
use crate::style::{self, escape_control};

/// How a command ended that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Done.
    Done,
    /// A check failed.
    CheckFailed,
}

/// Why a command did not run to its end.
#[derive(Debug)]
pub enum Failure {
    /// The library refused.
    Library(gnan::Error),
    /// The arguments are wrong, or are a call for help.
    Arguments(clap::Error),
    /// The user stopped it, and nothing could be kept.
    Interrupted(String),
    /// The reader of our output has gone.
    Pipe,
}

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Failure>;

impl From<gnan::Error> for Failure {
    fn from(error: gnan::Error) -> Self {
        Failure::Library(error)
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Failure::Arguments(error)
    }
}

const CHECK_FAILED: u8 = 1;
const USAGE: u8 = 2;
const INPUT: u8 = 3;
/// 128 + SIGINT, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// Prints what went wrong, if anything did, and returns the exit code.
pub fn code(outcome: Result<Completion>) -> ExitCode {
    let failure = match outcome {
        Ok(Completion::Done) | Err(Failure::Pipe) => return ExitCode::SUCCESS,
        Ok(Completion::CheckFailed) => return ExitCode::from(CHECK_FAILED),
        Err(failure) => failure,
    };
    match failure {
        Failure::Library(error) => {
            let words = error.in_words(&CommandLine);
            let lines: Vec<_> = words.lines().map(escape_control).collect();
            eprint_line(format!("{}: {}", style::error("error"), lines.join("\n")));
            ExitCode::from(if error.kind() == ErrorKind::Usage { USAGE } else { INPUT })
        }
        Failure::Arguments(error) => {
            // Help and version are arguments too: clap prints them on stdout and exits with 0.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
        }
        Failure::Interrupted(what) => {
            eprint_line(format!("{}: {what}", style::warning("interrupted")));
            ExitCode::from(INTERRUPTED)
        }
        Failure::Pipe => ExitCode::SUCCESS,
    }
}
