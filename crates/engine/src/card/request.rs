//! What a card can be asked for: operations that own all they need.

use std::sync::Arc;
use std::time::Instant;

use zeroize::Zeroizing;

use super::x25519::Generate as X25519Generate;
use super::{BreakEven, Kind, ec, ed25519, rsa, x25519};
use crate::error::{Error, Result};
use crate::ledger::{self, Reason};
use crate::scalar;
use crate::scalar::ec::Curve;
use crate::{Operation, Path};

/// A result: bytes, wiped when dropped.
pub type Output = Zeroizing<Vec<u8>>;

/// One private-key operation with its key and its input.
pub struct Request {
    operation: Operation,
    work: Work,
}

enum Work {
    RsaPower(rsa::Power),
    EcSign(ec::Sign),
    EcDerive(ec::Derive),
    EcGenerate(ec::Generate),
    X25519Derive(x25519::Derive),
    X25519Generate(x25519::Generate),
    Ed25519Sign(ed25519::Sign),
}

impl Request {
    /// The bare private operation of RSA on `block`, which has the modulus's length (see
    /// [`encode`](scalar::rsa::Key::encode)). `operation` is what it is done for. The output has the
    /// modulus's length and was verified with the public key.
    pub fn rsa(operation: Operation, key: Arc<rsa::Key>, block: Vec<u8>) -> Self {
        Self {
            operation,
            work: Work::RsaPower(rsa::Power { key, block }),
        }
    }

    /// An ECDSA signature of a digest. The output is DER.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`].
    pub fn ecdsa(key: Arc<scalar::ec::Key>, digest: &[u8]) -> Result<Self> {
        if !key.is_private() {
            return Err(Error::NoPrivateKey);
        }
        // The leftmost bits count, as many as the curve's order has: no more is copied of what may be as large as memory.
        let digest = &digest[..digest.len().min(key.curve().field_length())];
        Ok(Self {
            operation: match key.curve() {
                Curve::P256 => Operation::P256Sign,
                Curve::P384 => Operation::P384Sign,
                Curve::P521 => Operation::P521Sign,
            },
            work: Work::EcSign(ec::Sign {
                key,
                digest: digest.to_vec(),
            }),
        })
    }

    /// The secret that a key shares with a peer's. The output is a coordinate, as long as the field.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`]; [`Error::InvalidInput`] where the curves differ.
    pub fn ecdh(key: Arc<scalar::ec::Key>, peer: Arc<scalar::ec::Key>) -> Result<Self> {
        if !key.is_private() {
            return Err(Error::NoPrivateKey);
        }
        if key.curve() != peer.curve() {
            return Err(Error::InvalidInput);
        }
        Ok(Self {
            operation: match key.curve() {
                Curve::P256 => Operation::P256Derive,
                Curve::P384 => Operation::P384Derive,
                Curve::P521 => Operation::P521Derive,
            },
            work: Work::EcDerive(ec::Derive { key, peer }),
        })
    }

    /// A new key. The output is the private number, as long as the field, then the uncompressed public
    /// point.
    pub fn ec_generate(curve: Curve) -> Self {
        Self {
            operation: match curve {
                Curve::P256 => Operation::P256Keygen,
                Curve::P384 => Operation::P384Keygen,
                Curve::P521 => Operation::P521Keygen,
            },
            work: Work::EcGenerate(ec::Generate { curve }),
        }
    }

    /// The secret that an X25519 key shares with a peer's. The output has 32 bytes.
    pub fn x25519(private: &[u8; 32], peer: &[u8; 32]) -> Self {
        let mut own = Box::new(scalar::x25519::Private::default());
        own.copy_from_slice(private);
        Self {
            operation: Operation::X25519Derive,
            work: Work::X25519Derive(x25519::Derive {
                private: own,
                peer: *peer,
            }),
        }
    }

    /// A new X25519 key. The output is the private half, then the public one, 32 bytes each.
    pub fn x25519_generate() -> Self {
        Self {
            operation: Operation::X25519Keygen,
            work: Work::X25519Generate(x25519::Generate),
        }
    }

    /// An Ed25519 signature of a message. The output has 64 bytes.
    ///
    /// # Errors
    /// [`Error::Resource`]: a message may be as large as memory.
    pub fn ed25519(key: Arc<ed25519::Key>, message: &[u8]) -> Result<Self> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(message.len())
            .map_err(|_| Error::Resource)?;
        copy.extend_from_slice(message);
        Ok(Self {
            operation: Operation::Ed25519Sign,
            work: Work::Ed25519Sign(ed25519::Sign { key, message: copy }),
        })
    }

    /// What it is, for the profile and the ledger.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Runs it on path `scalar`, on this thread, without asking whether a card would do better; counts it
    /// in the ledger.
    ///
    /// # Errors
    /// As the same operation of [`scalar`].
    pub fn run_scalar(&self) -> Result<Output> {
        super::alone::scalar(self, None)
    }

    /// Runs it on this thread where one alone is fastest, and counts it in the ledger.
    ///
    /// # Errors
    /// As the same operation of [`scalar`].
    pub fn run_alone(&self, break_even: &BreakEven) -> Result<Output> {
        match self.kind() {
            Some(kind) if super::are_there() => {
                super::alone::run(self, kind, break_even, Reason::Alone)
            }
            _ => super::alone::scalar(self, None),
        }
    }

    /// Runs it across the lanes, on this thread, and counts it nowhere: to measure. None where the lanes had no answer.
    pub fn run_across_lanes(&self) -> Option<Output> {
        self.across_lanes()
    }

    /// Runs requests of one operation in the lanes, on this thread, without a card of this process, and counts what was
    /// answered in the ledger. One result for each, none where the lanes had no answer.
    pub fn run_together(batch: &[Self]) -> Vec<Option<Output>> {
        let started = Instant::now();
        let results = Self::run_in_lanes(batch);
        let answered = results.iter().flatten().count();
        let share = started.elapsed() / u32::try_from(answered).unwrap_or(1).max(1);
        for (request, result) in batch.iter().zip(&results) {
            if result.is_some() {
                ledger::record(request.operation, Path::Card, 0, share);
            }
        }
        results
    }

    /// As [`Request::run_together`], but counts them nowhere: to measure. One result for each, none where the lanes had no answer.
    pub fn run_in_lanes(batch: &[Self]) -> Vec<Option<Output>> {
        Self::in_lanes(&batch.iter().collect::<Vec<_>>())
    }

    /// What it could share the lanes with; none where they don't take it.
    pub(super) fn kind(&self) -> Option<Kind> {
        match &self.work {
            Work::RsaPower(work) if !work.key.is_for_lanes() => None,
            _ => Kind::of(self.operation),
        }
    }

    /// Runs requests of one kind in the lanes, eight at once; one result for each, none where the lanes
    /// had no answer. Every one was checked.
    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        if cfg!(feature = "stand-in-lanes") {
            return batch.iter().map(|request| request.alone().ok()).collect();
        }
        /// The works of that variant, which all of a kind are.
        macro_rules! all {
            ($variant:ident) => {{
                let works = batch.iter().filter_map(|request| match &request.work {
                    Work::$variant(work) => Some(work),
                    _ => None,
                });
                $variant::in_lanes(&works.collect::<Vec<_>>())
            }};
        }
        use ec::{Derive as EcDerive, Generate as EcGenerate, Sign as EcSign};
        use ed25519::Sign as Ed25519Sign;
        use rsa::Power as RsaPower;
        use x25519::Derive as X25519Derive;
        let Some(first) = batch.first() else {
            return Vec::new();
        };
        match &first.work {
            Work::RsaPower(_) => all!(RsaPower),
            Work::EcSign(_) => all!(EcSign),
            Work::EcDerive(_) => all!(EcDerive),
            Work::EcGenerate(_) => all!(EcGenerate),
            Work::X25519Derive(_) => all!(X25519Derive),
            Work::X25519Generate(_) => all!(X25519Generate),
            Work::Ed25519Sign(_) => all!(Ed25519Sign),
        }
    }

    /// Runs it across the lanes, where they can do that; none where they had no answer. It was checked.
    pub(super) fn across_lanes(&self) -> Option<Output> {
        if cfg!(feature = "stand-in-lanes") {
            return self.alone().ok();
        }
        match &self.work {
            Work::RsaPower(work) => work.across_lanes(),
            Work::EcSign(work) => work.across_lanes(),
            Work::EcDerive(work) => work.across_lanes(),
            Work::EcGenerate(work) => work.across_lanes(),
            Work::X25519Derive(work) => work.across_lanes(),
            Work::X25519Generate(_) => X25519Generate::across_lanes(),
            Work::Ed25519Sign(work) => work.across_lanes(),
        }
    }

    /// Runs it on path `scalar`, on this thread.
    pub(super) fn alone(&self) -> Result<Output> {
        match &self.work {
            Work::RsaPower(work) => work.alone(),
            Work::EcSign(work) => work.alone(),
            Work::EcDerive(work) => work.alone(),
            Work::EcGenerate(work) => work.alone(),
            Work::X25519Derive(work) => work.alone(),
            Work::X25519Generate(work) => work.alone(),
            Work::Ed25519Sign(work) => work.alone(),
        }
    }
}
