//! Python pickles of protocol 2, as far as the Planetoid files use them.
//!
//! A pickle is a program for a small stack machine. Here it is read as data: nothing is imported or called, a
//! [`PickleClass`] is one of a handful that are known by name, and any other name or instruction is refused. Every
//! instruction takes at least a byte of the file and stores a bounded amount, so memory is bounded by the file, and
//! what is built lies flat in one list, so no depth of nesting can exhaust the stack.

use std::collections::HashMap;
use std::path::Path;

use gnan::error::{Error, Result};

/// What may be named in a file: classes and the function that makes arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickleClass {
    /// A matrix in compressed sparse rows.
    CsrMatrix,
    /// The function that makes an array, to be filled in later.
    Reconstruct,
    /// An array.
    Array,
    /// The type of the elements of an array.
    ElementType,
    /// A dictionary with a default.
    DefaultDict,
    /// A list, named as the default of a dictionary.
    List,
}

const CLASSES: &[(&str, &str, PickleClass)] = &[
    ("scipy.sparse.csr", "csr_matrix", PickleClass::CsrMatrix),
    ("scipy.sparse._csr", "csr_matrix", PickleClass::CsrMatrix),
    ("numpy.core.multiarray", "_reconstruct", PickleClass::Reconstruct),
    ("numpy._core.multiarray", "_reconstruct", PickleClass::Reconstruct),
    ("numpy", "ndarray", PickleClass::Array),
    ("numpy", "dtype", PickleClass::ElementType),
    ("collections", "defaultdict", PickleClass::DefaultDict),
    ("__builtin__", "list", PickleClass::List),
    ("builtins", "list", PickleClass::List),
];

/// A value, or the place of a compound one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PickleValue<'a> {
    /// Python's `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A string of bytes, which lies in the file.
    Bytes(&'a [u8]),
    /// Something known by name.
    Class(PickleClass),
    /// A compound value of the [`Pickle`], by its place.
    Compound(usize),
}

/// A value that is made of others.
#[derive(Debug)]
pub enum PickleCompound<'a> {
    /// A tuple or a list.
    Sequence(Vec<PickleValue<'a>>),
    /// The entries of a dictionary, in order.
    Dictionary(Vec<(PickleValue<'a>, PickleValue<'a>)>),
    /// An object: its class, what it was made from, and its state.
    Object(PickleClass, PickleValue<'a>, Option<PickleValue<'a>>),
}

/// What a pickle holds.
#[derive(Debug)]
pub struct Pickle<'a> {
    /// The outermost value.
    pub root: PickleValue<'a>,
    compounds: Vec<PickleCompound<'a>>,
}

impl<'a> Pickle<'a> {
    /// Reads a pickle from the bytes of the file at `path`.
    pub fn parse(bytes: &'a [u8], path: &Path) -> Result<Pickle<'a>> {
        let mut machine = Machine { bytes, at: 0, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new() };
        let mut compounds = Vec::new();
        machine.run(&mut compounds).map(|root| Pickle { root, compounds }).map_err(|trouble| {
            let at = machine.at;
            match trouble {
                PickleFault::CutShort => Error::input("this pickle is cut short"),
                PickleFault::Malformed => Error::input(format!("this pickle is damaged near byte {at}")),
                PickleFault::Instruction(code) => Error::input(format!(
                    "this pickle has instruction {code:#04x} at byte {at}, which Planetoid files do not use"
                )),
                PickleFault::Name(name) => {
                    Error::input(format!("this pickle refers to \"{name}\", which is neither read nor run"))
                }
            }
            .in_file(path)
        })
    }

    /// The compound at a place.
    fn compound(&self, value: PickleValue<'a>) -> Option<&PickleCompound<'a>> {
        match value {
            PickleValue::Compound(place) => self.compounds.get(place),
            _ => None,
        }
    }

    /// The items of a tuple or list.
    pub fn sequence(&self, value: PickleValue<'a>) -> Option<&[PickleValue<'a>]> {
        match self.compound(value)? {
            PickleCompound::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a dictionary.
    pub fn dictionary(&self, value: PickleValue<'a>) -> Option<&[(PickleValue<'a>, PickleValue<'a>)]> {
        match self.compound(value)? {
            PickleCompound::Dictionary(entries) => Some(entries),
            _ => None,
        }
    }

    /// What an object of this class was made from, and its state.
    pub fn object(&self, value: PickleValue<'a>, wanted: PickleClass) -> Option<(PickleValue<'a>, PickleValue<'a>)> {
        match *self.compound(value)? {
            PickleCompound::Object(class, arguments, Some(state)) if class == wanted => Some((arguments, state)),
            _ => None,
        }
    }
}

enum PickleFault {
    CutShort,
    Malformed,
    Instruction(u8),
    Name(String),
}

type PickleResult<T> = std::result::Result<T, PickleFault>;

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<PickleValue<'a>>,
    /// Heights of the stack where a mark was set.
    marks: Vec<usize>,
    memo: HashMap<u32, PickleValue<'a>>,
}

impl<'a> Machine<'a> {
    fn run(&mut self, compounds: &mut Vec<PickleCompound<'a>>) -> PickleResult<PickleValue<'a>> {
        loop {
            let code = self.byte()?;
            let value = match code {
                b'\x80' => {
                    self.byte()?;
                    continue;
                }
                b'.' => return self.pop(),
                b'(' => {
                    self.marks.push(self.stack.len());
                    continue;
                }
                b'q' => {
                    let key = u32::from(self.byte()?);
                    self.remember(key)?;
                    continue;
                }
                b'r' => {
                    let key = self.number()?;
                    self.remember(key)?;
                    continue;
                }
                b'h' => {
                    let key = u32::from(self.byte()?);
                    self.recall(key)?
                }
                b'j' => {
                    let key = self.number()?;
                    self.recall(key)?
                }
                b'N' => PickleValue::None,
                b'\x88' => PickleValue::Bool(true),
                b'\x89' => PickleValue::Bool(false),
                b'K' => PickleValue::Integer(i64::from(self.byte()?)),
                b'M' => PickleValue::Integer(i64::from(u16::from_le_bytes(self.exactly()?))),
                b'J' => PickleValue::Integer(i64::from(i32::from_le_bytes(self.exactly()?))),
                b'U' => {
                    let length = self.byte()? as usize;
                    PickleValue::Bytes(self.take(length)?)
                }
                b'T' => {
                    let length = self.number()? as usize;
                    PickleValue::Bytes(self.take(length)?)
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    let known = CLASSES.iter().find(|known| (known.0, known.1) == (&module, &name));
                    PickleValue::Class(known.ok_or_else(|| PickleFault::Name(format!("{module}.{name}")))?.2)
                }
                _ => {
                    let made = self.compound(code, compounds)?;
                    let Some(made) = made else { continue };
                    compounds.push(made);
                    PickleValue::Compound(compounds.len() - 1)
                }
            };
            self.stack.push(value);
        }
    }

    /// Instructions that make compound values (returned) or fill them.
    fn compound(&mut self, code: u8, compounds: &mut [PickleCompound<'a>]) -> PickleResult<Option<PickleCompound<'a>>> {
        Ok(Some(match code {
            b')' | b']' => PickleCompound::Sequence(Vec::new()),
            b'}' => PickleCompound::Dictionary(Vec::new()),
            b'\x85'..=b'\x87' => {
                let length = usize::from(code - b'\x84');
                let start = self.stack.len().checked_sub(length).ok_or(PickleFault::Malformed)?;
                PickleCompound::Sequence(self.stack.split_off(start))
            }
            b't' => PickleCompound::Sequence(self.above_mark()?),
            b'\x81' | b'R' => {
                let (arguments, class) = (self.pop()?, self.pop()?);
                match class {
                    PickleValue::Class(PickleClass::CsrMatrix) => {
                        PickleCompound::Object(PickleClass::CsrMatrix, arguments, None)
                    }
                    PickleValue::Class(PickleClass::Reconstruct) => {
                        PickleCompound::Object(PickleClass::Array, arguments, None)
                    }
                    PickleValue::Class(PickleClass::ElementType) => {
                        PickleCompound::Object(PickleClass::ElementType, arguments, None)
                    }
                    PickleValue::Class(PickleClass::DefaultDict) => PickleCompound::Dictionary(Vec::new()),
                    _ => return Err(PickleFault::Malformed),
                }
            }
            b'b' | b'a' | b'e' | b's' | b'u' => {
                let mut items = match code {
                    b'e' | b'u' => self.above_mark()?,
                    b's' => {
                        let (value, key) = (self.pop()?, self.pop()?);
                        vec![key, value]
                    }
                    _ => vec![self.pop()?],
                };
                let Some(&PickleValue::Compound(place)) = self.stack.last() else { return Err(PickleFault::Malformed) };
                match (code, compounds.get_mut(place)) {
                    (b'b', Some(PickleCompound::Object(_, _, state))) => *state = items.pop(),
                    (b'a' | b'e', Some(PickleCompound::Sequence(list))) => list.append(&mut items),
                    (b's' | b'u', Some(PickleCompound::Dictionary(entries))) => {
                        let (pairs, rest) = items.as_chunks::<2>();
                        if !rest.is_empty() {
                            return Err(PickleFault::Malformed);
                        }
                        entries.extend(pairs.iter().map(|&[key, value]| (key, value)));
                    }
                    _ => return Err(PickleFault::Malformed),
                }
                return Ok(None);
            }
            unknown => return Err(PickleFault::Instruction(unknown)),
        }))
    }

    fn pop(&mut self) -> PickleResult<PickleValue<'a>> {
        self.stack.pop().ok_or(PickleFault::Malformed)
    }

    fn above_mark(&mut self) -> PickleResult<Vec<PickleValue<'a>>> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or(PickleFault::Malformed)?;
        Ok(self.stack.split_off(mark))
    }

    fn remember(&mut self, key: u32) -> PickleResult<()> {
        let value = *self.stack.last().ok_or(PickleFault::Malformed)?;
        self.memo.insert(key, value);
        Ok(())
    }

    fn recall(&self, key: u32) -> PickleResult<PickleValue<'a>> {
        self.memo.get(&key).copied().ok_or(PickleFault::Malformed)
    }

    fn take(&mut self, length: usize) -> PickleResult<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or(PickleFault::CutShort)?;
        self.at += length;
        Ok(taken)
    }

    fn byte(&mut self) -> PickleResult<u8> {
        Ok(self.take(1)?[0])
    }

    fn exactly<const N: usize>(&mut self) -> PickleResult<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| PickleFault::CutShort)
    }

    fn number(&mut self) -> PickleResult<u32> {
        Ok(u32::from_le_bytes(self.exactly()?))
    }

    fn line(&mut self) -> PickleResult<String> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or(PickleFault::CutShort)?;
        let line = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.take(1)?;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        let parsed = Pickle::parse(bytes, Path::new("x")).map(|_| String::new());
        parsed.unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn plain_values_are_read() {
        let pickle = Pickle::parse(b"\x80\x02}q\x00(K\x01]q\x01(K\x02M\x00\x01eK\x03h\x01u.", Path::new("x")).unwrap();
        let entries = pickle.dictionary(pickle.root).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].1, entries[1].1);
        assert_eq!(pickle.sequence(entries[0].1).unwrap(), [PickleValue::Integer(2), PickleValue::Integer(256)]);
    }

    #[test]
    fn nothing_is_run() {
        let attack = b"cos\nsystem\nq\x00U\x04trueq\x01\x85R.";
        assert_eq!(refusal(attack), "x: this pickle refers to \"os.system\", which is neither read nor run");
        assert!(refusal(b"I1\n.").contains("instruction 0x49"));
    }

    #[test]
    fn damage_is_an_error() {
        for bytes in
            [&b""[..], b".", b"t.", b"u.", b"e.", b"K", b"h\x07.", b"T\xff\xff\xff\xff.", b"cnumpy\nnd", b"\x87."]
        {
            assert!(!refusal(bytes).is_empty(), "{bytes:?}");
        }
        // A list that holds itself is no problem for what never walks into it.
        assert_eq!(refusal(b"]q\x00h\x00a."), "");
        let deep = [&b"]".repeat(100_000)[..], &b"a".repeat(99_999), b"."].concat();
        assert_eq!(refusal(&deep), "");
    }
}
