//! NumPy arrays from bytes. Headers are not trusted: what one claims must be there before anything is allocated.

use std::path::Path;

use gnan::error::{Error, Result};
use gnan::memory::MemoryLimit;

/// The longest header that NumPy itself accepts.
const LONGEST_HEADER: usize = 10_000;
/// An array in C order: the last index runs fastest.
#[derive(Debug)]
pub struct Array<T> {
    /// Length along each axis.
    pub shape: Vec<usize>,
    /// The elements.
    pub values: Vec<T>,
}

/// An array before its elements are read: what its header says, and its data, which are as long as that claims.
struct Npy<'a> {
    /// The element, for example `i8`; without the order of its bytes.
    element: &'a str,
    big_endian: bool,
    /// Whether the first index runs fastest.
    fortran: bool,
    shape: Vec<usize>,
    /// Number of elements.
    len: usize,
    data: &'a [u8],
}

impl<'a> Npy<'a> {
    /// Opens an array after checking that its header is that of a plain array and that the data it claims are there.
    fn open(bytes: &'a [u8], path: &Path) -> Result<Npy<'a>> {
        let bad = |message: &str| Error::input(message).in_file(path);
        let (header, data) = parts(bytes).ok_or_else(|| bad("this is not a NumPy array, or it is cut short"))?;
        let plain = std::str::from_utf8(header).ok().and_then(Npy::parse);
        let mut array = plain.ok_or_else(|| bad("the header is not that of a plain array"))?;
        if array.element.starts_with('O') {
            return Err(bad("this array holds Python objects, which gnan does not read"));
        }
        let claimed = array.size().and_then(|size| array.len.checked_mul(size));
        let short = || bad("this array is shorter than its header claims");
        array.data = claimed.and_then(|claimed| data.get(..claimed)).ok_or_else(short)?;
        Ok(array)
    }

    /// What a header says: a Python dictionary of an element, an order and a shape.
    fn parse(header: &'a str) -> Option<Npy<'a>> {
        let value = |key: &str| Some(header.split_once(key)?.1.trim_start().strip_prefix(':')?.trim_start());
        let descr = value("'descr'")?.strip_prefix('\'')?.split_once('\'')?.0;
        let fortran = value("'fortran_order'")?.starts_with("True");
        let shape = value("'shape'")?.strip_prefix('(')?.split_once(')')?.0;
        let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
        // Python 2 wrote an L behind long numbers.
        let shape = lengths.map(|length| length.trim_end_matches('L').parse().ok()).collect::<Option<Vec<usize>>>()?;
        let len = shape.iter().try_fold(1usize, |product, length| product.checked_mul(*length))?;
        let element = descr.trim_start_matches(['<', '>', '|', '=']);
        Some(Npy { element, big_endian: descr.starts_with('>'), fortran, shape, len, data: &[] })
    }

    /// Bytes of an element; `None` for a type that is not plain.
    fn size(&self) -> Option<usize> {
        let width: usize = self.element.get(1..)?.parse().ok()?;
        if self.element.starts_with('U') { width.checked_mul(4) } else { Some(width) }
    }

    /// The elements, each of `N` bytes, made numbers by one of two functions; `None` if one is out of range.
    fn all<T: TryInto<O>, O, const N: usize>(&self, little: fn([u8; N]) -> T, big: fn([u8; N]) -> T) -> Option<Vec<O>> {
        let number = if self.big_endian { big } else { little };
        self.data.as_chunks::<N>().0.iter().map(|bytes| number(*bytes).try_into().ok()).collect()
    }

    /// An error about the elements.
    fn not(&self, wanted: &str, path: &Path) -> Error {
        Error::input(format!("the elements, of type '{}', are not {wanted}", self.element)).in_file(path)
    }

    /// The array of these elements.
    fn array<T: Copy>(self, values: Vec<T>) -> Array<T> {
        let values = match *self.shape {
            [rows, columns] if self.fortran => {
                let places = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
                places.map(|place| values[place]).collect()
            }
            _ => values,
        };
        Array { values, shape: self.shape }
    }
}

/// Reads an array of whole numbers of any width.
pub fn integers(bytes: &[u8], path: &Path, memory: MemoryLimit) -> Result<Array<i64>> {
    let array = open::<i64>(bytes, path, memory)?;
    let values = match array.element {
        "i1" => array.all(i8::from_le_bytes, i8::from_be_bytes),
        "i2" => array.all(i16::from_le_bytes, i16::from_be_bytes),
        "i4" => array.all(i32::from_le_bytes, i32::from_be_bytes),
        "i8" => array.all(i64::from_le_bytes, i64::from_be_bytes),
        "u1" => array.all(u8::from_le_bytes, u8::from_be_bytes),
        "u2" => array.all(u16::from_le_bytes, u16::from_be_bytes),
        "u4" => array.all(u32::from_le_bytes, u32::from_be_bytes),
        "u8" => array.all(u64::from_le_bytes, u64::from_be_bytes),
        _ => None,
    };
    let values = values.ok_or_else(|| array.not("whole numbers", path))?;
    Ok(array.array(values))
}

/// Reads an array of floats or small whole numbers.
pub fn numbers(bytes: &[u8], path: &Path, memory: MemoryLimit) -> Result<Array<f64>> {
    let array = open::<f64>(bytes, path, memory)?;
    let values = match array.element {
        "f4" => array.all(f32::from_le_bytes, f32::from_be_bytes),
        "f8" => array.all(f64::from_le_bytes, f64::from_be_bytes),
        "i1" => array.all(i8::from_le_bytes, i8::from_be_bytes),
        "i2" => array.all(i16::from_le_bytes, i16::from_be_bytes),
        "i4" => array.all(i32::from_le_bytes, i32::from_be_bytes),
        "u1" => array.all(u8::from_le_bytes, u8::from_be_bytes),
        "u2" => array.all(u16::from_le_bytes, u16::from_be_bytes),
        "u4" => array.all(u32::from_le_bytes, u32::from_be_bytes),
        _ => None,
    };
    let values = values.ok_or_else(|| array.not("numbers", path))?;
    Ok(array.array(values))
}

/// Reads an array of truth values, of bytes that are 0 or not, or of longer whole numbers that are 0 or 1.
pub fn masks(bytes: &[u8], path: &Path, memory: MemoryLimit) -> Result<Array<bool>> {
    let array = open::<bool>(bytes, path, memory)?;
    if ["b1", "u1", "i1"].contains(&array.element) {
        let values = array.data.iter().map(|&byte| byte != 0).collect();
        return Ok(array.array(values));
    }
    let wrong = || array.not("truth values", path);
    if !array.element.starts_with(['i', 'u']) {
        return Err(wrong());
    }
    let Array { values, shape } = integers(bytes, path, memory)?;
    let truth = |number: &i64| (0..=1).contains(number).then_some(*number == 1);
    let values = values.iter().map(truth).collect::<Option<_>>().ok_or_else(wrong)?;
    Ok(Array { values, shape })
}

/// Reads an array of words: of Unicode characters, or of bytes that are UTF-8.
pub fn words(bytes: &[u8], path: &Path) -> Result<Array<String>> {
    let array = Npy::open(bytes, path)?;
    let wrong = || array.not("words", path);
    let size = array.size().filter(|size| *size > 0).ok_or_else(wrong)?;
    let decode: fn(&[u8]) -> String = match (array.element.chars().next(), array.big_endian) {
        (Some('U'), false) => |word| characters(word, u32::from_le_bytes),
        (Some('U'), true) => |word| characters(word, u32::from_be_bytes),
        (Some('S'), _) => |word| String::from_utf8_lossy(word).trim_end_matches('\0').to_string(),
        _ => return Err(wrong()),
    };
    Ok(Array { values: array.data.chunks_exact(size).map(decode).collect(), shape: array.shape })
}

/// Opens an array whose elements will take the place of so many `T`.
fn open<'a, T>(bytes: &'a [u8], path: &Path, memory: MemoryLimit) -> Result<Npy<'a>> {
    let array = Npy::open(bytes, path)?;
    let needed = (array.len as u64).saturating_mul(size_of::<T>() as u64);
    memory.demand(needed, "the numbers of this array").map_err(|error| error.in_file(path))?;
    Ok(array)
}

/// A word of four bytes per character; the end is filled with zeros, and what is no character is replaced.
fn characters(word: &[u8], number: fn([u8; 4]) -> u32) -> String {
    let (words, _) = word.as_chunks::<4>();
    let numbers = words.iter().map(|&bytes| number(bytes)).take_while(|&number| number != 0);
    numbers.map(|number| char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
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
        let wide = |bytes: &[u8]| masks(&array("'<i4'", "False", "(2,)", bytes), path, MemoryLimit::default());
        assert_eq!(wide(&[1, 0, 0, 0, 0, 0, 0, 0]).unwrap().values, [true, false]);
        assert!(wide(&[2, 0, 0, 0, 0, 0, 0, 0]).is_err());
        assert!(masks(&array("'<f8'", "False", "(1,)", &[0; 8]), path, MemoryLimit::default()).is_err());
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
