//! Cards between which a master key goes, and the steps of that.

use std::sync::Arc;

use crate::common::{Card, bytes};
use outboard_cca::*;

pub(crate) type Codes = (u32, u32);

pub(crate) const WHOLE: Result<(), Codes> = Err((4, 1024));

/// A card in a cloning, with a key for it, and what certifies that key.
pub(crate) struct Node {
    pub(crate) card: Card,
    pub(crate) memory: Arc<Memory>,
    pub(crate) certificate: Bytes,
}

/// A share on its way.
#[derive(Clone)]
pub(crate) struct Sealed {
    pub(crate) index: u32,
    pub(crate) key: Bytes,
    pub(crate) information: Bytes,
}

pub(crate) fn admin(card: &Card, request: impl Into<Request>) -> Result<Reply, Codes> {
    card.ask_as(Caller::ADMINISTRATOR, request)
}

pub(crate) fn skeleton(card: &Card, name: &str) -> Bytes {
    let request = PkaKeyTokenBuild {
        rule_array: Rules::of(&["RSA-CRT", "KEY-MGMT"]),
        key_value_structure: bytes("0800 0000 0003 0000 0000 0000 0000 0000 0000 010001"),
        private_key_name: name.into(),
    };
    match card.ask(request) {
        Ok(Reply::PkaKeyTokenBuild(reply)) => reply.key_token,
        other => panic!("no skeleton: {other:?}"),
    }
}

pub(crate) fn generate(
    card: &Card,
    caller: Caller,
    name: &str,
    rules: &[&str],
) -> Result<Bytes, Codes> {
    let request = PkaKeyGenerate {
        rule_array: Rules::of(rules),
        skeleton_key_identifier: skeleton(card, name),
        ..Default::default()
    };
    match card.ask_as(caller, request)? {
        Reply::PkaKeyGenerate(reply) => Ok(reply.generated_key_identifier),
        _ => unreachable!("another verb's reply"),
    }
}

pub(crate) fn cloning_key(card: &Card, name: &str) -> Bytes {
    let key = generate(card, Caller::ADMINISTRATOR, name, &["RETAIN", "CLONE"]);
    key.expect("an administrator makes keys for cloning")
}

pub(crate) fn hash(card: &Card, text: &[u8]) -> Bytes {
    let request = OneWayHash {
        rule_array: Rules::of(&["SHA-256"]),
        text: text.into(),
        hash_length: 32,
        ..Default::default()
    };
    match card.ask(request) {
        Ok(Reply::OneWayHash(reply)) => reply.hash,
        other => panic!("no hash: {other:?}"),
    }
}

pub(crate) fn sign(card: &Card, caller: Caller, name: &str, hash: &[u8]) -> Result<Bytes, Codes> {
    let request = DigitalSignatureGenerate {
        rule_array: Rules::of(&["PKCS-PSS", "SHA-256"]),
        private_key_identifier: name.into(),
        hash: [&[0, 0, 0, 32], hash].concat().into(),
    };
    match card.ask_as(caller, request)? {
        Reply::DigitalSignatureGenerate(reply) => Ok(reply.signature_field),
        _ => unreachable!("another verb's reply"),
    }
}

/// A certificate before its signature, and the signature, by the key of that name.
pub(crate) fn certificate(card: &Card, signer: &str, token: &Bytes) -> (Bytes, Bytes) {
    let request = PkaKeyTokenBuild {
        rule_array: Rules::of(&["RSA-CERT"]),
        key_value_structure: token.clone(),
        private_key_name: signer.into(),
    };
    let Ok(Reply::PkaKeyTokenBuild(reply)) = admin(card, request) else {
        panic!("no certificate");
    };
    let signature = sign(
        card,
        Caller::ADMINISTRATOR,
        signer,
        &hash(card, &reply.key_token),
    );
    (reply.key_token, signature.expect("a signature"))
}

pub(crate) fn certify(card: &Card, signer: &str, token: &Bytes) -> Bytes {
    let (certificate, signature) = certificate(card, signer, token);
    [&certificate[..], &signature].concat().into()
}

pub(crate) fn control(card: &Card, rule: &str, data: &str) -> Result<(), Codes> {
    let request = CryptoFacilityControl {
        rule_array: Rules::of(&[rule]),
        verb_data: data.into(),
    };
    admin(card, request).map(drop)
}

/// Deletes what is registered, or kept inside, by that name.
pub(crate) fn delete(card: &Card, name: &str) -> Result<(), Codes> {
    let request = RetainedKeyDelete {
        key_label: name.into(),
        ..Default::default()
    };
    admin(card, request).map(drop)
}

pub(crate) fn register_hash(
    card: &Card,
    name: &str,
    rules: &[&str],
    hash: Bytes,
) -> Result<(), Codes> {
    let request = PkaPublicKeyHashRegister {
        rule_array: Rules::of(rules),
        public_key_name: name.into(),
        hash_data: hash,
    };
    admin(card, request).map(drop)
}

pub(crate) fn register(
    card: &Card,
    name: &str,
    rules: &[&str],
    certificate: Bytes,
) -> Result<(), Codes> {
    let request = PkaPublicKeyRegister {
        rule_array: Rules::of(rules),
        public_key_name: name.into(),
        public_key_certificate: certificate,
    };
    admin(card, request).map(drop)
}

/// The card of the key that certifies, which is the first one; then as many as there are names.
pub(crate) fn nodes<const N: usize>(names: [&str; N]) -> [Node; N] {
    let mut certifier: Option<(Arc<Memory>, Bytes, Bytes)> = None;
    names.map(|name| {
        let memory = Arc::new(Memory::default());
        let card = Card::with(Box::new(Arc::clone(&memory)));
        card.enable(&[AccessPoint::CloneObtain, AccessPoint::CloneInstall]);
        assert_eq!(control(&card, "SET-EID", &format!("{name:<16}")), Ok(()));
        assert_eq!(control(&card, "SET-MOFN", "0305"), Ok(()));
        let (first, unsigned, signed) = certifier.get_or_insert_with(|| {
            let token = cloning_key(&card, "SA");
            let (unsigned, signature) = certificate(&card, "SA", &token);
            let signed = [&unsigned[..], &signature].concat();
            (Arc::clone(&memory), unsigned, signed.into())
        });
        let rules = ["SHA-256", "CLONE"];
        let hash = hash(&card, unsigned);
        assert_eq!(register_hash(&card, "CERTIFIER", &rules, hash), Ok(()));
        assert_eq!(
            register(&card, "CERTIFIER", &["CLONE"], signed.clone()),
            Ok(())
        );
        let token = cloning_key(&card, name);
        // As the card of SA is: its storage has all of it.
        let sa = Card(Coprocessor::new(Box::new(Arc::clone(first))).expect("it loads"));
        let certificate = certify(&sa, "SA", &token);
        Node {
            card,
            memory,
            certificate,
        }
    })
}

pub(crate) fn obtain(
    source: &Node,
    name: &str,
    kind: &str,
    index: u32,
    receiver: &Bytes,
) -> Result<Sealed, Codes> {
    let request = MasterKeyDistribution {
        rule_array: Rules::of(&["OBTAIN", kind]),
        share_index: index,
        private_key_name: name.into(),
        certifying_key_name: "CERTIFIER".into(),
        certificate: receiver.clone(),
        ..Default::default()
    };
    match admin(&source.card, request)? {
        Reply::MasterKeyDistribution(reply) => Ok(Sealed {
            index,
            key: reply.clone_info_encrypting_key,
            information: reply.clone_info,
        }),
        _ => unreachable!("another verb's reply"),
    }
}

pub(crate) fn request(
    name: &str,
    kind: &str,
    share: &Sealed,
    source: &Bytes,
) -> MasterKeyDistribution {
    MasterKeyDistribution {
        rule_array: Rules::of(&["INSTALL", kind]),
        share_index: share.index,
        private_key_name: name.into(),
        certifying_key_name: "CERTIFIER".into(),
        certificate: source.clone(),
        clone_info_encrypting_key: share.key.clone(),
        clone_info: share.information.clone(),
    }
}

pub(crate) fn install(
    card: &Card,
    name: &str,
    kind: &str,
    share: &Sealed,
    source: &Bytes,
) -> Result<(), Codes> {
    admin(card, request(name, kind, share, source)).map(drop)
}

/// The patterns of new, current and old.
pub(crate) fn patterns(card: &Card, kind: usize) -> [Vec<u8>; 3] {
    let request = CryptoFacilityQuery {
        rule_array: Rules::of(&["STATMKVP"]),
        ..Default::default()
    };
    let Ok(Reply::CryptoFacilityQuery(reply)) = card.ask(request) else {
        panic!("no patterns");
    };
    [0, 1, 2].map(|register| reply.verb_data[8 * (3 * kind + register)..][..8].to_vec())
}

pub(crate) fn query(card: &Card, what: &str) -> Vec<String> {
    let request = CryptoFacilityQuery {
        rule_array: Rules::of(&[what]),
        ..Default::default()
    };
    let Ok(Reply::CryptoFacilityQuery(reply)) = card.ask(request) else {
        panic!("no {what}");
    };
    let words = reply.rule_array.0.iter().map(|word| word.text().to_owned());
    words.collect()
}
