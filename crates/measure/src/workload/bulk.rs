//! Authenticated ciphers: the context and the key stay, every message has its own IV.

use outboard_libcrypto::{Cipher, CipherContext, Context, Direction};

use super::Prepared;
use crate::Result;

const KEY: [u8; 32] = [0x42; 32];
/// As long as TLS 1.2's.
pub(crate) const ASSOCIATED: [u8; 13] = [0x17; 13];

/// Seals `size` bytes in place: IV, associated data, data, tag.
pub(super) fn seal(context: &Context, name: &str, size: usize) -> Result<Prepared> {
    let cipher = Cipher::fetch(context, name, None)?;
    let mut sealing = start(&cipher, Direction::Encrypt)?;
    let mut iv = Iv::default();
    let mut text = vec![0x61; size];
    let mut tag = [0; 16];
    Ok(Prepared::new(cipher.provider_name(), move || {
        sealing.start(None, Some(iv.next()))?;
        sealing.associate(&ASSOCIATED)?;
        sealing.update_in_place(&mut text)?;
        sealing.finish(&mut [])?;
        sealing.tag(&mut tag)?;
        Ok(())
    }))
}

/// Opens `size` bytes that the same side sealed: IV, associated data, data, the tag's check.
pub(super) fn open(context: &Context, name: &str, size: usize) -> Result<Prepared> {
    let cipher = Cipher::fetch(context, name, None)?;
    let iv = Iv::default();
    let mut sealed = vec![0x61; size];
    let mut tag = [0; 16];
    let mut sealing = start(&cipher, Direction::Encrypt)?;
    sealing.start(None, Some(&iv.0))?;
    sealing.associate(&ASSOCIATED)?;
    sealing.update_in_place(&mut sealed)?;
    sealing.finish(&mut [])?;
    sealing.tag(&mut tag)?;

    let mut opening = start(&cipher, Direction::Decrypt)?;
    let mut opened = vec![0; size];
    Ok(Prepared::new(cipher.provider_name(), move || {
        opening.start(None, Some(&iv.0))?;
        opening.set_tag(&tag)?;
        opening.associate(&ASSOCIATED)?;
        opening.update(&sealed, &mut opened)?;
        opening.finish(&mut [])?;
        Ok(())
    }))
}

/// A context under the key.
pub(super) fn start(cipher: &Cipher, direction: Direction) -> Result<CipherContext> {
    let mut context = CipherContext::new(cipher, direction)?;
    context.start(Some(&KEY[..cipher.key_length()]), Some(&Iv::default().0))?;
    Ok(context)
}

/// A counter, as TLS 1.3 makes its IVs.
#[derive(Default)]
pub(crate) struct Iv(pub(super) [u8; 12]);

impl Iv {
    pub(crate) fn next(&mut self) -> &[u8; 12] {
        for byte in self.0.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        &self.0
    }
}
