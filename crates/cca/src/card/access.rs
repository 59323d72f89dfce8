//! Access-control points: what a card allows at all. The numbers are the publication's.

use std::collections::BTreeSet;

macro_rules! points {
    ($($(#[doc = $doc:literal])+ $name:ident = $offset:literal, $default:literal;)*) => {
        /// What can be switched on and off.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum AccessPoint {
            $($(#[doc = $doc])+ $name = $offset,)*
        }

        impl AccessPoint {
            /// All.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Whether it is on in a new card.
            pub fn is_on_by_default(self) -> bool {
                match self { $(Self::$name => $default,)* }
            }

            /// What it allows.
            pub fn describe(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii(),)* }
            }

            /// The one of that number.
            pub fn of_offset(offset: u16) -> Option<Self> {
                Self::ALL.iter().copied().find(|point| *point as u16 == offset)
            }
        }
    };
}

points! {
    /// CSNBENC.
    Encipher = 0x000e, true;
    /// CSNBDEC.
    Decipher = 0x000f, true;
    /// CSNBMGN, CSNBMGN2, CSNBHMG.
    MacGenerate = 0x0010, true;
    /// CSNBMVR, CSNBMVR2, CSNBHMV.
    MacVerify = 0x0011, true;
    /// CSNBKIM.
    KeyImport = 0x0012, true;
    /// CSNBKEX.
    KeyExport = 0x0013, true;
    /// CSNBKPI and CSNBKPI2, the first part: who knows all parts knows the key.
    KeyPartImportFirst = 0x001b, false;
    /// CSNBKPI and CSNBKPI2, further parts.
    KeyPartImportNext = 0x001c, false;
    /// CSNBKYT, CSNBKYT2.
    KeyTest = 0x001d, true;
    /// CSNBKTR.
    KeyTranslate = 0x001f, true;
    /// CSNBKGN, forms with a key-encrypting key of each side.
    KeyGeneratePairs = 0x008c, true;
    /// CSNBKGN, one form.
    KeyGenerateSingle = 0x008e, true;
    /// CSNBKTC, CSNBKTC2, CSNDKTC.
    TokenChange = 0x0090, true;
    /// CSNBCKI and CSNBCKM: keys that a program knows. They are DATA keys alone.
    ClearKeyImport = 0x00c3, false;
    /// CSNBPGN: PINs in the clear.
    ClearPinGenerate = 0x00a0, false;
    /// CSNBPVR.
    PinVerify = 0x00a4, true;
    /// CSNBCPE: encrypts PINs that a program knows.
    ClearPinEncrypt = 0x00af, false;
    /// CSNBEPG. ISO-0 adds the account's digits to the PIN, and the same PIN in the same block is the same: blocks that are made for other
    /// accounts are compared with an account's own.
    EncryptedPinGenerate = 0x00b0, false;
    /// CSNBPTR, CSNBPTR2: another key, the same format.
    PinTranslate = 0x00b3, true;
    /// CSNBPTR, CSNBPTR2: another format.
    PinReformat = 0x00b7, true;
    /// CSNBCPA: offsets of the method IBM-PINO. An offset is the PIN less digits that are not equally likely: some hundred offsets of
    /// one PIN, under keys of one's own, tell the PIN.
    AlternateOffset = 0x00a3, false;
    /// CSNBCPA: values of the method VISA-PVV.
    AlternatePvv = 0x00bb, true;
    /// CSNBPCU. Equal PINs of an account make equal messages, and VISAPCU2 adds two PINs: who has blocks with known PINs compares others
    /// with them.
    PinChange = 0x00bd, false;
    /// CSNBCSG.
    CvvGenerate = 0x00df, true;
    /// CSNBCSV.
    CvvVerify = 0x00e0, true;
    /// CSNBPEX.
    ProhibitExport = 0x00cd, true;
    /// CSNDDSG.
    SignatureGenerate = 0x0100, true;
    /// CSNDDSV.
    SignatureVerify = 0x0101, true;
    /// CSNDPKG.
    PkaKeyGenerate = 0x0103, true;
    /// CSNDPKI: private keys that a program knows.
    PkaKeyImport = 0x0104, true;
    /// CSNDSYX: a DATA key leaves under any public key that a program names.
    SymmetricKeyExport = 0x0105, false;
    /// CSNDSYI.
    SymmetricKeyImport = 0x0106, true;
    /// CSNDSYG.
    SymmetricKeyGenerate = 0x010e, true;
    /// CSNDPKE.
    PkaEncrypt = 0x011e, true;
    /// CSNDPKD: a key that came for CSNDSYI leaves in the clear.
    PkaDecrypt = 0x011f, false;
    /// CSNDRKD.
    RetainedKeyDelete = 0x0203, true;
    /// CSUAMKD with OBTAIN, whichever share: shares of the master keys leave.
    CloneObtain = 0x0211, false;
    /// CSUAMKD with INSTALL, whichever share.
    CloneInstall = 0x0221, false;
    /// CSNBSAE.
    SymmetricEncipher = 0x012a, true;
    /// CSNBSAD.
    SymmetricDecipher = 0x012b, true;
    /// CSNBT31X.
    Tr31Export = 0x0180, true;
    /// CSNBT31I.
    Tr31Import = 0x0150, true;
    /// CSNBT31X, CSNBT31I: blocks of versions A and C, whose keys are variants of the wrapping key.
    Tr31Variants = 0x014d, false;
    /// CSNBUKD.
    UniqueKeyDerive = 0x01c8, true;
    /// The original wrapping of keys under key-encrypting keys (WRAP-ECB). It does not bind the halves of a key to each other.
    WrapEcb = 0x0139, false;
    /// PIN blocks of formats that ISO 9564 does not know: 3624, 3621, ECI-2, ECI-3, VISA-2 to VISA-4.
    NonIsoPinBlocks = 0x0352, false;
    /// Validation data of CSNBPVR and CSNBCPA, and card data of CSNBPCU, that do not have the account's digits: who chooses them
    /// compares one account's PIN with another's. (Outboard's own number.)
    ForeignValidationData = 0xf001, false;
    /// CSNBPVR, CSNBCPA and CSNBPCU with blocks that are not bound to an account (ISO-1 and older formats): who has such a block of another
    /// compares its PIN with one's own account, and clears the count of wrong PINs by one's own PIN. (Outboard's own number.)
    UnboundPinBlocks = 0xf002, false;
}

/// The points of a card.
pub(crate) struct Points(BTreeSet<AccessPoint>);

impl Default for Points {
    fn default() -> Self {
        Self(
            AccessPoint::ALL
                .iter()
                .copied()
                .filter(|point| point.is_on_by_default())
                .collect(),
        )
    }
}

impl Points {
    pub(crate) fn is_on(&self, point: AccessPoint) -> bool {
        self.0.contains(&point)
    }

    /// As [`Points::value`] wrote it.
    pub(crate) fn load(&mut self, value: &[u8]) -> bool {
        let read = value
            .chunks(2)
            .map(|pair| <[u8; 2]>::try_from(pair).ok().map(u16::from_be_bytes));
        let Some(numbers) = read.collect::<Option<Vec<_>>>() else {
            return false;
        };
        self.0 = numbers
            .into_iter()
            .filter_map(AccessPoint::of_offset)
            .collect();
        true
    }

    pub(crate) fn value(&self) -> Vec<u8> {
        self.offsets()
            .into_iter()
            .flat_map(u16::to_be_bytes)
            .collect()
    }

    pub(crate) fn offsets(&self) -> Vec<u16> {
        self.0.iter().map(|point| *point as u16).collect()
    }

    /// With others on and off.
    pub(crate) fn with(&self, enable: &[AccessPoint], disable: &[AccessPoint]) -> Self {
        let mut points = self.0.clone();
        points.extend(enable);
        points.retain(|point| !disable.contains(point));
        Self(points)
    }
}
