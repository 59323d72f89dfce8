//! The slots, and what they say of themselves.

use cryptoki_sys::*;

use crate::abi::padded;
use crate::error::Result;

/// A slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Keys of the card service, which alone has their private halves. No login: the service knows who asks.
    Coprocessor,
    /// Keys of the program, computed with in its process. No login, nothing is kept.
    Accelerator,
}

const MANUFACTURER: &str = "Outboard";

impl Slot {
    /// Those that are there: the card service's only where there is one.
    pub(crate) fn all(has_service: bool) -> &'static [Self] {
        match has_service {
            true => &[Self::Coprocessor, Self::Accelerator],
            false => &[Self::Accelerator],
        }
    }

    /// The slot of that number.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn of(id: CK_SLOT_ID, has_service: bool) -> Result<Self> {
        let found = Self::all(has_service).iter().find(|slot| slot.id() == id);
        found.copied().ok_or(CKR_SLOT_ID_INVALID.into())
    }

    /// Its number. It is the same in every process.
    pub(crate) fn id(self) -> CK_SLOT_ID {
        match self {
            Self::Coprocessor => 0,
            Self::Accelerator => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Coprocessor => "coprocessor",
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
            flags: CKF_RNG
                | CKF_TOKEN_INITIALIZED
                | CKF_WRITE_PROTECTED
                | CKF_ASYNC_SESSION_SUPPORTED,
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
