//! Objects: attributes, and the key that they make.

mod attributes;
mod generated;
mod lattice;
mod material;
mod private_info;
mod rules;
mod secret;
mod stored;

pub(crate) use attributes::{Attributes, Origin, number, significant};
pub(crate) use generated::{Halves, What, halves};
pub(crate) use lattice::Lattice;
pub(crate) use material::{Material, Named, point_of};

pub(crate) use secret::fixed_length;

use cryptoki_sys::*;

use crate::abi::Template;
use crate::error::Result;
use crate::module::Module;
use crate::slot::Slot;

/// An object of a slot. It never changes: a change makes another one, in its place.
pub(crate) struct Object {
    /// Where it is.
    pub(crate) slot: Slot,
    /// The session that it ends with; 0: it is the token's.
    pub(crate) session: CK_SESSION_HANDLE,
    pub(crate) attributes: Attributes,
    pub(crate) material: Material,
}

impl Object {
    /// An object that a program creates, or that was made here.
    ///
    /// # Errors
    /// The template does not fit, or makes no key.
    pub(crate) fn new(
        slot: Slot,
        session: CK_SESSION_HANDLE,
        template: &Template<'_>,
        made: &[(CK_ATTRIBUTE_TYPE, &[u8])],
        origin: Origin,
    ) -> Result<Self> {
        let mut attributes = Attributes::new(template, made, origin)?;
        secret::check(&mut attributes, template)?;
        // What was generated here is whole.
        if !matches!(origin, Origin::Generated(_)) {
            lattice::complete(&mut attributes)?;
        }
        may_be_kept(slot, &attributes)?;
        // The service asks the user before each operation, with the keys that it has. Nobody asks with others.
        let is_lasting = attributes.flag(CKA_TOKEN) == Some(true);
        if attributes.flag(CKA_ALWAYS_AUTHENTICATE) == Some(true) && !is_lasting {
            return Err(CKR_ATTRIBUTE_VALUE_INVALID.into());
        }
        let material = Material::of(&attributes)?;
        Ok(Self {
            slot,
            session,
            attributes,
            material,
        })
    }

    /// The same with changes.
    ///
    /// # Errors
    /// They are not allowed.
    pub(crate) fn changed(
        &self,
        session: CK_SESSION_HANDLE,
        template: &Template<'_>,
        of_copy: bool,
    ) -> Result<Self> {
        let attributes = self.attributes.changed(template, of_copy)?;
        may_be_kept(self.slot, &attributes)?;
        Ok(Self {
            slot: self.slot,
            session,
            attributes,
            material: self.material.clone(),
        })
    }

    /// The origin of what is derived from this key.
    pub(crate) fn offspring(&self) -> Origin {
        let is = |kind| self.attributes.flag(kind) == Some(true);
        Origin::Derived {
            always_sensitive: is(CKA_ALWAYS_SENSITIVE),
            never_extractable: is(CKA_NEVER_EXTRACTABLE),
        }
    }

    /// Whether the key may be used for that (`CKA_SIGN`, …) by that mechanism.
    ///
    /// # Errors
    /// `CKR_KEY_FUNCTION_NOT_PERMITTED`, `CKR_MECHANISM_INVALID`.
    pub(crate) fn admit(
        &self,
        usage: CK_ATTRIBUTE_TYPE,
        mechanism: CK_MECHANISM_TYPE,
    ) -> Result<()> {
        if self.attributes.flag(usage) != Some(true) {
            return Err(CKR_KEY_FUNCTION_NOT_PERMITTED.into());
        }
        match self.attributes.allows(mechanism) {
            true => Module::get()?.admit(self.slot, mechanism),
            false => Err(CKR_MECHANISM_INVALID.into()),
        }
    }

    /// Whether it is to stay when its session ends.
    pub(crate) fn is_lasting(&self) -> bool {
        self.attributes.flag(CKA_TOKEN) == Some(true)
    }
}

/// Whether an object that is to stay has a token that keeps it.
fn may_be_kept(slot: Slot, attributes: &Attributes) -> Result<()> {
    match attributes.flag(CKA_TOKEN) == Some(true) && !slot.is_token() {
        true => Err(CKR_TOKEN_WRITE_PROTECTED.into()),
        false => Ok(()),
    }
}
