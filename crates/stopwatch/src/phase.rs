//! The phases of a connection.

/// A part of a connection's work in the server, inside calls of libssl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Making a key share, and agreeing on the secret; decryption of a secret by RSA.
    KeyShare,
    /// Signing; checks of clients' signatures and certificates.
    Signature,
    /// Secrets and keys derived from each other; codes of Finished messages.
    KeySchedule,
    /// Hashes of the messages so far.
    Transcript,
    /// Session tickets: written, encrypted, authenticated, and read.
    Tickets,
    /// Keys of records, and records sealed and opened.
    Records,
    /// Random bytes.
    Random,
    /// Sending and receiving: the kernel's part of calls of libssl.
    Network,
    /// The rest of libssl's calls: messages, state, memory.
    Libssl,
}

impl Phase {
    /// All of them, in the order of people's tables.
    pub const ALL: [Self; 9] = [
        Self::KeyShare,
        Self::Signature,
        Self::KeySchedule,
        Self::Transcript,
        Self::Tickets,
        Self::Records,
        Self::Random,
        Self::Network,
        Self::Libssl,
    ];

    /// As results name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeyShare => "key share",
            Self::Signature => "signature",
            Self::KeySchedule => "key schedule",
            Self::Transcript => "transcript",
            Self::Tickets => "tickets",
            Self::Records => "records",
            Self::Random => "random bytes",
            Self::Network => "network",
            Self::Libssl => "rest of libssl",
        }
    }
}
