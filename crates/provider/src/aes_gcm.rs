//! AES-GCM with what TLS and OpenSSH ask of it beside the plain cipher: records with associated data
//! in one call (RFC 5288), and initialisation vectors of a fixed and a counted part.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inout::InOutBuf;
use outboard_engine::ledger::Tally;
use outboard_engine::scalar::aes_gcm::{AesGcm, MAX_IV_LENGTH, TAG_LENGTH};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::params::{END, octets, octets_pointer, unsigned};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{
    Cipher, Direction, Error, ParamMut, ParamRef, Params, ParamsMut, Reason, Result,
};
use zeroize::Zeroizing;

use crate::outboard::{Outboard, Shared, refuse};

/// `EVP_CIPH_GCM_MODE`.
const MODE: u64 = 6;
/// The initialisation vector's usual length.
const DEFAULT_IV_LENGTH: usize = 12;
/// The part of the vector that a TLS record carries.
const EXPLICIT_IV_LENGTH: usize = 8;
/// The part of the vector that stays for a TLS connection.
const FIXED_IV_LENGTH: usize = 4;
/// What TLS authenticates beside a record (RFC 5246, 6.2.3.3).
const TLS_ASSOCIATED_LENGTH: usize = 13;

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

/// Where a message's initialisation vector stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IvState {
    /// None was given.
    Missing,
    /// It was given, and the cipher not yet started with it.
    Given,
    /// The cipher runs with it.
    Started,
    /// Its message is ended: it must not be used again.
    Used,
}

/// A cipher context.
pub(crate) struct Context<S: KeySize> {
    shared: Arc<Shared>,
    direction: Direction,
    key: Option<Key>,
    iv: [u8; MAX_IV_LENGTH],
    iv_length: usize,
    iv_state: IvState,
    /// Whether the vector is of a fixed and a counted part.
    iv_counts: bool,
    tag: [u8; TAG_LENGTH],
    tag_length: Option<usize>,
    /// The associated data of the TLS record that comes next.
    record: Option<[u8; TLS_ASSOCIATED_LENGTH]>,
    message: Message,
    tally: Tally,
    size: std::marker::PhantomData<S>,
}

/// A key, and the cipher keyed with it for one direction.
struct Key {
    bytes: Zeroizing<Vec<u8>>,
    cipher: AesGcm,
    direction: Direction,
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

    const GETTABLE: &'static [Param] = &[
        unsigned(c"keylen"),
        unsigned(c"ivlen"),
        unsigned(c"taglen"),
        octets(c"iv"),
        octets_pointer(c"updated-iv"),
        octets(c"tag"),
        unsigned(c"tlsaadpad"),
        octets(c"tlsivgen"),
        END,
    ];
    const SETTABLE: &'static [Param] = &[
        unsigned(c"ivlen"),
        octets(c"tag"),
        octets(c"tlsaad"),
        octets(c"tlsivfixed"),
        octets(c"tlsivinv"),
        END,
    ];

    fn new(provider: &Outboard) -> Result<Self> {
        Ok(Self {
            shared: provider.shared(),
            direction: Direction::Encrypt,
            key: None,
            iv: [0; MAX_IV_LENGTH],
            iv_length: DEFAULT_IV_LENGTH,
            iv_state: IvState::Missing,
            iv_counts: false,
            tag: [0; TAG_LENGTH],
            tag_length: None,
            record: None,
            message: Message::default(),
            tally: Tally::new(S::SEAL, Path::Scalar),
            size: std::marker::PhantomData,
        })
    }

    fn duplicate(&self) -> Result<Self> {
        let key = match &self.key {
            None => None,
            Some(key) => Some(Key {
                bytes: key.bytes.clone(),
                cipher: key.cipher.try_clone().map_err(refuse)?,
                direction: key.direction,
            }),
        };
        Ok(Self {
            shared: Arc::clone(&self.shared),
            key,
            tally: Self::tally(self.direction),
            size: std::marker::PhantomData,
            ..*self
        })
    }

    fn init(&mut self, direction: Direction, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<()> {
        if direction != self.direction {
            self.direction = direction;
            self.tally = Self::tally(direction);
        }
        if let Some(iv) = iv {
            if iv.is_empty() || iv.len() > MAX_IV_LENGTH {
                return Err(Error::from(Reason::InvalidIv));
            }
            self.iv[..iv.len()].copy_from_slice(iv);
            self.iv_length = iv.len();
            self.iv_state = IvState::Given;
            self.message = Message::default();
        }
        if let Some(key) = key {
            if key.len() != S::KEY_LENGTH {
                return Err(Error::from(Reason::InvalidKey));
            }
            self.key = Some(Key {
                bytes: Zeroizing::new(key.to_vec()),
                cipher: AesGcm::new(key, direction == Direction::Encrypt).map_err(refuse)?,
                direction,
            });
            if self.iv_state == IvState::Started {
                self.iv_state = IvState::Given;
            }
        }
        Ok(())
    }

    fn associate(&mut self, data: &[u8]) -> Result<()> {
        if self.record.is_some() {
            return Err(Error::new(Reason::OutOfOrder, "a TLS record was to come"));
        }
        self.started()?.cipher.associate(data).map_err(refuse)
    }

    fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<usize> {
        let length = data.len();
        if let Some(associated) = self.record.take() {
            return self.record(&associated, data);
        }
        if length == 0 {
            return Ok(0);
        }
        self.timed(|context| context.started()?.cipher.update(data).map_err(refuse))?;
        self.message.bytes += length as u64;
        Ok(length)
    }

    fn finish(&mut self) -> Result<bool> {
        if self.record.take().is_some() {
            return Err(Error::new(Reason::OutOfOrder, "a TLS record was to come"));
        }
        let wanted = match (self.direction, self.tag_length) {
            (Direction::Decrypt, None) => {
                return Err(Error::new(
                    Reason::InvalidTag,
                    "no tag was set to check against",
                ));
            }
            (_, length) => length.unwrap_or(TAG_LENGTH),
        };
        let right = self.timed(|context| context.check_or_make_tag(wanted))?;
        if right {
            self.count();
        }
        Ok(right)
    }

    fn set(&mut self, params: Params<'_>) -> Result<()> {
        for param in params {
            // First what each message sets.
            if param.is(c"tag") {
                self.set_tag(&param)?;
                continue;
            }
            match param.key() {
                b"ivlen" => self.set_iv_length(&param)?,
                b"tlsaad" => self.set_record(&param)?,
                b"tlsivfixed" => {
                    // SAFETY: by EVP_CIPHER_CTX_ctrl(3), −1 means a whole vector.
                    let fixed = unsafe { param.octets_or(self.iv_length)? };
                    self.set_fixed_iv(fixed)?;
                }
                b"tlsivinv" => self.set_counted_iv(param.octets()?)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn get(&mut self, mut params: ParamsMut<'_>) -> Result<()> {
        params.answer(|param| self.answer(param)).map(|_| ())
    }

    fn describe(mut params: ParamsMut<'_>) -> Result<()> {
        params
            .answer(|param| {
                let value = match param.key() {
                    b"mode" => MODE,
                    b"keylen" => S::KEY_LENGTH as u64,
                    b"ivlen" => DEFAULT_IV_LENGTH as u64,
                    b"blocksize" | b"aead" | b"custom-iv" => 1,
                    b"cts" | b"tls-multi" | b"has-randkey" => 0,
                    _ => return Ok(false),
                };
                param.set_unsigned(value).map(|()| true)
            })
            .map(|_| ())
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

    /// The key, with the message started.
    fn started(&mut self) -> Result<&mut Key> {
        let Some(key) = &mut self.key else {
            return Err(Error::new(Reason::OutOfOrder, "no key is set"));
        };
        match self.iv_state {
            IvState::Started => return Ok(key),
            IvState::Given => {}
            IvState::Used => {
                return Err(Error::new(
                    Reason::InvalidIv,
                    "one was used already, set another",
                ));
            }
            // As OpenSSL does it: who seals without a vector gets a random one, and asks for it.
            IvState::Missing if self.direction == Direction::Encrypt => {
                if self.iv_length < DEFAULT_IV_LENGTH {
                    return Err(Error::new(Reason::InvalidIv, "too short to be random"));
                }
                self.shared.randomise(&mut self.iv[..self.iv_length])?;
            }
            IvState::Missing => return Err(Error::new(Reason::InvalidIv, "none is set")),
        }
        let seal = self.direction == Direction::Encrypt;
        if key.direction != self.direction {
            key.cipher = AesGcm::new(&key.bytes, seal).map_err(refuse)?;
            key.direction = self.direction;
        }
        key.cipher
            .start(&self.iv[..self.iv_length], seal)
            .map_err(refuse)?;
        self.iv_state = IvState::Started;
        Ok(key)
    }

    /// Runs a part of the message, and times it if the message is one of the sample.
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

    /// Seals or opens a TLS 1.2 record in place: explicit vector, payload, tag.
    fn record(
        &mut self,
        associated: &[u8; TLS_ASSOCIATED_LENGTH],
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<usize> {
        let length = data.len();
        let in_place = std::ptr::eq(data.get_in().as_ptr(), data.get_out().as_ptr());
        if !in_place || length < EXPLICIT_IV_LENGTH + TAG_LENGTH {
            return Err(Error::new(
                Reason::InvalidLength,
                "not a TLS record in place",
            ));
        }
        let record = data.get_out();
        let (explicit, rest) = record.split_at_mut(EXPLICIT_IV_LENGTH);
        let (payload, tag) = rest.split_at_mut(rest.len() - TAG_LENGTH);
        let right = self.timed(|context| {
            match context.direction {
                Direction::Encrypt => context.count_iv(explicit)?,
                Direction::Decrypt => context.set_counted_iv(explicit)?,
            }
            let cipher = &mut context.started()?.cipher;
            cipher.associate(associated).map_err(refuse)?;
            cipher
                .update(InOutBuf::from(&mut *payload))
                .map_err(refuse)?;
            if context.direction == Direction::Decrypt {
                context.tag.copy_from_slice(tag);
            }
            context.check_or_make_tag(TAG_LENGTH)
        })?;
        self.message.bytes = payload.len() as u64;
        if !right {
            payload.fill(0);
            return Err(Error::new(
                Reason::InvalidTag,
                "the record is not authentic",
            ));
        }
        self.count();
        match self.direction {
            Direction::Encrypt => {
                tag.copy_from_slice(&self.tag);
                Ok(length)
            }
            Direction::Decrypt => Ok(payload.len()),
        }
    }

    /// Ends the message: makes the tag, or tells whether one of `length` bytes is its own.
    fn check_or_make_tag(&mut self, length: usize) -> Result<bool> {
        self.started()?;
        let Some(key) = &mut self.key else {
            return Err(Error::from(Reason::Internal));
        };
        self.iv_state = IvState::Used;
        match self.direction {
            Direction::Encrypt => {
                key.cipher.seal(&mut self.tag).map_err(refuse)?;
                self.tag_length = Some(TAG_LENGTH);
                Ok(true)
            }
            Direction::Decrypt => key.cipher.open(&self.tag[..length]).map_err(refuse),
        }
    }

    fn set_tag(&mut self, param: &ParamRef<'_>) -> Result<()> {
        let tag = param.octets()?;
        if tag.is_empty() || tag.len() > TAG_LENGTH || self.direction == Direction::Encrypt {
            return Err(Error::from(Reason::InvalidTag));
        }
        self.tag[..tag.len()].copy_from_slice(tag);
        self.tag_length = Some(tag.len());
        Ok(())
    }

    fn set_iv_length(&mut self, param: &ParamRef<'_>) -> Result<()> {
        let length = usize::try_from(param.unsigned()?).unwrap_or(usize::MAX);
        if length == 0 || length > MAX_IV_LENGTH {
            return Err(Error::from(Reason::InvalidIv));
        }
        if length != self.iv_length {
            // A vector of another length that was set or made before is no longer one.
            if self.iv_state != IvState::Missing {
                self.iv_state = IvState::Used;
            }
            self.iv_length = length;
        }
        Ok(())
    }

    /// Takes a TLS record's associated data; its length field counts what libssl puts around.
    fn set_record(&mut self, param: &ParamRef<'_>) -> Result<()> {
        let invalid = || Error::new(Reason::InvalidParameter, "not a TLS record's header");
        let mut associated: [u8; TLS_ASSOCIATED_LENGTH] =
            param.octets()?.try_into().map_err(|_| invalid())?;
        let length = usize::from(u16::from_be_bytes([associated[11], associated[12]]));
        let around = match self.direction {
            Direction::Encrypt => EXPLICIT_IV_LENGTH,
            Direction::Decrypt => EXPLICIT_IV_LENGTH + TAG_LENGTH,
        };
        let payload = length.checked_sub(around).ok_or_else(invalid)?;
        associated[11..].copy_from_slice(&(payload as u16).to_be_bytes());
        self.record = Some(associated);
        Ok(())
    }

    /// Sets the fixed part of the vector (all of it, if it is as long) and makes the rest random.
    fn set_fixed_iv(&mut self, fixed: &[u8]) -> Result<()> {
        let invalid = || Error::new(Reason::InvalidIv, "a fixed part of a wrong length");
        if fixed.len() == self.iv_length {
            self.iv[..self.iv_length].copy_from_slice(fixed);
        } else {
            let counted = self
                .iv_length
                .checked_sub(fixed.len())
                .ok_or_else(invalid)?;
            if fixed.len() < FIXED_IV_LENGTH || counted < EXPLICIT_IV_LENGTH {
                return Err(invalid());
            }
            self.iv[..fixed.len()].copy_from_slice(fixed);
            if self.direction == Direction::Encrypt {
                let counted = &mut self.iv[fixed.len()..self.iv_length];
                self.shared.randomise(counted)?;
            }
        }
        self.iv_counts = true;
        self.iv_state = IvState::Given;
        Ok(())
    }

    /// Sets the counted part of the vector for a message to open.
    fn set_counted_iv(&mut self, counted: &[u8]) -> Result<()> {
        let start = self.iv_length.checked_sub(counted.len());
        match start {
            Some(start) if self.iv_counts && self.direction == Direction::Decrypt => {
                self.iv[start..self.iv_length].copy_from_slice(counted);
                self.iv_state = IvState::Given;
                self.started().map(|_| ())
            }
            _ => Err(Error::new(Reason::InvalidIv, "no fixed part was set")),
        }
    }

    /// Starts a message with the vector, tells its end, and counts it up for the next.
    fn count_iv(&mut self, end: &mut [u8]) -> Result<()> {
        if !self.iv_counts || self.key.is_none() {
            return Err(Error::new(Reason::InvalidIv, "no fixed part was set"));
        }
        self.iv_state = IvState::Given;
        self.started()?;
        let iv = &mut self.iv[..self.iv_length];
        let told = if end.is_empty() || end.len() > iv.len() {
            iv.len()
        } else {
            end.len()
        };
        end[..told].copy_from_slice(&iv[iv.len() - told..]);
        // The counted part has at least eight bytes, so eight are enough to never wrap.
        let counter = iv.last_chunk_mut::<EXPLICIT_IV_LENGTH>();
        let counter = counter.expect("a counted vector has a fixed part and eight bytes");
        *counter = u64::from_be_bytes(*counter).wrapping_add(1).to_be_bytes();
        Ok(())
    }

    fn answer(&mut self, param: &mut ParamMut<'_>) -> Result<bool> {
        // First what libcrypto asks with each message.
        if param.is(c"ivlen") {
            return param.set_unsigned(self.iv_length as u64).map(|()| true);
        }
        match param.key() {
            b"keylen" => param.set_unsigned(S::KEY_LENGTH as u64)?,
            b"taglen" => param.set_unsigned(self.tag_length.unwrap_or(TAG_LENGTH) as u64)?,
            b"tlsaadpad" => param.set_unsigned(TAG_LENGTH as u64)?,
            b"iv" | b"updated-iv" => {
                if self.iv_state == IvState::Missing {
                    return Err(Error::new(Reason::InvalidIv, "none is set"));
                }
                // SAFETY: the context keeps the vector in place until it is freed.
                unsafe { param.set_octets_or_pointer(&self.iv[..self.iv_length])? };
            }
            b"tag" => {
                let room = param.room();
                let made = self.direction == Direction::Encrypt && self.tag_length.is_some();
                if !made || room == 0 || room > TAG_LENGTH {
                    return Err(Error::from(Reason::InvalidTag));
                }
                param.set_octets(&self.tag[..room])?;
            }
            b"tlsivgen" => {
                let mut end = [0; MAX_IV_LENGTH];
                let room = param.room();
                let told = if room == 0 || room > self.iv_length {
                    self.iv_length
                } else {
                    room
                };
                self.count_iv(&mut end[..told])?;
                // SAFETY: by EVP_CIPHER_CTX_ctrl(3), no length means a whole vector.
                unsafe { param.set_octets_in_any_room(&end[..told])? };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
