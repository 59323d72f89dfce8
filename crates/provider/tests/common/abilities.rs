//! What a program in a sandbox wants to do.

use outboard_libcrypto::{
    Cipher, CipherContext, Context, DigestSigner, DigestVerifier, Direction, Error, Key, Params,
};

const MESSAGE: &[u8] = b"a message";

/// Keys from before the sandbox.
pub(crate) struct Keys<'a> {
    context: &'a Context,
    rsa: Key,
    p256: Key,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(context: &'a Context) -> Self {
        let rsa = Params::new().unsigned(c"bits", 2048);
        Self {
            context,
            rsa: Key::generate(context, "RSA", &rsa).unwrap(),
            p256: Self::curve(context, "P-256").unwrap(),
        }
    }

    /// Whether each thing that needs randomness can be done, with these keys and with new ones.
    pub(crate) fn abilities(&self) -> [bool; 7] {
        let (context, plain) = (self.context, Params::new());
        let pss = Params::new().text(c"pad-mode", "pss");
        [
            signs(&self.rsa, Some("SHA256"), &plain),
            signs(&self.rsa, Some("SHA256"), &pss),
            signs(&self.p256, Some("SHA256"), &plain),
            Self::curve(context, "P-384").and_then(|key| signs(&key, Some("SHA384"), &plain)),
            Key::generate(context, "ED25519", &plain).and_then(|key| signs(&key, None, &plain)),
            Key::generate(context, "X25519", &plain).map(drop),
            seals_with_random_vectors(context),
        ]
        .map(|result| result.is_ok())
    }

    /// Signs so often on the curve whose lanes need a table.
    pub(crate) fn sign_often(&self, times: usize) {
        for _ in 0..times {
            let signer = DigestSigner::new(&self.p256, Some("SHA256"), &Params::new());
            signer.unwrap().sign(MESSAGE).unwrap();
        }
    }

    fn curve(context: &Context, name: &str) -> Result<Key, Error> {
        Key::generate(context, "EC", &Params::new().text(c"group", name))
    }
}

fn signs(key: &Key, digest: Option<&str>, params: &Params) -> Result<(), Error> {
    let signature = DigestSigner::new(key, digest, params)?.sign(MESSAGE)?;
    assert!(DigestVerifier::new(key, digest, params)?.verify(&signature, MESSAGE)?);
    Ok(())
}

/// As TLS 1.2 wants them.
fn seals_with_random_vectors(context: &Context) -> Result<(), Error> {
    let cipher = Cipher::fetch(context, "AES-128-GCM", None)?;
    let sealed = || {
        let mut seal = CipherContext::new(&cipher, Direction::Encrypt)?;
        seal.start(Some(&[7; 16]), None)?;
        let mut data = *b"sixteen bytes...";
        seal.update_in_place(&mut data)?;
        Ok(data)
    };
    assert_ne!(sealed()?, sealed()?);
    Ok(())
}
