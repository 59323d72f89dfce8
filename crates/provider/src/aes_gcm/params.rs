//! What can be set on a context, asked of it, and listed.

use outboard_engine::scalar::aes_gcm::{MAX_IV_LENGTH, TAG_LENGTH};
use outboard_provider_abi::params::{END, Exact, integer, octets, size, unsigned};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, ParamMut, ParamRef, Params, ParamsMut, Reason, Result};

use super::iv::{self, DEFAULT_LENGTH};
use super::{Context, KeySize};
use crate::outboard::Shared;

/// `EVP_CIPH_GCM_MODE`.
const MODE: u32 = 6;

/// What can be set, in the order in which stock looks for it.
const SETTINGS: [&std::ffi::CStr; 5] = [c"tag", c"ivlen", c"tlsaad", c"tlsivfixed", c"tlsivinv"];

/// What can be asked, in that order.
const ANSWERS: [&std::ffi::CStr; 9] = [
    c"ivlen",
    c"keylen",
    c"taglen",
    c"iv",
    c"updated-iv",
    c"tlsaadpad",
    c"tag",
    c"tlsivgen",
    c"iv-generated",
];

/// How the loaded libcrypto goes through parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Before 3.2: by its own order, the first of each name.
    Own,
    /// As they come.
    Given,
    /// From 4.0 on: by its own order, each name once.
    OwnOnce,
}

impl Order {
    fn of(shared: &Shared) -> Self {
        if shared.libcrypto_is_at_least(4, 0) {
            Self::OwnOnce
        } else if shared.libcrypto_is_at_least(3, 2) {
            Self::Given
        } else {
            Self::Own
        }
    }
}

impl<S: KeySize> Context<S> {
    pub(super) fn set_params(&mut self, params: Params<'_>) -> Result<()> {
        if params.is_empty() {
            return Ok(());
        }
        // As nearly always: then the order is none.
        if let Some(param) = params.only() {
            // What comes with every message.
            if param.is(c"tag") {
                return self.set_tag(&param);
            }
            if param.is(c"tlsivfixed") {
                return self.set_fixed_iv(&param);
            }
            let setting = SETTINGS.iter().position(|name| param.is(name));
            return setting.map_or(Ok(()), |setting| self.set_param(setting, &param));
        }
        let order = Order::of(&self.shared);
        let mut found = [const { None }; SETTINGS.len()];
        for param in params {
            let Some(setting) = SETTINGS.iter().position(|name| param.is(name)) else {
                continue;
            };
            match (order, &mut found[setting]) {
                (Order::Given, _) => self.set_param(setting, &param)?,
                (_, found @ None) => *found = Some(param),
                (Order::OwnOnce, _) => return Err(Error::from(Reason::RepeatedParameter)),
                (Order::Own, _) => {}
            }
        }
        for (setting, param) in found.iter().enumerate() {
            if let Some(param) = param {
                self.set_param(setting, param)?;
            }
        }
        Ok(())
    }

    fn set_param(&mut self, setting: usize, param: &ParamRef<'_>) -> Result<()> {
        match SETTINGS[setting].to_bytes() {
            b"tag" => self.set_tag(param),
            b"ivlen" => {
                let length = self.exact(param.exact_size(), Reason::FailedToGetParameter)?;
                self.iv.set_length(length)
            }
            b"tlsaad" => {
                let octets = param.raw_octets();
                let octets = octets.ok_or(Reason::FailedToGetParameter)?;
                let invalid = Error::from(Reason::InvalidAad);
                let octets = octets.filter(|_| param.size() == super::record::HEADER_LENGTH);
                let octets = octets.ok_or(invalid)?;
                // SAFETY: not null, and C says that so many bytes are there.
                self.announce(unsafe { std::slice::from_raw_parts(octets, param.size()) })
            }
            b"tlsivfixed" => self.set_fixed_iv(param),
            _ => {
                let octets = param.raw_octets().flatten();
                let octets = octets.filter(|_| param.size() <= MAX_IV_LENGTH);
                let octets = octets.filter(|_| !self.seals()).ok_or_else(Error::silent)?;
                // SAFETY: not null, and C says that so many bytes are there, which are few.
                let counted = unsafe { std::slice::from_raw_parts(octets, param.size()) };
                self.iv.set_counted(counted, self.cipher.as_mut())
            }
        }
    }

    fn set_tag(&mut self, param: &ParamRef<'_>) -> Result<()> {
        let tag = self.exact(param.exact_octets(TAG_LENGTH), Reason::FailedToGetParameter)?;
        self.buffer[..tag.len()].copy_from_slice(tag);
        if tag.is_empty() || self.seals() {
            return Err(Error::from(Reason::InvalidTag));
        }
        self.tag_length = Some(tag.len());
        Ok(())
    }

    /// The fixed part, or with a length of −1 all of the vector.
    fn set_fixed_iv(&mut self, param: &ParamRef<'_>) -> Result<()> {
        let wrong = Reason::FailedToGetParameter;
        let octets = param.raw_octets().flatten().ok_or(wrong)?;
        let is_whole = param.size() == usize::MAX;
        let length = if is_whole {
            self.iv.len()
        } else {
            param.size()
        };
        if length > MAX_IV_LENGTH {
            return Err(Error::from(wrong));
        }
        // SAFETY: not null; C says that so many bytes are there, or with −1 a whole vector
        // (EVP_CIPHER_CTX_ctrl(3)).
        let part = unsafe { std::slice::from_raw_parts(octets, length) };
        if is_whole {
            self.iv.set_counting(part);
            if self.shared.libcrypto_is_at_least(4, 0) {
                self.iv.is_random = false;
            }
            return Ok(());
        }
        let draws = self.seals().then_some(&*self.shared);
        self.iv.set_fixed(part, draws)
    }

    pub(super) fn get_params(&mut self, mut params: ParamsMut<'_>) -> Result<()> {
        if self.answer_usual(&mut params)? {
            return Ok(());
        }
        let known = self.known_answers();
        let place = |param: &ParamMut<'_>| ANSWERS[..known].iter().position(|name| param.is(name));
        // As nearly always: then the order is none.
        if let Some(mut param) = params.only() {
            let answer = place(&param);
            return answer.map_or(Ok(()), |answer| self.answer(answer, &mut param));
        }
        let order = Order::of(&self.shared);
        if order == Order::Given {
            return params
                .answer(|param| match place(param) {
                    Some(answer) => self.answer(answer, param).map(|()| true),
                    None => Ok(false),
                })
                .map(|_| ());
        }
        let mut found = [0u8; ANSWERS.len()];
        params.answer(|param| {
            if let Some(answer) = place(param) {
                found[answer] = found[answer].saturating_add(1);
                if found[answer] > 1 && order == Order::OwnOnce {
                    return Err(Error::from(Reason::RepeatedParameter));
                }
            }
            Ok(true)
        })?;
        for (answer, name) in ANSWERS.iter().enumerate() {
            if found[answer] > 0 {
                let mut is_first = true;
                params.answer(|param| {
                    if is_first && param.is(name) {
                        is_first = false;
                        self.answer(answer, param)?;
                    }
                    Ok(true)
                })?;
            }
        }
        Ok(())
    }

    /// Answers what libcrypto asks with every message, for which a search would cost too much; whether it was that.
    #[inline]
    fn answer_usual(&mut self, params: &mut ParamsMut<'_>) -> Result<bool> {
        let Some(mut param) = params.only() else {
            return Ok(false);
        };
        if param.is(c"ivlen") {
            return Ok(param.put_size(self.iv.len()));
        }
        if param.is(c"keylen") {
            return Ok(param.put_size(S::KEY_LENGTH));
        }
        if param.is(c"tag") {
            return self.tell_tag(&mut param).map(|()| true);
        }
        if param.is(c"tlsivgen") {
            return self.tell_counted_iv(&mut param).map(|()| true);
        }
        Ok(false)
    }

    /// How many of the answers the loaded libcrypto knows.
    fn known_answers(&self) -> usize {
        if self.shared.libcrypto_is_at_least(3, 4) {
            ANSWERS.len()
        } else {
            ANSWERS.len() - 1
        }
    }

    fn answer(&mut self, answer: usize, param: &mut ParamMut<'_>) -> Result<()> {
        let size = match ANSWERS[answer].to_bytes() {
            b"ivlen" => self.iv.len(),
            b"keylen" => S::KEY_LENGTH,
            b"taglen" => self.tag_length.unwrap_or(TAG_LENGTH),
            b"tlsaadpad" => self.record.padding,
            b"iv" | b"updated-iv" => return self.tell_iv(param),
            b"tag" => return self.tell_tag(param),
            b"tlsivgen" => return self.tell_counted_iv(param),
            _ => {
                let is_random = u32::from(self.iv.is_random);
                let told = param.set_exact_uint(is_random);
                return told.map_err(|cause| self.caused(Error::silent(), cause));
            }
        };
        let told = param.set_exact_size(size);
        self.exact(told, Reason::FailedToSetParameter)
    }

    fn tell_iv(&mut self, param: &mut ParamMut<'_>) -> Result<()> {
        let is_4 = self.shared.libcrypto_is_at_least(4, 0);
        if self.iv.state == iv::State::Missing {
            // From 4.0 on, it is drawn for a program that asks before the message begins.
            if !is_4 || self.record.is_announced() || !self.seals() {
                return Err(Error::silent());
            }
            self.iv.draw_whole(&self.shared)?;
        }
        let iv = self.iv.bytes();
        if iv.len() > param.room() && !(is_4 && param.is_null()) {
            return Err(Error::from(Reason::InvalidIv));
        }
        let checks_type = self.shared.libcrypto_is_at_least(3, 2);
        // SAFETY of the pointers: the context keeps the vector in place until it is freed.
        let told = if !is_4 {
            // OpenSSL tries the one and then the other, and leaves in the queue what it found first.
            match param.set_exact_octets(iv, checks_type) {
                Ok(()) => Ok(()),
                Err(cause) => {
                    if checks_type {
                        self.shared.raise(&Error::from(cause));
                    }
                    // SAFETY: see above.
                    unsafe { param.set_exact_octets_pointer(iv, checks_type) }
                }
            }
        } else if param.is_octets() {
            param.set_exact_octets(iv, checks_type)
        } else if param.is_octets_pointer() {
            // SAFETY: see above.
            unsafe { param.set_exact_octets_pointer(iv, checks_type) }
        } else {
            Err(Reason::ParameterType)
        };
        self.exact(told, Reason::FailedToSetParameter)
    }

    fn tell_tag(&mut self, param: &mut ParamMut<'_>) -> Result<()> {
        let invalid = || Error::from(Reason::InvalidTag);
        let made = self.tag_length.filter(|_| self.seals());
        let made = made.ok_or_else(invalid)?;
        let asks_size = param.is_null() && self.shared.libcrypto_is_at_least(4, 0);
        let room = if asks_size { made } else { param.room() };
        if room == 0 || room > TAG_LENGTH {
            return Err(invalid());
        }
        let checks_type = self.shared.libcrypto_is_at_least(3, 2);
        let told = param.set_exact_octets(&self.buffer[..room], checks_type);
        self.exact(told, Reason::FailedToSetParameter)
    }

    /// The vector's end, as long as there is room; all of it where none is told.
    fn tell_counted_iv(&mut self, param: &mut ParamMut<'_>) -> Result<()> {
        let seals = self.seals();
        let output = param.raw_octets().ok_or_else(Error::silent)?;
        let room = param.room();
        self.iv.count_up(self.cipher.as_mut(), seals, |iv| {
            let told = if room == 0 {
                iv.len()
            } else {
                room.min(iv.len())
            };
            // SAFETY: not null, and C says that there is room for so many bytes, or with none told for a whole
            // vector (EVP_CIPHER_CTX_ctrl(3)).
            unsafe { output.copy_from(iv[iv.len() - told..].as_ptr(), told) };
        })
    }

    /// What stock says of a parameter with that fault: since 3.2, libcrypto's own word before the provider's.
    fn exact<T>(&self, found: Exact<T>, reason: Reason) -> Result<T> {
        found.map_err(|cause| self.caused(Error::from(reason), cause))
    }

    fn caused(&self, error: Error, cause: Reason) -> Error {
        if self.shared.libcrypto_is_at_least(3, 2) {
            error.caused_by(cause)
        } else {
            error
        }
    }
}

/// Parameters that can be asked of a context.
pub(super) fn gettable(shared: &Shared) -> &'static [Param] {
    const LIST: [Param; 10] = [
        size(c"keylen"),
        size(c"ivlen"),
        size(c"taglen"),
        octets(c"iv"),
        octets(c"updated-iv"),
        octets(c"tag"),
        size(c"tlsaadpad"),
        octets(c"tlsivgen"),
        unsigned(c"iv-generated"),
        END,
    ];
    const UNTIL_3_3: [Param; 9] = [
        LIST[0], LIST[1], LIST[2], LIST[3], LIST[4], LIST[5], LIST[6], LIST[7], END,
    ];
    if shared.libcrypto_is_at_least(3, 4) {
        &LIST
    } else {
        &UNTIL_3_3
    }
}

/// Parameters that can be set on a context.
pub(super) fn settable(_shared: &Shared) -> &'static [Param] {
    const LIST: [Param; 6] = [
        size(c"ivlen"),
        octets(c"tag"),
        octets(c"tlsaad"),
        octets(c"tlsivfixed"),
        octets(c"tlsivinv"),
        END,
    ];
    &LIST
}

/// Parameters of the algorithm itself.
pub(super) fn describable(shared: &Shared) -> &'static [Param] {
    const LIST: [Param; 11] = [
        unsigned(c"mode"),
        size(c"keylen"),
        size(c"ivlen"),
        size(c"blocksize"),
        integer(c"aead"),
        integer(c"custom-iv"),
        integer(c"cts"),
        integer(c"tls-multi"),
        integer(c"has-randkey"),
        integer(c"encrypt-then-mac"),
        END,
    ];
    const UNTIL_3: [Param; 10] = [
        LIST[0], LIST[1], LIST[2], LIST[3], LIST[4], LIST[5], LIST[6], LIST[7], LIST[8], END,
    ];
    if shared.libcrypto_is_at_least(4, 0) {
        &LIST
    } else {
        &UNTIL_3
    }
}

/// Answers those, to a libcrypto of 4.0 or later or to an earlier one.
pub(super) fn describe(
    mut params: ParamsMut<'_>,
    key_length: usize,
    since_4_0: bool,
) -> Result<()> {
    params
        .answer(|param| {
            let told = match param.key() {
                b"mode" => param.set_exact_uint(MODE),
                b"keylen" => param.set_exact_size(key_length),
                b"ivlen" => param.set_exact_size(DEFAULT_LENGTH),
                b"blocksize" => param.set_exact_size(1),
                b"aead" | b"custom-iv" => param.set_exact_uint(1),
                b"cts" | b"tls-multi" | b"has-randkey" => param.set_exact_uint(0),
                b"encrypt-then-mac" if since_4_0 => param.set_exact_uint(0),
                _ => return Ok(false),
            };
            told.map(|()| true)
                .map_err(|_| Error::from(Reason::FailedToSetParameter))
        })
        .map(|_| ())
}
