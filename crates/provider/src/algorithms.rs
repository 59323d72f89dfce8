//! What the provider offers: only what the profile says wins.
//!
//! `?provider=outboard` in the default properties makes programs prefer an implementation that carries
//! that property. RSA's key management does not: RSA keys stay with the default provider, and are lent to us for
//! the operations we win. Keys of other types are ours from when they are made, where we win making them.
//!
//! Keys, exchanges and signatures stand before stock's: their tables offer, function by function, what the default
//! provider's offer in this version of OpenSSL. Where that cannot be reached (a static program that exports
//! nothing), ciphers alone are offered, which need nobody.

use std::ffi::{CStr, CString, c_char};

use outboard_engine::profile::Choices;
use outboard_engine::{Operation, Path};
use outboard_provider_abi::offer::{self, Offer};
use outboard_provider_abi::raw::{Algorithm, Dispatch};
use outboard_provider_abi::{
    Kind, asymmetric_cipher, cipher, encoder as abi_encoder, foreign, kdf as abi_kdf, keyexch,
    keymgmt, signature, store as abi_store,
};

use crate::aes_gcm::{self, Aes128, Aes192, Aes256, KeySize};
use crate::kdf;
use crate::key::{Ec, Ed25519, Key, RSA, RSA_PSS, Rsa, X25519};
use crate::stock::{self, Stock};
use crate::store::{self, Store};
use crate::{decoder, encoder, encryption, exchange, post_quantum, signature as signatures};

/// Preferred by `?provider=outboard`, and by `?outboard.preferred=yes` where a program asks something else of `provider`.
const PREFERRED: &str = "provider=outboard,outboard.preferred=yes";
/// Never preferred: used for keys that are lent to us.
const BORROWS: &str = "outboard.keys=borrowed";

/// A list of algorithms as libcrypto wants it, with all that it points to.
pub(crate) struct List {
    algorithms: Vec<Algorithm>,
    _tables: Vec<Box<[Dispatch]>>,
    _names: Vec<CString>,
    preferred: CString,
    borrows: CString,
}

impl List {
    fn new() -> Self {
        let properties = |which: &str| {
            let ours = stock::OURS.to_string_lossy();
            CString::new(format!("{which},{ours}")).unwrap_or_default()
        };
        Self {
            algorithms: Vec::new(),
            _tables: Vec::new(),
            _names: Vec::new(),
            preferred: properties(PREFERRED),
            borrows: properties(BORROWS),
        }
    }

    /// The list, which ends with [`Algorithm::END`].
    pub(crate) fn as_slice(&self) -> &[Algorithm] {
        &self.algorithms
    }

    fn ended(mut self) -> Self {
        self.algorithms.push(Algorithm::END);
        self
    }

    fn add(
        &mut self,
        names: &CStr,
        preferred: bool,
        implementation: *const Dispatch,
        description: *const c_char,
    ) {
        let properties = match preferred {
            true => &self.preferred,
            false => &self.borrows,
        };
        self.algorithms.push(Algorithm {
            names: names.as_ptr(),
            properties: properties.as_ptr(),
            implementation,
            description,
        });
    }
}

/// What the choices leave to offer.
pub(crate) struct Offered<'a> {
    choices: &'a Choices,
    stock: Option<&'a Stock>,
    libcrypto_version: (u32, u32),
    /// Whether there are keys of the card service.
    service: bool,
    /// Whether there are post-quantum keys of ours.
    post_quantum: bool,
}

impl<'a> Offered<'a> {
    /// By those choices, before that stock.
    pub(crate) fn by(
        choices: &'a Choices,
        stock: Option<&'a Stock>,
        libcrypto_version: (u32, u32),
        service: bool,
        post_quantum: bool,
    ) -> Self {
        Self {
            choices,
            stock,
            libcrypto_version,
            service: service && stock.is_some(),
            post_quantum,
        }
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
    pub(crate) fn list(&self, kind: Kind) -> List {
        match kind {
            Kind::Cipher => self.ciphers(),
            Kind::Kdf => self.kdfs(),
            Kind::KeyManagement => self.key_managements(),
            Kind::KeyExchange => self.key_exchanges(),
            Kind::Signature => self.signatures(),
            Kind::AsymmetricCipher => self.encryptions(),
            Kind::Kem => self.encapsulations(),
            Kind::Encoder => self.encoders(),
            Kind::Decoder => self.decoders(),
            Kind::Store => self.stores(),
        }
        .ended()
    }

    fn ciphers(&self) -> List {
        use Operation as O;
        let mut list = List::new();
        // A cipher seals and opens: it must win both ways.
        if self.all(&[O::Aes128GcmSeal, O::Aes128GcmOpen]) {
            list.add(
                c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6",
                true,
                self.gcm::<Aes128>().as_ptr(),
                c"Outboard AES-128-GCM".as_ptr(),
            );
        }
        if self.all(&[O::Aes192GcmSeal, O::Aes192GcmOpen]) {
            list.add(
                c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26",
                true,
                self.gcm::<Aes192>().as_ptr(),
                c"Outboard AES-192-GCM".as_ptr(),
            );
        }
        if self.all(&[O::Aes256GcmSeal, O::Aes256GcmOpen]) {
            list.add(
                c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46",
                true,
                self.gcm::<Aes256>().as_ptr(),
                c"Outboard AES-256-GCM".as_ptr(),
            );
        }
        list
    }

    fn gcm<S: KeySize>(&self) -> &'static [Dispatch] {
        if self.libcrypto_version >= (4, 0) {
            cipher::table::<aes_gcm::Context<S>, true>()
        } else {
            cipher::table::<aes_gcm::Context<S>, false>()
        }
    }

    fn kdfs(&self) -> List {
        use kdf::{Context, Hkdf, Tls1Prf, Tls13};
        let mut list = List::new();
        let mut add = |name, offer: fn(i32) -> Offer| {
            self.add::<foreign::Kdf>(&mut list, name, true, abi_kdf::NEEDED, offer);
        };
        if self.any(TLS13_KDF) {
            add(c"TLS13-KDF", abi_kdf::offer::<Context<Tls13>>);
        }
        if self.any(TLS1_PRF) {
            add(c"TLS1-PRF", abi_kdf::offer::<Context<Tls1Prf>>);
        }
        if self.any(HKDF) {
            add(c"HKDF", abi_kdf::offer::<Context<Hkdf>>);
        }
        list
    }

    fn key_managements(&self) -> List {
        let mut list = List::new();
        let mut add = |name, owned, offer: fn(i32) -> Offer| {
            let needed = keymgmt::NEEDED;
            self.add::<foreign::KeyManagement>(&mut list, name, owned, needed, offer);
        };
        if self.service || self.any(RSA_OPERATIONS) {
            add(c"RSA", false, keymgmt::offer::<Key<Rsa>, { RSA }>);
        }
        if self.any(RSA_OPERATIONS) {
            add(c"RSA-PSS", false, keymgmt::offer::<Key<Rsa>, { RSA_PSS }>);
        }
        if self.service || self.any(ECDSA) || self.any(ECDH) {
            let owned = self.owns(EC_KEYGEN);
            add(c"EC", owned, keymgmt::offer::<Key<Ec>, 0>);
        }
        if self.any(X25519_DERIVE) {
            let owned = self.owns(X25519_KEYGEN);
            add(c"X25519", owned, keymgmt::offer::<Key<X25519>, 0>);
        }
        if self.service || self.any(ED25519) {
            let owned = self.owns(ED25519_KEYGEN);
            add(c"ED25519", owned, keymgmt::offer::<Key<Ed25519>, 0>);
        }
        if self.post_quantum {
            for (names, table) in post_quantum::key_managements() {
                list.add(names, true, table.as_ptr(), POST_QUANTUM.as_ptr());
                list._tables.push(table);
            }
        }
        list
    }

    /// Of post-quantum keys, which the program's own OpenSSL lacks.
    fn encapsulations(&self) -> List {
        let mut list = List::new();
        if self.post_quantum {
            for (names, table) in post_quantum::encapsulations() {
                list.add(names, true, table.as_ptr(), POST_QUANTUM.as_ptr());
            }
        }
        list
    }

    /// Adds what reads or writes post-quantum keys.
    fn add_coders(list: &mut List, coders: Vec<post_quantum::Coder>) {
        for (names, properties, table) in coders {
            let ours = stock::OURS.to_string_lossy();
            let Ok(properties) = CString::new(format!("{properties},{ours}")) else {
                continue;
            };
            list.algorithms.push(Algorithm {
                names: names.as_ptr(),
                properties: properties.as_ptr(),
                implementation: table.as_ptr(),
                description: POST_QUANTUM.as_ptr(),
            });
            list._tables.push(table);
            list._names.push(properties);
        }
    }

    fn key_exchanges(&self) -> List {
        use exchange::{Context, Ecdh, X25519};
        let mut list = List::new();
        let mut add = |name, preferred, offer: fn(i32) -> Offer| {
            let needed = keyexch::NEEDED;
            self.add::<foreign::KeyExchange>(&mut list, name, preferred, needed, offer);
        };
        if self.service || self.any(ECDH) {
            add(c"ECDH", self.any(ECDH), keyexch::offer::<Context<Ecdh>>);
        }
        if self.any(X25519_DERIVE) {
            add(c"X25519", true, keyexch::offer::<Context<X25519>>);
        }
        list
    }

    fn signatures(&self) -> List {
        use signatures::{Context, Ecdsa, Eddsa, Rsa};
        let mut list = List::new();
        // A key of the service finds the algorithm of its own provider, preferred or not.
        let mut add = |name, operations, offer: fn(i32) -> Offer| {
            let (needed, preferred) = (signature::NEEDED, self.any(operations));
            if self.service || preferred {
                self.add::<foreign::Signature>(&mut list, name, preferred, needed, offer);
            }
        };
        add(c"RSA", RSA_OPERATIONS, signature::offer::<Context<Rsa>>);
        add(c"ECDSA", ECDSA, signature::offer::<Context<Ecdsa>>);
        add(c"ED25519", ED25519, signature::offer::<Context<Eddsa>>);
        if self.post_quantum {
            for (names, table) in post_quantum::signatures(self.libcrypto_version >= (3, 4)) {
                list.add(names, true, table.as_ptr(), POST_QUANTUM.as_ptr());
                list._tables.push(table);
            }
        }
        list
    }

    /// Of keys of the card service, which find the algorithm of their own provider: it is never preferred.
    fn encryptions(&self) -> List {
        let mut list = List::new();
        if self.service {
            let (needed, offer) = (
                asymmetric_cipher::NEEDED,
                asymmetric_cipher::offer::<encryption::Context>,
            );
            self.add::<foreign::AsymmetricCipher>(&mut list, c"RSA", false, needed, offer);
        }
        list
    }

    /// Of keys of the card service, and of post-quantum keys.
    fn decoders(&self) -> List {
        let mut list = List::new();
        if self.post_quantum {
            Self::add_coders(&mut list, post_quantum::decoders());
        }
        if !self.service {
            return list;
        }
        for (name, properties, table) in decoder::all() {
            let ours = stock::OURS.to_string_lossy();
            let properties = format!("provider=outboard,{ours},{properties}");
            let Ok(properties) = CString::new(properties) else {
                continue;
            };
            list.algorithms.push(Algorithm {
                names: name.as_ptr(),
                properties: properties.as_ptr(),
                implementation: table.as_ptr(),
                description: c"Outboard's reader of card service keys".as_ptr(),
            });
            list._names.push(properties);
        }
        list
    }

    /// Of keys of the card service.
    fn stores(&self) -> List {
        let mut list = List::new();
        if self.service {
            let table = abi_store::table::<Store>().as_ptr();
            let description = c"Outboard's card service keys by name".as_ptr();
            list.add(store::SCHEME, true, table, description);
        }
        list
    }

    /// Of the keys that are ours from when they are made.
    fn encoders(&self) -> List {
        let mut list = List::new();
        if self.post_quantum {
            Self::add_coders(&mut list, post_quantum::encoders());
        }
        let Some(stock) = self.stock else {
            return list;
        };
        for name in self.owned() {
            let Some(offer) = encoder::offer(name) else {
                continue;
            };
            for (number, theirs) in stock.encoders(name).into_iter().enumerate() {
                // SAFETY: terminated texts, and a table of the default provider's, which is part of libcrypto.
                let (names, properties, table) = unsafe {
                    let offer = |id| offer(number, id);
                    (
                        CStr::from_ptr(theirs.names).to_owned(),
                        CStr::from_ptr(theirs.properties).to_string_lossy(),
                        offer::table(theirs.implementation, abi_encoder::NEEDED, offer),
                    )
                };
                let properties = CString::new(encoder::properties(&properties));
                if let (Some(table), Ok(properties)) = (table, properties) {
                    list.algorithms.push(Algorithm {
                        names: names.as_ptr(),
                        properties: properties.as_ptr(),
                        implementation: table.as_ptr(),
                        description: theirs.description,
                    });
                    list._tables.push(table);
                    list._names.extend([names, properties]);
                }
            }
        }
        list
    }

    /// Adds an algorithm that stands before stock's of that name, and has all its names.
    fn add<F: foreign::Functions>(
        &self,
        list: &mut List,
        name: &CStr,
        preferred: bool,
        needed: &[i32],
        offer: fn(i32) -> Offer,
    ) {
        let Some(theirs) = self.stock.and_then(|stock| stock.algorithm::<F>(name)) else {
            return;
        };
        // SAFETY: a table of the default provider's, which is part of libcrypto.
        let table = unsafe { offer::table(theirs.implementation, needed, offer) };
        // SAFETY: a terminated text.
        let names = unsafe { CStr::from_ptr(theirs.names) }.to_owned();
        if let Some(table) = table {
            list.add(&names, preferred, table.as_ptr(), theirs.description);
            list._tables.push(table);
            list._names.push(names);
        }
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
        self.stock.is_some() && self.any(keygen)
    }
}

/// What `openssl list` shows.
const POST_QUANTUM: &CStr = c"Outboard post-quantum";

const TLS13_KDF: &[Operation] = &[Operation::Tls13KdfSha256, Operation::Tls13KdfSha384];
const TLS1_PRF: &[Operation] = &[Operation::Tls1PrfSha256, Operation::Tls1PrfSha384];
const HKDF: &[Operation] = &[Operation::HkdfSha256, Operation::HkdfSha384];
const RSA_OPERATIONS: &[Operation] = &[
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
const X25519_DERIVE: &[Operation] = &[Operation::X25519Derive];
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
