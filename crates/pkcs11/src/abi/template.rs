//! Templates: attributes that a program gives, and attributes that it asks for.

use std::slice;

use cryptoki_sys::*;
use zeroize::Zeroizing;

use super::arguments::bytes;
use crate::error::{Error, Result};

/// More attributes than the standard knows.
const MOST: CK_ULONG = 1024;
/// More bytes than any attribute has.
const MOST_BYTES: CK_ULONG = 16 << 20;

/// Attributes that a program gives.
#[derive(Clone, Default)]
pub(crate) struct Template<'a>(Vec<(CK_ATTRIBUTE_TYPE, &'a [u8])>);

impl<'a> Template<'a> {
    /// # Safety
    /// `attributes` is null or leads to as many attributes, each with as many bytes as it says, which nobody changes for as
    /// long as `'a`.
    pub(super) unsafe fn new(attributes: *const CK_ATTRIBUTE, count: CK_ULONG) -> Result<Self> {
        // SAFETY: by the caller's word.
        let attributes = unsafe { all(attributes.cast_mut(), count)? };
        let mut template = Self::default();
        for attribute in attributes {
            if template.get(attribute.type_).is_some() {
                return Err(CKR_TEMPLATE_INCONSISTENT.into());
            }
            if attribute.ulValueLen > MOST_BYTES {
                return Err(CKR_ATTRIBUTE_VALUE_INVALID.into());
            }
            // SAFETY: by the caller's word.
            let value = unsafe { bytes(attribute.pValue.cast(), attribute.ulValueLen) };
            let value = value.map_err(|_| Error::from(CKR_ATTRIBUTE_VALUE_INVALID))?;
            template.0.push((attribute.type_, value));
        }
        Ok(template)
    }

    /// One attribute that the module gives.
    pub(crate) fn one(kind: CK_ATTRIBUTE_TYPE, value: &'a [u8]) -> Self {
        Self(vec![(kind, value)])
    }

    /// What is given of an attribute.
    pub(crate) fn get(&self, kind: CK_ATTRIBUTE_TYPE) -> Option<&'a [u8]> {
        let found = self.0.iter().find(|(known, _)| *known == kind);
        found.map(|&(_, value)| value)
    }

    /// The same, with a value for what it does not say.
    pub(crate) fn or(&self, kind: CK_ATTRIBUTE_TYPE, value: &'a [u8]) -> Self {
        let mut template = self.clone();
        if template.get(kind).is_none() {
            template.0.push((kind, value));
        }
        template
    }

    /// The same but for what it says of an attribute.
    pub(crate) fn without(&self, kind: CK_ATTRIBUTE_TYPE) -> Self {
        let others = self.iter().filter(|(known, _)| *known != kind);
        Self(others.collect())
    }

    /// A copy of it.
    pub(crate) fn keep(&self) -> OwnTemplate {
        let copy = |(kind, value): (_, &[u8])| (kind, Zeroizing::new(value.to_vec()));
        OwnTemplate(self.iter().map(copy).collect())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CK_ATTRIBUTE_TYPE, &'a [u8])> {
        self.0.iter().copied()
    }
}

/// A template that outlives the call that gave it.
pub(crate) struct OwnTemplate(Vec<(CK_ATTRIBUTE_TYPE, Zeroizing<Vec<u8>>)>);

impl OwnTemplate {
    pub(crate) fn template(&self) -> Template<'_> {
        let all = self.0.iter();
        Template(all.map(|(kind, value)| (*kind, &value[..])).collect())
    }
}

/// Why an attribute is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untold {
    /// It is secret.
    Sensitive,
    /// The object has none such.
    Unknown,
}

/// Fills in what a program asks for, and answers the worst that there was to say (PKCS #11, 5.7.5).
///
/// # Safety
/// `attributes` is null or leads to as many attributes, each with room for as many bytes as it says.
pub(super) unsafe fn answer<'o>(
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    mut value: impl FnMut(CK_ATTRIBUTE_TYPE) -> std::result::Result<&'o [u8], Untold>,
) -> Result<()> {
    // SAFETY: by the caller's word.
    let attributes = unsafe { all(attributes, count)? };
    let mut worst = Ok(());
    for attribute in attributes {
        let error = match value(attribute.type_) {
            Ok(value) => {
                let given =
                    std::mem::replace(&mut attribute.ulValueLen, value.len() as CK_ULONG) as usize;
                if attribute.pValue.is_null() {
                    continue;
                }
                if given >= value.len() {
                    // SAFETY: room for as many bytes, by the caller's word.
                    unsafe { slice::from_raw_parts_mut(attribute.pValue.cast(), value.len()) }
                        .copy_from_slice(value);
                    continue;
                }
                CKR_BUFFER_TOO_SMALL
            }
            Err(Untold::Sensitive) => CKR_ATTRIBUTE_SENSITIVE,
            Err(Untold::Unknown) => CKR_ATTRIBUTE_TYPE_INVALID,
        };
        attribute.ulValueLen = CK_UNAVAILABLE_INFORMATION;
        worst = worst.and(Err(error.into()));
    }
    worst
}

/// # Safety
/// `attributes` is null or leads to as many.
unsafe fn all<'a>(
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
) -> Result<&'a mut [CK_ATTRIBUTE]> {
    match (attributes.is_null(), count) {
        (_, 0) => Ok(&mut []),
        // SAFETY: by the caller's word.
        (false, 1..=MOST) => Ok(unsafe { slice::from_raw_parts_mut(attributes, count as usize) }),
        _ => Err(CKR_ARGUMENTS_BAD.into()),
    }
}
