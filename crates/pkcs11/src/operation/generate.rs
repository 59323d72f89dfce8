//! New keys, and random numbers.

use cryptoki_sys::*;
use outboard_engine::scalar::pair::Kind;
use outboard_engine::scalar::{self, ec::Curve};
use zeroize::Zeroizing;

use crate::abi::Template;
use crate::error::{Error, Result};
use crate::mechanism::{self, Mechanism};
use crate::module::Module;
use crate::object::{Halves, Lattice, Named, Object, Origin, What, fixed_length, significant};

/// The longest secret that is made here.
const MOST_SECRET: CK_ULONG = 4096;

impl Module {
    /// `C_GenerateKeyPair`: the handles of the public and the private half.
    pub(crate) fn generate_pair(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        public: &Template<'_>,
        private: &Template<'_>,
    ) -> Result<(CK_OBJECT_HANDLE, CK_OBJECT_HANDLE)> {
        let slot = self.session(session, |session| session.slot)?;
        self.admit(slot, mechanism.kind)?;
        let what = wanted(mechanism, public)?;
        if slot.is_token() && private.get(CKA_TOKEN) == Some(&[CK_TRUE]) {
            return self.generate_inside(session, (mechanism.kind, what), public, private);
        }
        let mut halves = Halves::generate(what)?;
        if let Some(parameters) = public.get(CKA_EC_PARAMS) {
            halves.call_curve(parameters);
        }
        let made = Origin::Generated(mechanism.kind);
        let public = Object::new(slot, session, public, &halves.public(), made)?;
        let private = Object::new(slot, session, private, &halves.private(), made)?;
        Ok((self.keep(public)?, self.keep(private)?))
    }

    /// `C_GenerateKey`
    pub(crate) fn generate(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        template: &Template<'_>,
    ) -> Result<CK_OBJECT_HANDLE> {
        let slot = self.session(session, |session| session.slot)?;
        self.admit(slot, mechanism.kind)?;
        let mechanism::What::SecretKey(key_type) = mechanism.what else {
            return Err(CKR_MECHANISM_INVALID.into());
        };
        let length = match fixed_length(key_type) {
            Some(length) => length as CK_ULONG,
            None => wanted_number(template, CKA_VALUE_LEN)?,
        };
        if !(1..=MOST_SECRET).contains(&length) {
            return Err(CKR_ATTRIBUTE_VALUE_INVALID.into());
        }
        let mut value = Zeroizing::new(vec![0; length as usize]);
        scalar::randomise(&mut value)?;
        let origin = Origin::Generated(mechanism.kind);
        let secret = Object::secret(slot, session, template, (key_type, &value), origin)?;
        self.keep(secret)
    }
}

/// What key pair a template asks for.
fn wanted(mechanism: &Mechanism, template: &Template<'_>) -> Result<What> {
    let curve = || {
        let parameters = template
            .get(CKA_EC_PARAMS)
            .ok_or(Error::from(CKR_TEMPLATE_INCOMPLETE))?;
        Named::from_parameters(parameters).ok_or(Error::from(CKR_CURVE_NOT_SUPPORTED))
    };
    match mechanism.what {
        mechanism::What::RsaKeyPair => {
            let bits = wanted_number(template, CKA_MODULUS_BITS)?;
            let exponent = template.get(CKA_PUBLIC_EXPONENT);
            if exponent.is_some_and(|exponent| significant(exponent) != [1, 0, 1]) {
                return Err(CKR_ATTRIBUTE_VALUE_INVALID.into());
            }
            match bits {
                2048..=4096 if bits.is_multiple_of(8) => Ok(What::Pair(Kind::Rsa(bits as usize))),
                _ => Err(CKR_KEY_SIZE_RANGE.into()),
            }
        }
        mechanism::What::EcKeyPair => match curve()? {
            Named::Nist(curve @ (Curve::P256 | Curve::P384 | Curve::P521)) => {
                Ok(What::Pair(Kind::Ec(curve)))
            }
            _ => Err(CKR_CURVE_NOT_SUPPORTED.into()),
        },
        mechanism::What::EdwardsKeyPair => match curve()? {
            Named::Ed25519 => Ok(What::Pair(Kind::Ed25519)),
            _ => Err(CKR_CURVE_NOT_SUPPORTED.into()),
        },
        mechanism::What::MontgomeryKeyPair => match curve()? {
            Named::X25519 => Ok(What::X25519),
            _ => Err(CKR_CURVE_NOT_SUPPORTED.into()),
        },
        mechanism::What::LatticeKeyPair(key_type) => {
            let set = wanted_number(template, CKA_PARAMETER_SET)?;
            Ok(What::Lattice(Lattice::of(key_type, set)?))
        }
        _ => Err(CKR_MECHANISM_INVALID.into()),
    }
}

/// A number that the template must have.
pub(super) fn wanted_number(template: &Template<'_>, kind: CK_ATTRIBUTE_TYPE) -> Result<CK_ULONG> {
    let value = template.get(kind).ok_or(CKR_TEMPLATE_INCOMPLETE)?;
    let value = value.try_into().map_err(|_| CKR_ATTRIBUTE_VALUE_INVALID)?;
    Ok(CK_ULONG::from_ne_bytes(value))
}
