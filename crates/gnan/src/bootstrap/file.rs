//! The file of replicates, `model.bootstrap` beside `model.gnan`: a safetensors container like the model file.
//!
//! | tensor | shape |
//! |---|---|
//! | `resample` (U32) | `[done]`: numbers of the resamples, ascending |
//! | `rho`, `shapes`, `structure`, `base` | `[done, ...]`: [`Curves`](crate::explain::Curves), points of all features in a row |
//! | `importance.features`, `.distances`, `.structure` | `[done, ...]`: mean absolute contributions |
//! | `present` | `[done, points]`: 1 where the resample held a graph with that level |
//!
//! Everything is checked before it is used: size before reading, version, the model it belongs to, names and shapes of
//! tensors, finite values. Writing is atomic.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::model::Model;
use crate::output::write_atomically;
use crate::remedy::{Remedy, Step};

use super::replicates::{PARTS, ReplicateLayout, Replicates, ReplicatesHeader};

/// The version this library writes, and the newest it reads.
pub(super) const FORMAT_VERSION: u32 = 1;
/// The metadata key of the header.
const KEY: &str = "gnan.bootstrap";
/// The tensor of the numbers of the resamples.
const RESAMPLE: &str = "resample";
const FEW: &str = "there are at most 100000 resamples";
const UNWRITABLE: &str = "the replicates cannot be written";

/// The version alone, readable whatever else a newer header holds.
#[derive(Deserialize)]
struct ReplicatesVersion {
    version: u32,
}

impl Replicates {
    /// Where the replicates of the model in `model` are kept: beside it, `model.gnan` and `model.bootstrap`.
    pub fn path_beside(model: impl AsRef<Path>) -> PathBuf {
        let model = model.as_ref();
        match model.extension() {
            Some(extension) if extension == "gnan" => model.with_extension("bootstrap"),
            // Whatever else a model is called, its replicates are called after all of it.
            _ => {
                let mut name = model.as_os_str().to_owned();
                name.push(".bootstrap");
                PathBuf::from(name)
            }
        }
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let header = ReplicatesHeader { done: self.rows.len(), ..self.header.clone() };
        let json = serde_json::to_string(&header).map_err(|error| Error::because(UNWRITABLE, error))?;
        let resamples: Vec<u8> =
            self.rows.keys().flat_map(|number| u32::try_from(*number).expect(FEW).to_le_bytes()).collect();
        let mut tensors = vec![(RESAMPLE, Dtype::U32, vec![self.rows.len()], resamples)];
        for (part, name) in PARTS {
            let numbers = self.part(part).into_iter().flatten();
            let shape = [&[self.rows.len()], &self.shape.dimensions(part)[..]].concat();
            tensors.push((name, Dtype::F64, shape, numbers.flat_map(|x| x.to_le_bytes()).collect()));
        }
        let views = tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| Ok((*name, TensorView::new(*dtype, shape.clone(), bytes)?)));
        let metadata = HashMap::from([(KEY.to_owned(), json)]);
        views
            .collect::<std::result::Result<Vec<_>, safetensors::SafeTensorError>>()
            .and_then(|views| safetensors::serialize(views, Some(metadata)))
            .map_err(|error| Error::because(UNWRITABLE, error))
    }

    /// Writes the file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads the replicates of `model`.
    pub fn load(path: impl AsRef<Path>, model: &Model) -> Result<Replicates> {
        let path = path.as_ref();
        if !path.is_file() {
            return Err(Error::input("there are no replicates")
                .in_file(path)
                .with_remedy(Remedy::Run(Step::Bootstrap { restart: false })));
        }
        let bytes = Limits::default().read(path, "bytes in a file of replicates")?;
        Self::from_bytes(&bytes, model).map_err(|error| error.in_file(path))
    }

    /// Reads the replicates of `model` from the bytes of their file.
    pub fn from_bytes(bytes: &[u8], model: &Model) -> Result<Replicates> {
        let broken = |what: String| {
            Error::input(format!("this is not a usable file of replicates: {what}"))
                .with_remedy(Remedy::Run(Step::Bootstrap { restart: true }))
        };
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| broken(error.to_string()).caused_by(error))?;
        let json = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let json = json.ok_or_else(|| broken("it has no header".to_owned()))?;
        let ReplicatesVersion { version } =
            serde_json::from_str(json).map_err(|error| broken(error.to_string()).caused_by(error))?;
        if version > FORMAT_VERSION {
            return Err(Error::version(format!(
                "the replicates have format version {version}; this gnan reads up to version {FORMAT_VERSION}"
            ))
            .with_remedy("update gnan"));
        }
        let header: ReplicatesHeader = serde_json::from_str(json).map_err(|error| broken(error.to_string()))?;
        if header.model != model.checksum()? {
            return Err(Error::input("these replicates belong to another model").with_remedy([
                "move them to their own model".into(),
                Remedy::Run(Step::Bootstrap { restart: true }).to("replace them"),
            ]));
        }
        if header.points.features.len() != model.definition().learned.features.len() {
            return Err(broken("its points do not fit the features of the model".to_owned()));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(error.to_string()).caused_by(error))?;
        let shape = ReplicateLayout::of(model, &header.points);
        let rows = read_rows(&tensors, &shape).map_err(broken)?;
        if rows.len() != header.done {
            return Err(broken(format!("it holds {} replicates and claims {}", rows.len(), header.done)));
        }
        if rows.last_key_value().is_some_and(|(number, _)| *number >= header.wanted) {
            return Err(broken("it holds a replicate that was not wanted".to_owned()));
        }
        Ok(Replicates { header, shape, rows })
    }
}

fn read_rows(
    tensors: &SafeTensors<'_>,
    shape: &ReplicateLayout,
) -> std::result::Result<BTreeMap<usize, Vec<f64>>, String> {
    let find = |name: &str| tensors.tensor(name).map_err(|_| format!("tensor \"{name}\" is missing"));
    let resample = find(RESAMPLE)?;
    let [done] = *resample.shape() else { return Err("its resamples are not numbered".to_owned()) };
    if resample.dtype() != Dtype::U32 {
        return Err("its resamples are not numbered".to_owned());
    }
    let (numbers, _) = resample.data().as_chunks::<4>();
    let numbers: Vec<usize> = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes) as usize).collect();
    if numbers.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err("its resamples are not in order".to_owned());
    }
    if tensors.len() != PARTS.len() + 1 {
        return Err("it holds tensors that do not belong in it".to_owned());
    }
    let mut rows = vec![Vec::new(); done];
    for (part, name) in PARTS {
        let tensor = find(name)?;
        let dimensions = shape.dimensions(part);
        let expected = [&[done], &dimensions[..]].concat();
        if tensor.dtype() != Dtype::F64 || tensor.shape() != expected {
            return Err(format!(
                "tensor \"{name}\" is {:?} {:?}, not F64 {expected:?}",
                tensor.dtype(),
                tensor.shape()
            ));
        }
        let (values, _) = tensor.data().as_chunks::<8>();
        let values: Vec<f64> = values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("tensor \"{name}\" holds a value that is not finite"));
        }
        let len: usize = dimensions.iter().product();
        for (row, values) in rows.iter_mut().zip(values.chunks_exact(len.max(1))) {
            row.extend_from_slice(values);
        }
    }
    Ok(numbers.into_iter().zip(rows).collect())
}
