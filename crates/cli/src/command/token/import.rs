//! `outboard token import`: a key and its certificates become objects that belong together.

use std::fs;
use std::path::{Path, PathBuf};

use outboard_administration::{Connection, NewObject, Secret, TokenRequest};
use outboard_installation as installation;
use outboard_libcrypto::{Context, Key, Structure};
use outboard_wording::printable;
use x509_cert::Certificate;
use x509_cert::der::Encode;

use super::objects::{self, Class, Made, Object};
use super::{ask, pin};
use crate::Failure;
use crate::command::keys::private_key;
use crate::completion;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The token's name
    #[arg(add = completion::tokens())]
    pub(super) name: String,
    /// What programs call the key: no other object has that label
    label: String,
    /// A file with the private key: PEM, DER or PKCS #12, encrypted or not
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// A file with the key's certificate, and those that issued it (PEM)
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// A file whose first line is the key file's passphrase
    #[arg(long, value_name = "FILE")]
    passphrase: Option<PathBuf>,
    #[command(flatten)]
    pub(super) pin: pin::Pin,
}

/// What is to be stored, read and checked before anybody logs in.
pub(super) struct Import {
    key: Secret,
    /// The public half, in DER.
    public: Vec<u8>,
    chain: Vec<Certificate>,
    label: String,
}

impl Import {
    pub(super) fn read(arguments: &Arguments) -> Result<Self, Failure> {
        let content = read(&arguments.key)?;
        let source = arguments.key.display().to_string();
        let key = private_key::read(&content, arguments.passphrase.as_deref(), &source)?;
        let context = Context::new(&installation::library()?)?;
        let public = Key::from_der(&context, &key.0)?.to_der(Structure::PublicKeyInfo)?;
        let chain = match &arguments.certificate {
            Some(file) => chain(file, &public)?,
            None => Vec::new(),
        };
        Ok(Self {
            key,
            public: public.to_vec(),
            chain,
            label: arguments.label.clone(),
        })
    }

    /// Stores it; how many certificates are new.
    pub(super) fn store(
        self,
        service: &mut Connection,
        token: &str,
        ticket: &Secret,
    ) -> Result<usize, Failure> {
        let (known, _) = objects::all(service, token, ticket)?;
        if known.iter().any(|object| object.label == self.label) {
            let label = printable(&self.label);
            return Err(format!(
                "token '{token}' has an object '{label}' already (choose another label, or run 'outboard token remove')"
            )
            .into());
        }
        // Java does so, too: the label is unique, and so is this.
        let key_id = self.label.as_bytes();
        let Some([private, public]) = Made::pair(&self.public, &self.label, key_id) else {
            return Err(
                "tokens take RSA keys, keys on P-256, P-384 and P-521, and Ed25519 keys".into(),
            );
        };
        let mut certificates = Vec::new();
        let mut labels: Vec<_> = known.iter().map(|object| object.label.clone()).collect();
        for (at, certificate) in self.chain.iter().enumerate() {
            if at == 0 {
                certificates.push(Made::certificate(certificate, &self.label, key_id)?);
                continue;
            }
            let whole = certificate.to_der()?;
            let is_known =
                |object: &Object| object.class == Class::Certificate && object.certificate == whole;
            // Several keys may have one issuer.
            if !known.iter().any(is_known) {
                let label = free(
                    &labels,
                    &certificate.tbs_certificate().subject().to_string(),
                );
                certificates.push(Made::certificate(certificate, &label, &[])?);
                labels.push(label);
            }
        }
        let mut insert = |made: &Made, key: Option<Secret>| {
            let object = NewObject {
                private: key.is_some(),
                attributes: made.stored(),
            };
            ask(
                service,
                token,
                Some(ticket),
                TokenRequest::Insert { object, key },
            )
        };
        // The key comes first: if the token refuses it, nothing is left behind.
        insert(&private, Some(self.key))?;
        insert(&public, None)?;
        for certificate in &certificates {
            insert(certificate, None)?;
        }
        Ok(certificates.len())
    }
}

/// A label that none of those is.
fn free(labels: &[String], wanted: &str) -> String {
    let numbered = (2..).map(|number| format!("{wanted} ({number})"));
    let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
    let free = candidates.find(|label| !labels.contains(label));
    free.unwrap_or_else(|| wanted.to_owned())
}

/// The certificates of a file, where the first is of that public half.
fn chain(file: &Path, public: &[u8]) -> Result<Vec<Certificate>, Failure> {
    let content = read(file)?;
    let path = file.display();
    let chain = Certificate::load_pem_chain(&content).map_err(|error| {
        format!("{path} is no chain of certificates in PEM: {error} (see 'openssl storeutl -noout {path}')")
    })?;
    let info = |certificate: &Certificate| {
        let info = certificate.tbs_certificate().subject_public_key_info();
        info.to_der().ok()
    };
    if chain.first().and_then(info).as_deref() != Some(public) {
        return Err(format!(
            "the first certificate in {path} is not the key's: it has another public half (put the key's own certificate first)"
        )
        .into());
    }
    Ok(chain)
}

fn read(file: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, Failure> {
    let path = file.display();
    let failed = |error| format!("cannot read {path}: {error}");
    let length = fs::metadata(file).map_err(failed)?.len();
    if length > private_key::MOST as u64 {
        return Err(format!("{path} is too long for a key or a chain of certificates").into());
    }
    Ok(fs::read(file).map_err(failed)?.into())
}
