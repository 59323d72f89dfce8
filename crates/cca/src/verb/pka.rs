//! Public keys: generated, used to sign, to verify, to encrypt, to decrypt; keys that are kept inside.

use std::sync::Arc;

use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::pair::Private;
use outboard_engine::scalar::rsa::{self, SaltLength, Scheme};
use zeroize::Zeroizing;

use super::Verb;
use super::keys::REGISTERS;
use crate::AccessPoint;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::cloning::{Setting, hash_entry, key_entry};
use crate::card::master::{Masters, Register};
use crate::card::records::{Records, Store, fits, mask};
use crate::request::*;
use crate::token::certificate::{self, with_certificate};
use crate::token::pka::{PkaToken as Token, Public, Use};
use crate::value::{Identifier, Label, Parser};

impl Call<'_> {
    /// The token that an identifier names: itself, that of a record, or that of a key that is kept inside.
    pub(super) fn pka(&self, identifier: &[u8]) -> Outcome<Token> {
        match Identifier::parse(identifier)? {
            Identifier::Token(token) => Token::parse(token),
            Identifier::Label(label) => {
                // No record takes the place of a key that is kept inside.
                let token = self
                    .labelled(Store::Retained, &label)
                    .or_else(|_| self.labelled(Store::Pka, &label))?;
                Token::parse(&token)
            }
        }
    }

    /// The private half of a key, for a use that it allows.
    pub(super) fn private(
        &self,
        identifier: &[u8],
        allows: fn(Use) -> bool,
    ) -> Outcome<Arc<Private>> {
        let (private, of) = self.private_of(&self.pka(identifier)?)?;
        match allows(of) {
            true => Ok(private),
            false => Err(Refusal::ControlVector),
        }
    }

    /// The private half of a token's key, and what it is for.
    pub(super) fn private_of(&self, token: &Token) -> Outcome<(Arc<Private>, Use)> {
        let name = token.name_of_private(&self.state().masters)?;
        let known = self.opened().get(&name);
        if let Some(known) = known {
            return Ok(known);
        }
        let (private, of) = token.open(&self.state().masters)?;
        let private = Arc::new(private);
        self.opened().keep(name, &private, of);
        Ok((private, of))
    }
}

impl Verb for PkaKeyGenerate {
    type Reply = PkaGenerated;

    fn run(&self, call: &Call<'_>) -> Outcome<PkaGenerated> {
        let mut rules = self.rule_array.parse();
        let retains = rules.required(&[("MASTER", false), ("RETAIN", true)])?;
        let is_clone = rules.has("CLONE")?;
        rules.end()?;
        call.needs(AccessPoint::PkaKeyGenerate)?;
        if is_clone {
            call.administers()?;
            if !retains {
                return Err(Refusal::KeywordCombination);
            }
        }
        let skeleton = call.pka(&self.skeleton_key_identifier)?;
        if is_clone && !matches!(skeleton.public, Public::Rsa { .. }) {
            return Err(Refusal::KeyType);
        }
        let masters = call.state().masters.clone();
        // Takes long: the card goes on meanwhile.
        let token = skeleton.generate(&masters, is_clone)?;
        let generated_key_identifier = match retains {
            false => token.token().into(),
            true => {
                let label = Label::parse(&skeleton.name)?;
                let mut state = call.change();
                // CSNDRKD finds an administrator's key and a registered one by the same name.
                let is_registered = call.caller().administrator && state.cloning.has(&label);
                if is_registered || state.records.has(Store::Pka, call.caller(), &label) {
                    return Err(Refusal::RecordExists);
                }
                let place = state
                    .records
                    .new_place(Store::Retained, call.caller(), label)?;
                let certificate = match is_clone {
                    true => Some(self_signed(
                        &token,
                        &masters,
                        &state.cloning.setting,
                        &place.2,
                    )?),
                    false => None,
                };
                call.keep(&Records::entry(&place), &token.token())?;
                state.records.set(place, &token.token());
                let public = Token::public(token.public).token();
                match certificate {
                    Some(certificate) => with_certificate(public, &certificate),
                    None => public,
                }
                .into()
            }
        };
        Ok(PkaGenerated {
            generated_key_identifier,
        })
    }
}

/// The certificate of a new key for cloning, which the key itself has signed: it says which card made the key.
fn self_signed(
    token: &Token,
    masters: &Masters,
    setting: &Setting,
    label: &Label,
) -> Outcome<Vec<u8>> {
    let (Private::Rsa(key), _) = token.open(masters)? else {
        return Err(Refusal::KeyType);
    };
    let environment = setting.environment.as_ref();
    let mut certificate = certificate::unsigned(&token.public, environment, (label, key.length()));
    let signature = certificate::sign(&key, &certificate)?;
    certificate.extend(signature);
    Ok(certificate)
}

impl Verb for PkaPublicKeyExtract {
    type Reply = PkaExtracted;

    fn run(&self, call: &Call<'_>) -> Outcome<PkaExtracted> {
        self.rule_array.parse().end()?;
        let token = call.pka(&self.source_key_identifier)?;
        Ok(PkaExtracted {
            target_public_key_token: Token::public(token.public).token().into(),
        })
    }
}

impl Verb for PkaKeyTokenChange {
    type Reply = PkaChanged;

    fn run(&self, call: &Call<'_>) -> Outcome<PkaChanged> {
        let mut rules = self.rule_array.parse();
        let register = rules.required(REGISTERS)?;
        rules.one(&[("RSA", ()), ("ECC", ())])?;
        rules.end()?;
        call.needs(AccessPoint::TokenChange)?;
        if let Identifier::Label(label) = Identifier::parse(&self.key_identifier)?
            && !call.is_within()
            && call
                .state()
                .records
                .has(Store::Retained, call.caller(), &label)
        {
            return change_retained(call, label, register);
        }
        let before = call.token(Store::Pka, &self.key_identifier)?;
        let token = Token::parse(&before)?;
        let changed = {
            let masters = &call.state().masters;
            let master = masters.in_register(token.kind(), register)?;
            token.changed(masters, &master)?.token()
        };
        let place = (Store::Pka, &self.key_identifier[..]);
        call.keep_changed(place, register, (&before, &changed))?;
        Ok(PkaChanged {
            key_identifier: changed.into(),
        })
    }
}

/// A key that is kept inside follows its master key in its place: its public token alone leaves.
fn change_retained(call: &Call<'_>, label: Label, register: Register) -> Outcome<PkaChanged> {
    if register != Register::Current {
        return Err(Refusal::NotExportable);
    }
    let mut state = call.change();
    let place = state.records.own(Store::Retained, call.caller(), &label)?;
    let token = Token::parse(
        state
            .records
            .token(Store::Retained, call.caller(), &label)?,
    )?;
    let master = state.masters.current(token.kind())?;
    let changed = token.changed(&state.masters, master)?.token();
    call.keep(&Records::entry(&place), &changed)?;
    state.records.set(place, &changed);
    Ok(PkaChanged {
        key_identifier: Token::public(token.public).token().into(),
    })
}

const DIGESTS: &[(&str, Digest)] = &[
    ("SHA-1", Digest::Sha1),
    ("SHA-224", Digest::Sha224),
    ("SHA-256", Digest::Sha256),
    ("SHA-384", Digest::Sha384),
    ("SHA-512", Digest::Sha512),
];

/// How a signature is made.
enum How {
    /// The data are padded by PKCS #1 as they are: a DigestInfo, which the caller makes.
    Pkcs1,
    Pss {
        digest: Digest,
        salt: usize,
    },
    Ecdsa,
}

/// The rules of CSNDDSG and CSNDDSV. With PSS, the hash has the salt's length before it, in four bytes.
fn signature_rules<'a>(mut rules: Parser<'_>, hash: &'a [u8]) -> Outcome<(How, &'a [u8])> {
    let is_ecdsa = rules
        .one(&[("RSA", false), ("ECDSA", true)])?
        .unwrap_or(false);
    let is_pss = rules.one(&[("PKCS-1.1", false), ("PKCS-PSS", true)])?;
    let digest = rules.one(DIGESTS)?;
    rules.one(&[("HASH", ())])?;
    rules.end()?;
    match (is_ecdsa, is_pss) {
        (true, None) => Ok((How::Ecdsa, hash)),
        (false, Some(false)) => Ok((How::Pkcs1, hash)),
        (false, Some(true)) => {
            let digest = digest.ok_or(Refusal::KeywordMissing)?;
            let (salt, hash) = hash.split_at_checked(4).ok_or(Refusal::Size)?;
            let salt = salt
                .iter()
                .fold(0_usize, |salt, byte| salt << 8 | usize::from(*byte));
            match hash.len() == digest.length() && salt <= 64 {
                true => Ok((How::Pss { digest, salt }, hash)),
                false => Err(Refusal::Size),
            }
        }
        _ => Err(Refusal::KeywordCombination),
    }
}

fn pss(digest: Digest, salt: usize) -> Scheme {
    Scheme::Pss {
        mgf1: digest,
        salt: SaltLength::Bytes(salt),
    }
}

impl Verb for DigitalSignatureGenerate {
    type Reply = Signature;

    fn run(&self, call: &Call<'_>) -> Outcome<Signature> {
        let (how, hash) = signature_rules(self.rule_array.parse(), &self.hash)?;
        call.needs(AccessPoint::SignatureGenerate)?;
        let (private, of) = call.private_of(&call.pka(&self.private_key_identifier)?)?;
        match of {
            // Its signatures are believed by other cards.
            Use::Clone => call.administers()?,
            of if of.signs() => {}
            _ => return Err(Refusal::ControlVector),
        }
        let (signature, bits) = match (how, &*private) {
            (How::Pkcs1, Private::Rsa(key)) => {
                let mut signature = vec![0; key.length()];
                key.sign_unnamed(hash, &mut signature)?;
                (signature, key.bits())
            }
            (How::Pss { digest, salt }, Private::Rsa(key)) => {
                let mut signature = vec![0; key.length()];
                key.sign(pss(digest, salt), digest, hash, &mut signature)?;
                (signature, key.bits())
            }
            (How::Ecdsa, Private::Ec(key)) => {
                let mut signature = vec![0; key.curve().max_signature_length()];
                let length = key.sign(hash, &mut signature)?;
                let both = der_to_raw(&signature[..length], key.curve().field_length())
                    .ok_or(Refusal::Resource)?;
                let bits = 8 * both.len();
                (both, bits)
            }
            _ => return Err(Refusal::KeyType),
        };
        Ok(Signature {
            signature_field: signature.into(),
            signature_bit_length: bits as u32,
        })
    }
}

impl Verb for DigitalSignatureVerify {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let (how, hash) = signature_rules(self.rule_array.parse(), &self.hash)?;
        call.needs(AccessPoint::SignatureVerify)?;
        let public = call.pka(&self.public_key_identifier)?.public;
        let signature = &self.signature_field;
        let is_good = match how {
            How::Pkcs1 => public.rsa()?.verify_unnamed(hash, signature),
            How::Pss { digest, salt } => {
                public
                    .rsa()?
                    .verify(pss(digest, salt), digest, hash, signature)
            }
            How::Ecdsa => public.ec()?.verify(hash, &raw_to_der(signature)),
        };
        match is_good {
            true => Ok(Done {}),
            false => Err(Refusal::SignatureNotVerified),
        }
    }
}

/// Both numbers of an ECDSA signature, each as long as the field.
fn der_to_raw(der: &[u8], field: usize) -> Option<Vec<u8>> {
    let content = match der {
        [0x30, 0x81, _, content @ ..] => content,
        [0x30, _, content @ ..] => content,
        _ => return None,
    };
    let mut raw = Vec::with_capacity(2 * field);
    let mut rest = content;
    for _ in 0..2 {
        let [2, length, after @ ..] = rest else {
            return None;
        };
        let (number, after) = after.split_at_checked(usize::from(*length))?;
        let number = number.strip_prefix(&[0]).unwrap_or(number);
        raw.resize(raw.len() + field.checked_sub(number.len())?, 0);
        raw.extend_from_slice(number);
        rest = after;
    }
    Some(raw)
}

fn raw_to_der(raw: &[u8]) -> Vec<u8> {
    let mut content = Vec::with_capacity(raw.len() + 8);
    for number in raw.chunks(raw.len().div_ceil(2).max(1)) {
        let first = number
            .iter()
            .position(|byte| *byte != 0)
            .unwrap_or(number.len().saturating_sub(1));
        let number = &number[first..];
        let pad = number.first().is_some_and(|byte| *byte > 0x7f);
        content.extend_from_slice(&[2, (number.len() + usize::from(pad)) as u8]);
        content.extend(pad.then_some(0));
        content.extend_from_slice(number);
    }
    let mut der = vec![0x30];
    if content.len() > 0x7f {
        der.push(0x81);
    }
    der.push(content.len() as u8);
    der.append(&mut content);
    der
}

/// How RSA pads a message.
#[derive(Clone, Copy)]
pub(super) enum RsaPadding {
    Pkcs12,
    Oaep(Digest),
}

pub(super) fn rsa_padding(rules: &mut Parser<'_>) -> Outcome<RsaPadding> {
    let is_oaep = rules.required(&[("PKCS-1.2", false), ("PKCSOAEP", true), ("PKOAEP2", true)])?;
    let digest = rules.one(&[("SHA-1", Digest::Sha1), ("SHA-256", Digest::Sha256)])?;
    match (is_oaep, digest) {
        (true, digest) => Ok(RsaPadding::Oaep(digest.unwrap_or(Digest::Sha1))),
        (false, None) => Ok(RsaPadding::Pkcs12),
        (false, Some(_)) => Err(Refusal::KeywordCombination),
    }
}

pub(super) fn encrypted(key: &rsa::Key, padding: RsaPadding, message: &[u8]) -> Outcome<Vec<u8>> {
    let mut ciphertext = vec![0; key.length()];
    match padding {
        RsaPadding::Pkcs12 => key.encrypt(message, &mut ciphertext)?,
        RsaPadding::Oaep(digest) => {
            key.encrypt_oaep(message, (digest, digest), &[], &mut ciphertext)?
        }
    }
    Ok(ciphertext)
}

/// The message. A wrong padding of PKCS #1 v1.5 gives another message, always the same, and no error: nobody learns by asking
/// (Bleichenbacher, 1998).
pub(super) fn decrypted(
    key: &rsa::Key,
    padding: RsaPadding,
    ciphertext: &[u8],
) -> Outcome<Zeroizing<Vec<u8>>> {
    let ciphertext = key.ciphertext(ciphertext)?;
    let mut block = Zeroizing::new(vec![0; key.length()]);
    key.power(&ciphertext, &mut block)?;
    let message = match padding {
        RsaPadding::Pkcs12 => key.rejection(&ciphertext)?.message(&block),
        RsaPadding::Oaep(digest) => rsa::oaep(&block, digest, digest, &[])?,
    };
    let start = message.room.len() - message.length as usize;
    Ok(Zeroizing::new(message.room[start..].to_vec()))
}

impl Verb for PkaEncrypt {
    type Reply = PkaEncrypted;

    fn run(&self, call: &Call<'_>) -> Outcome<PkaEncrypted> {
        let mut rules = self.rule_array.parse();
        let padding = rsa_padding(&mut rules)?;
        rules.end()?;
        call.needs(AccessPoint::PkaEncrypt)?;
        let key = call.pka(&self.public_key_identifier)?.public.rsa()?;
        Ok(PkaEncrypted {
            enciphered_key: encrypted(&key, padding, &self.key_value)?.into(),
        })
    }
}

impl Verb for PkaDecrypt {
    type Reply = PkaDecrypted;

    fn run(&self, call: &Call<'_>) -> Outcome<PkaDecrypted> {
        let mut rules = self.rule_array.parse();
        let padding = rsa_padding(&mut rules)?;
        rules.end()?;
        call.needs(AccessPoint::PkaDecrypt)?;
        let private = call.private(&self.private_key_identifier, Use::decrypts)?;
        let Private::Rsa(key) = &*private else {
            return Err(Refusal::KeyType);
        };
        Ok(PkaDecrypted {
            key_value: decrypted(key, padding, &self.enciphered_key)?
                .to_vec()
                .into(),
        })
    }
}

impl Verb for RetainedKeyList {
    type Reply = RetainedKeys;

    fn run(&self, call: &Call<'_>) -> Outcome<RetainedKeys> {
        self.rule_array.parse().end()?;
        let mask = mask(&self.key_label_mask)?;
        let state = call.state();
        let labels = |mask: &str| {
            let mut labels = state.records.labels(Store::Retained, call.caller(), mask);
            // Whose certificates the card believes is for administrators to see.
            if call.caller().administrator {
                let registered = state.cloning.labels().filter(|label| fits(mask, label));
                labels.extend(registered.cloned());
            }
            labels
        };
        let key_labels = labels(mask)
            .iter()
            .map(|label| label.text().to_owned())
            .collect();
        Ok(RetainedKeys {
            retained_keys_count: labels("*").len() as u32,
            key_labels,
        })
    }
}

impl Verb for RetainedKeyDelete {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        self.rule_array.parse().end()?;
        call.needs(AccessPoint::RetainedKeyDelete)?;
        let label = Label::parse(&self.key_label)?;
        let mut state = call.change();
        if call.caller().administrator && state.cloning.has(&label) {
            call.keep_all(&[], &[key_entry(&label), hash_entry(&label)])?;
            state.cloning.keys.set(label.clone(), None);
            state.cloning.hashes.set(label, None);
            return Ok(Done {});
        }
        let place = state.records.own(Store::Retained, call.caller(), &label)?;
        call.forget(&Records::entry(&place))?;
        state.records.remove(&place);
        call.opened().forget();
        Ok(Done {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_have_two_forms() {
        for raw in [
            vec![0x80; 64],
            vec![1; 64],
            [vec![0; 31], vec![5; 33]].concat(),
            vec![0xff; 132],
        ] {
            assert_eq!(
                der_to_raw(&raw_to_der(&raw), raw.len() / 2),
                Some(raw.clone())
            );
        }
        assert_eq!(der_to_raw(&[0x30, 2, 2, 9], 32), None);
        let _ = raw_to_der(&[]);
    }
}
