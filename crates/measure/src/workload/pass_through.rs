//! What Outboard leaves to stock. That a provider is preferred must not slow it down.

use outboard_libcrypto::{Cipher, CipherContext, Context, Digest, DigestContext, Direction};

use super::{BULK_SIZES, Derivation, Hash, Prepared, Workload, bulk, key_schedule};
use crate::Result;

pub(super) fn all() -> Vec<Workload> {
    let mut workloads = Vec::new();
    for &size in BULK_SIZES {
        workloads.push(Workload::new("sha-256", size, move |context, _| {
            digest(context, "SHA256", size)
        }));
    }
    for &size in BULK_SIZES {
        workloads.push(Workload::new("aes-128-cbc", size, move |context, _| {
            stream(context, "AES-128-CBC", size)
        }));
    }
    for &size in BULK_SIZES {
        workloads.push(Workload::new(
            "chacha20-poly1305",
            size,
            move |context, _| bulk::seal(context, "ChaCha20-Poly1305", size),
        ));
    }
    for (name, what) in [
        ("hkdf-sha512", Derivation::Hkdf),
        ("tls1-prf-sha512", Derivation::Tls1Prf),
        ("hmac-sha512", Derivation::Hmac),
    ] {
        workloads.push(Workload::new(name, 0, move |context, _| {
            key_schedule::derive(context, what, Hash::Sha512)
        }));
    }
    workloads.push(Workload::new("sha-256-fetch", 0, |context, _| {
        fetch(context)
    }));
    workloads
}

/// The digest of so many bytes.
pub(super) fn digest(context: &Context, name: &str, size: usize) -> Result<Prepared> {
    let digest = Digest::fetch(context, name, None)?;
    let mut state = DigestContext::new(context)?;
    let (input, mut output) = (vec![0x61; size], vec![0; digest.size()]);
    Ok(Prepared::new(digest.provider_name(), move || {
        Ok(state.digest_into(&digest, &input, &mut output)?)
    }))
}

/// Encrypts so many bytes, a multiple of the block, in place with a cipher that has no tag.
pub(super) fn stream(context: &Context, name: &str, size: usize) -> Result<Prepared> {
    let cipher = Cipher::fetch(context, name, None)?;
    let mut sealing = CipherContext::new(&cipher, Direction::Encrypt)?;
    let iv = vec![0x24; cipher.iv_length()];
    sealing.start(Some(&vec![0x42; cipher.key_length()]), Some(&iv))?;
    sealing.set_padding(false)?;
    let mut text = vec![0x61; size];
    Ok(Prepared::new(cipher.provider_name(), move || {
        sealing.start(None, Some(&iv))?;
        sealing.update_in_place(&mut text)?;
        Ok(())
    }))
}

/// Finding an algorithm, which programs of OpenSSL 1.1's day do at every use.
fn fetch(context: &Context) -> Result<Prepared> {
    let context = context.clone();
    let served_by = Digest::fetch(&context, "SHA256", None)?.provider_name();
    Ok(Prepared::new(served_by, move || {
        Digest::fetch(&context, "SHA256", None)?;
        Ok(())
    }))
}
