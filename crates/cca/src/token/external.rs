//! DES keys under key-encrypting keys: how they leave the card and come in, in tokens of 64 bytes.
//!
//! ```text
//! WRAP-ECB   each part by Triple DES under the key-encrypting key ⊕ the control vector of its half
//! WRAP-ENH   key = first 16 bytes of SP 800-108's counter mode with HMAC-SHA-256(key-encrypting key, "ENHANCEDWRAP2010");
//!            the first part ⊕ SHA-1(second part); then DES-CBC three times (encrypt, decrypt, encrypt), without a vector,
//!            under the derived key ⊕ the control vector
//! ```
//! WRAP-ECB binds neither the halves to each other nor the type to a key-encrypting key of which somebody has entered a
//! part (Bond, "Attacks on cryptoprocessor transaction sets", 2001). So it is off by default ([`AccessPoint::WrapEcb`]).
//! WRAP-ENH is built from its description. It was not compared with a card's.

use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::mac::Mac;
use zeroize::Zeroizing;

use super::control_vector::{ControlVector, Half, Length, bit};
use super::des::{EXTERNAL, InternalKey, Parsed, TOKEN, set_tvv, skeleton};
use super::uses::Key;
use crate::AccessPoint;
use crate::algorithm::des::{Cipher, xor};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;

const ECB: u8 = 0x00;
const ENH: u8 = 0x20;

/// A key that came in a token under a key-encrypting key.
pub(crate) fn open<U>(call: &Call<'_>, kek: &Key<U>, token: &[u8]) -> Outcome<InternalKey> {
    let parsed = Parsed::new(token)?;
    if parsed.origin != EXTERNAL || !parsed.has_key || parsed.length == Length::Triple {
        return Err(Refusal::TokenVersion);
    }
    let mut bytes = Zeroizing::new(parsed.wrapped());
    if parsed.has_wrapping(ENH) && parsed.length == Length::Double {
        unwrap_enhanced(kek.bytes(), &parsed.vector, &mut bytes)?;
    } else if parsed.has_wrapping(ECB) {
        call.needs(AccessPoint::WrapEcb)?;
        if parsed.vector.has(bit::ENH_ONLY) {
            return Err(Refusal::ControlVector);
        }
        ecb(kek.bytes(), &parsed.vector, &mut bytes, Cipher::decrypt)?;
    } else {
        return Err(Refusal::TokenVersion);
    }
    InternalKey::new(parsed.vector, bytes)
}

/// The token of a key under a key-encrypting key: WRAP-ECB where that is switched on, and for keys of one part.
pub(crate) fn seal<U>(call: &Call<'_>, kek: &Key<U>, key: &InternalKey) -> Outcome<[u8; TOKEN]> {
    let mut bytes = Zeroizing::new(key.bytes().to_vec());
    let length = key.length();
    if length == Length::Triple {
        // TR-31 has room for such a key, and binds its parts.
        return Err(Refusal::KeyLength);
    }
    let mut token = skeleton(EXTERNAL, &key.vector, length);
    token[6] = 0xc0;
    let is_ecb = call.state().points.is_on(AccessPoint::WrapEcb) && !key.vector.has(bit::ENH_ONLY);
    match (is_ecb, length) {
        (true, _) => ecb(kek.bytes(), &key.vector, &mut bytes, Cipher::encrypt)?,
        (false, Length::Double) => {
            token[7] = ENH;
            wrap_enhanced(kek.bytes(), &key.vector, &mut bytes)?;
        }
        (false, _) => return Err(Refusal::AccessDenied),
    }
    token[16..16 + bytes.len()].copy_from_slice(&bytes);
    set_tvv(&mut token);
    Ok(token)
}

/// A key-encrypting key with a control vector.
fn variant(kek: &[u8], half: &Half) -> Zeroizing<Vec<u8>> {
    let mut variant = Zeroizing::new(kek.to_vec());
    variant.chunks_mut(8).for_each(|part| xor(part, half));
    variant
}

fn ecb(
    kek: &[u8],
    vector: &ControlVector,
    parts: &mut [u8],
    run: fn(&Cipher, &mut Half),
) -> Outcome<()> {
    for (part, half) in parts
        .as_chunks_mut::<8>()
        .0
        .iter_mut()
        .zip([vector.left(), vector.right()])
    {
        let cipher = Cipher::new(&variant(kek, half)).ok_or(Refusal::KeyLength)?;
        run(&cipher, part);
    }
    Ok(())
}

/// Both halves of the derived key with the control vector.
fn enhanced(kek: &[u8], vector: &ControlVector) -> Outcome<[Cipher; 2]> {
    let mut mac = Mac::hmac(Digest::Sha256, kek)?;
    for part in [
        &1_u32.to_be_bytes()[..],
        b"ENHANCEDWRAP2010",
        &[0],
        &256_u32.to_be_bytes(),
    ] {
        mac.update(part)?;
    }
    let derived = Zeroizing::new(mac.finish()?.to_vec());
    let key = variant(&derived[..16], vector.left());
    match (Cipher::new(&key[..8]), Cipher::new(&key[8..])) {
        (Some(left), Some(right)) => Ok([left, right]),
        _ => Err(Refusal::KeyLength),
    }
}

fn sha1(data: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
    let mut hasher = Hasher::new(Digest::Sha1)?;
    hasher.update(data)?;
    Ok(Zeroizing::new(hasher.end()?.to_vec()))
}

fn wrap_enhanced(kek: &[u8], vector: &ControlVector, parts: &mut [u8]) -> Outcome<()> {
    let [left, right] = enhanced(kek, vector)?;
    let hash = sha1(&parts[8..])?;
    xor(&mut parts[..8], &hash);
    left.encrypt_cbc(&mut [0; 8], parts);
    right.decrypt_cbc(&mut [0; 8], parts);
    left.encrypt_cbc(&mut [0; 8], parts);
    Ok(())
}

fn unwrap_enhanced(kek: &[u8], vector: &ControlVector, parts: &mut [u8]) -> Outcome<()> {
    let [left, right] = enhanced(kek, vector)?;
    left.decrypt_cbc(&mut [0; 8], parts);
    right.encrypt_cbc(&mut [0; 8], parts);
    left.decrypt_cbc(&mut [0; 8], parts);
    let hash = sha1(&parts[8..])?;
    xor(&mut parts[..8], &hash);
    Ok(())
}
