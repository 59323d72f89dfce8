//! Why a measurement could not be made, or must not be believed.

use std::io;

/// Why a measurement could not be made, or must not be believed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// OpenSSL refused.
    #[error(transparent)]
    Libcrypto(#[from] outboard_libcrypto::Error),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] outboard_engine::Error),
    /// Intel's crypto_mb refused, or is not there.
    #[error(transparent)]
    CryptoMb(#[from] outboard_crypto_mb::Error),
    /// A temporary file could not be written.
    #[error("the system refused a temporary file, a descriptor or a thread: {0}")]
    Configuration(#[from] io::Error),
    /// The provider did not come up with the configuration.
    #[error("libcrypto {version} did not load Outboard from {module}: {reason}")]
    NotLoaded {
        /// The provider's file.
        module: String,
        /// The version of the libcrypto.
        version: String,
        /// What it says, asked directly.
        reason: String,
    },
    /// The lanes did not do what they say they do.
    #[error("the lanes gave no result for {}: report this", .0.name())]
    Lanes(outboard_operation::Operation),
    /// One side does not accept what the other makes, so nothing about it is worth measuring.
    #[error("{what}: {maker} makes what {judge} does not accept")]
    Disagreement {
        /// The operation.
        what: String,
        /// Whose result it is.
        maker: &'static str,
        /// Who refused it.
        judge: &'static str,
    },
    /// There is nothing to compare an operation with.
    #[error("OpenSSL before 3.5 has no {0} to compare with")]
    Incomparable(&'static str),
}
