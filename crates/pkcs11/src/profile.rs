//! The profiles of the standard that a slot has, as objects (PKCS #11 Profiles 3.2, 2.3 and 5).

use std::sync::Arc;

use cryptoki_sys::*;

use crate::abi::Template;
use crate::module::Module;
use crate::object::{Attributes, Material, Object};
use crate::slot::Slot;

/// The labels of their objects: some programs tell nothing else of one.
const LABELS: [(CK_PROFILE_ID, &str); 5] = [
    (CKP_BASELINE_PROVIDER, "profile: Baseline Provider"),
    (CKP_EXTENDED_PROVIDER, "profile: Extended Provider"),
    (CKP_AUTHENTICATION_TOKEN, "profile: Authentication Token"),
    (
        CKP_PUBLIC_CERTIFICATES_TOKEN,
        "profile: Public Certificates Token",
    ),
    (CKP_HKDF_TLS_TOKEN, "profile: HKDF TLS Token"),
];

/// The greatest number of a profile. The number is also the handle of the profile's object, which no other object has.
pub(crate) const LAST: CK_PROFILE_ID = CKP_HKDF_TLS_TOKEN;

impl Module {
    /// The object of a slot's profile that has that handle.
    pub(crate) fn profile(&self, slot: Slot, handle: CK_OBJECT_HANDLE) -> Option<Arc<Object>> {
        let profile = self.profiles(slot).find(|profile| *profile == handle)?;
        Some(Arc::new(Object {
            slot,
            session: 0,
            attributes: attributes(profile),
            material: Material::None,
        }))
    }

    /// The objects of a slot's profiles that a search asks for.
    pub(crate) fn profiles_found(
        &self,
        slot: Slot,
        template: &Template<'_>,
    ) -> impl Iterator<Item = CK_OBJECT_HANDLE> {
        let is_it = |profile: &_| attributes(*profile).match_all(template);
        self.profiles(slot).filter(is_it)
    }

    fn profiles(&self, slot: Slot) -> impl Iterator<Item = CK_PROFILE_ID> {
        let of_slot: &[CK_PROFILE_ID] = match slot {
            // Whoever may use a key finds its certificate, by its id. There is no login, which the others want.
            Slot::Coprocessor => &[CKP_BASELINE_PROVIDER, CKP_PUBLIC_CERTIFICATES_TOKEN],
            Slot::Accelerator => &[CKP_BASELINE_PROVIDER],
            // Not that certificates are public: a program may store one that only its user sees.
            Slot::Token(_) => &[
                CKP_BASELINE_PROVIDER,
                CKP_EXTENDED_PROVIDER,
                CKP_AUTHENTICATION_TOKEN,
            ],
        };
        // The token's policy may forbid the mechanism.
        let has_hkdf = self.tokens.allow(slot, CKM_HKDF_DATA);
        let hkdf = has_hkdf.then_some(CKP_HKDF_TLS_TOKEN);
        of_slot.iter().copied().chain(hkdf)
    }
}

fn attributes(profile: CK_PROFILE_ID) -> Attributes {
    let known = LABELS.iter().find(|(known, _)| *known == profile);
    Attributes::of_profile(profile, known.map_or("", |(_, label)| label))
}
