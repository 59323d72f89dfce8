//! CSNBT31X, CSNBT31I, CSNBT31P: keys in TR-31 key blocks.
//!
//! A block says less of a key than a control vector does. So a key leaves only by a usage and a mode that, read again, allow
//! nothing that the key's own token does not allow ([`Words::is_within`]).

use outboard_engine::scalar::des3::set_odd_parity;
use zeroize::Zeroizing;

use super::Verb;
use crate::AccessPoint;
use crate::algorithm::tr31::{self, Header};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::aes::{self, AesExportKeys, AesImportKeys, Algorithm, Said, Type, VariableKey};
use crate::token::control_vector::{ControlVector, KeyType, Length, MacUse, PinUse, bit};
use crate::token::des::InternalKey;
use crate::token::uses::{ExportKeys, ImportKeys};
use crate::value::{Bytes, Parser};

/// Which way a key goes that a block says both ways of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

/// What a key may do, by a block's usage and mode.
enum Words {
    Des(ControlVector),
    Variable(Said),
}

impl Words {
    /// What a key of so many bytes may do once it came in.
    fn of(header: &Header, bytes: usize, way: Option<Way>) -> Outcome<Self> {
        let is_exportable = matches!(header.exportability, b'E' | b'S');
        match header.algorithm {
            b'T' | b'D' => {
                let length = Length::of_bytes(bytes)?;
                let vector = vector_of(header, length, way)?;
                Ok(Self::Des(match vector.is_zero() {
                    true => vector,
                    false => vector.with(bit::EXPORT_OK, is_exportable, length),
                }))
            }
            b'A' | b'H' => {
                let bits = u16::try_from(8 * bytes).map_err(|_| Refusal::KeyLength)?;
                let mut said = said_of(header, bits, way)?;
                if !is_exportable {
                    said.management[0] &= !aes::bit::EXPORT_OK;
                }
                Ok(Self::Variable(said))
            }
            _ => Err(Refusal::KeyBlockHeader),
        }
    }

    /// Whether a key that has these words may do no more than its own token says.
    fn is_within(&self, own: &ControlVector) -> bool {
        let Self::Des(vector) = self else {
            return false;
        };
        let same_type = vector.key_type() == own.key_type()
            || matches!(
                (vector.key_type(), own.key_type()),
                (KeyType::PinVer, KeyType::PinGen) | (KeyType::MacVer, KeyType::Mac)
            )
            || matches!(
                (vector.key_type(), own.key_type()),
                (KeyType::Encipher | KeyType::Decipher, KeyType::Cipher)
            )
            || matches!(
                (vector.key_type(), own.key_type()),
                (
                    KeyType::Encipher | KeyType::Decipher | KeyType::Cipher,
                    KeyType::Data
                )
            );
        let no_more_bits = own.is_zero() || (17..=22).all(|bit| !vector.has(bit) || own.has(bit));
        let no_wider = own.restriction() == 0 || own.restriction() == vector.restriction();
        same_type && no_more_bits && no_wider
    }
}

fn vector_of(header: &Header, length: Length, way: Option<Way>) -> Outcome<ControlVector> {
    use KeyType::*;
    let bad = Refusal::KeyBlockHeader;
    let of = |of| ControlVector::default_of(of, length);
    let restricted =
        |of: KeyType, to: u8| Ok(ControlVector::default_of(of, length)?.restricted(to, length));
    // Of a key that goes both ways, one is chosen.
    let directed = |out: KeyType, into: KeyType| match (header.mode, way) {
        (b'E', None | Some(Way::Out)) | (b'B', Some(Way::Out)) => of(out),
        (b'D', None | Some(Way::In)) | (b'B', Some(Way::In)) => of(into),
        _ => Err(bad),
    };
    let generated = |both: KeyType, verifies: KeyType, to: u8| match header.mode {
        b'C' => restricted(both, to),
        b'V' => restricted(verifies, to),
        _ => Err(bad),
    };
    match &header.usage {
        b"D0" => match header.mode {
            b'B' => of(Cipher),
            b'E' => of(Encipher),
            b'D' => of(Decipher),
            _ => Err(bad),
        },
        b"M0" | b"M1" | b"M3" | b"M6" => generated(Mac, MacVer, MacUse::X99 as u8),
        b"C0" => generated(Mac, MacVer, MacUse::CvvA as u8),
        b"P0" => directed(OpinEnc, IpinEnc),
        b"K0" => directed(Exporter, Importer),
        b"V0" => generated(PinGen, PinVer, PinUse::Any as u8),
        b"V1" => generated(PinGen, PinVer, PinUse::Ibm as u8),
        b"V2" => generated(PinGen, PinVer, PinUse::VisaPvv as u8),
        b"B0" if header.mode == b'X' => of(KeyGenKy),
        _ => Err(bad),
    }
}

fn said_of(header: &Header, bits: u16, way: Option<Way>) -> Outcome<Said> {
    let bad = Refusal::KeyBlockHeader;
    let algorithm = match header.algorithm {
        b'A' => Algorithm::Aes,
        _ => Algorithm::Hmac,
    };
    let said = |of| Said::new(algorithm, of, bits);
    let with = |of, usage| Said {
        usage,
        ..Said::new(algorithm, of, bits)
    };
    let both = aes::bit::ENCRYPT | aes::bit::DECRYPT;
    Ok(match (&header.usage, header.mode, way) {
        (b"D0", b'B', _) => with(Type::Cipher, both),
        (b"D0", b'E', _) => with(Type::Cipher, aes::bit::ENCRYPT),
        (b"D0", b'D', _) => with(Type::Cipher, aes::bit::DECRYPT),
        (b"M6" | b"M7", b'C', _) => with(Type::Mac, both),
        (b"M6" | b"M7", b'G', _) => with(Type::Mac, aes::bit::ENCRYPT),
        (b"M6" | b"M7", b'V', _) => with(Type::Mac, aes::bit::DECRYPT),
        (b"P0", b'E', _) | (b"P0", b'B', Some(Way::Out)) => with(Type::PinProt, aes::bit::ENCRYPT),
        (b"P0", b'D', _) | (b"P0", b'B', Some(Way::In)) => with(Type::PinProt, aes::bit::DECRYPT),
        (b"K0" | b"K1", b'E', _) | (b"K0" | b"K1", b'B', Some(Way::Out)) => said(Type::Exporter),
        (b"K0" | b"K1", b'D', _) | (b"K0" | b"K1", b'B', Some(Way::In)) => said(Type::Importer),
        (b"B0", b'X', _) => said(Type::DkyGenKy),
        _ => return Err(bad),
    })
}

const VERSIONS: &[(&str, u8)] = &[
    ("VARXOR-A", b'A'),
    ("VARDRV-B", b'B'),
    ("VARXOR-C", b'C'),
    ("VARDRV-D", b'D'),
];
const USAGES: &[(&str, [u8; 2])] = &[
    ("DATA", *b"D0"),
    ("ENC", *b"D0"),
    ("ISOMAC0", *b"M0"),
    ("ISOMAC1", *b"M1"),
    ("ISOMAC3", *b"M3"),
    ("CMAC", *b"M6"),
    ("HMAC", *b"M7"),
    ("CVK", *b"C0"),
    ("PINENC", *b"P0"),
    ("KEK", *b"K0"),
    ("KEK-WRAP", *b"K1"),
    ("PINVO", *b"V0"),
    ("PINV3624", *b"V1"),
    ("VISAPVV", *b"V2"),
    ("BDK", *b"B0"),
];
const MODES: &[(&str, u8)] = &[
    ("ENCDEC", b'B'),
    ("ENC-ONLY", b'E'),
    ("DEC-ONLY", b'D'),
    ("GENVER", b'C'),
    ("GEN-ONLY", b'G'),
    ("VER-ONLY", b'V'),
    ("DERIVE", b'X'),
];

/// A version whose keys are variants of the wrapping key is for those that know no better.
fn is_version_allowed(call: &Call<'_>, version: u8) -> Outcome<()> {
    match version {
        b'A' | b'C' => call.needs(AccessPoint::Tr31Variants),
        _ => Ok(()),
    }
}

/// The way that a keyword says.
fn way(rules: &mut Parser<'_>) -> Outcome<Option<Way>> {
    rules.one(&[
        ("OPINENC", Way::Out),
        ("EXPORTER", Way::Out),
        ("IPINENC", Way::In),
        ("IMPORTER", Way::In),
    ])
}

impl Verb for Tr31Export {
    type Reply = Tr31Block;

    fn run(&self, call: &Call<'_>) -> Outcome<Tr31Block> {
        let mut rules = self.rule_array.parse();
        let version = rules.required(VERSIONS)?;
        let usage = rules.required(USAGES)?;
        let mode = rules.required(MODES)?;
        let exportability = rules
            .one(&[("EXP-ANY", b'E'), ("EXP-TRST", b'S'), ("EXP-NONE", b'N')])?
            .unwrap_or(b'N');
        let is_hmac = rules.has("SOURCE-H")?;
        let is_aes = rules
            .one(&[("SOURCE-A", true), ("SOURCE-D", false)])?
            .unwrap_or(is_hmac);
        rules.end()?;
        call.needs(AccessPoint::Tr31Export)?;
        is_version_allowed(call, version)?;
        let key_version = match &self.key_version_number[..] {
            [] => *b"00",
            [one, other] if one.is_ascii_alphanumeric() && other.is_ascii_alphanumeric() => {
                [*one, *other]
            }
            _ => return Err(Refusal::KeyBlockHeader),
        };
        let header = |algorithm| Header {
            version,
            usage,
            algorithm,
            mode,
            key_version,
            exportability,
            optional_blocks: 0,
            optional: Vec::new(),
        };
        let (header, bytes) = match is_aes {
            false => {
                let key = call.des(&self.source_key_identifier)?;
                let header = header(if key.length() == Length::Single {
                    b'D'
                } else {
                    b'T'
                });
                if !key.vector.is_exportable()
                    || key.vector.is_part()
                    || key.vector.has(bit::NO_TR31)
                    // No block says it: read again, the key could leave by the original wrapping.
                    || key.vector.has(bit::ENH_ONLY)
                {
                    return Err(Refusal::NotExportable);
                }
                if !Words::of(&header, key.bytes().len(), None)?.is_within(&key.vector) {
                    return Err(Refusal::ControlVector);
                }
                (header, Zeroizing::new(key.bytes().to_vec()))
            }
            true => {
                let key = call.variable(&self.source_key_identifier)?;
                let header = header(if key.said.algorithm == Algorithm::Aes {
                    b'A'
                } else {
                    b'H'
                });
                if !key.said.is_exportable() || key.said.is_part() {
                    return Err(Refusal::NotExportable);
                }
                let Words::Variable(said) = Words::of(&header, key.bytes().len(), None)? else {
                    return Err(Refusal::KeyBlockHeader);
                };
                let own = &key.said;
                let is_type = said.of == own.of || (said.of, own.of) == (Type::Cipher, Type::Data);
                if !is_type || !own.allows(said.usage) {
                    return Err(Refusal::ControlVector);
                }
                (header, Zeroizing::new(key.bytes().to_vec()))
            }
        };
        let wrapping = match version {
            b'D' => call
                .aes_key::<AesExportKeys>(&self.wrap_kek_identifier)?
                .bytes()
                .to_vec(),
            _ => call
                .des_key::<ExportKeys>(&self.wrap_kek_identifier)?
                .bytes()
                .to_vec(),
        };
        let wrapping = Zeroizing::new(wrapping);
        // A key of Triple DES has 112 or 168 bits at most: any AES key is as strong.
        let is_weaker = match version {
            b'D' => is_aes && !is_hmac && wrapping.len() < bytes.len(),
            _ => is_aes || wrapping.len() < bytes.len(),
        };
        if is_weaker {
            return Err(Refusal::WeakWrapping);
        }
        Ok(Tr31Block {
            tr31_key_block: tr31::wrap(&wrapping, &header, &bytes)?.into(),
        })
    }
}

impl Verb for Tr31Import {
    type Reply = Tr31Key;

    fn run(&self, call: &Call<'_>) -> Outcome<Tr31Key> {
        let mut rules = self.rule_array.parse();
        rules.required(&[("INTERNAL", ())])?;
        let way = way(&mut rules)?;
        rules.end()?;
        call.needs(AccessPoint::Tr31Import)?;
        let block = without_blanks(&self.tr31_key_block);
        let version = block.first().copied().unwrap_or(0);
        is_version_allowed(call, version)?;
        let wrapping = Zeroizing::new(match version {
            b'D' => call
                .aes_key::<AesImportKeys>(&self.unwrap_kek_identifier)?
                .bytes()
                .to_vec(),
            _ => call
                .des_key::<ImportKeys>(&self.unwrap_kek_identifier)?
                .bytes()
                .to_vec(),
        });
        let (header, mut bytes) = tr31::unwrap(&wrapping, block)?;
        let output_key_identifier = match Words::of(&header, bytes.len(), way)? {
            Words::Des(vector) => {
                set_odd_parity(&mut bytes);
                call.seal_des(&InternalKey::new(vector, bytes)?)?.into()
            }
            Words::Variable(said) => call.seal_variable(&VariableKey::new(said, bytes)?)?.into(),
        };
        Ok(Tr31Key {
            output_key_identifier,
            num_opt_blks: u32::from(header.optional_blocks),
            cv_source: 0,
            protection_method: u32::from(matches!(version, b'B' | b'D')),
        })
    }
}

fn without_blanks(block: &Bytes) -> &[u8] {
    let end = block
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | 0 | b'\n'));
    end.map_or(&[], |end| &block[..=end])
}

impl Verb for Tr31Parse {
    type Reply = Tr31Header;

    fn run(&self, _: &Call<'_>) -> Outcome<Tr31Header> {
        self.rule_array.parse().end()?;
        let block = without_blanks(&self.tr31_key_block);
        let (header, _) = Header::parse(block)?;
        let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect();
        Ok(Tr31Header {
            key_block_version: text(&[header.version]),
            key_block_length: block.len() as u32,
            key_usage: text(&header.usage),
            algorithm: text(&[header.algorithm]),
            mode: text(&[header.mode]),
            key_version_number: text(&header.key_version),
            exportability: text(&[header.exportability]),
            num_opt_blks: u32::from(header.optional_blocks),
        })
    }
}
