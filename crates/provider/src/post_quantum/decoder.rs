//! Reads ML-KEM keys: what stock's decoders found in PEM or PKCS #8, and what is DER already.

use std::ffi::CStr;
use std::marker::PhantomData;

use outboard_engine::kem::Set;
use outboard_provider_abi::decoder::{Decoded, Decoder, Source, table};
use outboard_provider_abi::{Result, Selection};

use super::format::{self, MOST, Parts};
use super::ml_kem::{Key, assemble};
use super::{Coder, ML_KEM};
use crate::decoder::object;
use crate::outboard::Outboard;

/// A parameter set as a type.
trait Parameters: 'static {
    const SET: Set;
    const TYPE: &'static CStr;
}

/// What a file holds.
trait Structure: 'static {
    fn does(selection: Selection) -> bool;
    fn read(set: Set, bytes: &[u8]) -> Option<Parts<'_>>;
}

struct MlKem512;
struct MlKem768;
struct MlKem1024;

impl Parameters for MlKem512 {
    const SET: Set = Set::MlKem512;
    const TYPE: &'static CStr = c"ML-KEM-512";
}

impl Parameters for MlKem768 {
    const SET: Set = Set::MlKem768;
    const TYPE: &'static CStr = c"ML-KEM-768";
}

impl Parameters for MlKem1024 {
    const SET: Set = Set::MlKem1024;
    const TYPE: &'static CStr = c"ML-KEM-1024";
}

struct Private;
struct Public;

impl Structure for Private {
    /// What has a private half is no public key's file, as with stock.
    fn does(selection: Selection) -> bool {
        selection.0 == 0 || selection.touches(Selection::PRIVATE)
    }

    fn read(set: Set, bytes: &[u8]) -> Option<Parts<'_>> {
        format::read_private(set, bytes)
    }
}

impl Structure for Public {
    fn does(selection: Selection) -> bool {
        selection.0 == 0
            || selection.touches(Selection::PUBLIC) && !selection.touches(Selection::PRIVATE)
    }

    fn read(set: Set, bytes: &[u8]) -> Option<Parts<'_>> {
        format::read_public(set, bytes)
    }
}

/// All of them.
pub(super) fn all() -> Vec<Coder> {
    let private = "provider=outboard,input=der,structure=PrivateKeyInfo";
    let public = "provider=outboard,input=der,structure=SubjectPublicKeyInfo";
    let coder = |names, properties: &str, table: &[_]| -> Coder {
        (names, properties.to_owned(), table.into())
    };
    vec![
        coder(ML_KEM[0], private, table::<Der<MlKem512, Private>>()),
        coder(ML_KEM[0], public, table::<Der<MlKem512, Public>>()),
        coder(ML_KEM[1], private, table::<Der<MlKem768, Private>>()),
        coder(ML_KEM[1], public, table::<Der<MlKem768, Public>>()),
        coder(ML_KEM[2], private, table::<Der<MlKem1024, Private>>()),
        coder(ML_KEM[2], public, table::<Der<MlKem1024, Public>>()),
    ]
}

struct Der<P, S>(PhantomData<(P, S)>);

impl<P: Parameters, S: Structure> Decoder for Der<P, S> {
    type Key = Key;
    const TYPE: &'static CStr = P::TYPE;

    fn does(selection: Selection) -> bool {
        S::does(selection)
    }

    fn decode(provider: &Outboard, input: &mut Source<'_>) -> Result<Decoded<Key>> {
        let Some(object) = object(input, MOST) else {
            return Ok(Decoded::Nothing);
        };
        let Some(parts) = S::read(P::SET, &object) else {
            return Ok(Decoded::Nothing);
        };
        let shared = provider.shared();
        let key = assemble(&shared, P::SET, parts.seed, parts.private, parts.public)?;
        Ok(Decoded::Key(Key::of(shared, P::SET, key)))
    }
}
