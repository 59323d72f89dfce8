//! ML-KEM and ML-DSA: making keys, encapsulating, decapsulating, signing and verifying, as a handshake of TLS does.

use outboard_libcrypto::{
    Context, Decapsulator, DigestSigner, DigestVerifier, Encapsulator, Key, Params,
};

use super::{MESSAGE, Prepared};
use crate::{Error, Result};

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Generate,
    Encapsulate,
    Decapsulate,
    Sign,
    Verify,
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
        Act::Sign => Prepared::new(served_by, move || {
            DigestSigner::new(&key, None, &params)?.sign(&MESSAGE)?;
            Ok(())
        }),
        Act::Verify => {
            let signature = DigestSigner::new(&key, None, &params)?.sign(&MESSAGE)?;
            Prepared::new(served_by, move || {
                let mut verifier = DigestVerifier::new(&key, None, &params)?;
                match verifier.verify(&signature, &MESSAGE)? {
                    true => Ok(()),
                    false => Err(Error::Disagreement {
                        what: format!("a signature by {kind}"),
                        maker: "a key",
                        judge: "itself",
                    }),
                }
            })
        }
    })
}
