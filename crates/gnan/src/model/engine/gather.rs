//! The gather kernel: sparse rows times a dense table, compiled for the vector unit that is found at run time.

use pulp::{Arch, Simd, WithSimd};

use crate::statistics::CellRows;

/// Sums over this many entries are made in f32 and then added up in f64.
const ENTRIES_IN_F32: usize = 1024;
/// Lanes that are summed together, in registers.
const BLOCK: usize = 16;

/// `out[r, c] = sum_e weights[e] * table[columns[e], c]` over the entries of the rows from `first` on, in f32 within
/// pieces that are added up in f64.
pub(super) fn gather_rows(rows: &CellRows, first: usize, table: &[f32], lanes: usize, out: &mut [f32]) {
    let gather = Gather { rows, first, table, lanes, out };
    // One lane is all loads: vector instructions that gather would be slower than plain ones.
    if lanes == 1 { gather.run() } else { Arch::new().dispatch(gather) }
}

struct Gather<'a> {
    rows: &'a CellRows,
    first: usize,
    table: &'a [f32],
    lanes: usize,
    out: &'a mut [f32],
}

impl Gather<'_> {
    #[inline(always)]
    fn run(self) {
        for (row, out) in (self.first..).zip(self.out.chunks_exact_mut(self.lanes)) {
            let (columns, weights) = self.rows.row(row);
            gather_row(columns, weights, self.table, out);
        }
    }
}

impl WithSimd for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.run();
    }
}

#[inline(always)]
fn gather_row(columns: &[u32], weights: &[f32], table: &[f32], out: &mut [f32]) {
    if columns.len() <= ENTRIES_IN_F32 {
        return gather_piece(columns, weights, table, out);
    }
    let mut exact = vec![0.0f64; out.len()];
    for (columns, weights) in columns.chunks(ENTRIES_IN_F32).zip(weights.chunks(ENTRIES_IN_F32)) {
        gather_piece(columns, weights, table, out);
        exact.iter_mut().zip(out.iter()).for_each(|(exact, out)| *exact += f64::from(*out));
    }
    out.iter_mut().zip(exact).for_each(|(out, exact)| *out = exact as f32);
}

#[inline(always)]
fn gather_piece(columns: &[u32], weights: &[f32], table: &[f32], out: &mut [f32]) {
    if let [out] = out {
        *out = gather_lane(columns, weights, table);
        return;
    }
    let lanes = out.len();
    let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
    let first = blocks.len() * BLOCK;
    for (block, out) in blocks.iter_mut().enumerate() {
        *out = gather_block(columns, weights, table, lanes, block * BLOCK);
    }
    if !rest.is_empty() {
        rest.fill(0.0);
        for (column, weight) in columns.iter().zip(weights) {
            let values = &table[*column as usize * lanes + first..][..rest.len()];
            rest.iter_mut().zip(values).for_each(|(out, value)| *out += weight * value);
        }
    }
}

/// The sum of a single lane. Four sums under way at once hide the latency of adding.
#[inline(always)]
fn gather_lane(columns: &[u32], weights: &[f32], table: &[f32]) -> f32 {
    let mut sums = [0.0f32; 4];
    let (columns4, columns_rest) = columns.as_chunks::<4>();
    let (weights4, weights_rest) = weights.as_chunks::<4>();
    for (columns, weights) in columns4.iter().zip(weights4) {
        for e in 0..4 {
            sums[e] += weights[e] * table[columns[e] as usize];
        }
    }
    for (column, weight) in columns_rest.iter().zip(weights_rest) {
        sums[0] += weight * table[*column as usize];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The sums of a block of lanes from `first` on, each in the order of [`gather_lane`].
#[inline(always)]
fn gather_block(columns: &[u32], weights: &[f32], table: &[f32], lanes: usize, first: usize) -> [f32; BLOCK] {
    let mut sums = [[0.0f32; BLOCK]; 4];
    let add = |sum: &mut [f32; BLOCK], column: u32, weight: f32| {
        let values = &table[column as usize * lanes + first..][..BLOCK];
        for lane in 0..BLOCK {
            sum[lane] += weight * values[lane];
        }
    };
    let (columns4, columns_rest) = columns.as_chunks::<4>();
    let (weights4, weights_rest) = weights.as_chunks::<4>();
    for (columns, weights) in columns4.iter().zip(weights4) {
        for e in 0..4 {
            add(&mut sums[e], columns[e], weights[e]);
        }
    }
    for (column, weight) in columns_rest.iter().zip(weights_rest) {
        add(&mut sums[0], *column, *weight);
    }
    std::array::from_fn(|lane| (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]))
}
