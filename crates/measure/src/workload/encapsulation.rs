//! ML-KEM: making a key, encapsulating for one and decapsulating with one, as a handshake of TLS does.

use outboard_libcrypto::{Context, Decapsulator, Encapsulator, Key, Params};

use super::Prepared;
use crate::Result;

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Generate,
    Encapsulate,
    Decapsulate,
}

/// Everything but the key is made anew each time. `kind` is OpenSSL's name of the parameter set.
pub(super) fn prepare(context: &Context, kind: &'static str, act: Act) -> Result<Prepared> {
    let params = Params::new();
    let key = Key::generate(context, kind, &params)?;
    let served_by = key.provider_name();
    Ok(match act {
        Act::Generate => {
            let context = context.clone();
            Prepared::new(served_by, move || {
                Key::generate(&context, kind, &params)?;
                Ok(())
            })
        }
        Act::Encapsulate => Prepared::new(served_by, move || {
            Encapsulator::new(&key, &params)?.encapsulate()?;
            Ok(())
        }),
        Act::Decapsulate => {
            let (ciphertext, _) = Encapsulator::new(&key, &params)?.encapsulate()?;
            Prepared::new(served_by, move || {
                Decapsulator::new(&key, &params)?.decapsulate(&ciphertext)?;
                Ok(())
            })
        }
    })
}
