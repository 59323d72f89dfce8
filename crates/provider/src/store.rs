//! Keys of the card service by name: `outboard:NAME` wherever a program takes a URI (OSSL_STORE(7)).

use std::ffi::CStr;

use outboard_provider_abi::store::Wanted;
use outboard_provider_abi::{Data, Error, Reason, Result, store};
use outboard_wire::is_name;

use crate::decoder;
use crate::outboard::Outboard;

/// The scheme of the URIs.
pub(crate) const SCHEME: &CStr = c"outboard";

/// A key that a URI leads to.
pub(crate) struct Store {
    private: Data,
    public: Data,
}

impl store::Store for Store {
    type Provider = Outboard;

    /// Asks the service, so that a program hears at once what is wrong.
    fn open(provider: &Outboard, uri: &[u8]) -> Result<Self> {
        let name = name(uri)?;
        let shared = provider.shared();
        let reference = match shared.service() {
            Some(client) => client.find(name),
            None => return Err(Reason::Internal.into()), // then there is no store
        };
        let reference =
            reference.map_err(|error| Error::new(Reason::OperationFailed, error.to_string()))?;
        let private = decoder::data(&reference)?;
        let public = Data {
            bytes: reference.public,
            structure: c"SubjectPublicKeyInfo",
            kind: private.kind,
        };
        Ok(Self { private, public })
    }

    fn load(&self, wanted: Wanted) -> Option<&Data> {
        match wanted {
            Wanted::Anything | Wanted::PrivateKey => Some(&self.private),
            Wanted::PublicKey => Some(&self.public),
            Wanted::Other => None,
        }
    }
}

/// The name in a URI, whose scheme libcrypto has read.
fn name(uri: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(uri).unwrap_or_default();
    if let Some((_, name)) = text.split_once(':')
        && is_name(name)
    {
        return Ok(name);
    }
    /// The most of a URI that is told again.
    const MOST: usize = 80;
    let start = String::from_utf8_lossy(&uri[..uri.len().min(MOST)]);
    let detail = format!(
        "'{}' names no key of the card service: it is 'outboard:' and a name of at most 64 characters of a-z, 0-9, '.', \
         '_' and '-' (run 'outboard keys list')",
        start.escape_debug()
    );
    Err(Error::new(Reason::InvalidParameter, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_a_key() {
        assert_eq!(name(b"outboard:site").unwrap(), "site");
        assert_eq!(name(b"OUTBOARD:a.b_c-0").unwrap(), "a.b_c-0");
    }

    #[test]
    fn a_wrong_uri_is_told_in_one_short_line() {
        let long = [b"outboard:".as_slice(), &[b'a'; 100_000]].concat();
        for uri in [
            &b""[..],
            b"outboard",
            b"outboard:",
            b"outboard://site",
            b"outboard:/site",
            b"outboard:Site",
            b"outboard:s%69te",
            b"outboard:site?x=1",
            b"outboard:id=00",
            b"outboard:site\n",
            b"outboard:\xff\x1b[1m",
            &long,
        ] {
            let error = name(uri).unwrap_err().to_string();
            assert!(error.len() < 600, "{error}");
            assert!(!error.chars().any(char::is_control), "{error}");
            assert!(error.contains("(run 'outboard keys list')"), "{error}");
        }
    }
}
