//! CSNDPKB and CSNDPKI: tokens of public keys built, and private keys taken in.

use outboard_engine::scalar::ec::Curve;
use zeroize::Zeroizing;

use super::Verb;
use crate::AccessPoint;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::certificate::{self, Certificate};
use crate::token::clear::Clear;
use crate::token::pka::{PkaToken as Token, PrivateSection, Public, Use};
use crate::value::Label;

/// The numbers of a key value structure.
struct Structure<'a>(&'a [u8]);

impl<'a> Structure<'a> {
    fn number(&self, at: usize) -> Outcome<usize> {
        let bytes = self.0.get(at..at + 2).ok_or(Refusal::Size)?;
        Ok(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    }

    /// The bytes of a number. At most 8,192 bits, so that a token's length fits its field.
    fn taken(&self, at: usize, length: usize) -> Outcome<&'a [u8]> {
        let bytes = self.0.get(at..at + length);
        bytes
            .filter(|bytes| bytes.len() <= 1024)
            .ok_or(Refusal::Size)
    }

    fn secret(&self, at: usize, length: usize) -> Outcome<Zeroizing<Vec<u8>>> {
        Ok(Zeroizing::new(self.taken(at, length)?.to_vec()))
    }

    /// Modulus and exponent: bits, their lengths, the bytes.
    fn rsa_public(&self) -> Outcome<Public> {
        let (modulus, exponent) = (self.number(2)?, self.number(4)?);
        Ok(Public::Rsa {
            n: self.taken(6, modulus)?.to_vec(),
            bits: self.number(0)? as u16,
            e: self.taken(6 + modulus, exponent)?.to_vec(),
        })
    }

    /// The same with the numbers of a private key; a skeleton has no modulus.
    fn rsa_pair(&self, of: Use) -> Outcome<(Public, PrivateSection)> {
        let (modulus, exponent) = (self.number(2)?, self.number(4)?);
        let public = Public::Rsa {
            n: self.taken(18, modulus)?.to_vec(),
            bits: self.number(0)? as u16,
            e: self.taken(18 + modulus, exponent)?.to_vec(),
        };
        if modulus == 0 {
            return Ok((public, PrivateSection::skeleton(of)));
        }
        let mut at = 18 + modulus + exponent;
        let mut numbers = Vec::with_capacity(5);
        for place in (8..18).step_by(2) {
            let length = self.number(place)?;
            numbers.push(self.secret(at, length)?);
            at += length;
        }
        let numbers = numbers.try_into().map_err(|_| Refusal::Size)?;
        Ok((public, PrivateSection::clear(of, Clear::Rsa(numbers))))
    }

    /// NIST's curves are of the first type.
    fn curve(&self) -> Outcome<Curve> {
        let bits = self.number(2)?;
        if self.0[0] != 0 {
            return Err(Refusal::CurveType);
        }
        let mut curves = Curve::ALL.into_iter();
        let curve = curves.find(|curve| curve.bits() == bits);
        curve.ok_or(Refusal::CurveSize)
    }

    fn ec_public(&self) -> Outcome<Public> {
        Ok(Public::Ec {
            curve: self.curve()?,
            point: self.taken(6, self.number(4)?)?.to_vec(),
        })
    }

    /// The same with the private number; a skeleton has none.
    fn ec_pair(&self, of: Use) -> Outcome<(Public, PrivateSection)> {
        let (private, point) = (self.number(4)?, self.number(6)?);
        let public = Public::Ec {
            curve: self.curve()?,
            point: self.taken(8 + private, point)?.to_vec(),
        };
        let section = match private {
            0 => PrivateSection::skeleton(of),
            _ => PrivateSection::clear(of, Clear::Ec(self.secret(8, private)?)),
        };
        Ok((public, section))
    }
}

impl Verb for PkaKeyTokenBuild {
    type Reply = PkaToken;

    /// RSA-CERT is ours: a certificate without its signature, which CSNDDSG makes and the caller appends. The structure is the token of the
    /// public key, with what the token's own certificate says of the card that made the key; the name is that of the key that signs.
    fn run(&self, call: &Call<'_>) -> Outcome<PkaToken> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Kind {
            RsaPublic,
            RsaCrt,
            RsaAesc,
            EcPublic,
            EcPair,
        }
        let mut rules = self.rule_array.parse();
        if rules.has("RSA-CERT")? {
            rules.end()?;
            return self.certificate(call);
        }
        let kind = rules.required(&[
            ("RSA-PUBL", Kind::RsaPublic),
            ("RSA-CRT", Kind::RsaCrt),
            ("RSA-AESC", Kind::RsaAesc),
            ("ECC-PUBL", Kind::EcPublic),
            ("ECC-PAIR", Kind::EcPair),
        ])?;
        let of = rules.one(&[
            ("SIG-ONLY", Use::Sign),
            ("KEY-MGMT", Use::Both),
            ("KM-ONLY", Use::Decrypt),
        ])?;
        rules.end()?;
        let of = of.unwrap_or(Use::Sign);
        let structure = Structure(&self.key_value_structure);
        let (public, private) = match kind {
            Kind::RsaPublic => (structure.rsa_public()?, None),
            Kind::EcPublic => (structure.ec_public()?, None),
            Kind::RsaCrt | Kind::RsaAesc => {
                let (public, private) = structure.rsa_pair(of)?;
                (public, Some(private.with_aesc(kind == Kind::RsaAesc)))
            }
            Kind::EcPair => {
                let (public, private) = structure.ec_pair(of)?;
                (public, Some(private))
            }
        };
        let name = match self.private_key_name.is_empty() {
            true => Vec::new(),
            false => Label::parse(&self.private_key_name)?.padded().to_vec(),
        };
        let token = Token {
            public,
            private,
            name,
        };
        Ok(PkaToken {
            key_token: token.token().into(),
        })
    }
}

impl PkaKeyTokenBuild {
    fn certificate(&self, call: &Call<'_>) -> Outcome<PkaToken> {
        let (signer, token) = (
            Label::parse(&self.private_key_name)?,
            &self.key_value_structure,
        );
        let Public::Rsa { n, .. } = call.pka(&self.private_key_name)?.public else {
            return Err(Refusal::KeyType);
        };
        let public = Token::parse(token)?.public;
        public.rsa()?;
        let environment = Certificate::parse(token).ok().and_then(|it| it.environment);
        let certificate = certificate::unsigned(&public, environment.as_ref(), (&signer, n.len()));
        Ok(PkaToken {
            key_token: certificate.into(),
        })
    }
}

impl Verb for PkaKeyImport {
    type Reply = PkaImported;

    /// Private keys in the clear. One under a key-encrypting key is of a real card: its wrapping is another.
    fn run(&self, call: &Call<'_>) -> Outcome<PkaImported> {
        let mut rules = self.rule_array.parse();
        let is_ec = rules.one(&[("RSA", false), ("ECC", true)])?;
        rules.end()?;
        call.needs(AccessPoint::PkaKeyImport)?;
        let token = Token::parse(&self.source_key_token)?;
        if is_ec.is_some_and(|is_ec| is_ec != matches!(token.public, Public::Ec { .. })) {
            return Err(Refusal::KeywordCombination);
        }
        let masters = call.state().masters.clone();
        Ok(PkaImported {
            target_key_identifier: token.imported(&masters)?.token().into(),
        })
    }
}
