//! Shape networks in f64, one point at a time: what explanations are made of.

use super::network::Architecture;

impl Architecture {
    /// The outputs of the network `block` at `input`, in f64.
    pub fn evaluate(&self, block: &[f32], input: f64) -> Vec<f64> {
        let wide = |range: std::ops::Range<usize>| block[range].iter().map(|w| f64::from(*w));
        let mut values: Vec<f64> = vec![input];
        for (layer, (weight, bias)) in self.layer_parts().enumerate() {
            let last = layer == self.hidden_layers();
            let outputs = bias.len();
            let mut next: Vec<f64> = wide(bias).collect();
            for (index, w) in wide(weight).enumerate() {
                // Hidden weights are stored by input, the last layer's by output.
                let (i, o) = if last {
                    (index % values.len(), index / values.len())
                } else {
                    (index / outputs, index % outputs)
                };
                next[o] += values[i] * w;
            }
            if !last {
                next.iter_mut().for_each(|x| *x = x.max(0.0));
            }
            values = next;
        }
        values
    }
}
