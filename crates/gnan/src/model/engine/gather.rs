//! The gather kernel: a sparse row times a dense table.

/// Sums over this many entries are made in f32 and then added up in f64.
const ENTRIES_IN_F32: usize = 1024;

/// `out[c] = sum_e weights[e] * table[columns[e], c]`, in f32 within pieces that are added up in f64.
pub(super) fn gather_row(columns: &[u32], weights: &[f32], table: &[f32], out: &mut [f32]) {
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

fn gather_piece(columns: &[u32], weights: &[f32], table: &[f32], out: &mut [f32]) {
    if let [out] = out {
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
        *out = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        return;
    }
    out.fill(0.0);
    let outputs = out.len();
    for (column, weight) in columns.iter().zip(weights) {
        let values = &table[*column as usize * outputs..][..outputs];
        out.iter_mut().zip(values).for_each(|(out, value)| *out += weight * value);
    }
}
