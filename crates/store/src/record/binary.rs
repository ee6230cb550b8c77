//! The compact form: variable-length numbers; texts and lists with a length prefix.

use super::{Record, Unreadable};

/// The remaining bytes.
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Unreadable> {
        let (first, rest) = self.0.split_first().ok_or_else(too_short)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(too_short)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(too_short)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Seven bits a byte, the lowest first; the high bit says that more follow.
    pub(super) fn number(&mut self) -> Result<u64, Unreadable> {
        // Nearly every number is short.
        if let [first @ 0..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Ok(u64::from(*first));
        }
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(too_large());
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(too_large())
    }

    /// How many members follow. Do not reserve memory for it: it may be damaged.
    pub(super) fn length(&mut self) -> Result<usize, Unreadable> {
        usize::try_from(self.number()?).map_err(|_| too_large())
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Unreadable> {
        let length = self.length()?;
        let bytes = self.bytes(length)?;
        std::str::from_utf8(bytes).map_err(|_| Unreadable::new("a text is not UTF-8"))
    }

    pub(super) fn end(self) -> Result<(), Unreadable> {
        match self.0 {
            [] => Ok(()),
            rest => Err(Unreadable::new(format!("{} bytes too many", rest.len()))),
        }
    }
}

pub(super) fn number(out: &mut Vec<u8>, mut number: u64) {
    while let Ok(low) = u8::try_from(number & 0x7f) {
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn length(out: &mut Vec<u8>, length: usize) {
    number(out, length as u64);
}

/// Reads a whole record and nothing else.
pub(super) fn read<T: Record>(bytes: &[u8]) -> Result<T, Unreadable> {
    let mut input = Input::new(bytes);
    let value = T::from_bytes(&mut input)?;
    input.end()?;
    Ok(value)
}

fn too_short() -> Unreadable {
    Unreadable::new("the bytes end too early")
}

fn too_large() -> Unreadable {
    Unreadable::new("a number is too large")
}
