//! The hashes of key derivation.

use outboard_engine::scalar::hmac::{Functions, Hash};
use outboard_libcrypto as libcrypto;
use outboard_provider_abi::Core;

/// A hash that the engine derives with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Sha256,
    Sha384,
}

impl Algorithm {
    /// The hash of one of the names that OpenSSL knows it by.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let is = |names: [&str; 3]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
        match () {
            () if is(["SHA256", "SHA2-256", "SHA-256"]) => Some(Self::Sha256),
            () if is(["SHA384", "SHA2-384", "SHA-384"]) => Some(Self::Sha384),
            () => None,
        }
    }
}

/// How they are computed: by the program's own libcrypto where it exports them. Its block functions are as fast as
/// AWS-LC's for SHA-256 and faster for SHA-384, so no message is too long for us.
pub(crate) struct Hashes {
    sha256: Hash,
    sha384: Hash,
}

impl Hashes {
    /// Those of the libcrypto that loaded us, which stays as long as the provider.
    pub(crate) fn of(core: &Core) -> Self {
        let own = core
            .address()
            .and_then(|address| libcrypto::Hashes::containing(address).ok());
        let Some(own) = own else {
            return Self {
                sha256: Hash::SHA256,
                sha384: Hash::SHA384,
            };
        };
        // SAFETY: OpenSSL's own functions, which stay as long as the libcrypto that loaded us.
        unsafe {
            Self {
                sha256: Hash::SHA256.by(Functions {
                    init: own.SHA256_Init,
                    update: own.SHA256_Update,
                    finish: own.SHA256_Final,
                }),
                sha384: Hash::SHA384.by(Functions {
                    init: own.SHA384_Init,
                    update: own.SHA384_Update,
                    finish: own.SHA384_Final,
                }),
            }
        }
    }

    pub(crate) fn hash(&self, algorithm: Algorithm) -> Hash {
        match algorithm {
            Algorithm::Sha256 => self.sha256,
            Algorithm::Sha384 => self.sha384,
        }
    }
}
