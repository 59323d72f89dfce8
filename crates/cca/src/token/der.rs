//! What AWS-LC writes of keys, read: DER, in as far as these structures have it.

/// Modulus and exponent of an RSA key's SubjectPublicKeyInfo, which AWS-LC wrote.
pub(super) fn rsa_numbers(info: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut reader = info;
    let mut inner = element(&mut reader, 0x30)?;
    element(&mut inner, 0x30)?;
    let bits = element(&mut inner, 0x03)?;
    let mut key = bits.strip_prefix(&[0])?;
    let mut numbers = element(&mut key, 0x30)?;
    let mut number = || {
        let number = element(&mut numbers, 0x02)?;
        Some(number.strip_prefix(&[0]).unwrap_or(number).to_vec())
    };
    Some((number()?, number()?))
}

/// The content of a DER element of that tag.
pub(super) fn element<'a>(input: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let [found, first, rest @ ..] = *input else {
        return None;
    };
    if *found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81 => (usize::from(*rest.first()?), &rest[1..]),
        0x82 => (
            usize::from(u16::from_be_bytes(rest.get(..2)?.try_into().ok()?)),
            &rest[2..],
        ),
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    *input = after;
    Some(content)
}
