//! The check that a Parquet file passes before the parquet crate sees it: that crate allocates what a file claims.
//!
//! The claims are in the footer and in the header of each page, both in Thrift's compact protocol. They are walked here
//! without being understood, except for the few numbers that lead to an allocation or a recursion.

/// Why a file is refused, in a few words.
pub type Refusal = &'static str;

/// A file ends in the length of its footer and this word.
const MAGIC: &[u8] = b"PAR1";
/// Nested columns: each is a recursion of the parser.
const MOST_GROUPS: u64 = 1000;
const MOST_DEPTH: usize = 32;
/// A page may claim this many bytes, or else so many times what it holds (the most that deflate can do).
const PLAUSIBLE_PAGE: u64 = 64 << 20;
const PLAUSIBLE_RATIO: u64 = 1100;
/// PLAIN, PLAIN_DICTIONARY, RLE, DELTA_BINARY_PACKED, RLE_DICTIONARY, BYTE_STREAM_SPLIT. The others hold lengths of
/// their own, which are not checked here.
const ENCODINGS: [i64; 6] = [0, 2, 3, 5, 8, 9];

/// Accepts a file whose footer makes no impossible claim.
pub fn check_footer(bytes: &[u8]) -> Result<(), Refusal> {
    let cut = "it is cut short or no Parquet file";
    let body = bytes.strip_suffix(MAGIC).filter(|_| bytes.starts_with(MAGIC)).ok_or(cut)?;
    let (body, length) = body.split_last_chunk::<4>().ok_or(cut)?;
    let length = u32::from_le_bytes(*length) as usize;
    let start = body.len().checked_sub(length).ok_or(cut)?;
    let mut groups = 0;
    let mut sound = true;
    Walk { bytes: &body[start..], place: 0 }.structure(&mut Vec::new(), &mut |path, value| {
        // Children of an element of the schema.
        if path == [2, 5] {
            groups += u64::from(value != 0);
            sound &= u64::try_from(value).is_ok_and(|children| children <= length as u64);
        }
    })?;
    if sound && groups <= MOST_GROUPS { Ok(()) } else { Err("its columns are nested too deeply") }
}

/// Accepts the pages of one column of `rows` rows and returns how many bytes they expand to.
pub fn check_pages(mut bytes: &[u8], rows: u64) -> Result<u64, Refusal> {
    let mut total = 0;
    while !bytes.is_empty() {
        let mut walk = Walk { bytes, place: 0 };
        let [mut expanded, mut compressed, mut values, mut dictionary] = [0i64; 4];
        let mut known = true;
        walk.structure(&mut Vec::new(), &mut |path, value| match path {
            [2] => expanded = value,
            [3] => compressed = value,
            [5 | 8, 1] => values = value,
            [7, 1] => dictionary = value,
            [5, 2] | [8, 4] | [7, 2] => known &= ENCODINGS.contains(&value),
            _ => {}
        })?;
        let claim = |number: i64| u64::try_from(number).map_err(|_| "a page claims a negative size");
        let [expanded, compressed] = [claim(expanded)?, claim(compressed)?];
        if !known {
            return Err("a column is in an encoding that gnan does not read: write it with the default encoding");
        }
        if expanded > PLAUSIBLE_PAGE.max(compressed.saturating_mul(PLAUSIBLE_RATIO)) {
            return Err("a page claims to be larger than it can be");
        }
        // A value of a dictionary takes four bytes at least.
        if claim(values)? > rows || claim(dictionary)?.saturating_mul(4) > expanded {
            return Err("a page claims to hold more values than it can");
        }
        total += expanded;
        let header_and_data = usize::try_from(compressed).ok().and_then(|length| length.checked_add(walk.place));
        bytes = header_and_data.and_then(|length| bytes.get(length..)).ok_or("a page is cut short")?;
    }
    Ok(total)
}

/// A walk over Thrift's compact protocol.
struct Walk<'a> {
    bytes: &'a [u8],
    place: usize,
}

type Visit<'a> = &'a mut dyn FnMut(&[i16], i64);

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8, Refusal> {
        let byte = self.bytes.get(self.place).copied().ok_or("its description is cut short")?;
        self.place += 1;
        Ok(byte)
    }

    fn skip(&mut self, length: u64) -> Result<(), Refusal> {
        let place = usize::try_from(length).ok().and_then(|length| self.place.checked_add(length));
        self.place = place.filter(|&place| place <= self.bytes.len()).ok_or("its description is cut short")?;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Refusal> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("its description holds an endless number")
    }

    fn zigzag(&mut self) -> Result<i64, Refusal> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The fields of a structure; `path` are the numbers of those that it is in.
    fn structure(&mut self, path: &mut Vec<i16>, visit: Visit) -> Result<(), Refusal> {
        if path.len() >= MOST_DEPTH {
            return Err("its description is nested too deeply");
        }
        path.push(0);
        let mut field = 0i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                break;
            }
            field = match header >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| "its description names an impossible field")?,
                step => field.wrapping_add(i16::from(step)),
            };
            if let Some(last) = path.last_mut() {
                *last = field;
            }
            match header & 0x0f {
                // The value of a truth value is its type.
                1 | 2 => {}
                kind => self.value(kind, path, visit)?,
            }
        }
        path.pop();
        Ok(())
    }

    fn value(&mut self, kind: u8, path: &mut Vec<i16>, visit: Visit) -> Result<(), Refusal> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let value = self.zigzag()?;
                visit(path, value);
                Ok(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let header = self.byte()?;
                let length = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
                // Every element takes a byte at least.
                if length > (self.bytes.len() - self.place) as u64 {
                    return Err("its description claims a list that is not there");
                }
                (0..length).try_for_each(|_| self.value(header & 0x0f, path, visit))
            }
            12 => self.structure(path, visit),
            _ => Err("its description is not understood"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(footer: &[u8]) -> Vec<u8> {
        [MAGIC, footer, &(footer.len() as u32).to_le_bytes(), MAGIC].concat()
    }

    /// A schema of so many elements with one child each: field 2, a list of structures whose field 5 is 1.
    fn nested(elements: usize) -> Vec<u8> {
        let list = [0x29, 0xfc, (elements & 0x7f) as u8 | 0x80, (elements >> 7) as u8];
        [list.to_vec(), [0x55, 2, 0].repeat(elements), vec![0]].concat()
    }

    #[test]
    fn a_footer_cannot_claim_what_is_not_there() {
        assert_eq!(check_footer(&file(&nested(900))), Ok(()));
        assert!(check_footer(&file(&nested(5000))).is_err_and(|reason| reason.contains("nested")));
        // A billion children.
        let children = [0x29, 0x1c, 0x55, 0x80, 0xa8, 0xd6, 0xb9, 0x07, 0, 0];
        assert!(check_footer(&file(&children)).is_err_and(|reason| reason.contains("nested")));
        // A list of a billion elements, a word of a billion letters, structures within structures.
        assert!(check_footer(&file(&[0x29, 0xfc, 0x80, 0x94, 0xeb, 0xdc, 0x03])).is_err());
        assert!(check_footer(&file(&[0x18, 0x80, 0x94, 0xeb, 0xdc, 0x03])).is_err());
        assert!(check_footer(&file(&[0x1c].repeat(100_000))).is_err_and(|reason| reason.contains("deeply")));
        assert!(check_footer(b"PAR1").is_err() && check_footer(b"").is_err());
    }

    #[test]
    fn a_page_cannot_claim_more_than_it_can_hold() {
        // Field 2 is the size it expands to, field 3 the size in the file; both in zigzag.
        assert_eq!(check_pages(&[0x25, 4, 0x15, 2, 0, 7], 10), Ok(2));
        assert!(check_pages(&[0x25, 4, 0x15, 4, 0, 7], 10).is_err_and(|reason| reason.contains("cut short")));
        assert!(check_pages(&[0x25, 0x80, 0x94, 0xeb, 0xdc, 0x03, 0x15, 2, 0, 7], 10).is_err());
        // Field 5 holds the number of values, its field 1.
        assert!(
            check_pages(&[0x25, 4, 0x15, 0, 0x2c, 0x15, 22, 0, 0], 10).is_err_and(|reason| reason.contains("values"))
        );
        assert_eq!(check_pages(&[0x25, 4, 0x15, 0, 0x2c, 0x15, 20, 0, 0], 10), Ok(2));
    }
}
