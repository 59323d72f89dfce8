//! A master key taken from one card to another in shares: CSUACFC, CSNDPKH, CSNDPKR, CSUAMKD.
//!
//! ```text
//! source: OBTAIN     the share of that index ──▶ signed by the source's key ──▶ encrypted for the receiver, by its certificate
//! receiver: INSTALL  decrypted ──▶ signature verified, by the source's certificate ──▶ kept, until there are enough
//! ```
//! Both believe certificates that one key signed, which administrators have registered at both.

use std::sync::Arc;

use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::pair::Private;
use outboard_engine::scalar::{randomise, rsa};
use zeroize::Zeroizing;

use super::Verb;
use super::administration::MASTERS;
use super::pka::{RsaPadding, decrypted, encrypted};
use crate::AccessPoint;
use crate::answer::{Outcome, Refusal};
use crate::card::cloning::{
    Cloning, Given, MOST_SHARES, Setting, Taken, hash_entry, key_entry, value,
};
use crate::card::master::{Kind, Masters, NewState};
use crate::card::records::Store;
use crate::card::{Call, State};
use crate::request::*;
use crate::token::certificate::{self, Certificate};
use crate::token::clone_info::Share;
use crate::token::pka::{PkaToken as Token, Public, Use};
use crate::value::{Bytes, Label};

/// The padding of a share's key.
const PADDING: RsaPadding = RsaPadding::Oaep(Digest::Sha256);
/// Bytes of a share's key: AES-256.
const KEY: usize = 32;
/// Bits of an RSA key that certifies, signs or decrypts shares, at least.
const LEAST_BITS: usize = 2048;

#[derive(Clone, Copy)]
enum Control {
    Environment,
    Shares,
}

impl Verb for CryptoFacilityControl {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let mut rules = self.rule_array.parse();
        rules.one(&[("ADAPTER1", ()), ("ANY", ())])?;
        let control = rules.required(&[
            ("SET-EID", Control::Environment),
            ("SET-MOFN", Control::Shares),
        ])?;
        rules.end()?;
        call.administers()?;
        let mut state = call.change();
        let mut setting = state.cloning.setting.clone();
        match control {
            Control::Environment => {
                let environment = self.verb_data[..].try_into().map_err(|_| Refusal::Size)?;
                if setting.environment.is_some_and(|is| is != environment) {
                    return Err(Refusal::EnvironmentSet);
                }
                setting.environment = Some(environment);
                call.keep(Setting::ENTRY, &value(&setting)?)?;
            }
            Control::Shares => {
                setting.shares = Some(number_of_shares(&self.verb_data)?);
                let (mut put, mut remove) = (Vec::new(), Vec::new());
                for kind in Kind::ALL {
                    let (ended, gone) = state.cloning.ended(kind)?;
                    put.extend(ended);
                    remove.extend(gone);
                }
                put.push((Setting::ENTRY.to_owned(), value(&setting)?));
                call.keep_all(&put, &remove)?;
                Kind::ALL
                    .into_iter()
                    .for_each(|kind| state.cloning.end(kind));
            }
        }
        state.cloning.setting = setting;
        Ok(Done {})
    }
}

/// Four digits: how many shares are needed, and how many there are. With one that is needed, each share would be the key.
fn number_of_shares(digits: &[u8]) -> Outcome<(u8, u8)> {
    let number = |digits: &[u8]| match *digits {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(10 * (tens - b'0') + ones - b'0'),
        _ => None,
    };
    match digits.split_at_checked(2) {
        Some((needed, all)) => match (number(needed), number(all)) {
            (Some(needed @ 2..), Some(all)) if needed <= all && all <= MOST_SHARES => {
                Ok((needed, all))
            }
            _ => Err(Refusal::MasterKeyShare),
        },
        None => Err(Refusal::Size),
    }
}

impl Verb for PkaPublicKeyHashRegister {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let mut rules = self.rule_array.parse();
        rules.required(&[("SHA-256", ())])?;
        let is_clone = rules.has("CLONE")?;
        rules.end()?;
        call.administers()?;
        let label = Label::parse(&self.public_key_name)?;
        let hash: [u8; 32] = self.hash_data[..].try_into().map_err(|_| Refusal::Size)?;
        let mut state = call.change();
        // A hash that waits for its key stays: another administrator brought it.
        if state.cloning.has(&label) || is_kept(&state, call, &label) {
            return Err(Refusal::NameExists);
        }
        state.cloning.hashes.has_room()?;
        call.keep(&hash_entry(&label), &value(&(is_clone, hash))?)?;
        state.cloning.hashes.set(label, Some((is_clone, hash)));
        Ok(Done {})
    }
}

/// Whether a private key of that name is kept inside.
fn is_kept(state: &State, call: &Call<'_>, label: &Label) -> bool {
    state.records.has(Store::Retained, call.caller(), label)
}

impl Verb for PkaPublicKeyRegister {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let mut rules = self.rule_array.parse();
        let is_clone = rules.has("CLONE")?;
        rules.end()?;
        call.administers()?;
        let label = Label::parse(&self.public_key_name)?;
        let certificate = Certificate::parse(&self.public_key_certificate)?;
        let section = certificate.public.section().to_vec();
        is_long_enough(&certificate.public)?;
        let mut state = call.change();
        if state.cloning.keys.get(&label).is_some() || is_kept(&state, call, &label) {
            return Err(Refusal::NameExists);
        }
        state.cloning.keys.has_room()?;
        let hash = state.cloning.hashes.get(&label);
        let (may_clone, hash) = *hash.ok_or(Refusal::HashNotRegistered)?;
        if hash != certificate.hash()? {
            return Err(Refusal::HashMismatch);
        }
        if is_clone && !may_clone {
            return Err(Refusal::HashNotForCloning);
        }
        // The hash has done what it is for.
        let entry = (key_entry(&label), value(&(is_clone, &section))?);
        call.keep_all(&[entry], &[hash_entry(&label)])?;
        state.cloning.hashes.set(label.clone(), None);
        state.cloning.keys.set(label, Some((is_clone, section)));
        Ok(Done {})
    }
}

impl Call<'_> {
    /// A private key that is kept inside for cloning, and its public section's hash.
    fn cloning_key(&self, name: &[u8]) -> Outcome<(Label, Arc<Private>, [u8; 32])> {
        let label = Label::parse(name)?;
        let token = self.labelled(Store::Retained, &label);
        let token = Token::parse(&token.map_err(|_| Refusal::NoSuchName)?)?;
        let (private, of) = self.private_of(&token)?;
        match of {
            Use::Clone => Ok((label, private, of_public(&token.public)?)),
            _ => Err(Refusal::NotForCloning),
        }
    }

    /// The public key of a certificate, if the registered key of that name signed it.
    fn certified(&self, name: &[u8], certificate: &[u8]) -> Outcome<Public> {
        let label = Label::parse(name)?;
        let certifier = match self.state().cloning.keys.get(&label) {
            Some((true, section)) => Public::read(section),
            _ => None,
        };
        let certifier = certifier.ok_or(Refusal::KeyNotRegistered)?.rsa()?;
        let certificate = Certificate::parse(certificate)?;
        match certificate.is_signed_by(&certifier)? {
            true => is_long_enough(&certificate.public).map(|()| certificate.public),
            false => Err(Refusal::CertificateNotVerified),
        }
    }
}

/// Refuses a key that can be broken: one that certifies, signs or decrypts shares.
fn is_long_enough(public: &Public) -> Outcome<()> {
    match public.rsa()?.bits() >= LEAST_BITS {
        true => Ok(()),
        false => Err(Refusal::WeakWrapping),
    }
}

/// What a key is known by.
fn of_public(public: &Public) -> Outcome<[u8; 32]> {
    certificate::hash(&public.section())
}

fn rsa_of(private: &Private) -> Outcome<&rsa::Key> {
    match private {
        Private::Rsa(key) => Ok(key),
        _ => Err(Refusal::KeyType),
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Obtain,
    Install,
}

impl Verb for MasterKeyDistribution {
    type Reply = CloneInfo;

    fn run(&self, call: &Call<'_>) -> Outcome<CloneInfo> {
        let mut rules = self.rule_array.parse();
        let direction = rules.required(&[
            ("OBTAIN", Direction::Obtain),
            ("INSTALL", Direction::Install),
        ])?;
        let kind = rules.one(MASTERS)?.unwrap_or(Kind::Symmetric);
        rules.end()?;
        call.administers()?;
        let index = u8::try_from(self.share_index).map_err(|_| Refusal::MasterKeyShare)?;
        match direction {
            Direction::Obtain => self.obtain(call, kind, index),
            Direction::Install => self.install(call, kind, index),
        }
    }
}

impl MasterKeyDistribution {
    fn obtain(&self, call: &Call<'_>, kind: Kind, index: u8) -> Outcome<CloneInfo> {
        call.needs(AccessPoint::CloneObtain)?;
        let (label, signer, _) = call.cloning_key(&self.private_key_name)?;
        let public = call.certified(&self.certifying_key_name, &self.certificate)?;
        let receiver = public.rsa()?;
        let mut state = call.change();
        let mut setting = state.cloning.setting.clone();
        let mut given = match state.cloning.given(kind) {
            Some(given) => given.clone(),
            None => Given::new(kind, &mut setting)?,
        };
        if !setting
            .shares
            .is_some_and(|(_, all)| (1..=all).contains(&index))
        {
            return Err(Refusal::MasterKeyShare);
        }
        let (set, share) = given.share((kind, state.masters.current(kind)?), index);
        let entries = [
            (Setting::ENTRY.to_owned(), value(&setting)?),
            (Cloning::given_entry(kind), value(&given)?),
        ];
        call.keep_all(&entries, &[])?;
        state.cloning.set_given(kind, Some(given));
        let environment = setting.environment.unwrap_or_default();
        state.cloning.setting = setting;
        drop(state);
        let share = Share {
            set,
            index,
            environment,
            receiver: of_public(&public)?,
            share,
        };
        let mut key = Zeroizing::new([0; KEY]);
        randomise(&mut key[..])?;
        let clone_info = share.seal((&label, rsa_of(&signer)?), &key[..])?;
        Ok(CloneInfo {
            clone_info_encrypting_key: encrypted(&receiver, PADDING, &key[..])?.into(),
            clone_info: clone_info.into(),
        })
    }

    fn install(&self, call: &Call<'_>, kind: Kind, index: u8) -> Outcome<CloneInfo> {
        call.needs(AccessPoint::CloneInstall)?;
        let (_, private, receiver) = call.cloning_key(&self.private_key_name)?;
        let signer = call.certified(&self.certifying_key_name, &self.certificate)?;
        let key = decrypted(rsa_of(&private)?, PADDING, &self.clone_info_encrypting_key);
        let key = key.ok().filter(|key| key.len() == KEY);
        let key = key.ok_or(Refusal::ShareKey)?;
        let share = Share::open(&self.clone_info, &signer.rsa()?, &key)?;
        if share.set.kind != kind || share.index != index || share.receiver != receiver {
            return Err(Refusal::MasterKeyShare);
        }
        let mut state = call.change();
        let registers = state.masters.of(kind);
        if registers.new_state() != NewState::Empty {
            return Err(Refusal::RegisterState);
        }
        let setting = &state.cloning.setting;
        if setting.shares != Some((share.set.needed, share.set.all)) {
            return Err(Refusal::ShareDistribution);
        }
        let mut taken = Taken::with(state.cloning.taken(kind), of_public(&signer)?, &share)?;
        let whole = taken.whole(share.set.needed);
        let mut entries = Vec::new();
        let registers = match whole {
            None => None,
            Some(key) => {
                let registers = registers.with_whole(kind, key)?;
                let pattern = registers.new_pattern(kind).unwrap_or_default();
                if !taken.is_of(&pattern) {
                    return Err(Refusal::ShareDistribution);
                }
                let (name, value) = Masters::entry(kind, &registers);
                entries.push((name, value));
                Some(registers)
            }
        };
        entries.push((Cloning::taken_entry(kind), value(&taken)?));
        call.keep_all(&entries, &[])?;
        state.cloning.set_taken(kind, Some(taken));
        match registers {
            None => Ok(CloneInfo {
                clone_info_encrypting_key: Bytes::default(),
                clone_info: Bytes::default(),
            }),
            Some(registers) => {
                state.masters.set(kind, registers);
                call.opened().forget();
                Err(Refusal::MasterKeyWhole)
            }
        }
    }
}
