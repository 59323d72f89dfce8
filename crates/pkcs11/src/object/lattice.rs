//! Keys of ML-KEM and ML-DSA (PKCS #11 3.2): a parameter set, and each half's bytes.

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::scalar::{ml_dsa, ml_kem, randomise};
use zeroize::Zeroizing;

use super::attributes::{Attributes, number};
use super::generated::Halves;
use super::material::Material;
use crate::error::{Error, Result};

/// What the keys of a type are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lattice {
    /// Secrets.
    Kem(ml_kem::Set),
    /// Signatures.
    Dsa(ml_dsa::Set),
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
            (CKK_ML_KEM, CKP_ML_KEM_512) => Self::Kem(ml_kem::Set::MlKem512),
            (CKK_ML_KEM, CKP_ML_KEM_768) => Self::Kem(ml_kem::Set::MlKem768),
            (CKK_ML_KEM, CKP_ML_KEM_1024) => Self::Kem(ml_kem::Set::MlKem1024),
            (CKK_ML_DSA, CKP_ML_DSA_44) => Self::Dsa(ml_dsa::Set::MlDsa44),
            (CKK_ML_DSA, CKP_ML_DSA_65) => Self::Dsa(ml_dsa::Set::MlDsa65),
            (CKK_ML_DSA, CKP_ML_DSA_87) => Self::Dsa(ml_dsa::Set::MlDsa87),
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
        let invalid = |_| Error::from(CKR_ATTRIBUTE_VALUE_INVALID);
        Ok(match self {
            Self::Kem(set) => {
                let seed = seed.try_into().map_err(invalid)?;
                Material::MlKem(Arc::new(ml_kem::Key::from_seed(set, seed)?))
            }
            Self::Dsa(set) => {
                let seed = seed.try_into().map_err(invalid)?;
                Material::MlDsa(Arc::new(ml_dsa::Key::from_seed(set, seed)?))
            }
        })
    }

    /// A new key pair.
    ///
    /// # Errors
    /// The engine's.
    pub(crate) fn generate(self) -> Result<Halves> {
        let (key_type, set, seed) = match self {
            Self::Kem(set) => (CKK_ML_KEM, set as CK_ULONG, ml_kem::SEED),
            Self::Dsa(set) => (CKK_ML_DSA, set as CK_ULONG, ml_dsa::SEED),
        };
        let mut seed = Zeroizing::new(vec![0; seed]);
        randomise(&mut seed)?;
        let (public, private) = match self.of_seed(&seed)? {
            Material::MlKem(key) => (key.public_bytes()?, key.private_bytes()?),
            Material::MlDsa(key) => (key.public_bytes()?, key.private_bytes()?),
            _ => return Err(CKR_GENERAL_ERROR.into()),
        };
        // The standard counts parameter sets from 1.
        let both = [
            (CKA_KEY_TYPE, Zeroizing::new(number(key_type))),
            (CKA_PARAMETER_SET, Zeroizing::new(number(set + 1))),
        ];
        let public = [(CKA_VALUE, Zeroizing::new(public))];
        let private = [(CKA_SEED, seed), (CKA_VALUE, private)];
        Ok(Halves::of(
            [&both[..], &public].concat(),
            [&both[..], &private].concat(),
        ))
    }
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
    let value = match Lattice::of_attributes(attributes)?.of_seed(seed)? {
        Material::MlKem(key) => key.private_bytes()?,
        Material::MlDsa(key) => key.private_bytes()?,
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
        (Lattice::Kem(set), true) => Material::MlKem(Arc::new(ml_kem::Key::private(set, value)?)),
        (Lattice::Kem(set), false) => Material::MlKem(Arc::new(ml_kem::Key::public(set, value)?)),
        (Lattice::Dsa(set), true) => Material::MlDsa(Arc::new(ml_dsa::Key::private(set, value)?)),
        (Lattice::Dsa(set), false) => Material::MlDsa(Arc::new(ml_dsa::Key::public(set, value)?)),
    })
}
