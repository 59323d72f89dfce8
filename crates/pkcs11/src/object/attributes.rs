//! The attributes of an object.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cryptoki_sys::*;
use zeroize::Zeroizing;

use super::rules::{Form, Giver, Rule, SECRETS, rules};
use crate::abi::{Template, Untold};
use crate::error::Result;

/// How an object came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A program gave all of it, or had it wrapped.
    Created,
    /// It was generated here, by that mechanism.
    Generated(CK_MECHANISM_TYPE),
    /// It was derived here, from a key with that history.
    Derived {
        /// Whether nobody was ever told the key.
        always_sensitive: bool,
        /// Whether nobody could ever wrap the key.
        never_extractable: bool,
    },
    /// It was generated in the card service, by that mechanism: its numbers are not here.
    Inside(CK_MECHANISM_TYPE),
    /// The card service has it, and alone what is secret of a key pair. What is said of its history stays so.
    Service,
}

impl Origin {
    /// Whether an object of that origin may lack what its creator gives.
    fn may_lack(self, kind: CK_ATTRIBUTE_TYPE) -> bool {
        match self {
            Self::Inside(_) => true,
            Self::Service => SECRETS.contains(&kind),
            _ => false,
        }
    }
}

/// Attributes by their type.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Attributes(BTreeMap<CK_ATTRIBUTE_TYPE, Zeroizing<Vec<u8>>>);

/// The bytes of a number, as attributes have them.
pub(crate) fn number(value: CK_ULONG) -> Vec<u8> {
    value.to_ne_bytes().to_vec()
}

/// The length of a modulus in bits, as attributes have it.
pub(super) fn bits(modulus: &[u8]) -> Vec<u8> {
    let modulus = significant(modulus);
    let zeros = modulus.first().map_or(0, |first| first.leading_zeros());
    number(8 * modulus.len() as CK_ULONG - CK_ULONG::from(zeros))
}

/// A big number without the zeros that it may begin with.
pub(crate) fn significant(number: &[u8]) -> &[u8] {
    let first = number.iter().position(|&byte| byte != 0);
    &number[first.unwrap_or(number.len())..]
}

fn read_number(bytes: &[u8]) -> Option<CK_ULONG> {
    Some(CK_ULONG::from_ne_bytes(bytes.try_into().ok()?))
}

impl Attributes {
    /// The attributes of a new object: what the program gives, what was `made`, and what neither says.
    ///
    /// # Errors
    /// The standard's, where the template does not fit the class.
    pub(crate) fn new(
        template: &Template<'_>,
        made: &[(CK_ATTRIBUTE_TYPE, &[u8])],
        origin: Origin,
    ) -> Result<Self> {
        let of = |kind| {
            let made = made.iter().find(|(known, _)| *known == kind);
            made.map(|&(_, value)| value).or_else(|| template.get(kind))
        };
        let as_number = |value| read_number(value).ok_or(CKR_ATTRIBUTE_VALUE_INVALID);
        let class = as_number(of(CKA_CLASS).ok_or(CKR_TEMPLATE_INCOMPLETE)?)?;
        let is_key = matches!(class, CKO_PUBLIC_KEY | CKO_PRIVATE_KEY | CKO_SECRET_KEY);
        let key_type = match is_key {
            true => Some(as_number(of(CKA_KEY_TYPE).ok_or(CKR_TEMPLATE_INCOMPLETE)?)?),
            false => None,
        };
        let all_rules = || rules(class, key_type).ok_or(CKR_ATTRIBUTE_VALUE_INVALID);
        let mut attributes = Self(BTreeMap::new());
        for (kind, value) in template.iter() {
            let rule = all_rules()?.find(|rule| rule.kind == kind);
            let rule = rule.ok_or(CKR_ATTRIBUTE_TYPE_INVALID)?;
            rule.check(value)?;
            let made = made.iter().find(|(known, _)| *known == kind);
            let wanted = match kind {
                CKA_PUBLIC_EXPONENT => significant(value),
                _ => value,
            };
            if made.is_some_and(|&(_, made)| made != wanted) {
                return Err(CKR_TEMPLATE_INCONSISTENT.into());
            }
            // Whom to trust says the security officer, and there is none.
            let is_claim = kind == CKA_TRUSTED && value == [CK_TRUE];
            if is_claim || (made.is_none() && rule.giver == Giver::Module) {
                return Err(CKR_ATTRIBUTE_READ_ONLY.into());
            }
            attributes.set(kind, value);
        }
        for &(kind, value) in made {
            attributes.set(kind, value);
        }
        attributes.describe(origin);
        for rule in all_rules()? {
            if attributes.get(rule.kind).is_some() {
                continue;
            }
            match rule.giver {
                Giver::Creator if origin.may_lack(rule.kind) => {}
                Giver::Creator => return Err(CKR_TEMPLATE_INCOMPLETE.into()),
                Giver::Anybody(value) => attributes.set(rule.kind, value),
                Giver::Nobody | Giver::Module => {}
            }
        }
        attributes.keep_history(origin);
        Ok(attributes)
    }

    /// The attributes of the object that tells a profile of its slot. No program makes one, or changes it.
    pub(crate) fn of_profile(profile: CK_PROFILE_ID, label: &str) -> Self {
        let mut attributes = Self(BTreeMap::new());
        for (kind, value) in [
            (CKA_CLASS, &number(CKO_PROFILE)[..]),
            (CKA_TOKEN, &[CK_TRUE]),
            (CKA_PRIVATE, &[CK_FALSE]),
            (CKA_MODIFIABLE, &[CK_FALSE]),
            (CKA_COPYABLE, &[CK_FALSE]),
            (CKA_DESTROYABLE, &[CK_FALSE]),
            (CKA_LABEL, label.as_bytes()),
            (CKA_UNIQUE_ID, format!("profile-{profile}").as_bytes()),
            (CKA_PROFILE_ID, &number(profile)),
        ] {
            attributes.set(kind, value);
        }
        attributes
    }

    /// What the module says of where it comes from.
    fn describe(&mut self, origin: Origin) {
        if origin != Origin::Service {
            self.name();
        }
        if self.get(CKA_KEY_TYPE).is_none() {
            return;
        }
        let (is_local, mechanism) = match origin {
            Origin::Generated(mechanism) | Origin::Inside(mechanism) => (true, mechanism),
            _ => (false, CK_UNAVAILABLE_INFORMATION),
        };
        if origin != Origin::Service || self.get(CKA_LOCAL).is_none() {
            self.set(CKA_LOCAL, &[is_local.into()]);
            self.set(CKA_KEY_GEN_MECHANISM, &number(mechanism));
        }
        if self.number(CKA_CLASS) == Some(CKO_SECRET_KEY)
            && let Some(length) = self.get(CKA_VALUE).map(<[u8]>::len)
        {
            self.set(CKA_VALUE_LEN, &number(length as CK_ULONG));
        }
        if self.number(CKA_CLASS) == Some(CKO_PUBLIC_KEY)
            && let Some(modulus) = self.get(CKA_MODULUS)
        {
            let bits = bits(modulus);
            self.set(CKA_MODULUS_BITS, &bits);
        }
    }

    /// Gives the object a name that no other one has.
    fn name(&mut self) {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let unique = format!("{:x}-{:x}", std::process::id(), LAST.fetch_add(1, Relaxed));
        self.set(CKA_UNIQUE_ID, unique.as_bytes());
    }

    /// Whether a key was always sensitive and never extractable: never of one that came from outside, or of what comes from
    /// such a key.
    fn keep_history(&mut self, origin: Origin) {
        if origin == Origin::Service && self.get(CKA_ALWAYS_SENSITIVE).is_some() {
            return;
        }
        let (was_sensitive, was_kept) = match origin {
            Origin::Generated(_) | Origin::Inside(_) => (true, true),
            Origin::Derived {
                always_sensitive,
                never_extractable,
            } => (always_sensitive, never_extractable),
            Origin::Created | Origin::Service => (false, false),
        };
        if let Some(sensitive) = self.flag(CKA_SENSITIVE) {
            self.set(CKA_ALWAYS_SENSITIVE, &[(was_sensitive && sensitive).into()]);
        }
        if let Some(extractable) = self.flag(CKA_EXTRACTABLE) {
            self.set(CKA_NEVER_EXTRACTABLE, &[(was_kept && !extractable).into()]);
        }
    }

    /// The same with changes (`C_SetAttributeValue`; of a copy: `C_CopyObject`).
    ///
    /// # Errors
    /// The standard's, where one of them may not be changed so.
    pub(crate) fn changed(&self, template: &Template<'_>, of_copy: bool) -> Result<Self> {
        const OF_COPIES: &[CK_ATTRIBUTE_TYPE] =
            &[CKA_TOKEN, CKA_PRIVATE, CKA_MODIFIABLE, CKA_DESTROYABLE];
        let class = self.number(CKA_CLASS).ok_or(CKR_GENERAL_ERROR)?;
        let key_type = self.number(CKA_KEY_TYPE);
        let mut changed = self.clone();
        for (kind, value) in template.iter() {
            let rule = rules(class, key_type)
                .and_then(|mut rules| rules.find(|rule| rule.kind == kind))
                .ok_or(CKR_ATTRIBUTE_TYPE_INVALID)?;
            rule.check(value)?;
            let may = rule.is_modifiable || (of_copy && OF_COPIES.contains(&kind));
            let is_step_back = match kind {
                CKA_SENSITIVE => self.flag(kind) == Some(true) && value == [CK_FALSE],
                CKA_EXTRACTABLE => self.flag(kind) == Some(false) && value == [CK_TRUE],
                _ => false,
            };
            if (!may || is_step_back) && self.get(kind) != Some(value) {
                return Err(CKR_ATTRIBUTE_READ_ONLY.into());
            }
            changed.set(kind, value);
        }
        if of_copy {
            changed.name();
        }
        Ok(changed)
    }

    /// Those that `before` has not, or has otherwise.
    pub(super) fn unlike(&self, before: &Self) -> Self {
        let mut unlike = self.clone();
        unlike
            .0
            .retain(|kind, value| before.get(*kind) != Some(value));
        unlike
    }

    /// The value of an attribute, whoever asks.
    pub(crate) fn get(&self, kind: CK_ATTRIBUTE_TYPE) -> Option<&[u8]> {
        self.0.get(&kind).map(|value| value.as_slice())
    }

    /// The value of an attribute, for a program.
    ///
    /// # Errors
    /// It is secret, or there is none.
    pub(crate) fn tell(&self, kind: CK_ATTRIBUTE_TYPE) -> std::result::Result<&[u8], Untold> {
        let is_hidden =
            self.flag(CKA_SENSITIVE) == Some(true) || self.flag(CKA_EXTRACTABLE) == Some(false);
        // An attribute that a key of the card service has, and this process does not.
        let is_secret = is_hidden && SECRETS.contains(&kind);
        match self.get(kind) {
            _ if is_secret && self.has(kind) => Err(Untold::Sensitive),
            Some(value) => Ok(value),
            None => Err(Untold::Unknown),
        }
    }

    /// Whether its class has that attribute.
    fn has(&self, kind: CK_ATTRIBUTE_TYPE) -> bool {
        let class = self.number(CKA_CLASS);
        let rules = class.and_then(|class| rules(class, self.number(CKA_KEY_TYPE)));
        rules.is_some_and(|mut rules| rules.any(|rule| rule.kind == kind))
    }

    /// Whether it has all that a search asks for. A secret is never found by its value.
    pub(crate) fn match_all(&self, template: &Template<'_>) -> bool {
        // Most objects differ: whether they would tell is asked of the others alone.
        let is_it = |(kind, value)| self.get(kind) == Some(value) && self.tell(kind).is_ok();
        template.iter().all(is_it)
    }

    pub(crate) fn flag(&self, kind: CK_ATTRIBUTE_TYPE) -> Option<bool> {
        self.get(kind).map(|value| value != [CK_FALSE])
    }

    pub(crate) fn number(&self, kind: CK_ATTRIBUTE_TYPE) -> Option<CK_ULONG> {
        self.get(kind).and_then(read_number)
    }

    /// All of them, by their types.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CK_ATTRIBUTE_TYPE, &[u8])> {
        self.0.iter().map(|(&kind, value)| (kind, value.as_slice()))
    }

    /// Whether the key may be used by a mechanism.
    pub(crate) fn allows(&self, mechanism: CK_MECHANISM_TYPE) -> bool {
        let list = self.get(CKA_ALLOWED_MECHANISMS).unwrap_or_default();
        let mut allowed = list.chunks_exact(size_of::<CK_ULONG>());
        list.is_empty() || allowed.any(|one| read_number(one) == Some(mechanism))
    }

    pub(super) fn set(&mut self, kind: CK_ATTRIBUTE_TYPE, value: &[u8]) {
        self.0.insert(kind, Zeroizing::new(value.to_vec()));
    }
}

impl Rule {
    /// Whether a value looks as it must.
    fn check(&self, value: &[u8]) -> Result<()> {
        let fits = match self.form {
            Form::Flag => matches!(value, [CK_FALSE | CK_TRUE]),
            Form::Number => value.len() == size_of::<CK_ULONG>(),
            Form::Numbers => value.len().is_multiple_of(size_of::<CK_ULONG>()),
            Form::Date => {
                value.is_empty() || (value.len() == 8 && value.iter().all(u8::is_ascii_digit))
            }
            Form::Bytes => true,
        };
        match fits {
            true => Ok(()),
            false => Err(CKR_ATTRIBUTE_VALUE_INVALID.into()),
        }
    }
}
