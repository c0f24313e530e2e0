//! The tensors of a model file, and the parameters that they hold.

use std::collections::{BTreeMap, BTreeSet};

use safetensors::tensor::{Dtype, SafeTensors};

use crate::model::{Definition, Model, Parameters};
use crate::shape::{Bank, BankSpec};

/// Shape and little-endian bytes of every tensor, by name.
pub(super) type Tensors = BTreeMap<String, (Vec<usize>, Vec<u8>)>;

/// The tensors of a model.
pub(super) fn tensors_of(model: &Model) -> Tensors {
    let (parameters, forms) = (model.parameters(), model.definition().bank_specs());
    let mut tensors = Tensors::new();
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let banks = [
        ("shape", forms.shapes, &parameters.shapes),
        ("rho", forms.rhos, &parameters.rhos),
        ("readout", forms.readouts, &parameters.readouts),
    ];
    for (prefix, form, bank) in
        banks.into_iter().filter(|(prefix, ..)| *prefix != "readout" || model.spec().model.readout)
    {
        for ((name, dimensions), values) in form.tensors().into_iter().zip(bank.tensors()) {
            tensors.insert(format!("{prefix}.{name}"), (dimensions, bytes(&values)));
        }
    }
    let outputs = parameters.bias.len();
    tensors.insert("values".into(), (vec![parameters.values.len() / outputs, outputs], bytes(&parameters.values)));
    tensors.insert("bias".into(), (vec![outputs], bytes(&parameters.bias)));
    tensors.insert("output_bias".into(), (vec![parameters.output_bias.len()], bytes(&parameters.output_bias)));
    tensors
}

/// The parameters of a model, from tensors that must be exactly those it needs.
pub(super) fn read_parameters(definition: &Definition, tensors: &SafeTensors<'_>) -> Result<Parameters, String> {
    let layout = definition.layout();
    let forms = definition.bank_specs();
    let (outputs, source_outputs) = (definition.learned.outputs, definition.source_outputs());
    let mut expected = BTreeSet::new();
    let mut read = |name: String, shape: &[usize]| -> Result<Vec<f32>, String> {
        let tensor = tensors.tensor(&name).map_err(|_| format!("tensor \"{name}\" is missing"))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            return Err(format!("tensor \"{name}\" is {:?} {:?}, not F32 {shape:?}", tensor.dtype(), tensor.shape()));
        }
        let (chunks, _) = tensor.data().as_chunks::<4>();
        let values: Vec<f32> = chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("tensor \"{name}\" holds a value that is not finite"));
        }
        expected.insert(name);
        Ok(values)
    };
    let mut bank = |prefix: &str, form: &BankSpec| -> Result<Bank, String> {
        // Tensors are checked against their shape before the bank is allocated, so a large claim needs a large file.
        let tensors = form.tensors().into_iter().map(|(name, shape)| read(format!("{prefix}.{name}"), &shape));
        Ok(Bank::from_tensors(form, &tensors.collect::<Result<Vec<_>, String>>()?))
    };
    let shapes = bank("shape", &forms.shapes)?;
    let rhos = bank("rho", &forms.rhos)?;
    let readouts =
        if definition.spec.model.readout { bank("readout", &forms.readouts)? } else { Bank::zeros(&forms.readouts) };
    let parameters = Parameters {
        shapes,
        rhos,
        values: read("values".to_owned(), &[layout.values, source_outputs])?,
        bias: read("bias".to_owned(), &[source_outputs])?,
        output_bias: read("output_bias".to_owned(), &[outputs])?,
        readouts,
    };
    match tensors.names().iter().find(|name| !expected.contains(**name)) {
        Some(extra) => Err(format!("tensor \"{extra}\" does not belong in it")),
        None => Ok(parameters),
    }
}
