//! The tensors of a model file, and the parameters that they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors};

use super::posterior::{add_posterior, is_of_posterior};
use crate::model::{Definition, ItemSplit, Model, Parameters};
use crate::shape::{Bank, BankSpec};

/// A tensor to be written to a file.
pub(super) struct Tensor {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    /// Little-endian.
    pub bytes: Vec<u8>,
}

/// The tensors of a file, by name.
pub(super) type Tensors = BTreeMap<String, Tensor>;

/// Names of the lists of items.
const ITEMS: [&str; 4] = ["items.train", "items.valid", "items.test", "items.seen"];

/// The tensors of a model.
pub(super) fn tensors_of(model: &Model) -> Tensors {
    let (parameters, forms) = (model.parameters(), model.definition().bank_specs());
    let mut tensors = Tensors::new();
    let floats = |shape: Vec<usize>, values: &[f32]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Tensor { dtype: Dtype::F32, shape, bytes }
    };
    let banks = [
        ("shape", forms.shapes, &parameters.shapes),
        ("rho", forms.rhos, &parameters.rhos),
        ("readout", forms.readouts, &parameters.readouts),
    ];
    for (prefix, form, bank) in
        banks.into_iter().filter(|(prefix, ..)| *prefix != "readout" || model.spec().model.readout)
    {
        for ((name, dimensions), values) in form.tensors().into_iter().zip(bank.tensors()) {
            tensors.insert(format!("{prefix}.{name}"), floats(dimensions, &values));
        }
    }
    let outputs = parameters.bias.len();
    let levels = parameters.values.len() / outputs;
    tensors.insert("values".into(), floats(vec![levels, outputs], &parameters.values));
    tensors.insert("bias".into(), floats(vec![outputs], &parameters.bias));
    tensors.insert("output_bias".into(), floats(vec![parameters.output_bias.len()], &parameters.output_bias));
    let items = &model.record().items;
    for (name, list) in ITEMS.into_iter().zip([&items.train, &items.valid, &items.test, &items.seen]) {
        if !list.is_empty() {
            let bytes = list.iter().flat_map(|item| item.to_le_bytes()).collect();
            tensors.insert(name.to_owned(), Tensor { dtype: Dtype::U64, shape: vec![list.len()], bytes });
        }
    }
    if let Some(posterior) = model.posterior() {
        add_posterior(&mut tensors, posterior);
    }
    tensors
}

/// The items that a model remembers; none in files of before it did.
pub(super) fn read_items(definition: &Definition, tensors: &SafeTensors<'_>) -> Result<ItemSplit, String> {
    let read = |name: &str| -> Result<Arc<[u64]>, String> {
        let Ok(tensor) = tensors.tensor(name) else { return Ok(Arc::default()) };
        let (chunks, rest) = tensor.data().as_chunks::<8>();
        let items: Vec<u64> = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
        let usable = tensor.dtype() == Dtype::U64 && rest.is_empty() && tensor.shape() == [items.len()];
        if !usable || !items.is_sorted() {
            return Err(format!("tensor \"{name}\" is not an ascending list"));
        }
        Ok(items.into())
    };
    let [train, valid, test, seen] = ITEMS.map(read);
    let items = ItemSplit { train: train?, valid: valid?, test: test?, seen: seen? };
    let record = &definition.record;
    let as_recorded = items.train.len() == record.train_items && items.valid.len() == record.valid_items;
    if !items.is_empty() && !as_recorded {
        return Err("its items are not as many as it was trained on".to_owned());
    }
    Ok(items)
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
    let known = |name: &str| expected.contains(name) || ITEMS.contains(&name) || is_of_posterior(name);
    match tensors.names().iter().find(|name| !known(name)) {
        Some(extra) => Err(format!("tensor \"{extra}\" does not belong in it")),
        None => Ok(parameters),
    }
}
