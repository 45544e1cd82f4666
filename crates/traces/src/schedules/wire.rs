//! The wire format of protocol buffers: fields by number, without knowing their messages.

/// The content of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// A number of variable length.
    Number(u64),
    /// A fixed field of eight bytes.
    Eight([u8; 8]),
    /// A fixed field of four bytes.
    Four([u8; 4]),
    /// Text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

/// A number of variable length at the beginning of bytes, which are then shorter by it.
pub(super) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// This many bytes from the beginning.
pub(super) fn split<'a>(bytes: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// The next field: its number and content.
pub(super) fn field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = number(bytes)?;
    let value = match key & 7 {
        0 => Value::Number(number(bytes)?),
        1 => Value::Eight(split(bytes, 8)?.try_into().ok()?),
        2 => {
            let len = number(bytes)?;
            Value::Bytes(split(bytes, len)?)
        }
        5 => Value::Four(split(bytes, 4)?.try_into().ok()?),
        _ => return None,
    };
    (key >> 3 > 0).then_some((key >> 3, value))
}

/// All fields of a message; `None` if it is incomplete.
pub(super) fn fields(mut message: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        fields.push(field(&mut message)?);
    }
    Some(fields)
}

/// Adds the numbers of a repeated field, packed or not.
pub(super) fn numbers(value: Value<'_>, into: &mut Vec<u64>) -> Option<()> {
    match value {
        Value::Number(n) => into.push(n),
        Value::Bytes(mut packed) => {
            while !packed.is_empty() {
                into.push(number(&mut packed)?);
            }
        }
        _ => return None,
    }
    Some(())
}
