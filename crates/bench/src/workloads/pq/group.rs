//! X25519MLKEM768 for a client of rustls: ring's X25519, and ML-KEM by Outboard's engine in this process. (rustls has the
//! group itself, but only with a build of AWS-LC that would be built beside ours.)

use outboard_engine::Path;
use outboard_engine::kem::{self, Set};
use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

/// The group.
pub(super) const X25519_MLKEM768: &dyn SupportedKxGroup = &Hybrid;

#[derive(Debug)]
struct Hybrid;

/// A client's two keys, and its share: the encapsulation key, then X25519's.
struct Started {
    kem: kem::Key,
    curve: Box<dyn ActiveKeyExchange>,
    share: Vec<u8>,
}

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let failed = |error| Error::General(format!("cannot make a key: {error}"));
        let kem = kem::generate(Set::MlKem768, Path::Scalar).map_err(failed)?;
        let curve = X25519.start()?;
        let share = [kem.public_bytes(), curve.pub_key()].concat();
        Ok(Box::new(Started { kem, curve, share }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

impl ActiveKeyExchange for Started {
    /// A server's share is a ciphertext, then X25519's.
    fn complete(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        let invalid = || Error::from(PeerMisbehaved::InvalidKeyShare);
        let (ciphertext, point) = share
            .split_at_checked(Set::MlKem768.ciphertext_length())
            .ok_or_else(invalid)?;
        let first = self.kem.decapsulate(Path::Scalar, ciphertext);
        let first = first.map_err(|_| invalid())?;
        let second = self.curve.complete(point)?;
        Ok([&first[..], second.secret_bytes()].concat().into())
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        Hybrid.name()
    }
}
