//! Why a native method throws.

/// Why a native method throws; what Java reads is the sentence.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Java refused something, and may have thrown already.
    #[error("{0}")]
    Java(#[from] jni::errors::Error),
    #[error("{0}")]
    Engine(#[from] outboard_engine::Error),
    #[error("{0}")]
    Service(#[from] outboard_client::Error),
    /// A method was called with what the Java half never gives.
    #[error(
        "Outboard's two halves are not of one version: use the outboard.jar and the library of one build"
    )]
    Misused,
    #[error("the card service does not do this operation with its keys")]
    NotByService,
}

/// What inner functions return.
pub(crate) type Result<T> = std::result::Result<T, Error>;
