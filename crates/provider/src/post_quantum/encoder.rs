//! Writes ML-KEM and ML-DSA keys: DER, PEM, and text for people.

use std::ffi::{CStr, CString, c_int};
use std::fmt::Write as _;
use std::marker::PhantomData;
use std::sync::Arc;

use der::pem::LineEnding;
use outboard_provider_abi::encoder::{self, Writing};
use outboard_provider_abi::params::{END, text};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Encoder, Error, Params, Reason, Result, Selection};
use zeroize::Zeroizing;

use super::format::{private_info, public_info};
use super::lattice::{Content, Key};
use super::{Coder, ML_DSA, ML_KEM, ml_dsa, ml_kem};
use crate::outboard::{Outboard, Shared};

/// What is written, and how: an encoder's number is its place here.
const ALL: [(What, How); 7] = [
    (What::Private, How::Der),
    (What::Private, How::Pem),
    (What::Encrypted, How::Der),
    (What::Encrypted, How::Pem),
    (What::Public, How::Der),
    (What::Public, How::Pem),
    (What::Text, How::Text),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// A `PrivateKeyInfo`; encrypted where a cipher is set.
    Private,
    /// An `EncryptedPrivateKeyInfo`.
    Encrypted,
    /// A `SubjectPublicKeyInfo`.
    Public,
    Text,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Der,
    Pem,
    Text,
}

/// All of them, for each set.
pub(super) fn all() -> Vec<Coder> {
    let of_ml_kem = ML_KEM.into_iter().flat_map(of::<ml_kem::Form>);
    let of_ml_dsa = ML_DSA.into_iter().flat_map(of::<ml_dsa::Form>);
    of_ml_kem.chain(of_ml_dsa).collect()
}

fn of<C: Content>(names: &'static CStr) -> Vec<Coder> {
    let coder = |(number, (what, how)): (usize, &(What, How))| -> Coder {
        let output = match how {
            How::Der => "der",
            How::Pem => "pem",
            How::Text => "text",
        };
        let structure = match what {
            What::Private => ",structure=PrivateKeyInfo",
            What::Encrypted => ",structure=EncryptedPrivateKeyInfo",
            What::Public => ",structure=SubjectPublicKeyInfo",
            What::Text => "",
        };
        let properties = format!("provider=outboard,output={output}{structure}");
        (names, properties, encoder::own::<Context<C>>(number))
    };
    ALL.iter().enumerate().map(coder).collect()
}

/// An encoder's context.
struct Context<C> {
    shared: Arc<Shared>,
    what: What,
    how: How,
    cipher: Option<CString>,
    content: PhantomData<fn() -> C>,
}

impl<C: Content> Encoder for Context<C> {
    type Key = Key<C>;

    fn new(provider: &Outboard, number: usize) -> Result<Option<Self>> {
        Ok(ALL.get(number).map(|&(what, how)| Self {
            shared: provider.shared(),
            what,
            how,
            cipher: None,
            content: PhantomData,
        }))
    }

    fn does(_: &Outboard, number: usize, selection: Selection) -> c_int {
        let wanted = match ALL.get(number) {
            Some((What::Private | What::Encrypted, _)) => Selection::PRIVATE,
            Some((What::Public, _)) => Selection::PUBLIC,
            Some((What::Text, _)) => Selection::PAIR,
            None => return 0,
        };
        // A selection of both halves is a private key's.
        let is_private = selection.touches(Selection::PRIVATE);
        let fits = match wanted == Selection::PUBLIC {
            true => selection.touches(Selection::PUBLIC) && !is_private,
            false => selection.touches(wanted),
        };
        (selection.0 == 0 || fits).into()
    }

    fn settable(_: &Outboard, number: usize) -> *const Param {
        const CIPHER: &[Param] = &[text(c"cipher"), text(c"properties"), END];
        const NONE: &[Param] = &[END];
        match ALL.get(number) {
            Some((What::Private | What::Encrypted, _)) => CIPHER.as_ptr(),
            _ => NONE.as_ptr(),
        }
    }

    fn set(&mut self, params: Params<'_>) -> Result<c_int> {
        if let Some(cipher) = params.find(c"cipher") {
            let name = cipher.text()?;
            if name.is_empty() {
                // Whoever names a cipher does not want the key in plain text.
                return Err(Error::new(
                    Reason::InvalidParameter,
                    "the cipher has no name",
                ));
            }
            self.cipher = Some(CString::new(name).map_err(|_| Reason::InvalidParameter)?);
        }
        Ok(1)
    }

    fn encode(&mut self, key: Option<Arc<Key<C>>>, what: &Writing) -> Result<c_int> {
        let key = key.ok_or_else(nothing)?;
        let bytes = match self.what {
            What::Public => Zeroizing::new(self.public(&key)?),
            What::Private if self.cipher.is_none() => self.private(&key)?,
            What::Private | What::Encrypted => self.encrypted(&key, what)?,
            What::Text => describe(&key, what.selection)?,
        };
        Ok(what.write(&bytes).into())
    }
}

impl<C: Content> Context<C> {
    fn public(&self, key: &Key<C>) -> Result<Vec<u8>> {
        let content = key.content().ok_or_else(nothing)?;
        let info = public_info(C::object(key.set()), content.public_bytes());
        Ok(self.finished(&info, "PUBLIC KEY")?.to_vec())
    }

    fn private(&self, key: &Key<C>) -> Result<Zeroizing<Vec<u8>>> {
        self.finished(&info(key)?, "PRIVATE KEY")
    }

    fn encrypted(&self, key: &Key<C>, what: &Writing) -> Result<Zeroizing<Vec<u8>>> {
        let cipher = self.cipher.as_deref();
        let cipher = cipher.ok_or(Error::new(Reason::InvalidParameter, "no cipher is set"))?;
        let missing = || Error::new(Reason::InvalidParameter, "there is no passphrase");
        let passphrase = what.passphrase().ok_or_else(missing)?;
        let encrypted = self.shared.encrypt(cipher, &passphrase, &info(key)?)?;
        self.finished(&encrypted, "ENCRYPTED PRIVATE KEY")
    }

    /// As DER or as PEM.
    fn finished(&self, der: &[u8], label: &str) -> Result<Zeroizing<Vec<u8>>> {
        if self.how == How::Der {
            return Ok(Zeroizing::new(der.to_vec()));
        }
        let pem = der::pem::encode_string(label, LineEnding::LF, der);
        let pem = pem.map_err(|_| Reason::Internal)?;
        Ok(Zeroizing::new(pem.into_bytes()))
    }
}

fn info<C: Content>(key: &Key<C>) -> Result<Zeroizing<Vec<u8>>> {
    let content = key.content().ok_or_else(nothing)?;
    let private = content.private_bytes().ok_or_else(nothing)?;
    Ok(private_info(C::object(key.set()), content.seed(), private))
}

fn nothing() -> Error {
    Error::new(
        Reason::InvalidKey,
        "the key lacks the half that is to be written",
    )
}

/// As `openssl pkey -text` shows a key.
fn describe<C: Content>(key: &Key<C>, selection: Selection) -> Result<Zeroizing<Vec<u8>>> {
    let content = key.content().ok_or_else(nothing)?;
    let [name, _] = C::names(key.set());
    let [private_label, public_label] = C::LABELS;
    let private = content
        .private_bytes()
        .filter(|_| selection.touches(Selection::PRIVATE));
    // Three characters a byte, and what stands beside them.
    let bytes = content.public_bytes().len() + private.map_or(0, <[u8]>::len) + 64;
    let mut text = Zeroizing::new(String::with_capacity(4 * bytes + 200));
    let kind = if private.is_some() {
        "Private"
    } else {
        "Public"
    };
    let mut part = |heading: &str, bytes: &[u8]| {
        text.push_str(heading);
        for line in bytes.chunks(15) {
            text.push_str("\n    ");
            let last = line.as_ptr_range().end == bytes.as_ptr_range().end;
            for (index, byte) in line.iter().enumerate() {
                let colon = if last && index + 1 == line.len() {
                    ""
                } else {
                    ":"
                };
                // Writing to a String cannot fail.
                let _ = write!(text, "{byte:02x}{colon}");
            }
        }
        text.push('\n');
    };
    let heading = format!("{name} {kind}-Key:\n");
    match (private, content.seed()) {
        (Some(private), Some(seed)) => {
            part(&format!("{heading}seed:"), seed);
            part(private_label, private);
            part(public_label, content.public_bytes());
        }
        (Some(private), None) => {
            part(&format!("{heading}{private_label}"), private);
            part(public_label, content.public_bytes());
        }
        (None, _) => part(&format!("{heading}{public_label}"), content.public_bytes()),
    }
    Ok(Zeroizing::new(text.as_bytes().to_vec()))
}
