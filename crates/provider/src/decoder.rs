//! Decoders: a PEM block `OUTBOARD KEY` is read as a key of the card service.
//!
//! ```text
//! PEM ──▶ Pem ──▶ DER, structure OutboardKey ──▶ Service<Rsa | Ec | Ed25519> ──▶ key
//! ```
//!
//! In two steps, as stock's: programs that read any kind of file (OSSL_STORE) look at the DER themselves. A block that
//! is another's is read to its end: there stock's decoder leaves the input, too.

use std::ffi::CStr;
use std::marker::PhantomData;

use outboard_provider_abi::decoder::{Decoded, Decoder, LINE, Source};
use outboard_provider_abi::raw::Dispatch;
use outboard_provider_abi::{Data, Error, Reason, Result, Selection, decoder};
use outboard_wire::Reference;
use outboard_wire::reference::MOST_PEM;
use zeroize::Zeroizing;

use crate::key::{Ec, Ed25519, Key, KeyType, Public, Rsa};
use crate::outboard::Outboard;

/// What the second step's decoders call what they read.
const STRUCTURE: &CStr = c"OutboardKey";

/// The decoders: name, properties, and functions.
pub(crate) fn all() -> [(&'static CStr, &'static str, &'static [Dispatch]); 4] {
    const DER: &str = "input=der,structure=OutboardKey";
    [
        (c"DER", "input=pem", decoder::table::<Pem>()),
        (c"RSA", DER, decoder::table::<Der<Rsa>>()),
        (c"EC", DER, decoder::table::<Der<Ec>>()),
        (c"ED25519", DER, decoder::table::<Der<Ed25519>>()),
    ]
}

/// The first step.
struct Pem;

impl Decoder for Pem {
    /// It makes none; any type will do.
    type Key = Key<Rsa>;
    const TYPE: &'static CStr = c"DER";

    fn does(_: Selection) -> bool {
        true
    }

    fn decode(_: &Outboard, input: &mut Source<'_>) -> Result<Decoded<Key<Rsa>>> {
        let Some(block) = block(input)? else {
            return Ok(Decoded::Nothing);
        };
        let reference = Reference::from_pem(&block).map_err(damaged)?;
        data(&reference).map(Decoded::Data)
    }
}

/// A reference as the second step's decoders read it.
pub(crate) fn data(reference: &Reference) -> Result<Data> {
    Ok(Data {
        bytes: reference.to_der().map_err(damaged)?,
        structure: STRUCTURE,
        kind: public(reference)?.name(),
    })
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const OURS: &[u8] = outboard_wire::reference::FIRST_LINE.as_bytes();

/// The next block, if it is ours; another's is passed over.
fn block(input: &mut Source<'_>) -> Result<Option<Vec<u8>>> {
    let mut room = [0; LINE];
    let mut block = Vec::new();
    loop {
        let line = input.line(&mut room);
        if line.is_empty() {
            return Ok(None);
        }
        let line = line.trim_ascii_end();
        if line.starts_with(BEGIN) && line.ends_with(b"-----") {
            break block.extend_from_slice(line);
        }
    }
    let is_ours = block == OURS;
    loop {
        let line = input.line(&mut room);
        let is_last = line.is_empty() || line.starts_with(END);
        if is_ours {
            block.push(b'\n');
            block.extend_from_slice(line.trim_ascii_end());
            if block.len() > MOST_PEM {
                let detail = "the block OUTBOARD KEY is too long; write it again with 'outboard keys reference'";
                return Err(Error::new(Reason::InvalidKey, detail));
            }
        }
        if is_last {
            return Ok(is_ours.then_some(block));
        }
    }
}

/// The second step, for keys of one type.
struct Der<T>(PhantomData<T>);

impl<T: KeyType> Decoder for Der<T> {
    type Key = Key<T>;
    const TYPE: &'static CStr = T::NAMES[0];

    /// What has a private half is no public key's file, as with stock.
    fn does(selection: Selection) -> bool {
        selection.0 == 0 || selection.touches(Selection::PRIVATE)
    }

    fn decode(provider: &Outboard, input: &mut Source<'_>) -> Result<Decoded<Key<T>>> {
        let object = object(input, MOST_PEM);
        let Some(reference) = object.and_then(|object| Reference::from_der(&object).ok()) else {
            return Ok(Decoded::Nothing);
        };
        let public = public(&reference)?;
        if public.name() != T::NAMES[0] {
            return Ok(Decoded::Nothing);
        }
        Key::of_service(&provider.shared(), reference, &public).map(Decoded::Key)
    }
}

/// The next DER object, if it is a sequence of at most so many bytes. Another one is read to its end.
pub(crate) fn object(input: &mut Source<'_>, most: usize) -> Option<Zeroizing<Vec<u8>>> {
    // All at once: a buffer that grows leaves copies behind.
    let mut object = Zeroizing::new(Vec::with_capacity(most + 10));
    object.extend_from_slice(&[0; 2]);
    if input.bytes(&mut object) < 2 {
        return None;
    }
    let mut length = usize::from(object[1]);
    if length > 0x80 {
        let mut long = [0; 8];
        let long = long.get_mut(8 - (length - 0x80).min(8)..)?;
        if input.bytes(long) < long.len() {
            return None;
        }
        object.extend_from_slice(long);
        length = long.iter().try_fold(0_usize, |length, &byte| {
            length.checked_mul(0x100)?.checked_add(usize::from(byte))
        })?;
    }
    let wanted = object[0] == 0x30 && length <= most;
    let mut room = Zeroizing::new([0; 512]);
    while length > 0 {
        let piece = length.min(room.len());
        let piece = input.bytes(&mut room[..piece]);
        if piece == 0 {
            return None;
        }
        if wanted {
            object.extend_from_slice(&room[..piece]);
        }
        length -= piece;
    }
    wanted.then_some(object)
}

fn public(reference: &Reference) -> Result<Public> {
    Public::of(&reference.public).ok_or_else(|| {
        let name = &reference.name;
        let detail = format!(
            "key '{name}': its public half is damaged, or of a type that Outboard does not know"
        );
        Error::new(Reason::InvalidKey, detail)
    })
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::new(Reason::InvalidKey, error.to_string())
}
