//! Speed on this machine: prints what `cargo bench` prints.

#[path = "../benches/epoch/main.rs"]
mod epoch;

fn main() {
    epoch::main();
}
