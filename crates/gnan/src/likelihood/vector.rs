//! Sums over long rows of f64, by the widest vectors of the processor.
//!
//! Products are rounded before they are added, and sums run in an order that does not depend on the width of vectors, so that every
//! processor gives the same bytes.

use pulp::Arch;

/// Sums that are under way at once.
const UNDER_WAY: usize = 16;

/// `to += factor * from`, as far as both go.
pub(super) fn add_multiple(to: &mut [f64], factor: f64, from: &[f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from),
    );
}

/// The sum of products, as far as both go.
pub(super) fn dot(one: &[f64], other: &[f64]) -> f64 {
    let length = one.len().min(other.len());
    let (ones, rest) = one[..length].as_chunks::<UNDER_WAY>();
    let (others, other_rest) = other[..length].as_chunks::<UNDER_WAY>();
    let mut sums = [0.0; UNDER_WAY];
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (one, other) in ones.iter().zip(others) {
                for lane in 0..UNDER_WAY {
                    sums[lane] += one[lane] * other[lane];
                }
            }
        },
    );
    let rest: f64 = rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_plain_loops() {
        for length in [0, 1, 15, 16, 17, 100] {
            let one: Vec<f64> = (0..length).map(|i| f64::from(i % 7) - 3.0).collect();
            let other: Vec<f64> = (0..length).map(|i| f64::from(i % 5) * 0.5).collect();
            // Halves of small whole numbers are exact, in whatever order they are added.
            let expected: f64 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&one, &other), expected);
            let mut moved = one.clone();
            add_multiple(&mut moved, 2.0, &other);
            let plain: Vec<f64> = one.iter().zip(&other).map(|(a, b)| a + 2.0 * b).collect();
            assert_eq!(moved, plain);
        }
    }
}
