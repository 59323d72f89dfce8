//! AES-GCM with what TLS and OpenSSH ask of it beside the plain cipher: records with associated data
//! in one call (RFC 5288), and initialisation vectors of a fixed and a counted part.
//!
//! A program finds what it finds in the default provider of its own libcrypto: return codes, lengths, error
//! queue, and the state after each failure. `tests/gcm_contract` compares them.
//!
//! ```text
//! mod      a context: key, message, tag          iv       the vector, and where it stands
//! record   TLS's records                         params   what can be set, asked and listed
//! ```

mod iv;
mod params;
mod record;

use std::sync::Arc;
use std::time::{Duration, Instant};

use outboard_engine::ledger::Tally;
use outboard_engine::scalar::aes_gcm::{AesGcm, Counter, TAG_LENGTH};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::cipher::Piece;
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Cipher, Direction, Error, Params, ParamsMut, Reason, Result};

use crate::outboard::{Outboard, Shared, refuse};
use iv::{Iv, State};

/// One of the key sizes.
pub(crate) trait KeySize: Send + 'static {
    /// The key's length in bytes.
    const KEY_LENGTH: usize;
    /// How the ledger calls sealing.
    const SEAL: Operation;
    /// How the ledger calls opening.
    const OPEN: Operation;
}

/// AES-128.
pub(crate) struct Aes128;
/// AES-192.
pub(crate) struct Aes192;
/// AES-256.
pub(crate) struct Aes256;

impl KeySize for Aes128 {
    const KEY_LENGTH: usize = 16;
    const SEAL: Operation = Operation::Aes128GcmSeal;
    const OPEN: Operation = Operation::Aes128GcmOpen;
}

impl KeySize for Aes192 {
    const KEY_LENGTH: usize = 24;
    const SEAL: Operation = Operation::Aes192GcmSeal;
    const OPEN: Operation = Operation::Aes192GcmOpen;
}

impl KeySize for Aes256 {
    const KEY_LENGTH: usize = 32;
    const SEAL: Operation = Operation::Aes256GcmSeal;
    const OPEN: Operation = Operation::Aes256GcmOpen;
}

/// A cipher context.
pub(crate) struct Context<S: KeySize> {
    shared: Arc<Shared>,
    direction: Direction,
    /// None before a key is set.
    cipher: Option<AesGcm>,
    iv: Iv,
    /// The tag that was set or made, or the header of the TLS record to come: stock keeps both in one place,
    /// so that each overwrites the other.
    buffer: [u8; TAG_LENGTH],
    /// None before a tag was set or made.
    tag_length: Option<usize>,
    record: record::State,
    message: Message,
    tally: Tally,
    size: std::marker::PhantomData<S>,
}

/// What the ledger will hear of the message under way.
#[derive(Clone, Copy, Default)]
struct Message {
    bytes: u64,
    /// The time that the cipher took, without the program's own between the calls; for a sample.
    time: Option<Duration>,
}

impl<S: KeySize> Cipher for Context<S> {
    type Provider = Outboard;

    fn new(provider: &Outboard) -> Result<Self> {
        Ok(Self {
            shared: provider.shared(),
            // Stock's, too, before it is told.
            direction: Direction::Decrypt,
            cipher: None,
            iv: Iv::default(),
            buffer: [0; TAG_LENGTH],
            tag_length: None,
            record: record::State::default(),
            message: Message::default(),
            tally: Self::tally(Direction::Decrypt),
            size: std::marker::PhantomData,
        })
    }

    fn duplicate(&self) -> Result<Self> {
        let cipher = self.cipher.as_ref().map(AesGcm::try_clone);
        Ok(Self {
            shared: Arc::clone(&self.shared),
            cipher: cipher.transpose().map_err(refuse)?,
            tally: Self::tally(self.direction),
            size: std::marker::PhantomData,
            ..*self
        })
    }

    fn init(&mut self, direction: Direction, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<()> {
        if direction != self.direction {
            self.direction = direction;
            self.tally = Self::tally(direction);
            // In mid-message, too: the rest of it goes the other way.
            if let (Some(cipher), None) = (&mut self.cipher, key) {
                cipher
                    .turn(direction == Direction::Encrypt)
                    .map_err(refuse)?;
            }
        }
        if let Some(iv) = iv {
            self.iv.set(iv)?;
            if self.shared.libcrypto_is_at_least(4, 0) {
                self.iv.is_random = false;
            }
            self.message = Message::default();
        }
        if let Some(key) = key {
            if key.len() != S::KEY_LENGTH {
                return Err(Error::from(Reason::InvalidKeyLength));
            }
            self.set_key(key)?;
        }
        Ok(())
    }

    // Always inline: what a piece is is known where it is made, and passing it in memory costs as much as a block.
    #[inline(always)]
    fn process(&mut self, input: Piece<'_>) -> Result<usize> {
        if self.record.is_announced() {
            return self.record(input);
        }
        match input {
            Piece::Associated(data) => {
                let cipher = self.started()?;
                cipher.associate(data).map_err(|_| Error::silent())?;
                Ok(data.len())
            }
            Piece::Text(data) => {
                let length = data.len();
                let done = |_| Error::silent();
                self.timed(|context| context.started()?.update(data).map_err(done))?;
                self.message.bytes += length as u64;
                Ok(length)
            }
            Piece::End => {
                self.timed(Self::finish)?;
                self.count();
                Ok(0)
            }
        }
    }

    fn set(&mut self, params: Params<'_>) -> Result<()> {
        self.set_params(params)
    }

    fn get(&mut self, params: ParamsMut<'_>) -> Result<()> {
        self.get_params(params)
    }

    fn gettable(provider: &Outboard) -> &'static [Param] {
        params::gettable(&provider.shared())
    }

    fn settable(provider: &Outboard) -> &'static [Param] {
        params::settable(&provider.shared())
    }

    fn describable(provider: &Outboard) -> &'static [Param] {
        params::describable(&provider.shared())
    }

    fn describe(params: ParamsMut<'_>, since_4_0: bool) -> Result<()> {
        params::describe(params, S::KEY_LENGTH, since_4_0)
    }
}

impl<S: KeySize> Context<S> {
    fn tally(direction: Direction) -> Tally {
        let operation = match direction {
            Direction::Encrypt => S::SEAL,
            Direction::Decrypt => S::OPEN,
        };
        Tally::new(operation, Path::Scalar)
    }

    fn seals(&self) -> bool {
        self.direction == Direction::Encrypt
    }

    fn set_key(&mut self, key: &[u8]) -> Result<()> {
        let seals = self.seals();
        let in_message = (self.iv.state == State::Running).then(|| self.first_counter());
        match (&mut self.cipher, in_message) {
            (Some(cipher), Some(counter)) => {
                cipher
                    .set_key_in_message(key, seals, counter)
                    .map_err(refuse)?;
            }
            (Some(cipher), None) => cipher.set_key(key, seals).map_err(refuse)?,
            (None, _) => self.cipher = Some(AesGcm::new(key, seals).map_err(refuse)?),
        }
        self.record.forget_count();
        Ok(())
    }

    /// How the default provider's kernel counts: that for AVX-512, since 3.1, counts up before it encrypts.
    fn first_counter(&self) -> Counter {
        #[cfg(target_arch = "x86_64")]
        {
            use outboard_processor::Feature as F;
            const ITS: &[F] = &[
                F::Vaes,
                F::Vpclmulqdq,
                F::Avx512f,
                F::Avx512vl,
                F::Avx512bw,
                F::Avx512dq,
            ];
            if self.shared.libcrypto_is_at_least(3, 1) && outboard_processor::has_all(ITS) {
                return Counter::One;
            }
        }
        Counter::Zero
    }

    /// The cipher, with the message started.
    #[inline]
    fn started(&mut self) -> Result<&mut AesGcm> {
        let seals = self.seals();
        let Some(cipher) = &mut self.cipher else {
            return Err(Error::silent());
        };
        match self.iv.state {
            State::Running => return Ok(cipher),
            State::Finished => return Err(Error::silent()),
            State::Given => {}
            // A message that is sealed without a vector gets a random one, which the program asks for.
            State::Missing if seals => self.iv.draw_whole(&self.shared)?,
            State::Missing => return Err(Error::silent()),
        }
        self.iv.start(cipher, seals)?;
        Ok(cipher)
    }

    /// Ends the message: makes its tag, or checks the one that was set.
    fn finish(&mut self) -> Result<()> {
        self.started()?;
        let Some(cipher) = &mut self.cipher else {
            return Err(Error::from(Reason::Internal));
        };
        match (self.direction, self.tag_length) {
            (Direction::Encrypt, _) => {
                cipher.seal(&mut self.buffer).map_err(refuse)?;
                self.tag_length = Some(TAG_LENGTH);
            }
            (Direction::Decrypt, Some(length)) => {
                let tag = &self.buffer[..length];
                if !cipher.open(tag).map_err(refuse)? {
                    return Err(Error::silent());
                }
            }
            (Direction::Decrypt, None) if self.shared.libcrypto_is_at_least(4, 0) => {
                return Err(Error::from(Reason::TagNotSet));
            }
            (Direction::Decrypt, None) => return Err(Error::silent()),
        }
        self.iv.state = State::Finished;
        Ok(())
    }

    /// Runs a part of the message, and times it if the message is one of the sample.
    #[inline]
    fn timed<R>(&mut self, part: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.message.bytes == 0 && self.tally.wants_time() {
            self.message.time.get_or_insert_default();
        }
        if self.message.time.is_none() {
            return part(self);
        }
        let started = Instant::now();
        let result = part(self);
        if let Some(time) = &mut self.message.time {
            *time += started.elapsed();
        }
        result
    }

    /// Tells the ledger of a message that is done.
    fn count(&mut self) {
        let Message { bytes, time } = std::mem::take(&mut self.message);
        match time {
            None => self.tally.count(bytes),
            Some(time) => self.tally.count_timed(bytes, time),
        }
    }
}
