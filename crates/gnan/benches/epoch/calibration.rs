//! What this machine can do, measured in the same run as everything else.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use ndarray::Array2;
use ndarray::linalg::general_mat_mul;

/// Rates of one thread.
pub struct Calibration {
    /// Of a `[1024, 64] x [64, 64]` product in f32.
    pub gflops: f64,
    /// Of `a = a + 0.5 * b` over arrays too large for the near caches: two reads and a write.
    pub gigabytes: f64,
}

impl Calibration {
    pub fn measure() -> Calibration {
        Calibration { gflops: product_rate(), gigabytes: memory_rate() }
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "64 x 64 products {:.0} GFLOP/s, memory {:.1} GB/s", self.gflops, self.gigabytes)
    }
}

/// The best of twenty rounds, in units per second.
fn best_rate(units: f64, mut work: impl FnMut()) -> f64 {
    (0..20).fold(0.0, |best: f64, _| {
        let start = Instant::now();
        work();
        best.max(units / start.elapsed().as_secs_f64())
    })
}

fn product_rate() -> f64 {
    const ROWS: usize = 1024;
    const REPEATS: usize = 20;
    let (left, right) = (Array2::from_elem((ROWS, 64), 0.5f32), Array2::from_elem((64, 64), 0.25f32));
    let mut out = Array2::<f32>::zeros((ROWS, 64));
    let units = (2 * ROWS * 64 * 64 * REPEATS) as f64;
    best_rate(units, || {
        for _ in 0..REPEATS {
            general_mat_mul(1.0, &left, &right, 0.0, &mut out);
        }
        black_box(&out);
    }) / 1e9
}

fn memory_rate() -> f64 {
    const LEN: usize = 8 << 20;
    let (mut a, b) = (vec![1.0f32; LEN], vec![2.0f32; LEN]);
    best_rate((3 * 4 * LEN) as f64, || {
        a.iter_mut().zip(&b).for_each(|(a, b)| *a += 0.5 * b);
        black_box(&a);
    }) / 1e9
}
