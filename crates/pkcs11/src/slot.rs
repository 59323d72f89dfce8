//! The slots, and what they say of themselves.

use cryptoki_sys::*;

use crate::abi::padded;
use crate::error::{Error, Result};

/// A slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Keys of the program, computed with in its process. No login, nothing is kept.
    Accelerator,
}

const MANUFACTURER: &str = "Outboard";

impl Slot {
    /// Those that have a token now.
    pub(crate) fn all() -> &'static [Self] {
        &[Self::Accelerator]
    }

    /// Its number. It is the same in every process.
    pub(crate) fn id(self) -> CK_SLOT_ID {
        match self {
            Self::Accelerator => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Accelerator => "accelerator",
        }
    }

    /// What `C_GetSlotInfo` tells.
    pub(crate) fn info(self) -> CK_SLOT_INFO {
        CK_SLOT_INFO {
            slotDescription: padded(&format!("Outboard {}", self.name())),
            manufacturerID: padded(MANUFACTURER),
            flags: CKF_TOKEN_PRESENT,
            hardwareVersion: CK_VERSION { major: 0, minor: 0 },
            firmwareVersion: version(),
        }
    }

    /// What `C_GetTokenInfo` tells, with so many sessions open, so many of them for writing.
    pub(crate) fn token_info(self, sessions: usize, for_writing: usize) -> CK_TOKEN_INFO {
        CK_TOKEN_INFO {
            label: padded(self.name()),
            manufacturerID: padded(MANUFACTURER),
            model: padded("software"),
            serialNumber: padded(&format!("{:08}", self.id())),
            flags: CKF_RNG | CKF_TOKEN_INITIALIZED | CKF_WRITE_PROTECTED,
            ulMaxSessionCount: CK_EFFECTIVELY_INFINITE,
            ulSessionCount: sessions as CK_ULONG,
            ulMaxRwSessionCount: CK_EFFECTIVELY_INFINITE,
            ulRwSessionCount: for_writing as CK_ULONG,
            ulMaxPinLen: 0,
            ulMinPinLen: 0,
            ulTotalPublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulTotalPrivateMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePrivateMemory: CK_UNAVAILABLE_INFORMATION,
            hardwareVersion: CK_VERSION { major: 0, minor: 0 },
            firmwareVersion: version(),
            utcTime: padded(""),
        }
    }
}

impl TryFrom<CK_SLOT_ID> for Slot {
    type Error = Error;

    fn try_from(id: CK_SLOT_ID) -> Result<Self> {
        let found = Self::all().iter().find(|slot| slot.id() == id);
        found.copied().ok_or(CKR_SLOT_ID_INVALID.into())
    }
}

/// What `C_GetInfo` tells, for a version of the interface.
pub(crate) fn library_info(interface: CK_VERSION) -> CK_INFO {
    CK_INFO {
        cryptokiVersion: interface,
        manufacturerID: padded(MANUFACTURER),
        flags: 0,
        libraryDescription: padded("Outboard"),
        libraryVersion: version(),
    }
}

/// Ours.
fn version() -> CK_VERSION {
    let number = |text: &str| text.parse().unwrap_or_default();
    CK_VERSION {
        major: number(env!("CARGO_PKG_VERSION_MAJOR")),
        minor: number(env!("CARGO_PKG_VERSION_MINOR")),
    }
}
