//! How far long work has come, for whoever shows it: one listener for the whole process.

use std::sync::OnceLock;

/// Hears what is being done, and how much of how much is done.
pub type Listener = dyn Fn(&'static str, usize, usize) + Send + Sync;

static LISTENER: OnceLock<Box<Listener>> = OnceLock::new();

/// Has a listener hear of all long work from now on; the first one stays.
pub fn listen(listener: Box<Listener>) {
    let _ = LISTENER.set(listener);
}

/// Tells the listener, if there is one.
pub fn tell(what: &'static str, done: usize, all: usize) {
    if let Some(listener) = LISTENER.get() {
        listener(what, done, all);
    }
}
