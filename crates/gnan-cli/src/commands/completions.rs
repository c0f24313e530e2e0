//! `gnan completions`: a script that lets a shell complete commands and options.

use clap::Args;
use clap_complete::Shell;

use crate::cli::{self, examples};
use crate::exit::{Completion, Result};
use crate::screen::print_bytes;

const EXAMPLES: &str = examples!(
    "gnan completions bash > ~/.local/share/bash-completion/completions/gnan",
    "gnan completions zsh > ~/.zfunc/_gnan",
    "gnan completions fish > ~/.config/fish/completions/gnan.fish",
);

/// Arguments of `gnan completions`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result<Completion> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "gnan", &mut script);
    print_bytes(&script)?;
    Ok(Completion::Done)
}
