//! CSNBUKD: the keys of one transaction (DUKPT) as tokens, each with the use that its skeleton says.

use outboard_engine::scalar::des3::set_odd_parity;
use zeroize::Zeroizing;

use crate::AccessPoint;
use crate::algorithm::dukpt::{self, AES_SERIAL, Purpose, SERIAL, Usage};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::aes::{self, AesDeriveUnique, Algorithm, Type, VariableKey, bit};
use crate::token::control_vector::KeyType;
use crate::token::des::{InternalKey, Parsed};
use crate::token::uses::DeriveUnique;
use crate::value::Bytes;
use crate::verb::Verb;

impl Verb for UniqueKeyDerive {
    type Reply = DerivedKeys;

    fn run(&self, call: &Call<'_>) -> Outcome<DerivedKeys> {
        let mut rules = self.rule_array.parse();
        let is_aes = rules
            .one(&[("DUKPT", false), ("ADUKPT", true)])?
            .unwrap_or(false);
        let wanted = rules.all(&[("K1DATA", 1), ("K2MAC", 2), ("K3PIN", 3)]);
        // The keys of the terminal's requests, or of the answers to it.
        let answers = rules
            .one(&[("REQUEST", false), ("RESPONSE", true)])?
            .unwrap_or(false);
        rules.end()?;
        call.needs(AccessPoint::UniqueKeyDerive)?;
        if wanted.is_empty() {
            return Err(Refusal::KeywordMissing);
        }
        if is_aes {
            return self.aes(call, &wanted);
        }
        let base = call.des_key::<DeriveUnique>(&self.base_derivation_key_identifier)?;
        let base: &[u8; 16] = base.bytes().try_into().map_err(|_| Refusal::KeyLength)?;
        let serial: &[u8; SERIAL] = self.derivation_data[..]
            .try_into()
            .map_err(|_| Refusal::KeySerialNumber)?;
        let derived = |number: u32,
                       purpose: Purpose,
                       skeleton: &Bytes,
                       types: &[KeyType]|
         -> Outcome<Bytes> {
            if !wanted.contains(&number) {
                return Ok(Bytes::default());
            }
            let parsed = Parsed::new(skeleton)?;
            if parsed.has_key
                || parsed.vector.is_part()
                || !types.contains(&parsed.vector.key_type())
            {
                return Err(Refusal::ControlVector);
            }
            let mut key = Zeroizing::new(dukpt::derive(base, serial, purpose)?.to_vec());
            set_odd_parity(&mut key);
            Ok(call
                .seal_des(&InternalKey::new(parsed.vector, key)?)?
                .into())
        };
        let (data, mac) = match answers {
            false => (Purpose::DataRequest, Purpose::MacRequest),
            true => (Purpose::DataResponse, Purpose::MacResponse),
        };
        use KeyType::*;
        Ok(DerivedKeys {
            generated_key_identifier1: derived(
                1,
                data,
                &self.generated_key_identifier1,
                &[Cipher, Encipher, Decipher],
            )?,
            generated_key_identifier2: derived(
                2,
                mac,
                &self.generated_key_identifier2,
                &[Mac, MacVer],
            )?,
            generated_key_identifier3: derived(
                3,
                Purpose::Pin,
                &self.generated_key_identifier3,
                &[IpinEnc, OpinEnc],
            )?,
        })
    }
}

impl UniqueKeyDerive {
    /// The keys of AES DUKPT. The skeleton says which of them: to encrypt, to decrypt, or both.
    fn aes(&self, call: &Call<'_>, wanted: &[u32]) -> Outcome<DerivedKeys> {
        let base = call.aes_key::<AesDeriveUnique>(&self.base_derivation_key_identifier)?;
        let serial: &[u8; AES_SERIAL] = self.derivation_data[..]
            .try_into()
            .map_err(|_| Refusal::KeySerialNumber)?;
        let derived = |number: u32, skeleton: &Bytes, of: Type| -> Outcome<Bytes> {
            if !wanted.contains(&number) {
                return Ok(Bytes::default());
            }
            let aes::Parsed::Variable {
                said,
                state: aes::State::None,
                ..
            } = aes::Parsed::new(skeleton)?
            else {
                return Err(Refusal::TokenVersion);
            };
            if said.of != of || said.algorithm != Algorithm::Aes || said.is_part() {
                return Err(Refusal::ControlVector);
            }
            let usage = match (of, said.allows(bit::ENCRYPT), said.allows(bit::DECRYPT)) {
                (Type::PinProt, ..) => Usage::PinEncryption,
                (Type::Mac, true, true) => Usage::MacBoth,
                (Type::Mac, true, false) => Usage::MacGeneration,
                (Type::Mac, ..) => Usage::MacVerification,
                (_, true, true) => Usage::DataBoth,
                (_, true, false) => Usage::DataEncryption,
                _ => Usage::DataDecryption,
            };
            let key = dukpt::aes_derive(base.bytes(), serial, usage, said.bits)?;
            Ok(call.seal_variable(&VariableKey::new(said, key)?)?.into())
        };
        Ok(DerivedKeys {
            generated_key_identifier1: derived(1, &self.generated_key_identifier1, Type::Cipher)?,
            generated_key_identifier2: derived(2, &self.generated_key_identifier2, Type::Mac)?,
            generated_key_identifier3: derived(3, &self.generated_key_identifier3, Type::PinProt)?,
        })
    }
}
