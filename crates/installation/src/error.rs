//! Why something of the installation cannot be used.

use outboard_openssl_conf::ConfError;
use std::io;
use std::path::PathBuf;

/// What is missing or in the way, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No libcrypto of version 3 or later.
    #[error("cannot use the system's OpenSSL: {0} (install OpenSSL 3: Debian's libssl3)")]
    NoOpenSsl(outboard_libcrypto::Error),
    /// The library was built to read no configuration.
    #[error("this OpenSSL was built without a configuration file (name one with --config)")]
    NoConfiguration,
    /// The configuration in force cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    Unreadable {
        /// The configuration.
        file: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The configuration cannot be understood.
    #[error(transparent)]
    Configuration(#[from] ConfError),
    /// The configuration loads Outboard without Outboard's own block.
    #[error(
        "{} configures the provider outboard by hand, so --stock cannot leave it out (remove those lines first)",
        .0.display()
    )]
    ByHand(PathBuf),
    /// This command does not know its own file.
    #[error("cannot find this command's own file: {0}")]
    NoCommand(io::Error),
    /// The card service is not installed.
    #[error("cannot find outboardd in {} (run 'make install')", .0.display())]
    NoDaemon(PathBuf),
}
