//! What all workloads share.

use outboard_programs::{Cores, OpenSsl, Workplace, all_installed};

use super::{Arguments, download, handshakes, secure_shell};
use crate::Failure;
use crate::installation::Installation;
use crate::proof::{Expected, Proof};

const MEBIBYTE: u64 = 1 << 20;

/// Options, programs, cores, configurations, and the directory that all is done in.
pub(super) struct Setting {
    pub(super) workplace: Workplace,
    pub(super) cores: Cores,
    pub(super) stock: OpenSsl,
    installation: Option<Installation>,
    quick: bool,
    only: Option<String>,
}

impl Setting {
    /// Checks that everything needed is there.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let programs = [
            "curl",
            "h2load",
            "nginx",
            "openssl",
            "scp",
            "sftp",
            "ssh-keygen",
            "sshd",
        ];
        all_installed(&programs)?;
        let installation = if arguments.null {
            None
        } else {
            Some(Installation::find(&arguments.installation)?)
        };
        let quick = arguments.quick;
        let bytes = download_bytes(quick) + 3 * transfer_bytes(quick);
        let workplace = Workplace::in_memory(bytes)?;
        Ok(Self {
            stock: OpenSsl::stock(&workplace)?,
            workplace,
            cores: Cores::choose(),
            installation,
            quick,
            only: arguments.only.clone(),
        })
    }

    /// How many steps of progress there will be.
    pub(super) fn plan(&self) -> u32 {
        secure_shell::steps(self) + handshakes::steps(self) + download::steps(self)
    }

    /// Outboard's configuration with a fresh ledger of that name; stock's again under `--null`.
    pub(super) fn outboard(&self, ledger: &str) -> Result<OpenSsl, Failure> {
        Ok(match &self.installation {
            Some(installation) => {
                OpenSsl::outboard(&self.workplace, &installation.outboard, ledger)?
            }
            None => self.stock.clone(),
        })
    }

    /// Whether the ledger of that configuration contains the expected operations.
    pub(super) fn proof(&self, openssl: &OpenSsl, expected: &[Expected]) -> Result<Proof, Failure> {
        match &self.installation {
            Some(installation) => installation.proofs.find(openssl, expected),
            None => Ok(Proof::not_needed()),
        }
    }

    /// Whether a workload was asked for.
    pub(super) fn wants(&self, workload: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|text| workload.contains(text.as_str()))
    }

    /// Whether both sides are stock.
    pub(super) fn is_null(&self) -> bool {
        self.installation.is_none()
    }

    /// The size of a file for scp and sftp, in bytes.
    pub(super) fn transfer_bytes(&self) -> u64 {
        transfer_bytes(self.quick)
    }

    /// The size of curl's download, in bytes.
    pub(super) fn download_bytes(&self) -> u64 {
        download_bytes(self.quick)
    }

    /// How often each pair of contenders is run.
    pub(super) fn rounds(&self, thorough: u32) -> u32 {
        if self.quick {
            (thorough / 3).max(1)
        } else {
            thorough
        }
    }
}

fn transfer_bytes(quick: bool) -> u64 {
    (if quick { 64 } else { 256 }) * MEBIBYTE
}

fn download_bytes(quick: bool) -> u64 {
    (if quick { 256 } else { 1024 }) * MEBIBYTE
}

/// `256 MiB`, `1 GiB`.
pub(super) fn readable_size(bytes: u64) -> String {
    if bytes.is_multiple_of(1024 * MEBIBYTE) {
        format!("{} GiB", bytes / (1024 * MEBIBYTE))
    } else {
        format!("{} MiB", bytes / MEBIBYTE)
    }
}
