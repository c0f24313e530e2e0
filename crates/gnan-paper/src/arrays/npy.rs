//! NumPy arrays from bytes. Headers are not trusted: what one claims must be there before anything is allocated.

use std::path::Path;

use npyz::{Deserialize, NpyFile, Order};

use gnan::error::{Error, Result};
use gnan::memory::MemoryLimit;

/// The longest header that NumPy itself accepts.
const LONGEST_HEADER: usize = 10_000;
/// With no more digits than these in a header, the number of elements fits 64 bits.
const MOST_DIGITS: usize = 18;
/// The header of a plain array is a dictionary with a tuple in it; a parser may recurse at each bracket.
const MOST_BRACKETS: usize = 2;

/// An array in C order: the last index runs fastest.
#[derive(Debug)]
pub struct Array<T> {
    /// Length along each axis.
    pub shape: Vec<usize>,
    /// The elements.
    pub values: Vec<T>,
}

type File<'a> = NpyFile<&'a [u8]>;

/// Reads an array of whole numbers of any width.
pub fn integers(bytes: &[u8], path: &Path, memory: MemoryLimit) -> Result<Array<i64>> {
    fn all<T: Deserialize + TryInto<i64>>(file: File) -> Option<Vec<i64>> {
        file.data::<T>().ok()?.map(|value| value.ok()?.try_into().ok()).collect()
    }
    read(bytes, path, memory, "whole numbers", |element, file| match element {
        "i1" => all::<i8>(file),
        "i2" => all::<i16>(file),
        "i4" => all::<i32>(file),
        "i8" => all::<i64>(file),
        "u1" => all::<u8>(file),
        "u2" => all::<u16>(file),
        "u4" => all::<u32>(file),
        "u8" => all::<u64>(file),
        _ => None,
    })
}

/// Reads an array of floats or small whole numbers.
pub fn numbers(bytes: &[u8], path: &Path, memory: MemoryLimit) -> Result<Array<f64>> {
    fn all<T: Deserialize + Into<f64>>(file: File) -> Option<Vec<f64>> {
        file.data::<T>().ok()?.map(|value| Some(value.ok()?.into())).collect()
    }
    read(bytes, path, memory, "numbers", |element, file| match element {
        "f4" => all::<f32>(file),
        "f8" => all::<f64>(file),
        "i1" => all::<i8>(file),
        "i2" => all::<i16>(file),
        "i4" => all::<i32>(file),
        "u1" => all::<u8>(file),
        "u2" => all::<u16>(file),
        "u4" => all::<u32>(file),
        _ => None,
    })
}

/// Reads an array of truth values, or of bytes that are 0 or not.
pub fn masks(bytes: &[u8], path: &Path, memory: MemoryLimit) -> Result<Array<bool>> {
    read(bytes, path, memory, "truth values", |element, file| match element {
        "b1" | "u1" | "i1" => Some(data_of(bytes)[..file.len() as usize].iter().map(|&byte| byte != 0).collect()),
        _ => None,
    })
}

/// Reads an array of words: of Unicode characters, or of bytes that are UTF-8.
pub fn words(bytes: &[u8], path: &Path) -> Result<Array<String>> {
    let file = open(bytes, path)?;
    let element = file.dtype().descr();
    let wrong = || Error::input(format!("the elements, of type {element}, are not words")).in_file(path);
    let plain = element.trim_matches('\'');
    let width = plain.get(2..).and_then(|width| width.parse::<usize>().ok()).filter(|&width| width > 0);
    let width = width.ok_or_else(wrong)?;
    let decode: fn(&[u8]) -> String = match plain.get(..2) {
        Some("<U") => |word| characters(word, u32::from_le_bytes),
        Some(">U") => |word| characters(word, u32::from_be_bytes),
        Some("|S") => |word| String::from_utf8_lossy(word).trim_end_matches('\0').to_string(),
        _ => return Err(wrong()),
    };
    let size = if plain.contains('U') { width.saturating_mul(4) } else { width };
    let values = data_of(bytes).chunks_exact(size).take(file.len() as usize).map(decode).collect();
    Ok(Array { shape: shape_of(&file, path)?, values })
}

/// A word of four bytes per character; the end is filled with zeros, and what is no character is replaced.
fn characters(word: &[u8], number: fn([u8; 4]) -> u32) -> String {
    let (words, _) = word.as_chunks::<4>();
    let numbers = words.iter().map(|&bytes| number(bytes)).take_while(|&number| number != 0);
    numbers.map(|number| char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn read<'a, T: Copy>(
    bytes: &'a [u8],
    path: &Path,
    memory: MemoryLimit,
    wanted: &str,
    elements: impl Fn(&str, File<'a>) -> Option<Vec<T>>,
) -> Result<Array<T>> {
    let file = open(bytes, path)?;
    let shape = shape_of(&file, path)?;
    memory
        .demand(file.len().saturating_mul(size_of::<T>() as u64), "the numbers of this array")
        .map_err(|error| error.in_file(path))?;
    let order = file.order();
    let element = file.dtype().descr();
    let values = elements(element.trim_matches(['\'', '<', '>', '|', '=']), file)
        .ok_or_else(|| Error::input(format!("the elements, of type {element}, are not {wanted}")).in_file(path))?;
    Ok(Array { values: in_c_order(&shape, values, order), shape })
}

/// Opens an array after checking that its header is that of a plain array and that the data it claims are there.
fn open<'a>(bytes: &'a [u8], path: &Path) -> Result<File<'a>> {
    let bad = |message: String| Error::input(message).in_file(path);
    let (header, data) =
        parts(bytes).ok_or_else(|| bad("this is not a NumPy array, or it is cut short".to_string()))?;
    let count = |wanted: fn(&u8) -> bool| header.iter().filter(|byte| wanted(byte)).count();
    if count(u8::is_ascii_digit) > MOST_DIGITS || count(|byte| b"([{".contains(byte)) > MOST_BRACKETS {
        return Err(bad("the header is not that of a plain array".to_string()));
    }
    let file =
        NpyFile::new(bytes).map_err(|error| Error::because("this NumPy array cannot be read", error).in_file(path))?;
    let size = file.dtype().num_bytes().filter(|_| !file.uses_pickled_array());
    let size = size.ok_or_else(|| bad("this array holds Python objects, which gnan does not read".to_string()))?;
    match file.len().checked_mul(size as u64) {
        Some(claimed) if claimed <= data.len() as u64 => Ok(file),
        _ => Err(bad("this array is shorter than its header claims".to_string())),
    }
}

/// The length along each axis.
fn shape_of(file: &File<'_>, path: &Path) -> Result<Vec<usize>> {
    let lengths = file.shape().iter().map(|&length| usize::try_from(length));
    lengths
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| Error::because("this array is too large", error).in_file(path))
}

/// The data of an array that was opened: they are as long as its header claims.
fn data_of(bytes: &[u8]) -> &[u8] {
    parts(bytes).expect("an array is opened only if its header can be told from its data").1
}

/// The header (Python text) and the data behind it.
fn parts(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *bytes.strip_prefix(b"\x93NUMPY")? {
        [1, _, a, b, ref rest @ ..] => (u16::from_le_bytes([a, b]) as usize, rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]) as usize, rest),
        _ => return None,
    };
    if length > LONGEST_HEADER { None } else { rest.split_at_checked(length) }
}

fn in_c_order<T: Copy>(shape: &[usize], values: Vec<T>, order: Order) -> Vec<T> {
    match (shape, order) {
        (&[rows, columns], Order::Fortran) => {
            let places = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
            places.map(|place| values[place]).collect()
        }
        _ => values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn refusal(bytes: &[u8]) -> String {
        integers(bytes, Path::new("x.npy"), MemoryLimit::default())
            .map(|_| String::new())
            .unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn plain_arrays_are_read_in_either_order() {
        let c = integers(
            &array("'<i2'", "False", "(2, 2)", &[1, 0, 2, 0, 3, 0, 4, 0]),
            Path::new("x"),
            MemoryLimit::default(),
        )
        .unwrap();
        let f = integers(
            &array("'<i2'", "True", "(2, 2)", &[1, 0, 2, 0, 3, 0, 4, 0]),
            Path::new("x"),
            MemoryLimit::default(),
        )
        .unwrap();
        assert_eq!((c.values, c.shape), (vec![1, 2, 3, 4], vec![2, 2]));
        assert_eq!(f.values, [1, 3, 2, 4]);
        let floats =
            numbers(&array("'>f4'", "False", "(1,)", &[0x3f, 0x80, 0, 0]), Path::new("x"), MemoryLimit::default())
                .unwrap();
        assert_eq!(floats.values, [1.0]);
    }

    #[test]
    fn a_header_cannot_claim_what_is_not_there() {
        assert!(refusal(&array("'<i8'", "False", "(1000000000,)", &[0; 8])).contains("shorter than its header"));
        assert!(refusal(&array("'<i8'", "False", "(99999999999, 99999999999)", &[0; 8])).contains("plain array"));
        assert!(refusal(&array("'<i8'", "False", &"(".repeat(9000), &[])).contains("plain array"));
        assert!(refusal(&array("'|O'", "False", "(1,)", &[0; 8])).contains("Python objects"));
        assert!(refusal(&array("'<f8'", "False", "(1,)", &[0; 8])).contains("not whole numbers"));
        assert!(refusal(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{").contains("cut short"));
    }

    #[test]
    fn marks_and_words() {
        let path = Path::new("x");
        assert_eq!(
            masks(&array("'|b1'", "False", "(2,)", &[1, 0]), path, MemoryLimit::default()).unwrap().values,
            [true, false]
        );
        assert_eq!(
            masks(&array("'|u1'", "True", "(2, 1)", &[0, 1]), path, MemoryLimit::default()).unwrap().values,
            [false, true]
        );
        assert!(masks(&array("'<i8'", "False", "(1,)", &[0; 8]), path, MemoryLimit::default()).is_err());
        let unicode = array("'<U2'", "False", "(2,)", &[65, 0, 0, 0, 0xe9, 0, 0, 0, 66, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(words(&unicode, path).unwrap().values, ["A\u{e9}", "B"]);
        assert_eq!(words(&array("'|S3'", "False", "(2,)", b"ab\0cde"), path).unwrap().values, ["ab", "cde"]);
        assert!(words(&array("'<U0'", "False", "(999999999,)", &[]), path).is_err());
        assert!(words(&array("'<i8'", "False", "(1,)", &[0; 8]), path).is_err());
    }

    #[test]
    fn every_prefix_is_an_error() {
        let bytes = array("'<i8'", "False", "(2,)", &[0; 16]);
        assert!(
            (0..bytes.len()).all(|length| integers(&bytes[..length], Path::new("x"), MemoryLimit::default()).is_err())
        );
        assert!(integers(&bytes, Path::new("x"), MemoryLimit::default()).is_ok());
    }
}
