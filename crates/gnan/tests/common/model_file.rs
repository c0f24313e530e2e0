//! Model files that were changed by hand, with a checksum that fits or as they are.

use std::collections::HashMap;

use gnan::Model;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A tensor: its name, type, shape and bytes.
pub type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// The bytes of a model file after its definition and its tensors were changed, with the checksum of what is in it now:
/// only what is wrong with the content can be found out.
pub fn rewritten(
    model: &Model,
    definition: impl FnOnce(&mut Value),
    tensors: impl FnOnce(&mut Vec<Tensor>),
) -> Vec<u8> {
    changed(model, |header, parts| {
        definition(&mut header["definition"]);
        tensors(parts);
        parts.sort_by(|a, b| a.0.cmp(&b.0));
        let mut hash = Sha256::new();
        hash.update((header["version"].as_u64().expect("a version") as u32).to_le_bytes());
        hash.update(header["definition"].to_string());
        parts.iter().for_each(|(_, _, _, bytes)| hash.update(bytes));
        header["sha256"] = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    })
}

/// The bytes of a model file after its header was changed, and nothing else.
pub fn with_header(model: &Model, header: impl FnOnce(&mut Value)) -> Vec<u8> {
    changed(model, |json, _| header(json))
}

fn changed(model: &Model, change: impl FnOnce(&mut Value, &mut Vec<Tensor>)) -> Vec<u8> {
    let bytes = model.to_bytes().expect("bytes");
    let (_, metadata) = SafeTensors::read_metadata(&bytes).expect("metadata");
    let header = &metadata.metadata().as_ref().expect("metadata")["gnan"];
    let mut header: Value = serde_json::from_str(header).expect("JSON");
    let file = SafeTensors::deserialize(&bytes).expect("tensors");
    let parts = file.tensors().into_iter().map(|(name, t)| (name, t.dtype(), t.shape().to_vec(), t.data().to_vec()));
    let mut parts: Vec<Tensor> = parts.collect();
    change(&mut header, &mut parts);
    let views = parts.iter().map(|(name, dtype, shape, data)| {
        (name.as_str(), TensorView::new(*dtype, shape.clone(), data).expect("a tensor"))
    });
    safetensors::serialize(views, Some(HashMap::from([("gnan".to_owned(), header.to_string())]))).expect("bytes")
}
