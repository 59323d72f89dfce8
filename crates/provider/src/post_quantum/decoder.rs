//! Reads ML-KEM and ML-DSA keys: what stock's decoders found in PEM or PKCS #8, and what is DER already.

use std::ffi::CStr;
use std::marker::PhantomData;

use outboard_provider_abi::decoder::{Decoded, Decoder, Source, table};
use outboard_provider_abi::{Result, Selection};

use super::format::{self, MOST, Object, Parts};
use super::lattice::{Content, Key, assemble};
use super::{Coder, ML_DSA, ML_KEM, ml_dsa, ml_kem};
use crate::decoder::object;
use crate::outboard::Outboard;

/// A parameter set as a type: the place in its content's [`Content::SETS`].
trait Parameters: 'static {
    type Content: Content;
    const SET: usize;
    const TYPE: &'static CStr;
}

/// What a file holds.
trait Structure: 'static {
    fn does(selection: Selection) -> bool;
    fn read(object: Object, bytes: &[u8]) -> Option<Parts<'_>>;
}

macro_rules! parameters {
    ($($name:ident: $content:ty, $set:literal, $type:literal;)*) => {
        $(
            struct $name;

            impl Parameters for $name {
                type Content = $content;
                const SET: usize = $set;
                const TYPE: &'static CStr = $type;
            }
        )*
    };
}

parameters! {
    MlKem512: ml_kem::Form, 0, c"ML-KEM-512";
    MlKem768: ml_kem::Form, 1, c"ML-KEM-768";
    MlKem1024: ml_kem::Form, 2, c"ML-KEM-1024";
    MlDsa44: ml_dsa::Form, 0, c"ML-DSA-44";
    MlDsa65: ml_dsa::Form, 1, c"ML-DSA-65";
    MlDsa87: ml_dsa::Form, 2, c"ML-DSA-87";
}

struct Private;
struct Public;

impl Structure for Private {
    /// What has a private half is no public key's file, as with stock.
    fn does(selection: Selection) -> bool {
        selection.0 == 0 || selection.touches(Selection::PRIVATE)
    }

    fn read(object: Object, bytes: &[u8]) -> Option<Parts<'_>> {
        format::read_private(object, bytes)
    }
}

impl Structure for Public {
    fn does(selection: Selection) -> bool {
        selection.0 == 0
            || selection.touches(Selection::PUBLIC) && !selection.touches(Selection::PRIVATE)
    }

    fn read(object: Object, bytes: &[u8]) -> Option<Parts<'_>> {
        format::read_public(object, bytes)
    }
}

/// All of them.
pub(super) fn all() -> Vec<Coder> {
    let all = [
        of::<MlKem512>(ML_KEM[0]),
        of::<MlKem768>(ML_KEM[1]),
        of::<MlKem1024>(ML_KEM[2]),
        of::<MlDsa44>(ML_DSA[0]),
        of::<MlDsa65>(ML_DSA[1]),
        of::<MlDsa87>(ML_DSA[2]),
    ];
    all.into_iter().flatten().collect()
}

fn of<P: Parameters>(names: &'static CStr) -> [Coder; 2] {
    let private = "provider=outboard,input=der,structure=PrivateKeyInfo";
    let public = "provider=outboard,input=der,structure=SubjectPublicKeyInfo";
    [
        (names, private.to_owned(), table::<Der<P, Private>>().into()),
        (names, public.to_owned(), table::<Der<P, Public>>().into()),
    ]
}

struct Der<P, S>(PhantomData<(P, S)>);

impl<P: Parameters, S: Structure> Decoder for Der<P, S> {
    type Key = Key<P::Content>;
    const TYPE: &'static CStr = P::TYPE;

    fn does(selection: Selection) -> bool {
        S::does(selection)
    }

    fn decode(provider: &Outboard, input: &mut Source<'_>) -> Result<Decoded<Self::Key>> {
        let set = P::Content::SETS[P::SET];
        let Some(bytes) = object(input, MOST) else {
            return Ok(Decoded::Nothing);
        };
        let Some(parts) = S::read(P::Content::object(set), &bytes) else {
            return Ok(Decoded::Nothing);
        };
        let shared = provider.shared();
        let key = assemble(&shared, set, parts.seed, parts.private, parts.public)?;
        Ok(Decoded::Key(Key::of(shared, set, key)))
    }
}
