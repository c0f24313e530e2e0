//! Ctrl-C: the first asks for an orderly end, the second leaves at once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use gnan::Error;

use crate::exit::{INTERRUPTED, Result};
use crate::screen::eprint_line;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is answered with `promise`, and [`flow`] tells whoever works to stop.
pub fn listen(promise: &'static str) -> Result<()> {
    let answer = move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
        eprint_line(format!("\n{promise} (Ctrl-C again to leave at once)"));
    };
    match ctrlc::try_set_handler(answer) {
        // A background job of a script is started with Ctrl-C ignored: then there is nothing to answer.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => Err(Error::usage(format!("Ctrl-C cannot be watched for: {error}")).into()),
    }
}

/// Whether Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// What a monitor of training should return.
pub fn flow() -> ControlFlow<()> {
    if asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
