//! How keys sign in SSH: which digest, and how a signature is written.

use der::asn1::UintRef;
use der::{Decode, Sequence};
use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_vault::KeyType;
use outboard_wire as wire;

use super::message::put_number;

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Rsa,
    Ecdsa(Curve),
    Ed25519,
}

/// A curve that SSH has a name for (RFC 5656, 10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
    P521,
}

/// A kind of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// RFC 8332
    RsaSha256,
    /// RFC 8332
    RsaSha512,
    /// RFC 5656
    Ecdsa(Curve),
    /// RFC 8709
    Ed25519,
}

/// A signature that is to be made.
pub(super) struct Signature {
    scheme: Scheme,
    /// A digest; Ed25519 takes the data itself.
    value: Vec<u8>,
}

impl Kind {
    pub(super) fn of(key_type: KeyType) -> Self {
        match key_type {
            KeyType::Rsa(_) => Self::Rsa,
            KeyType::P256 => Self::Ecdsa(Curve::P256),
            KeyType::P384 => Self::Ecdsa(Curve::P384),
            KeyType::P521 => Self::Ecdsa(Curve::P521),
            KeyType::Ed25519 => Self::Ed25519,
        }
    }

    /// The name of such keys.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rsa => "ssh-rsa",
            Self::Ecdsa(curve) => Scheme::Ecdsa(curve).name(),
            Self::Ed25519 => Scheme::Ed25519.name(),
        }
    }

    /// How such a key signs where a client sends those flags (RFC 9987). RSA without a flag means SHA-1, which this
    /// agent does not sign with.
    pub(super) fn scheme(self, flags: u32) -> Option<Scheme> {
        const RSA_SHA2_256: u32 = 2;
        const RSA_SHA2_512: u32 = 4;
        match self {
            // The order is that of OpenSSH's agent.
            Self::Rsa if flags & RSA_SHA2_256 != 0 => Some(Scheme::RsaSha256),
            Self::Rsa if flags & RSA_SHA2_512 != 0 => Some(Scheme::RsaSha512),
            Self::Rsa => None,
            Self::Ecdsa(curve) => Some(Scheme::Ecdsa(curve)),
            Self::Ed25519 => Some(Scheme::Ed25519),
        }
    }
}

impl Curve {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::P256 => "nistp256",
            Self::P384 => "nistp384",
            Self::P521 => "nistp521",
        }
    }

    /// RFC 5656, 6.2.1
    fn digest(self) -> (wire::Digest, Digest) {
        match self {
            Self::P256 => (wire::Digest::Sha256, Digest::Sha256),
            Self::P384 => (wire::Digest::Sha384, Digest::Sha384),
            Self::P521 => (wire::Digest::Sha512, Digest::Sha512),
        }
    }
}

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::RsaSha256 => "rsa-sha2-256",
            Self::RsaSha512 => "rsa-sha2-512",
            Self::Ecdsa(Curve::P256) => "ecdsa-sha2-nistp256",
            Self::Ecdsa(Curve::P384) => "ecdsa-sha2-nistp384",
            Self::Ecdsa(Curve::P521) => "ecdsa-sha2-nistp521",
            Self::Ed25519 => "ssh-ed25519",
        }
    }

    /// The digest, as clients name it and as the engine does.
    fn digest(self) -> Option<(wire::Digest, Digest)> {
        match self {
            Self::RsaSha256 => Some((wire::Digest::Sha256, Digest::Sha256)),
            Self::RsaSha512 => Some((wire::Digest::Sha512, Digest::Sha512)),
            Self::Ecdsa(curve) => Some(curve.digest()),
            Self::Ed25519 => None,
        }
    }

    /// What the engine puts out, as SSH writes it. None where it is no signature of this kind.
    pub(super) fn written(self, signature: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Ecdsa(_) => {
                let numbers = EcdsaSignature::from_der(signature).ok()?;
                let mut written = Vec::with_capacity(signature.len() + 8);
                put_number(&mut written, numbers.r.as_bytes());
                put_number(&mut written, numbers.s.as_bytes());
                Some(written)
            }
            _ => Some(signature.to_vec()),
        }
    }
}

/// RFC 3279, 2.2.3
#[derive(Sequence)]
struct EcdsaSignature<'a> {
    r: UintRef<'a>,
    s: UintRef<'a>,
}

impl Signature {
    /// One of that data.
    pub(super) fn of(scheme: Scheme, data: &[u8]) -> Result<Self, outboard_engine::Error> {
        let value = match scheme.digest() {
            None => data.to_vec(),
            Some((_, digest)) => {
                let mut hasher = Hasher::new(digest)?;
                hasher.update(data)?;
                hasher.finish_and_reset()?.to_vec()
            }
        };
        Ok(Self { scheme, value })
    }

    pub(super) fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// What the service is asked for it.
    pub(super) fn operation(&self) -> wire::Operation<'_> {
        let value = &self.value;
        let digest = self.scheme.digest().map(|(digest, _)| digest);
        match self.scheme {
            Scheme::RsaSha256 | Scheme::RsaSha512 => wire::Operation::Pkcs1 { digest, value },
            Scheme::Ecdsa(_) => wire::Operation::Ecdsa { digest, value },
            Scheme::Ed25519 => wire::Operation::Ed25519 { message: value },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rsa_never_signs_with_sha_1() {
        assert_eq!(Kind::Rsa.scheme(0), None);
        assert_eq!(Kind::Rsa.scheme(1), None);
        assert_eq!(Kind::Rsa.scheme(2), Some(Scheme::RsaSha256));
        assert_eq!(Kind::Rsa.scheme(4), Some(Scheme::RsaSha512));
        assert_eq!(Kind::Rsa.scheme(6), Some(Scheme::RsaSha256));
    }

    #[test]
    fn a_signature_on_a_curve_is_two_numbers() {
        let scheme = Scheme::Ecdsa(Curve::P256);
        let der = [0x30, 7, 2, 2, 0, 0x80, 2, 1, 5];
        let written = scheme.written(&der).unwrap();
        assert_eq!(written, [0, 0, 0, 2, 0, 0x80, 0, 0, 0, 1, 5]);
        for end in 0..der.len() {
            assert_eq!(scheme.written(&der[..end]), None);
        }
    }
}
