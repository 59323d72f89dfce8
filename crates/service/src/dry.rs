//! What the service does with what clients send, but for the computation with a private key: no listening sockets, no
//! workers. For the fuzzer (`make service-fuzz`), and for the test that its seeds reach what they are for.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use outboard_engine::scalar::pair::Pair;
use outboard_vault::{
    Digest, Grants, NewKey, NewObject, NewToken, ObjectsKey, Policy, Register, Right, Role,
    Subject, Ticket, Vault,
};
use outboard_wire::{self as wire, KeyId, KeyType, Operation, Status};

use crate::agent::{Conversation, Heard, Identities, Wants};
use crate::keys::Keys;
use crate::peer::Peer;

/// Keys that are the same in each run, so that a finding can be repeated (PKCS #8 in DER, by `openssl pkcs8 -topk8`).
const KEYS: [(KeyType, &[u8]); 5] = [
    (KeyType::Rsa(2048), include_bytes!("../fuzz/keys/rsa.der")),
    (KeyType::P256, include_bytes!("../fuzz/keys/p256.der")),
    (KeyType::P384, include_bytes!("../fuzz/keys/p384.der")),
    (KeyType::P521, include_bytes!("../fuzz/keys/p521.der")),
    (KeyType::Ed25519, include_bytes!("../fuzz/keys/ed25519.der")),
];

/// A service with those keys, a token with the last one of them, and its only client. The client may use all but P-521, and P-384
/// only with SHA-384.
pub struct Dry {
    keys: Keys,
    identities: Identities,
    peer: Peer,
    /// Of the keys, and last of the token's.
    ids: Vec<KeyId>,
    /// The client's ticket for the token.
    ticket: Ticket,
}

impl Dry {
    /// One whose store is made in that directory.
    #[must_use]
    pub fn new(store: &Path) -> Self {
        let (one, _other) = UnixStream::pair().expect("descriptors are free");
        let peer = Peer::of(&one).expect("both ends are ours");
        let vault = Vault::create(store, peer.uid).expect("a new store");
        vault
            .enter_whole(peer.uid, Register::Current, &[7; 32])
            .expect("the first master key");
        let new = |(key_type, info): (KeyType, &[u8])| {
            let pair = Pair::from_info(info).expect("a key");
            let mut policy = Policy::default();
            if key_type == KeyType::P384 {
                policy.digests = [Digest::Sha384].into();
            }
            let is_granted = key_type != KeyType::P521;
            let granted = is_granted.then_some((Subject::User(peer.uid), Right::Use));
            NewKey {
                name: key_type.to_string().parse().expect("a name"),
                key_type,
                public: pair.public,
                private: pair.info,
                exportable: false,
                policy,
                grants: Grants::from_iter(granted),
            }
        };
        let records = vault.insert_all(peer.uid, &KEYS.map(new));
        let records = records.expect("new names");
        let (key, ticket) = with_token(&vault, peer.uid);
        Self {
            ids: records.iter().map(|key| key.id).chain([key]).collect(),
            ticket,
            keys: Keys::new(vault, store),
            identities: Identities::default(),
            peer,
        }
    }

    /// What the service answers to a packet, where nothing fails that is still to be computed; none where the packet is too
    /// short for an answer. The first byte of the key's id says which key is meant: the others are drawn anew with the key. So is
    /// the ticket, which one that begins with zero stands for.
    pub fn packet(&self, packet: &[u8]) -> Option<Status> {
        wire::Request::id_of(packet)?;
        let Ok(request) = wire::Request::decode(packet) else {
            return Some(Status::Malformed);
        };
        let known = match request.operation {
            Operation::Find { name } => Some(self.keys.find(&self.peer, name)),
            Operation::List { known, after } => Some(self.keys.list(&self.peer, known, after)),
            _ => None,
        };
        if let Some(known) = known {
            return Some(known.map_or_else(|refusal| refusal.status, |_| Status::Done));
        }
        let known = self.ids.get(usize::from(request.key.0[0]));
        let key = known.copied().unwrap_or(request.key);
        let ticket = request.ticket.map(|ticket| match ticket.0 {
            [0, ..] => wire::Ticket(&self.ticket),
            _ => ticket,
        });
        Some(self.admit(key, ticket, &request.operation))
    }

    /// The answers to what an ssh client says before it stops. The signatures in them are not computed.
    pub fn conversation(&self, said: &[u8]) -> Vec<Vec<u8>> {
        /// An ECDSA signature in DER, as the engine puts it out.
        const SIGNATURE: &[u8] = &[0x30, 6, 2, 1, 1, 2, 1, 1];
        let (mut client, service) = UnixStream::pair().expect("descriptors are free");
        client.write_all(said).expect("a socket takes so much");
        client
            .shutdown(std::net::Shutdown::Write)
            .expect("it is connected");
        let (mut conversation, mut room) = (Conversation::default(), vec![0; wire::MOST]);
        let mut answers = Vec::new();
        while let Ok(Heard::Message) = conversation.hear(&service, &mut room) {
            match conversation.wants(&self.peer, &self.identities, &self.keys) {
                Wants::Answer | Wants::Refused(_) => {}
                Wants::Signature(asked) => {
                    let status = self.admit(asked.key, None, &asked.operation());
                    conversation.finish((status == Status::Done).then_some(SIGNATURE));
                }
            }
            conversation.send(&service).expect("a socket takes so much");
            let read = client.read(&mut room).expect("an answer is there");
            answers.push(room[..read].to_vec());
        }
        answers
    }

    fn admit(
        &self,
        key: KeyId,
        ticket: Option<wire::Ticket<'_>>,
        operation: &Operation<'_>,
    ) -> Status {
        let key = match self.keys.admit(&self.peer, key, ticket, operation) {
            Ok(key) => key,
            Err(refusal) => return refusal.status,
        };
        if let Operation::Describe = operation {
            return Status::Done;
        }
        match (key.native().work(operation), operation) {
            (Ok((_, Some(unpadding))), Operation::Decrypt { ciphertext, .. }) => {
                // Bytes that the fuzzer chooses find more than those that the key would make of them.
                let mut block = vec![0; RSA_LENGTH - ciphertext.len()];
                block.extend_from_slice(ciphertext);
                unpadding
                    .answer(&block)
                    .map_or(Status::Failed, |_| Status::Done)
            }
            (Ok(_), _) => Status::Done,
            (Err(unfit), _) => unfit.status(),
        }
    }
}

/// A token with a key, and the ticket of its user.
fn with_token(vault: &Vault, uid: u32) -> (KeyId, Ticket) {
    let new = NewToken {
        name: "token".parse().expect("a name"),
        label: "Token",
        pins: None,
    };
    let token = vault.create_token(uid, &new).expect("a token");
    let grants = Grants::from_iter([(Subject::User(uid), Right::Use)]);
    let granted = vault.set_grants(uid, token.record.id, &grants);
    granted.expect("the token is there");
    let [.., (key_type, private)] = KEYS;
    let key = NewObject {
        private: true,
        attributes: Vec::new().into(),
        key: Some(ObjectsKey {
            key_type,
            private: private.to_vec().into(),
        }),
        public: None,
    };
    let ids = vault.insert_objects(uid, &token, &[key]);
    let ticket = vault.log_in(uid, token.record.id, Role::User, None);
    (ids.expect("room")[0], ticket.expect("it has no PIN"))
}

/// The length of the RSA key's modulus.
const RSA_LENGTH: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the fuzzer begins; a seed's name says what it is.
    fn seed(target: &str, name: &str) -> Vec<u8> {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
        std::fs::read(seeds.join(target).join(name)).expect("it is in the repository")
    }

    #[test]
    fn the_seeds_reach_what_they_are_for() {
        let place = tempfile::tempdir().unwrap();
        let service = Dry::new(&place.path().join("store"));
        for (name, status) in [
            ("describe", Status::Done),
            ("pkcs1-sha256", Status::Done),
            ("pkcs1-unnamed", Status::Done),
            ("pss-sha256", Status::Done),
            ("ecdsa-sha256", Status::Done),
            ("ecdsa-sha384", Status::Done),
            ("ecdh", Status::Done),
            ("ed25519", Status::Done),
            ("decrypt-pkcs1", Status::Done),
            ("decrypt-tls", Status::Done),
            ("decrypt-oaep", Status::Failed),
            ("find", Status::Done),
            ("find-none", Status::NoKey),
            ("not-granted", Status::Denied),
            ("no-key", Status::NoKey),
            ("other-type", Status::NotAllowed),
            ("other-digest", Status::NotAllowed),
            ("off-the-curve", Status::Malformed),
            ("decrypt-above-the-modulus", Status::Malformed),
            ("decrypt-other-type", Status::NotAllowed),
            ("other-version", Status::Malformed),
            ("token", Status::Done),
            ("token-other-ticket", Status::LoggedOut),
            ("token-without-ticket", Status::LoggedOut),
        ] {
            assert_eq!(
                service.packet(&seed("request", name)),
                Some(status),
                "{name}"
            );
        }
        for (name, kinds) in [
            ("list", &[12][..]),
            ("sign-each-key", &[14, 14, 14, 14, 14, 5]),
            ("session-bind", &[6, 14, 5]),
            ("query", &[29]),
            ("not-served", &[5]),
        ] {
            let answers = service.conversation(&seed("agent", name));
            let answered: Vec<u8> = answers.iter().map(|answer| answer[4]).collect();
            assert_eq!(answered, kinds, "{name}");
        }
        for name in ["rsa.pem", "ed25519.pem"] {
            wire::Reference::from_pem(&seed("reference", name)).unwrap();
        }
        wire::Reference::from_der(&seed("reference", "ed25519.der")).unwrap();
    }
}
