//! The canonical form of a readout, made once training has ended.
//!
//! `(a * f_k, g_k(x / a))` is the same model for every `a`, and constants can move from the `g_k` to `b0`. Here the
//! argument of every readout function has a spread of 1 over the training graphs, its sign is such that the slopes of the
//! function there (first output) do not sum to less than 0, and every readout function has a mean of 0 over them.

use crate::model::{Layout, Parameters};

/// Steps of a slope that is measured by differences, in spreads of the argument.
const STEP: f64 = 1e-3;

/// Rescales a readout. `arguments` are those of every readout function on every training graph, function after function,
/// `gain` what source values are multiplied by to give them.
pub(super) fn normalise_readout(parameters: &mut Parameters, layout: &Layout, arguments: &[f32], gain: f32) {
    let graphs = arguments.len() / parameters.readouts.len().max(1);
    for (part, arguments) in arguments.chunks_exact(graphs.max(1)).enumerate().take(parameters.readouts.len()) {
        let arguments: Vec<f64> = arguments.iter().map(|x| f64::from(*x)).collect();
        let mean = arguments.iter().sum::<f64>() / graphs as f64;
        let spread = (arguments.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / graphs as f64).sqrt();
        let spread = if spread.is_finite() && spread > 1e-12 { spread } else { 1.0 };
        let at = |x: f64| parameters.readouts.evaluate(part, x);
        let step = STEP * spread;
        let slopes: f64 = arguments.iter().map(|x| at(x + step)[0] - at(x - step)[0]).sum();
        let mut means = vec![0.0; parameters.output_bias.len()];
        for x in &arguments {
            means.iter_mut().zip(at(*x)).for_each(|(mean, y)| *mean += y / graphs as f64);
        }
        let scale = (if slopes < 0.0 { -spread } else { spread }) as f32;
        scale_part(parameters, layout, part, gain / scale);
        parameters.readouts.scale_input_of(part, scale);
        let moved: Vec<f64> = means.iter().map(|mean| -mean).collect();
        parameters.readouts.add_constant_to(part, &moved);
        let constants = parameters.output_bias.iter_mut().zip(&means);
        constants.for_each(|(bias, mean)| *bias = (f64::from(*bias) + mean) as f32);
    }
}

/// Multiplies the source values of a part: the bias, or a feature.
fn scale_part(parameters: &mut Parameters, layout: &Layout, part: usize, factor: f32) {
    let Some(feature) = part.checked_sub(1) else {
        parameters.bias.iter_mut().for_each(|bias| *bias *= factor);
        return;
    };
    let place = &layout.features[feature];
    if let Some(network) = place.network {
        parameters.shapes.scale_outputs_of(network, &[factor]);
    }
    parameters.values[layout.values_of(feature)].iter_mut().for_each(|value| *value *= factor);
}
