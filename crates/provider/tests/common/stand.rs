//! Keys of a card service, and contexts that use them.

#![allow(dead_code, reason = "each test uses its part")]

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use outboard_client::stand_in::Service;
use outboard_libcrypto::{Context, Key, Library, Params, Structure};
use outboard_openssl_versions::Version;
use outboard_programs::Workplace;

use crate::common;
use crate::held::{self, Held, serve};

/// Name, type, and the parameter that says more of it.
pub(crate) const KEYS: [(&str, &str, &str, &str); 6] = [
    ("rsa2048", "RSA", "bits", "2048"),
    ("rsa3072", "RSA", "bits", "3072"),
    ("p256", "EC", "group", "P-256"),
    ("p384", "EC", "group", "P-384"),
    ("p521", "EC", "group", "P-521"),
    ("ed25519", "ED25519", "", ""),
];

/// Keys of the service, and a context that reads their references.
pub(crate) struct Stand {
    _workplace: Workplace,
    pub(crate) keys: Arc<Vec<Held>>,
    pub(crate) directory: PathBuf,
    pub(crate) context: Context,
    pub(crate) stock: Context,
}

impl Stand {
    pub(crate) fn new(library: &Library, offer: &str) -> Self {
        Self::with(library, offer, keys())
    }

    pub(crate) fn with(library: &Library, offer: &str, keys: Arc<Vec<Held>>) -> Self {
        let workplace = Workplace::new().unwrap();
        let directory = workplace.path().to_owned();
        let context = context(library, &workplace, offer);
        let stock = Context::new(library).unwrap();
        stock.load_provider("default").unwrap();
        Self {
            keys,
            directory,
            context,
            stock,
            _workplace: workplace,
        }
    }

    pub(crate) fn serve(&self) -> (Service, Arc<std::sync::atomic::AtomicUsize>) {
        serve(&self.directory, Arc::clone(&self.keys))
    }

    pub(crate) fn held(&self, name: &str) -> &Held {
        self.keys.iter().find(|held| held.name == name).unwrap()
    }

    /// The key as a program reads it.
    pub(crate) fn key(&self, name: &str) -> Key {
        let pem = self.held(name).reference();
        Key::from_pem(&self.context, pem.as_bytes(), None).unwrap()
    }

    /// Its public half as stock reads it.
    pub(crate) fn public(&self, name: &str) -> Key {
        let public = self.held(name).key.to_der(Structure::PublicKeyInfo);
        Key::public_from_der(&self.stock, &public.unwrap()).unwrap()
    }
}

/// Made once for all tests.
fn keys() -> Arc<Vec<Held>> {
    static MADE: OnceLock<Arc<Vec<Held>>> = OnceLock::new();
    let make = || {
        let maker = held::stock();
        let keys = KEYS.map(|(name, kind, setting, value)| {
            let params = match setting {
                "bits" => Params::new().unsigned(c"bits", value.parse().unwrap()),
                "group" => Params::new().text(c"group", value),
                _ => Params::new(),
            };
            let key = Key::generate(&maker, kind, &params).unwrap();
            Held::adopt(&maker, name, &key.to_pem(Structure::Pkcs8).unwrap())
        });
        Arc::new(keys.into())
    };
    Arc::clone(MADE.get_or_init(make))
}

fn context(library: &Library, workplace: &Workplace, offer: &str) -> Context {
    library.ignore_system_configuration().unwrap();
    let text = format!(
        "openssl_conf = init\n[init]\nproviders = providers\nalg_section = properties\n[providers]\n\
         default = default_section\noutboard = outboard_section\n[default_section]\nactivate = 1\n\
         [outboard_section]\nmodule = {}\nactivate = 1\noffer = {offer}\nledger = {}\nservice = {}\n\
         service-limit = 1\n[properties]\ndefault_properties = ?provider=outboard,?outboard.preferred=yes\n",
        common::module().display(),
        workplace.join("ledger").display(),
        workplace.path().display(),
    );
    let file = workplace.write(&format!("{offer}.cnf"), text).unwrap();
    let context = Context::from_configuration(library, &file).unwrap();
    assert!(context.has_provider("outboard"));
    context
}

pub(crate) fn libraries() -> Vec<Library> {
    let mut all = vec![Library::open(Library::SYSTEM).unwrap()];
    if std::env::var_os("OUTBOARD_SYSTEM_ONLY").is_some() {
        return all;
    }
    for version in Version::ALL {
        let installation = version.installation().unwrap();
        let library = installation.libraries.join(version.libcrypto());
        all.push(Library::open(library).unwrap());
    }
    all
}

/// Whatever the provider offers of its own.
pub(crate) fn each_stand(test: impl Fn(&Stand)) {
    for library in libraries() {
        for offer in ["none", "all"] {
            println!("OpenSSL {}, offer = {offer}", library.version());
            test(&Stand::new(&library, offer));
        }
    }
}
