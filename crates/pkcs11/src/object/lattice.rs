//! Keys of ML-KEM and ML-DSA (PKCS #11 3.2): a parameter set, and each half's bytes.

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::lattice::{Form, Key};
use outboard_engine::scalar::SecretBytes;
use outboard_engine::{dsa, kem};
use zeroize::Zeroizing;

use super::attributes::{Attributes, number};
use super::generated::Halves;
use super::material::Material;
use crate::error::Result;
use crate::module;

/// What the keys of a type are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lattice {
    /// Secrets.
    Kem(kem::Set),
    /// Signatures.
    Dsa(dsa::Set),
}

/// Whether keys of a type are such keys.
pub(super) fn is_type(key_type: CK_KEY_TYPE) -> bool {
    matches!(key_type, CKK_ML_KEM | CKK_ML_DSA)
}

impl Lattice {
    /// The one of a key type and a parameter set.
    ///
    /// # Errors
    /// `CKR_PARAMETER_SET_NOT_SUPPORTED`
    pub(crate) fn of(key_type: CK_KEY_TYPE, set: CK_ULONG) -> Result<Self> {
        Ok(match (key_type, set) {
            (CKK_ML_KEM, CKP_ML_KEM_512) => Self::Kem(kem::Set::MlKem512),
            (CKK_ML_KEM, CKP_ML_KEM_768) => Self::Kem(kem::Set::MlKem768),
            (CKK_ML_KEM, CKP_ML_KEM_1024) => Self::Kem(kem::Set::MlKem1024),
            (CKK_ML_DSA, CKP_ML_DSA_44) => Self::Dsa(dsa::Set::MlDsa44),
            (CKK_ML_DSA, CKP_ML_DSA_65) => Self::Dsa(dsa::Set::MlDsa65),
            (CKK_ML_DSA, CKP_ML_DSA_87) => Self::Dsa(dsa::Set::MlDsa87),
            _ => return Err(CKR_PARAMETER_SET_NOT_SUPPORTED.into()),
        })
    }

    fn of_attributes(attributes: &Attributes) -> Result<Self> {
        let key_type = attributes.number(CKA_KEY_TYPE);
        let set = attributes.number(CKA_PARAMETER_SET);
        let incomplete = CKR_TEMPLATE_INCOMPLETE;
        Self::of(key_type.ok_or(incomplete)?, set.ok_or(incomplete)?)
    }

    /// The key of a seed.
    fn of_seed(self, seed: &[u8]) -> Result<Material> {
        let seed = SecretBytes::from(seed);
        let made = match self {
            Self::Kem(set) => kem::seeded(set, module::path(set.keygen()), seed).map(of_kem),
            Self::Dsa(set) => dsa::seeded(set, module::path(set.keygen()), seed).map(of_dsa),
        };
        made.map_err(|error| match error {
            outboard_engine::Error::InvalidKey => CKR_ATTRIBUTE_VALUE_INVALID.into(),
            error => error.into(),
        })
    }

    /// A new key pair.
    ///
    /// # Errors
    /// The engine's.
    pub(crate) fn generate(self) -> Result<Halves> {
        let (key_type, set, made) = match self {
            Self::Kem(set) => {
                let made = kem::generate(set, module::path(set.keygen())).map(of_kem);
                (CKK_ML_KEM, set as CK_ULONG, made)
            }
            Self::Dsa(set) => {
                let made = dsa::generate(set, module::path(set.keygen())).map(of_dsa);
                (CKK_ML_DSA, set as CK_ULONG, made)
            }
        };
        let [public, private, seed] = match made? {
            Material::MlKem(key) => parts(&key)?,
            Material::MlDsa(key) => parts(&key)?,
            _ => return Err(CKR_GENERAL_ERROR.into()),
        };
        // The standard counts parameter sets from 1.
        let both = [
            (CKA_KEY_TYPE, Zeroizing::new(number(key_type))),
            (CKA_PARAMETER_SET, Zeroizing::new(number(set + 1))),
        ];
        let public = [(CKA_VALUE, public)];
        let private = [(CKA_SEED, seed), (CKA_VALUE, private)];
        Ok(Halves::of(
            [&both[..], &public].concat(),
            [&both[..], &private].concat(),
        ))
    }
}

fn of_kem(key: kem::Key) -> Material {
    Material::MlKem(Arc::new(key))
}

fn of_dsa(key: dsa::Key) -> Material {
    Material::MlDsa(Arc::new(key))
}

/// The public half, the private one and the seed, of a key that was made of one.
fn parts<F: Form>(key: &Key<F>) -> Result<[Zeroizing<Vec<u8>>; 3]> {
    let unknown = CKR_GENERAL_ERROR;
    let private = key.private_bytes().ok_or(unknown)?;
    let seed = key.seed().ok_or(unknown)?;
    let all = [key.public_bytes(), private, seed];
    Ok(all.map(|part| Zeroizing::new(part.to_vec())))
}

/// Gives a private half that has a seed its value.
///
/// # Errors
/// `CKR_ATTRIBUTE_VALUE_INVALID`: it is another seed's.
pub(super) fn complete(attributes: &mut Attributes) -> Result<()> {
    let key_type = attributes.number(CKA_KEY_TYPE);
    let (Some(seed), true) = (attributes.get(CKA_SEED), key_type.is_some_and(is_type)) else {
        return Ok(());
    };
    let [_, value, _] = match Lattice::of_attributes(attributes)?.of_seed(seed)? {
        Material::MlKem(key) => parts(&key)?,
        Material::MlDsa(key) => parts(&key)?,
        _ => return Err(CKR_GENERAL_ERROR.into()),
    };
    match attributes.get(CKA_VALUE) {
        Some(given) if given != &value[..] => Err(CKR_ATTRIBUTE_VALUE_INVALID.into()),
        _ => {
            attributes.set(CKA_VALUE, &value);
            Ok(())
        }
    }
}

/// The key of an object.
///
/// # Errors
/// `CKR_ATTRIBUTE_VALUE_INVALID`, `CKR_PARAMETER_SET_NOT_SUPPORTED`, `CKR_TEMPLATE_INCOMPLETE`.
pub(super) fn material(attributes: &Attributes, is_private: bool) -> Result<Material> {
    let lattice = Lattice::of_attributes(attributes)?;
    let value = attributes.get(CKA_VALUE).ok_or(CKR_TEMPLATE_INCOMPLETE)?;
    Ok(match (lattice, is_private) {
        (Lattice::Kem(set), true) => of_kem(kem::Key::private(set, value)?),
        (Lattice::Kem(set), false) => of_kem(kem::Key::public(set, value)?),
        (Lattice::Dsa(set), true) => of_dsa(dsa::Key::private(set, value)?),
        (Lattice::Dsa(set), false) => of_dsa(dsa::Key::public(set, value)?),
    })
}
