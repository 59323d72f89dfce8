//! What a DES key is used for, as types: a function that takes a `Key<VerifyPin>` cannot be given another key.
//!
//! A [`Key`] is made in one place (`des::InternalKey::usable`), which asks the control vector.

use std::marker::PhantomData;

use zeroize::Zeroizing;

use super::control_vector::{ControlVector, Derives, KeyType, MacUse, PinUse, bit};
use KeyType::*;

/// A use.
pub(crate) trait Use {
    /// Whether a control vector allows it.
    fn is_allowed(vector: &ControlVector) -> bool;
}

/// A key for one use.
pub(crate) struct Key<U> {
    bytes: Zeroizing<Vec<u8>>,
    of: PhantomData<U>,
}

impl<U> Key<U> {
    pub(super) fn new(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self {
            bytes,
            of: PhantomData,
        }
    }

    /// 8, 16 or 24 bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Ready to compute with.
    pub(crate) fn cipher(&self) -> crate::algorithm::des::Cipher {
        crate::algorithm::des::Cipher::new(&self.bytes)
            .expect("a key in a token has 8, 16 or 24 bytes")
    }
}

macro_rules! uses {
    ($($(#[doc = $doc:literal])+ $name:ident = |$vector:ident| $allowed:expr;)*) => {$(
        $(#[doc = $doc])+
        pub(crate) enum $name {}

        impl Use for $name {
            fn is_allowed($vector: &ControlVector) -> bool {
                $allowed
            }
        }
    )*};
}

uses! {
    /// Encrypts data.
    Encrypt = |vector| match vector.key_type() {
        Data => true,
        DataC | Cipher | Encipher => vector.has(bit::ENCIPHER),
        _ => false,
    };
    /// Decrypts data.
    Decrypt = |vector| match vector.key_type() {
        Data => true,
        DataC | Cipher | Decipher => vector.has(bit::DECIPHER),
        _ => false,
    };
    /// Makes MACs.
    MakeMac = |vector| match vector.key_type() {
        Data => true,
        DataM | Mac => vector.has(bit::MAC_GENERATE) && is_mac(vector),
        _ => false,
    };
    /// Verifies MACs.
    VerifyMac = |vector| match vector.key_type() {
        Data => true,
        DataM | DataMv | Mac | MacVer => vector.has(bit::MAC_VERIFY) && is_mac(vector),
        _ => false,
    };
    /// Makes card verification values: key A, or both.
    MakeCvvA = |vector| is_cvv(vector, bit::MAC_GENERATE, MacUse::CvvA);
    /// Makes card verification values: key B.
    MakeCvvB = |vector| is_cvv(vector, bit::MAC_GENERATE, MacUse::CvvB);
    /// Verifies card verification values: key A, or both.
    VerifyCvvA = |vector| is_cvv(vector, bit::MAC_VERIFY, MacUse::CvvA);
    /// Verifies card verification values: key B.
    VerifyCvvB = |vector| is_cvv(vector, bit::MAC_VERIFY, MacUse::CvvB);

    /// Opens a PIN block to verify the PIN.
    OpenToVerify = |vector| vector.key_type() == IpinEnc && vector.has(bit::IPIN_VERIFY);
    /// Opens a PIN block to make an offset or a PVV.
    OpenToAlternate = |vector| vector.key_type() == IpinEnc && vector.has(bit::IPIN_ALTERNATE);
    /// Opens a PIN block to encrypt it under another key.
    OpenToTranslate = |vector| vector.key_type() == IpinEnc && vector.has(bit::PIN_TRANSLATE);
    /// Opens a PIN block to write it in another format.
    OpenToReformat = |vector| vector.key_type() == IpinEnc && vector.has(bit::PIN_REFORMAT);
    /// Seals a translated PIN block.
    SealTranslated = |vector| vector.key_type() == OpinEnc && vector.has(bit::PIN_TRANSLATE);
    /// Seals a PIN block in another format.
    SealReformatted = |vector| vector.key_type() == OpinEnc && vector.has(bit::PIN_REFORMAT);
    /// Seals a clear PIN.
    SealClear = |vector| vector.key_type() == OpinEnc && vector.has(bit::CPIN_ENCRYPT);
    /// Seals a PIN that was made.
    SealGenerated = |vector| vector.key_type() == OpinEnc && vector.has(bit::OPIN_GENERATE);

    /// Makes a clear PIN.
    MakeClearPin = |vector| vector.key_type() == PinGen && vector.has(bit::CPIN_GENERATE);
    /// Makes a PIN that leaves encrypted.
    MakeEncryptedPin = |vector| vector.key_type() == PinGen && vector.has(bit::EPIN_GENERATE);
    /// Makes an offset or a PVV.
    MakeAlternate = |vector| vector.key_type() == PinGen && vector.has(bit::CPIN_ALTERNATE);
    /// Verifies a PIN.
    VerifyPin = |vector| matches!(vector.key_type(), PinGen | PinVer) && vector.has(bit::PIN_VERIFY);
    /// Derives keys by TDES DUKPT.
    DeriveUnique = |vector| vector.key_type() == KeyGenKy && vector.has(bit::UKPT);

    /// Derives the code by which a chip card knows its issuer.
    DeriveCardCode = |vector| vector.key_type() == DkyGenKy && vector.derives() == Derives::Mac as u8;
    /// Derives the keys that carry PINs to chip cards.
    DeriveCardPin = |vector| vector.key_type() == DkyGenKy && vector.derives() == Derives::Pin as u8;

    /// Unwraps keys that come in.
    ImportKeys = |vector| vector.key_type() == Importer && vector.has(bit::TRANSPORT);
    /// Wraps keys that go out.
    ExportKeys = |vector| vector.key_type() == Exporter && vector.has(bit::TRANSPORT);
    /// Wraps generated keys: importable, beside an operational one.
    GenerateOpim = |vector| vector.key_type() == Importer && vector.has(bit::PAIR_WITH_OPERATIONAL);
    /// Wraps generated keys: exportable, beside an operational one.
    GenerateOpex = |vector| vector.key_type() == Exporter && vector.has(bit::PAIR_WITH_OPERATIONAL);
    /// Wraps generated keys: importable, beside an exportable one.
    GenerateImexIm = |vector| vector.key_type() == Importer && vector.has(bit::PAIR_IMPORT_EXPORT);
    /// Wraps generated keys: exportable, beside an importable one.
    GenerateImexEx = |vector| vector.key_type() == Exporter && vector.has(bit::PAIR_IMPORT_EXPORT);
    /// Wraps generated keys: two importable ones.
    GenerateImim = |vector| vector.key_type() == Importer && vector.has(bit::PAIR_OF_SAME);
    /// Wraps generated keys: two exportable ones.
    GenerateExex = |vector| vector.key_type() == Exporter && vector.has(bit::PAIR_OF_SAME);
    /// Unwraps keys to wrap them under another key.
    TranslateIn = |vector| matches!(vector.key_type(), Importer | IkeyXlat) && vector.has(bit::XLATE);
    /// Wraps keys that another key wrapped.
    TranslateOut = |vector| matches!(vector.key_type(), Exporter | OkeyXlat) && vector.has(bit::XLATE);
}

/// A MAC key that is not for card verification values alone.
fn is_mac(vector: &ControlVector) -> bool {
    [MacUse::Any, MacUse::X99]
        .iter()
        .any(|of| *of as u8 == vector.restriction())
}

fn is_cvv(vector: &ControlVector, bit: u32, half: MacUse) -> bool {
    match vector.key_type() {
        Mac | MacVer => {
            vector.has(bit) && [MacUse::Any as u8, half as u8].contains(&vector.restriction())
        }
        _ => false,
    }
}

/// Whether a PIN key may be used for a method.
pub(crate) fn is_pin_method(vector: &ControlVector, method: PinUse) -> bool {
    [PinUse::Any as u8, method as u8].contains(&vector.restriction())
}
