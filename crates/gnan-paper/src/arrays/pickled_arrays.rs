//! NumPy arrays and SciPy matrices inside a [`Pickle`].

use std::path::Path;

use crate::arrays::npy::Array;
use crate::arrays::pickle::{Pickle, PickleClass, PickleValue};
use crate::arrays::sparse_rows::SparseRows;
use gnan::error::{Error, Result};
use gnan::limits::Limits;

/// The array that a pickle holds.
pub fn array(pickle: &Pickle, path: &Path) -> Result<Array<f64>> {
    array_of(pickle, pickle.root).ok_or_else(|| Error::input("this pickle does not hold an array").in_file(path))
}

/// The matrix that a pickle holds.
pub fn matrix(pickle: &Pickle, path: &Path, limits: &Limits) -> Result<SparseRows> {
    let parts = matrix_parts(pickle);
    let (shape, pointers, indices, values) =
        parts.ok_or_else(|| Error::input("this pickle does not hold a matrix in compressed rows").in_file(path))?;
    SparseRows::new(&shape, &pointers, &indices, values, limits).map_err(|(_, error)| error.in_file(path))
}

type MatrixParts = (Vec<i64>, Vec<i64>, Vec<i64>, Vec<f64>);

fn matrix_parts(pickle: &Pickle) -> Option<MatrixParts> {
    let (_, state) = pickle.object(pickle.root, PickleClass::CsrMatrix)?;
    let entries = pickle.dictionary(state)?;
    let entry = |name: &str| {
        let named = |key: &PickleValue| matches!(key, PickleValue::Bytes(bytes) if *bytes == name.as_bytes());
        entries.iter().find(|(key, _)| named(key)).map(|(_, value)| *value)
    };
    let shape = entry("_shape").or_else(|| entry("shape"))?;
    let whole =
        |name| array_of(pickle, entry(name)?)?.values.into_iter().map(whole_number).collect::<Option<Vec<i64>>>();
    Some((integers(pickle, shape)?, whole("indptr")?, whole("indices")?, array_of(pickle, entry("data")?)?.values))
}

fn whole_number(number: f64) -> Option<i64> {
    // Beyond this a float no longer tells neighbouring whole numbers apart.
    (number.fract() == 0.0 && number.abs() < (1u64 << 53) as f64).then_some(number as i64)
}

/// The whole numbers of a tuple or list.
pub fn integers<'a>(pickle: &Pickle<'a>, sequence: PickleValue<'a>) -> Option<Vec<i64>> {
    let number = |value: &PickleValue| match value {
        PickleValue::Integer(number) => Some(*number),
        _ => None,
    };
    pickle.sequence(sequence)?.iter().map(number).collect()
}

/// An array from its state: version, shape, type of the elements, whether the first index runs fastest, bytes.
fn array_of<'a>(pickle: &Pickle<'a>, value: PickleValue<'a>) -> Option<Array<f64>> {
    let (_, state) = pickle.object(value, PickleClass::Array)?;
    let [_, shape, element, fortran, data] = *pickle.sequence(state)? else { return None };
    let (PickleValue::Bool(fortran), PickleValue::Bytes(data)) = (fortran, data) else { return None };
    let shape = integers(pickle, shape)?.into_iter().map(|length| usize::try_from(length).ok());
    let shape = shape.collect::<Option<Vec<usize>>>()?;
    let (arguments, element_state) = pickle.object(element, PickleClass::ElementType)?;
    let Some(&PickleValue::Bytes(name)) = pickle.sequence(arguments)?.first() else { return None };
    let Some(&PickleValue::Bytes(order)) = pickle.sequence(element_state)?.get(1) else { return None };
    let values = numbers(name, order == b">", data)?;
    let claimed = shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length))?;
    if claimed != values.len() || shape.len() > 2 {
        return None;
    }
    let values = match (&shape[..], fortran) {
        (&[rows, columns], true) => {
            (0..claimed).map(|place| values[place % columns * rows + place / columns]).collect()
        }
        _ => values,
    };
    Some(Array { shape, values })
}

fn numbers(element: &[u8], big_endian: bool, data: &[u8]) -> Option<Vec<f64>> {
    fn all<const N: usize>(data: &[u8], big_endian: bool, number: fn([u8; N]) -> f64) -> Option<Vec<f64>> {
        let (chunks, rest) = data.as_chunks::<N>();
        let ordered = |mut bytes: [u8; N]| {
            if big_endian {
                bytes.reverse();
            }
            number(bytes)
        };
        rest.is_empty().then(|| chunks.iter().map(|&chunk| ordered(chunk)).collect())
    }
    match element {
        b"f4" => all(data, big_endian, |bytes| f64::from(f32::from_le_bytes(bytes))),
        b"f8" => all(data, big_endian, f64::from_le_bytes),
        b"i1" => all(data, big_endian, |bytes| f64::from(i8::from_le_bytes(bytes))),
        b"i2" => all(data, big_endian, |bytes| f64::from(i16::from_le_bytes(bytes))),
        b"i4" => all(data, big_endian, |bytes| f64::from(i32::from_le_bytes(bytes))),
        b"i8" => all(data, big_endian, |bytes| i64::from_le_bytes(bytes) as f64),
        b"u1" | b"b1" => all(data, big_endian, |bytes: [u8; 1]| f64::from(bytes[0])),
        _ => None,
    }
}
