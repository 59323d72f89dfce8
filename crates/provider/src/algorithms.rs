//! What the provider offers: only what the profile says wins.
//!
//! `?provider=outboard` in the default properties makes programs prefer an implementation that
//! carries that property. RSA's key management does not: RSA keys stay with the default provider, and
//! are lent to us for the operations we win.

use std::ffi::CStr;

use outboard_engine::profile::Choices;
use outboard_engine::{Operation, Path};
use outboard_provider_abi::raw::{Algorithm, Dispatch};
use outboard_provider_abi::{Kind, cipher, keyexch, keymgmt, signature};

use crate::aes_gcm::{self, Aes128, Aes192, Aes256};
use crate::ed25519::Ed25519;
use crate::octet_key::OctetKey;
use crate::x25519::{self, X25519};
use crate::{ec, rsa, signing};

/// Preferred by `?provider=outboard`, and by `?outboard.preferred=yes` where a program asks something else of `provider`.
const PREFERRED: &CStr = c"provider=outboard,outboard.preferred=yes";
/// Never preferred: used for keys that are lent to us.
const BORROWS: &CStr = c"outboard.keys=borrowed";

/// What the choices leave to offer.
pub(crate) struct Offered<'a> {
    choices: &'a Choices,
    may_own: bool,
}

impl<'a> Offered<'a> {
    /// By those choices; without `may_own`, keys are only ever lent to us.
    pub(crate) fn by(choices: &'a Choices, may_own: bool) -> Self {
        Self { choices, may_own }
    }

    /// The key types whose keys are ours from when they are made.
    pub(crate) fn owned(&self) -> Vec<&'static CStr> {
        let types = [
            (c"EC", EC_KEYGEN),
            (c"X25519", X25519_KEYGEN),
            (c"ED25519", ED25519_KEYGEN),
        ];
        let owned = types.into_iter().filter(|(_, keygen)| self.owns(keygen));
        owned.map(|(name, _)| name).collect()
    }

    /// The list of one kind.
    pub(crate) fn list(&self, kind: Kind) -> Vec<Algorithm> {
        let mut list = match kind {
            Kind::Cipher => self.ciphers(),
            Kind::KeyManagement => self.key_managements(),
            Kind::KeyExchange => self.key_exchanges(),
            Kind::Signature => self.signatures(),
        };
        list.push(Algorithm::END);
        list
    }

    fn ciphers(&self) -> Vec<Algorithm> {
        use Operation as O;
        let mut list = Vec::new();
        // A cipher seals and opens: it must win both ways.
        if self.all(&[O::Aes128GcmSeal, O::Aes128GcmOpen]) {
            list.push(preferred(
                c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6",
                cipher::table::<aes_gcm::Context<Aes128>>(),
                c"Outboard AES-128-GCM",
            ));
        }
        if self.all(&[O::Aes192GcmSeal, O::Aes192GcmOpen]) {
            list.push(preferred(
                c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26",
                cipher::table::<aes_gcm::Context<Aes192>>(),
                c"Outboard AES-192-GCM",
            ));
        }
        if self.all(&[O::Aes256GcmSeal, O::Aes256GcmOpen]) {
            list.push(preferred(
                c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46",
                cipher::table::<aes_gcm::Context<Aes256>>(),
                c"Outboard AES-256-GCM",
            ));
        }
        list
    }

    fn key_managements(&self) -> Vec<Algorithm> {
        let mut list = Vec::new();
        if self.any(RSA) {
            list.push(algorithm(
                c"RSA:rsaEncryption:1.2.840.113549.1.1.1",
                BORROWS,
                keymgmt::table::<rsa::Key, { rsa::RSA }>(),
                c"Outboard RSA",
            ));
            list.push(algorithm(
                c"RSA-PSS:RSASSA-PSS:1.2.840.113549.1.1.10",
                BORROWS,
                keymgmt::table::<rsa::Key, { rsa::RSA_PSS }>(),
                c"Outboard RSA-PSS",
            ));
        }
        if self.any(ECDSA) || self.any(ECDH) {
            list.push(algorithm(
                c"EC:id-ecPublicKey:1.2.840.10045.2.1",
                self.owning(EC_KEYGEN),
                keymgmt::table::<ec::Key, 0>(),
                c"Outboard EC",
            ));
        }
        if self.any(&[Operation::X25519Derive]) {
            list.push(algorithm(
                c"X25519:1.3.101.110",
                self.owning(X25519_KEYGEN),
                keymgmt::table::<OctetKey<X25519>, 0>(),
                c"Outboard X25519",
            ));
        }
        if self.any(ED25519) {
            list.push(algorithm(
                c"ED25519:1.3.101.112",
                self.owning(ED25519_KEYGEN),
                keymgmt::table::<OctetKey<Ed25519>, 0>(),
                c"Outboard Ed25519",
            ));
        }
        list
    }

    fn key_exchanges(&self) -> Vec<Algorithm> {
        let mut list = Vec::new();
        if self.any(ECDH) {
            let table = keyexch::table::<ec::Exchange>();
            list.push(preferred(c"ECDH", table, c"Outboard ECDH"));
        }
        if self.any(&[Operation::X25519Derive]) {
            let table = keyexch::table::<x25519::Exchange>();
            list.push(preferred(c"X25519:1.3.101.110", table, c"Outboard X25519"));
        }
        list
    }

    fn signatures(&self) -> Vec<Algorithm> {
        let mut list = Vec::new();
        if self.any(RSA) {
            let table = signature::table::<signing::Context<rsa::Rsa>>();
            list.push(preferred(
                c"RSA:rsaEncryption:1.2.840.113549.1.1.1",
                table,
                c"Outboard RSA",
            ));
        }
        if self.any(ECDSA) {
            let table = signature::table::<signing::Context<ec::Ecdsa>>();
            list.push(preferred(c"ECDSA", table, c"Outboard ECDSA"));
        }
        if self.any(ED25519) {
            let table = signature::table_of_messages::<signing::Context<Ed25519>>();
            list.push(preferred(
                c"ED25519:1.3.101.112",
                table,
                c"Outboard Ed25519",
            ));
        }
        list
    }

    fn any(&self, operations: &[Operation]) -> bool {
        operations
            .iter()
            .any(|&operation| self.choices.path(operation) != Path::Stock)
    }

    fn all(&self, operations: &[Operation]) -> bool {
        operations
            .iter()
            .all(|&operation| self.choices.path(operation) != Path::Stock)
    }

    /// Keys are ours from when they are made where we win making them.
    fn owns(&self, keygen: &[Operation]) -> bool {
        self.may_own && self.any(keygen)
    }

    fn owning(&self, keygen: &[Operation]) -> &'static CStr {
        if self.owns(keygen) {
            PREFERRED
        } else {
            BORROWS
        }
    }
}

const RSA: &[Operation] = &[
    Operation::Rsa2048Sign,
    Operation::Rsa2048Verify,
    Operation::Rsa3072Sign,
    Operation::Rsa3072Verify,
    Operation::Rsa4096Sign,
    Operation::Rsa4096Verify,
];
const EC_KEYGEN: &[Operation] = &[
    Operation::P256Keygen,
    Operation::P384Keygen,
    Operation::P521Keygen,
];
const X25519_KEYGEN: &[Operation] = &[Operation::X25519Keygen];
const ED25519_KEYGEN: &[Operation] = &[Operation::Ed25519Keygen];
const ECDSA: &[Operation] = &[
    Operation::P256Sign,
    Operation::P256Verify,
    Operation::P384Sign,
    Operation::P384Verify,
    Operation::P521Sign,
    Operation::P521Verify,
];
const ECDH: &[Operation] = &[
    Operation::P256Derive,
    Operation::P384Derive,
    Operation::P521Derive,
];
const ED25519: &[Operation] = &[Operation::Ed25519Sign, Operation::Ed25519Verify];

fn preferred(
    names: &'static CStr,
    table: &'static [Dispatch],
    description: &'static CStr,
) -> Algorithm {
    algorithm(names, PREFERRED, table, description)
}

fn algorithm(
    names: &'static CStr,
    properties: &'static CStr,
    table: &'static [Dispatch],
    description: &'static CStr,
) -> Algorithm {
    Algorithm {
        names: names.as_ptr(),
        properties: properties.as_ptr(),
        implementation: table.as_ptr(),
        description: description.as_ptr(),
    }
}
