//! Symmetric keys that travel: DATA keys under public keys, AES and HMAC keys under AES key-encrypting keys.

use outboard_engine::scalar::pair::Private;
use outboard_engine::scalar::rsa;
use zeroize::Zeroizing;

use super::Verb;
use super::aes_keys::ALGORITHMS;
use super::keys::clear_data_key;
use super::pka::{RsaPadding, decrypted, encrypted, rsa_padding};
use crate::AccessPoint;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::aes::{AesExportKeys, AesImportKeys, Algorithm, Said, Type, VariableKey};
use crate::token::control_vector::{ControlVector, KeyType, Length};
use crate::token::des::InternalKey;
use crate::token::pka::Use;
use crate::value::{Bytes, Parser};

/// Which symmetric keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetric {
    Des,
    Aes,
}

/// The public RSA key under which a symmetric key leaves: of 2,048 bits at least (112 bits of strength, as Triple DES).
fn transporter(call: &Call<'_>, identifier: &[u8]) -> Outcome<rsa::Key> {
    let key = call.pka(identifier)?.public.rsa()?;
    match key.bits() >= 2048 {
        true => Ok(key),
        false => Err(Refusal::WeakWrapping),
    }
}

/// The rules of the verbs for symmetric keys under public keys: DATA keys alone, and OAEP alone. (A wrong padding of
/// PKCS #1 v1.5 would show: a key of a wrong length is refused.)
fn transport_rules(rules: &mut Parser<'_>) -> Outcome<(Symmetric, RsaPadding)> {
    let algorithm = rules
        .one(&[("DES", Symmetric::Des), ("AES", Symmetric::Aes)])?
        .unwrap_or(Symmetric::Des);
    match rsa_padding(rules)? {
        padding @ RsaPadding::Oaep(_) => Ok((algorithm, padding)),
        RsaPadding::Pkcs12 => Err(Refusal::Keyword),
    }
}

impl Verb for SymmetricKeyImport {
    type Reply = SymmetricImported;

    fn run(&self, call: &Call<'_>) -> Outcome<SymmetricImported> {
        let mut rules = self.rule_array.parse();
        let (algorithm, padding) = transport_rules(&mut rules)?;
        rules.end()?;
        call.needs(AccessPoint::SymmetricKeyImport)?;
        let private = call.private(&self.rsa_private_key_identifier, Use::decrypts)?;
        let Private::Rsa(key) = &*private else {
            return Err(Refusal::KeyType);
        };
        let bytes = decrypted(key, padding, &self.rsa_enciphered_key)?;
        let target_key_identifier = match algorithm {
            Symmetric::Aes => call.seal_variable(&aes_data(bytes)?)?.into(),
            Symmetric::Des => call.seal_des(&clear_data_key(&bytes)?)?.into(),
        };
        Ok(SymmetricImported {
            target_key_identifier,
        })
    }
}

fn aes_data(bytes: Zeroizing<Vec<u8>>) -> Outcome<VariableKey> {
    let bits = u16::try_from(8 * bytes.len()).map_err(|_| Refusal::KeyLength)?;
    VariableKey::new(Said::new(Algorithm::Aes, Type::Data, bits), bytes)
}

impl Verb for SymmetricKeyExport {
    type Reply = SymmetricExported;

    fn run(&self, call: &Call<'_>) -> Outcome<SymmetricExported> {
        let mut rules = self.rule_array.parse();
        if rules.has("AESKW")? {
            rules.one(ALGORITHMS)?;
            rules.end()?;
            return self.wrapped(call);
        }
        let (algorithm, padding) = transport_rules(&mut rules)?;
        rules.end()?;
        call.needs(AccessPoint::SymmetricKeyExport)?;
        let public = transporter(call, &self.transporter_key_identifier)?;
        let bytes = match algorithm {
            Symmetric::Aes => {
                let key = call.variable(&self.source_key_identifier)?;
                if key.said.of != Type::Data || !key.said.is_exportable() {
                    return Err(Refusal::NotExportable);
                }
                Zeroizing::new(key.bytes().to_vec())
            }
            Symmetric::Des => {
                let key = call.des(&self.source_key_identifier)?;
                if key.vector.key_type() != KeyType::Data {
                    return Err(Refusal::NotDataKey);
                }
                Zeroizing::new(key.bytes().to_vec())
            }
        };
        Ok(SymmetricExported {
            enciphered_key: encrypted(&public, padding, &bytes)?.into(),
        })
    }
}

impl SymmetricKeyExport {
    /// Under an AES exporter key: as other keys leave, with all that its token says.
    fn wrapped(&self, call: &Call<'_>) -> Outcome<SymmetricExported> {
        call.needs(AccessPoint::KeyExport)?;
        let key = call.variable(&self.source_key_identifier)?;
        if !key.said.is_exportable() || key.said.is_part() {
            return Err(Refusal::NotExportable);
        }
        let kek = call.aes_key::<AesExportKeys>(&self.transporter_key_identifier)?;
        Ok(SymmetricExported {
            enciphered_key: key.external_token(&kek)?.into(),
        })
    }
}

impl Verb for SymmetricKeyImport2 {
    type Reply = SymmetricImported2;

    fn run(&self, call: &Call<'_>) -> Outcome<SymmetricImported2> {
        let mut rules = self.rule_array.parse();
        let algorithm = rules.required(ALGORITHMS)?;
        rules.required(&[("AESKW", ())])?;
        rules.end()?;
        call.needs(AccessPoint::KeyImport)?;
        let kek = call.aes_key::<AesImportKeys>(&self.transport_key_identifier)?;
        let key = VariableKey::open_external(&kek, &self.enciphered_key)?;
        match key.said.algorithm == algorithm && !key.said.is_part() {
            true => Ok(SymmetricImported2 {
                target_key_identifier: call.seal_variable(&key)?.into(),
            }),
            false => Err(Refusal::KeyType),
        }
    }
}

impl Verb for SymmetricKeyGenerate {
    type Reply = SymmetricGenerated;

    fn run(&self, call: &Call<'_>) -> Outcome<SymmetricGenerated> {
        let mut rules = self.rule_array.parse();
        let (algorithm, padding) = transport_rules(&mut rules)?;
        let length = rules
            .one(&[
                ("SINGLE", 8),
                ("KEYLN8", 8),
                ("DOUBLE", 16),
                ("KEYLN16", 16),
                ("KEYLN24", 24),
                ("KEYLN32", 32),
            ])?
            .unwrap_or(16);
        rules.one(&[("OP", ())])?;
        rules.end()?;
        call.needs(AccessPoint::SymmetricKeyGenerate)?;
        let public = transporter(call, &self.rsa_public_key_identifier)?;
        let (local, bytes): (Bytes, _) = match algorithm {
            Symmetric::Aes => {
                let key =
                    VariableKey::random(Said::new(Algorithm::Aes, Type::Data, 8 * length as u16))?;
                (
                    call.seal_variable(&key)?.into(),
                    Zeroizing::new(key.bytes().to_vec()),
                )
            }
            Symmetric::Des => {
                let length = Length::of_bytes(length)?;
                let key =
                    InternalKey::random(ControlVector::default_of(KeyType::Data, length)?, length)?;
                (
                    call.seal_des(&key)?.into(),
                    Zeroizing::new(key.bytes().to_vec()),
                )
            }
        };
        Ok(SymmetricGenerated {
            local_enciphered_key_identifier: local,
            rsa_enciphered_key: encrypted(&public, padding, &bytes)?.into(),
        })
    }
}
