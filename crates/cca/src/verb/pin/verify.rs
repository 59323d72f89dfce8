//! CSNBPVR: whether the PIN in an encrypted block is the account's.

use outboard_engine::scalar::mac::equal;
use zeroize::Zeroizing;

use super::translate::account;
use super::{Profile, cipher, derived, element, extraction, opened};
use crate::AccessPoint;
use crate::algorithm::des::Cipher;
use crate::algorithm::method;
use crate::algorithm::pin::{Account, Digits, Format, Pin, extract, numbers};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::limits;
use crate::card::master::Kind;
use crate::card::tables::Table;
use crate::request::*;
use crate::token::control_vector::PinUse;
use crate::token::uses::{OpenToVerify, Use, VerifyPin, is_pin_method};
use crate::verb::Verb;

/// A method, with what it needs beside the key and the PIN.
pub(super) enum Reference {
    /// IBM 3624: the offset has as many digits as are checked.
    Ibm {
        validation: [u8; 8],
        table: Table,
        offset: Zeroizing<Vec<u8>>,
        check: usize,
    },
    BankPool {
        validation: [u8; 8],
        table: Table,
        offset: [u8; 4],
    },
    Pvv {
        eleven: Zeroizing<Vec<u8>>,
        index: u8,
        pvv: [u8; 4],
    },
    Interbank {
        parameter: [u8; 8],
    },
}

/// Names of the methods in a rule array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    IbmPin,
    IbmPinOffset,
    VisaPvv,
    Interbank,
    BankPool,
}

impl Method {
    pub(super) const KEYWORDS: &[(&str, Self)] = &[
        ("IBM-PIN", Self::IbmPin),
        ("IBM-PINO", Self::IbmPinOffset),
        ("VISA-PVV", Self::VisaPvv),
        ("INBK-PIN", Self::Interbank),
        ("GBP-PIN", Self::BankPool),
    ];

    /// What a key must not be restricted to another than.
    pub(super) fn key_use(self) -> PinUse {
        match self {
            Self::IbmPin | Self::IbmPinOffset => PinUse::Ibm,
            Self::VisaPvv => PinUse::VisaPvv,
            Self::Interbank => PinUse::Interbank,
            Self::BankPool => PinUse::Gbp,
        }
    }
}

/// The key of a method, for a use.
pub(super) fn method_key<U: Use>(
    call: &Call<'_>,
    identifier: &[u8],
    method: Method,
) -> Outcome<crate::token::uses::Key<U>> {
    let key = call.des(identifier)?;
    match is_pin_method(&key.vector, method.key_use()) {
        true => key.usable(),
        false => Err(Refusal::ControlVector),
    }
}

/// Digits on the right of `length` places, zeros before them.
pub(super) fn right_aligned(text: &[u8], length: usize) -> Outcome<Zeroizing<Vec<u8>>> {
    let digits = numbers(text.trim_ascii()).ok_or(Refusal::PinOffset)?;
    let digits = &digits[digits.len().saturating_sub(length)..];
    let mut aligned = Zeroizing::new(vec![0; length - digits.len()]);
    aligned.extend_from_slice(digits);
    Ok(aligned)
}

/// Refuses a block that is not bound to an account: it would give its PIN's offset for any account, and its PIN could be
/// compared with any account's.
pub(super) fn bound(call: &Call<'_>, format: Format) -> Outcome<()> {
    match format.has_account() || call.state().points.is_on(AccessPoint::UnboundPinBlocks) {
        true => Ok(()),
        false => Err(Refusal::PinBlockFormat),
    }
}

/// Refuses validation data that are not this account's. All its digits are asked for: another account's number with the same
/// validation data changes the third and fourth digit of the PIN in the block, and by offsets both are found.
pub(super) fn belongs(call: &Call<'_>, validation: &[u8], account: &Account) -> Outcome<()> {
    let digits: Vec<u8> = account.twelve().iter().map(|digit| b'0' + digit).collect();
    let has_digits = validation
        .windows(digits.len())
        .any(|window| window == digits);
    match has_digits
        || call
            .state()
            .points
            .is_on(AccessPoint::ForeignValidationData)
    {
        true => Ok(()),
        false => Err(Refusal::ValidationData),
    }
}

/// The account's 11 digits and the key's index in a transaction security parameter.
pub(super) fn security_parameter(
    text: &[u8],
    account: &Account,
) -> Outcome<(Zeroizing<Vec<u8>>, u8)> {
    let digits = text
        .get(..12)
        .and_then(numbers)
        .ok_or(Refusal::TransactionSecurityParameter)?;
    match digits[..11] == account.twelve()[1..] {
        true => Ok((Zeroizing::new(digits[..11].to_vec()), digits[11])),
        false => Err(Refusal::PanData),
    }
}

impl EncryptedPinVerify {
    fn reference(&self, call: &Call<'_>, method: Method, account: &Account) -> Outcome<Reference> {
        let data = |number| element(&self.data_array, number);
        let tables = || call.state().tables.find(data(0)?);
        let validation = || {
            belongs(call, data(1)?, account)?;
            method::block(data(1)?, Refusal::ValidationData)
        };
        Ok(match method {
            Method::IbmPin | Method::IbmPinOffset => {
                let check = self.pin_check_length as usize;
                if !(4..=12).contains(&check) {
                    return Err(Refusal::PinCheckLength);
                }
                let offset = match method {
                    Method::IbmPin => Zeroizing::new(vec![0; check]),
                    _ => right_aligned(data(2)?, check)?,
                };
                Reference::Ibm {
                    table: tables()?,
                    validation: validation()?,
                    offset,
                    check,
                }
            }
            Method::BankPool => {
                let offset = right_aligned(data(2)?, 4)?;
                let offset = offset[..].try_into().map_err(|_| Refusal::PinOffset)?;
                Reference::BankPool {
                    table: tables()?,
                    validation: validation()?,
                    offset,
                }
            }
            Method::VisaPvv => {
                let (eleven, index) = security_parameter(data(0)?, account)?;
                let pvv = data(1)?.get(..4).and_then(numbers).ok_or(Refusal::Pvv)?;
                let pvv = pvv[..].try_into().map_err(|_| Refusal::Pvv)?;
                Reference::Pvv { eleven, index, pvv }
            }
            Method::Interbank => {
                security_parameter(data(0)?, account)?;
                let parameter = method::block(data(0)?, Refusal::TransactionSecurityParameter)?;
                Reference::Interbank { parameter }
            }
        })
    }
}

impl Reference {
    /// Whether that is the PIN. All digits are compared.
    fn is(&self, cipher: &Cipher, pin: &Pin) -> bool {
        let digits = pin.digits();
        match self {
            Self::Ibm {
                validation,
                table,
                offset,
                check,
            } => {
                let Some(start) = digits.len().checked_sub(*check) else {
                    return false;
                };
                let intermediate = method::intermediate(cipher, *validation, table);
                let sums = intermediate[start..digits.len()].iter().zip(offset.iter());
                let wanted: Zeroizing<Vec<u8>> = Zeroizing::new(
                    sums.map(|(digit, offset)| method::sum(*digit, *offset))
                        .collect(),
                );
                equal(&wanted, &digits[start..])
            }
            Self::BankPool {
                validation,
                table,
                offset,
            } => {
                let intermediate = method::intermediate(cipher, *validation, table);
                equal(&method::bank_pool(&intermediate, offset)[..], digits)
            }
            Self::Pvv { eleven, index, pvv } => {
                equal(&method::pvv(cipher, eleven, *index, digits)[..], pvv)
            }
            Self::Interbank { parameter } => {
                equal(&method::interbank(cipher, *parameter)[..], digits)
            }
        }
    }
}

impl Verb for EncryptedPinVerify {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let mut rules = self.rule_array.parse();
        let method = rules.required(Method::KEYWORDS)?;
        let length = extraction(&mut rules)?;
        let is_derived = derived(&mut rules)?;
        rules.end()?;
        call.needs(AccessPoint::PinVerify)?;
        let profile = Profile::parse(call, &self.pin_profile)?;
        bound(call, profile.format)?;
        let whose = account(&self.pan_data, profile.format)?;
        let reference = self.reference(call, method, &whose)?;
        let key = method_key::<VerifyPin>(call, &self.pin_verifying_key_identifier, method)?;
        let open = cipher::<OpenToVerify>(
            call,
            &self.pin_encrypting_key_identifier,
            &profile,
            is_derived.input,
        )?;
        let block = opened(&open, &self.encrypted_pin_block)?;
        // The account's count with this key, that of what the PIN is compared with, and the account's count with all keys: none can be
        // chosen to begin anew, and keys of one's own give no more tries.
        let data = match method {
            Method::VisaPvv | Method::Interbank => {
                element(&self.data_array, 0)?.get(..12).unwrap_or(&[])
            }
            _ => element(&self.data_array, 1)?,
        };
        let whole = [b"account".as_slice(), whose.twelve()].concat();
        let of_card = call
            .state()
            .masters
            .current(Kind::Symmetric)?
            .derive(b"wrong PINs")?;
        let accounts = [
            limits::Account::new(key.bytes(), &whole)?,
            limits::Account::new(key.bytes(), &[b"data".as_slice(), data].concat())?,
            limits::Account::new(&of_card, &whole)?,
        ];
        // A right PIN forgets what was wrong with the same offset or PVV alone. Else, who knows one PIN of an account would begin
        // anew as often as needed, and find another block's PIN by offsets.
        let said = [
            &[method as u8][..],
            &self.pin_check_length.to_be_bytes(),
            &self.data_array,
        ];
        let compared = limits::Account::new(key.bytes(), &said.concat())?;
        let mut counts = [0; 3];
        {
            let mut failures = call.failures();
            for (count, account) in counts.iter_mut().zip(accounts) {
                // A blocked account answers as a wrong PIN does.
                *count = failures
                    .count(account, compared, call.caller().user)?
                    .ok_or(Refusal::PinNotVerified)?;
            }
        }
        let filling = profile.filling(length);
        let pin = extract(&block, profile.format, &whose, filling, Digits::Decimal);
        let is_right = match &pin {
            Ok(pin) => reference.is(&key.cipher(), pin),
            Err(Refusal::PinBlockInconsistent) => false,
            Err(other) => return Err(*other),
        };
        // Written in the order in which this lock is taken. The disk is waited for without it.
        let mut failures = call.failures();
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        for (count, account) in counts.into_iter().zip(accounts) {
            let is_left = !is_right || failures.forgive(account, compared);
            match (is_right && count == 1, is_left) {
                // None was stored.
                (true, _) => {}
                (false, false) => remove.push(account.entry()),
                // The counts as they are now: others may have tried meanwhile, and stored theirs.
                (false, true) => {
                    let value = failures.value(account);
                    put.push((account.entry(), Zeroizing::new(value)));
                }
            }
        }
        let changes = !(put.is_empty() && remove.is_empty());
        let written = changes.then(|| call.begin_to_keep(&put, &remove));
        drop(failures);
        if let Some(written) = written {
            written.wait().map_err(|_| Refusal::Storage)?;
        }
        match is_right {
            true => Ok(Done {}),
            false => Err(Refusal::PinNotVerified),
        }
    }
}
