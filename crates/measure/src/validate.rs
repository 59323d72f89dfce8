//! Each side accepts what the other makes: only then is a measurement worth making.

use outboard_libcrypto::{
    Cipher, CipherContext, Context, Decryptor, Deriver, DigestSigner, DigestVerifier, Direction,
    Encryptor, Key, Params,
};
use outboard_operation::Operation;

use crate::workload::{BULK_SIZES, Derivation, Hash, Work, nature};
use crate::{Error, KeyKind, Keys, Result, Sides};

const MESSAGE: &[u8] = b"what is measured has to be right first";

/// Makes sure that stock accepts what Outboard makes by `operation` and the other way around, and
/// that both refuse what was changed.
///
/// # Errors
/// [`Error::Disagreement`] says who refused whose result.
pub fn validate(sides: &Sides, keys: &Keys, operation: Operation) -> Result<()> {
    let what = operation.name();
    let stock = Side {
        name: "stock",
        context: &sides.stock,
    };
    let outboard = Side {
        name: "Outboard",
        context: &sides.outboard,
    };
    let (kind, work) = nature(operation);
    for (maker, judge) in [(stock, outboard), (outboard, stock)] {
        let agreed = match work {
            Work::Sign | Work::Verify => sign_and_verify(maker, judge, keys, kind)?,
            Work::Generate => make_and_use(maker, judge, kind)?,
            Work::Derive => derive(maker, judge, keys, kind)?,
            Work::Decrypt => encrypt_and_decrypt(maker, judge, keys, kind)?,
            Work::Lattice(..) => return Err(Error::Incomparable(operation.name())),
            Work::Schedule(what, hash) => derive_alike(maker, judge, what, hash)?,
            Work::Seal(cipher) | Work::Open(cipher) => seal_and_open(maker, judge, cipher)?,
        };
        if !agreed {
            return Err(Error::Disagreement {
                what: what.into(),
                maker: maker.name,
                judge: judge.name,
            });
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Side<'a> {
    name: &'static str,
    context: &'a Context,
}

fn sign_and_verify(maker: Side, judge: Side, keys: &Keys, kind: KeyKind) -> Result<bool> {
    let private = keys.private(maker.context, kind)?;
    let public = keys.public(judge.context, kind)?;
    let schemes = match kind {
        KeyKind::Rsa(_) => vec![
            Params::new(),
            Params::new()
                .text(c"pad-mode", "pss")
                .text(c"saltlen", "digest"),
        ],
        _ => vec![Params::new()],
    };
    for scheme in &schemes {
        if !signature_holds(&private, &public, kind, scheme)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn signature_holds(private: &Key, public: &Key, kind: KeyKind, scheme: &Params) -> Result<bool> {
    let signature = DigestSigner::new(private, kind.digest(), scheme)?.sign(MESSAGE)?;
    let verify = |signature: &[u8], message: &[u8]| -> Result<bool> {
        Ok(DigestVerifier::new(public, kind.digest(), scheme)?.verify(signature, message)?)
    };
    let mut changed = signature.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    Ok(verify(&signature, MESSAGE)? && !verify(&changed, MESSAGE)? && !verify(&signature, b"")?)
}

fn make_and_use(maker: Side, judge: Side, kind: KeyKind) -> Result<bool> {
    let made = Key::generate(maker.context, kind.type_name(), &kind.generation())?;
    let taken = made.in_context(judge.context)?;
    taken.check()?;
    let agreed = match kind {
        KeyKind::X25519 => {
            let peer = Key::generate(judge.context, kind.type_name(), &kind.generation())?;
            secrets_match(&made, &peer, maker, judge)?
        }
        _ => signature_holds(&made, &taken.public()?, kind, &Params::new())?,
    };
    Ok(agreed && made.in_context(judge.context)?.equals(&taken))
}

fn derive(maker: Side, judge: Side, keys: &Keys, kind: KeyKind) -> Result<bool> {
    let ours = keys.private(maker.context, kind)?;
    let theirs = Key::generate(judge.context, kind.type_name(), &kind.generation())?;
    secrets_match(&ours, &theirs, maker, judge)
}

fn secrets_match(ours: &Key, theirs: &Key, maker: Side, judge: Side) -> Result<bool> {
    let secret = |key: &Key, peer: &Key, side: Side| -> Result<_> {
        let mut deriver = Deriver::new(key, &Params::new())?;
        deriver.set_peer(&peer.public()?.in_context(side.context)?)?;
        Ok(deriver.derive()?)
    };
    Ok(*secret(ours, theirs, maker)? == *secret(theirs, ours, judge)?)
}

fn derive_alike(maker: Side, judge: Side, what: Derivation, hash: Hash) -> Result<bool> {
    let derived = |side: Side| -> Result<_> {
        let mut output = [0; 128];
        let length = what.run(side.context, hash, &mut output)?;
        Ok(output[..length].to_vec())
    };
    Ok(derived(maker)? == derived(judge)?)
}

fn encrypt_and_decrypt(maker: Side, judge: Side, keys: &Keys, kind: KeyKind) -> Result<bool> {
    let public = keys.public(maker.context, kind)?;
    let private = keys.private(judge.context, kind)?;
    for scheme in [
        Params::new()
            .text(c"pad-mode", "oaep")
            .text(c"digest", "SHA256"),
        Params::new().text(c"pad-mode", "pkcs1"),
    ] {
        let ciphertext = Encryptor::new(&public, &scheme)?.encrypt(MESSAGE)?;
        if **Decryptor::new(&private, &scheme)?.decrypt(&ciphertext)? != *MESSAGE {
            return Ok(false);
        }
    }
    Ok(true)
}

fn seal_and_open(maker: Side, judge: Side, name: &str) -> Result<bool> {
    let ciphers = (
        Cipher::fetch(maker.context, name, None)?,
        Cipher::fetch(judge.context, name, None)?,
    );
    let key: Vec<u8> = (0..ciphers.0.key_length() as u8).collect();
    for (count, &size) in [0, 1, 15, 17].iter().chain(BULK_SIZES).enumerate() {
        let iv = [count as u8; 12];
        let plaintext: Vec<u8> = (0..size).map(|index| index as u8).collect();
        let (mut data, mut tag) = (plaintext.clone(), [0; 16]);
        let mut sealing = CipherContext::new(&ciphers.0, Direction::Encrypt)?;
        sealing.start(Some(&key), Some(&iv))?;
        sealing.associate(MESSAGE)?;
        sealing.update_in_place(&mut data)?;
        sealing.finish(&mut [])?;
        sealing.tag(&mut tag)?;

        let open = |tag: &[u8]| -> Result<Option<Vec<u8>>> {
            let mut opened = data.clone();
            let mut opening = CipherContext::new(&ciphers.1, Direction::Decrypt)?;
            opening.start(Some(&key), Some(&iv))?;
            opening.set_tag(tag)?;
            opening.associate(MESSAGE)?;
            opening.update_in_place(&mut opened)?;
            Ok(opening.finish(&mut []).is_ok().then_some(opened))
        };
        if open(&tag)?.as_deref() != Some(&plaintext[..]) {
            return Ok(false);
        }
        tag[15] ^= 0x80;
        if open(&tag)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_libcrypto::Library;

    #[test]
    fn stock_agrees_with_itself() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let sides = Sides::stock_twice(&library).unwrap();
        let keys = Keys::new(&sides.stock);
        for operation in Operation::compared() {
            validate(&sides, &keys, operation)
                .unwrap_or_else(|error| panic!("{}: {error}", operation.name()));
        }
    }

    #[test]
    fn a_foreign_key_is_a_disagreement() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let sides = Sides::stock_twice(&library).unwrap();
        let keys = [Keys::new(&sides.stock), Keys::new(&sides.stock)];
        let private = keys[0].private(&sides.stock, KeyKind::P256).unwrap();
        let public = keys[1].public(&sides.outboard, KeyKind::P256).unwrap();
        let holds = signature_holds(&private, &public, KeyKind::P256, &Params::new());
        assert!(!holds.unwrap());
    }
}
