//! The canonical form of a readout, made once training has ended.
//!
//! `(a * f_k, g_k(x / a))` is the same model for every `a`, and constants can move from the `g_k` to `b0`. Here what is
//! heard of every part has a spread of 1 over the training graphs, its sign is such that the slopes of its readout
//! function there (first output) do not sum to less than 0, and every readout function has a mean of 0 over them.

use crate::model::{Layout, Parameters};

/// Steps of a slope that is measured by differences, in spreads of what is heard.
const STEP: f64 = 1e-3;

/// Rescales a readout. `heard` is what is heard of every part of every training graph, part after part, `gain` what
/// sources are multiplied by to give it.
pub(super) fn settle(parameters: &mut Parameters, layout: &Layout, heard: &[f32], gain: f32) {
    let graphs = heard.len() / parameters.readouts.len().max(1);
    for (part, heard) in heard.chunks_exact(graphs.max(1)).enumerate().take(parameters.readouts.len()) {
        let heard: Vec<f64> = heard.iter().map(|heard| f64::from(*heard)).collect();
        let mean = heard.iter().sum::<f64>() / graphs as f64;
        let spread = (heard.iter().map(|heard| (heard - mean).powi(2)).sum::<f64>() / graphs as f64).sqrt();
        let spread = if spread.is_finite() && spread > 1e-12 { spread } else { 1.0 };
        let at = |heard: f64| parameters.readouts.evaluate(part, heard);
        let step = STEP * spread;
        let slopes: f64 = heard.iter().map(|heard| at(heard + step)[0] - at(heard - step)[0]).sum();
        let mut means = vec![0.0; parameters.output_bias.len()];
        for heard in &heard {
            means.iter_mut().zip(at(*heard)).for_each(|(mean, y)| *mean += y / graphs as f64);
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

/// Multiplies what sources say of a part: the bias, or a feature.
fn scale_part(parameters: &mut Parameters, layout: &Layout, part: usize, factor: f32) {
    let Some(feature) = part.checked_sub(1) else {
        parameters.bias.iter_mut().for_each(|bias| *bias *= factor);
        return;
    };
    let place = &layout.features[feature];
    if let Some(network) = place.network {
        parameters.shapes.scale_outputs_of(network, &[factor]);
    }
    let end = layout.features.get(feature + 1).map_or(layout.values, |next| next.first_value);
    parameters.values[place.first_value..end].iter_mut().for_each(|value| *value *= factor);
}
