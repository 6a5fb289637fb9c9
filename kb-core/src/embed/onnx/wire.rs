//! The protocol buffer wire format, as far as ONNX files use it.

use crate::{Error, ErrorKind, Result};

/// One field's value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 5.
    Fixed32([u8; 4]),
    /// Wire type 1; nothing that is read here has it.
    Fixed64,
    /// Wire type 2: a string, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

/// Walks over the fields of one message.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a>(pub &'a [u8]);

pub(super) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Model, format!("model.onnx is damaged or not an ONNX file: {what}"))
}

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        if n > self.0.len() {
            return Err(damaged("a field ends past the end of its message"));
        }
        let (head, tail) = self.0.split_at(n);
        self.0 = tail;
        Ok(head)
    }

    pub(super) fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for (i, byte) in self.0.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * i).min(63);
            if byte & 0x80 == 0 {
                self.0 = &self.0[i + 1..];
                return Ok(value);
            }
        }
        Err(damaged("an unfinished number"))
    }

    /// The next field's number and value, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Value<'a>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                self.take(8)?;
                Value::Fixed64
            }
            2 => {
                let n = usize::try_from(self.varint()?).map_err(|_| damaged("a length"))?;
                Value::Bytes(self.take(n)?)
            }
            5 => {
                let mut b = [0; 4];
                b.copy_from_slice(self.take(4)?);
                Value::Fixed32(b)
            }
            _ => return Err(damaged("an unknown wire type")),
        };
        Ok(Some(((key >> 3) as u32, value)))
    }
}

impl<'a> Value<'a> {
    pub(super) fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Value::Bytes(b) => Ok(b),
            _ => Err(damaged("bytes expected")),
        }
    }

    pub(super) fn string(self) -> Result<String> {
        std::str::from_utf8(self.bytes()?).map(str::to_owned).map_err(|_| damaged("a name is not UTF-8"))
    }

    pub(super) fn int(self) -> Result<i64> {
        match self {
            Value::Varint(v) => Ok(v as i64),
            _ => Err(damaged("an integer expected")),
        }
    }

    pub(super) fn float(self) -> Result<f32> {
        match self {
            Value::Fixed32(b) => Ok(f32::from_le_bytes(b)),
            _ => Err(damaged("a float expected")),
        }
    }

    /// A repeated integer field: one element, or many packed.
    pub(super) fn ints(self, into: &mut Vec<i64>) -> Result<()> {
        match self {
            Value::Varint(v) => into.push(v as i64),
            Value::Bytes(b) => {
                let mut fields = Fields(b);
                while !fields.0.is_empty() {
                    into.push(fields.varint()? as i64);
                }
            }
            _ => return Err(damaged("integers expected")),
        }
        Ok(())
    }

    /// A repeated float field: one element, or many packed.
    pub(super) fn floats(self, into: &mut Vec<f32>) -> Result<()> {
        match self {
            Value::Fixed32(b) => into.push(f32::from_le_bytes(b)),
            Value::Bytes(b) => into.extend(b.as_chunks::<4>().0.iter().map(|c| f32::from_le_bytes(*c))),
            _ => return Err(damaged("floats expected")),
        }
        Ok(())
    }
}
