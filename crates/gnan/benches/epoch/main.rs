//! Speed of training: CPU milliseconds per epoch on one and on two threads, beside what this machine can do.
//!
//! `cargo bench` and `cargo run --release -p gnan --example speed` print the same. Machines are noisy, so every figure
//! stands beside a calibration from the same run: the rate of a dense 64 x 64 product (the crate `ndarray`, not
//! our kernel), the rate of reading and writing memory, and the forward pass of the dense oracle of the tests. With
//! `GNAN_DATA` set to the folder of real data sets the shapes are those of the real sets; else they are synthesised.

#[path = "../../tests/oracle/mod.rs"]
mod oracle;

mod calibration;
mod dense;
mod workload;

use std::time::{Duration, Instant};

use calibration::Calibration;
use cpu_time::ProcessTime;
use workload::Workload;

/// Each workload is measured for about this long, and the best of the rounds is taken.
const MEASURE: Duration = Duration::from_millis(1500);
const ROUNDS: usize = 5;

/// Measures and prints everything.
pub fn main() {
    // `cargo bench` and `cargo test --benches` pass arguments of their own harness.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return;
    }
    let calibration = Calibration::measure();
    println!("this machine, one thread: {calibration}\n");
    println!(
        "{:<44} {:>9} {:>9} {:>9} {:>8} {:>8} {:>12}",
        "one epoch", "CPU ms", "2 threads", "wall ms", "GFLOP/s", "GB/s", "dense / ours"
    );
    for workload in workload::all() {
        report(&workload, &calibration);
    }
    println!(
        "\nCPU ms: one thread. 2 threads: CPU ms and wall ms on two. GFLOP/s and GB/s: what the epoch does with the \
         networks\nand moves of parameters and statistics, with its share of the calibrated rate. dense / ours: the \
         forward pass of the\ndense oracle, extrapolated from a part of it, over our whole epoch."
    );
}

fn report(workload: &Workload, calibration: &Calibration) {
    let one = in_threads(1, || measure(workload));
    let two = in_threads(2, || measure(workload));
    let seconds = one.cpu / 1e3;
    let gflops = workload.flops() / seconds / 1e9;
    let gigabytes = workload.bytes() / seconds / 1e9;
    println!(
        "{:<44} {:>9.3} {:>9.3} {:>9.3} {:>4.0} {:>2.0}% {:>4.1} {:>2.0}% {:>12.0}",
        workload.name,
        one.cpu,
        two.cpu,
        two.wall,
        gflops,
        100.0 * gflops / calibration.gflops,
        gigabytes,
        100.0 * gigabytes / calibration.gigabytes,
        workload.dense_seconds / seconds,
    );
}

/// Milliseconds per epoch.
struct Time {
    cpu: f64,
    wall: f64,
}

fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    pool.install(work)
}

/// The best of some rounds of epochs.
fn measure(workload: &Workload) -> Time {
    let mut run = workload.start();
    run.epoch();
    let once = Instant::now();
    run.epoch();
    let epochs =
        (MEASURE.as_secs_f64() / ROUNDS as f64 / once.elapsed().as_secs_f64()).ceil().clamp(1.0, 2000.0) as usize;
    let mut best = Time { cpu: f64::INFINITY, wall: f64::INFINITY };
    for _ in 0..ROUNDS {
        let (cpu, wall) = (ProcessTime::now(), Instant::now());
        (0..epochs).for_each(|_| run.epoch());
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3 / epochs as f64;
        best.cpu = best.cpu.min(milliseconds(cpu.elapsed()));
        best.wall = best.wall.min(milliseconds(wall.elapsed()));
    }
    best
}
