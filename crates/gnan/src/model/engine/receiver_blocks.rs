//! The outputs of eight receivers in a block of lanes, and the way back: the innermost loops over slots.

use pulp::Arch;

use crate::distance::RECEIVERS_PER_BLOCK;

/// `outputs[receiver, lane] += sum over slots of rho[l, lane] * means[l, receiver, lane]`, for lanes of a width that is 1, 2,
/// 4, 8 or 16.
pub(super) fn forward(width: usize, means: &[f32], rho: &[f32], outputs: &mut [f32]) {
    Arch::new().dispatch(|| match width {
        1 => forward_of::<1>(means, rho, outputs),
        2 => forward_of::<2>(means, rho, outputs),
        4 => forward_of::<4>(means, rho, outputs),
        8 => forward_of::<8>(means, rho, outputs),
        _ => forward_of::<16>(means, rho, outputs),
    });
}

#[inline(always)]
fn forward_of<const W: usize>(means: &[f32], rho: &[f32], outputs: &mut [f32]) {
    let (means, rho) = (means.as_chunks::<W>().0.as_chunks::<RECEIVERS_PER_BLOCK>().0, rho.as_chunks::<W>().0);
    for (means, rho) in means.iter().zip(rho) {
        for (outputs, mean) in outputs.as_chunks_mut::<W>().0.iter_mut().zip(means) {
            for w in 0..W {
                outputs[w] += rho[w] * mean[w];
            }
        }
    }
}

/// The way back from `gradient[receiver, lane]`: adds to `of_rho[l, lane]`, and leaves in place of every mean its gradient
/// times the share of each source in it.
pub(super) fn backward(
    width: usize,
    means: &mut [f32],
    shares: &[f32],
    rho: &[f32],
    gradient: &[f32],
    of_rho: &mut [f32],
) {
    Arch::new().dispatch(|| match width {
        1 => backward_of::<1>(means, shares, rho, gradient, of_rho),
        2 => backward_of::<2>(means, shares, rho, gradient, of_rho),
        4 => backward_of::<4>(means, shares, rho, gradient, of_rho),
        8 => backward_of::<8>(means, shares, rho, gradient, of_rho),
        _ => backward_of::<16>(means, shares, rho, gradient, of_rho),
    });
}

#[inline(always)]
fn backward_of<const W: usize>(means: &mut [f32], shares: &[f32], rho: &[f32], gradient: &[f32], of_rho: &mut [f32]) {
    let means = means.as_chunks_mut::<W>().0.as_chunks_mut::<RECEIVERS_PER_BLOCK>().0;
    let (gradient, rho, of_rho) = (gradient.as_chunks::<W>().0, rho.as_chunks::<W>().0, of_rho.as_chunks_mut::<W>().0);
    for (((means, shares), rho), of_rho) in
        means.iter_mut().zip(shares.as_chunks::<RECEIVERS_PER_BLOCK>().0).zip(rho).zip(of_rho)
    {
        for ((mean, share), g) in means.iter_mut().zip(shares).zip(gradient) {
            for w in 0..W {
                of_rho[w] += g[w] * mean[w];
                mean[w] = g[w] * rho[w] * share;
            }
        }
    }
}
