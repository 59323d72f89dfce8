//! Records as protocols seal them: the same cipher through three different sets of calls.

use outboard_libcrypto::{Cipher, Context, Direction};

use super::bulk::{Iv, start};
use super::{Prepared, Workload};
use crate::Result;

const CIPHERS: [(&str, &str); 2] = [
    ("aes-128-gcm", "AES-128-GCM"),
    ("aes-256-gcm", "AES-256-GCM"),
];

/// A short record (a key pressed, an acknowledgement), a packet's worth, and the largest.
const SIZES: [usize; 3] = [64, 1360, 16384];

pub(super) fn all() -> Vec<Workload> {
    let mut workloads = Vec::new();
    for (name, cipher) in CIPHERS {
        for size in SIZES {
            workloads.push(Workload::new(
                format!("{name}-tls13"),
                size,
                move |context, _| tls13(context, cipher, size),
            ));
            workloads.push(Workload::new(
                format!("{name}-tls12"),
                size,
                move |context, _| tls12(context, cipher, size),
            ));
            workloads.push(Workload::new(
                format!("{name}-ssh"),
                size,
                move |context, _| ssh(context, cipher, size),
            ));
        }
    }
    workloads
}

/// libssl, TLS 1.3: the IV is given; five bytes of associated data.
fn tls13(context: &Context, name: &str, size: usize) -> Result<Prepared> {
    let cipher = Cipher::fetch(context, name, None)?;
    let mut sealing = start(&cipher, Direction::Encrypt)?;
    let mut iv = Iv::default();
    let mut text = vec![0x61; size + 1];
    let mut tag = [0; 16];
    Ok(Prepared::new(cipher.provider_name(), move || {
        sealing.start(None, Some(iv.next()))?;
        sealing.associate(&[0x17, 3, 3, 0x40, 0x11])?;
        sealing.update_in_place(&mut text)?;
        sealing.finish(&mut [])?;
        sealing.tag(&mut tag)?;
        Ok(())
    }))
}

/// libssl, TLS 1.2: the record is announced, then sealed by one call that also writes its explicit
/// nonce and tag.
fn tls12(context: &Context, name: &str, size: usize) -> Result<Prepared> {
    let cipher = Cipher::fetch(context, name, None)?;
    let mut sealing = start(&cipher, Direction::Encrypt)?;
    sealing.set_fixed_iv(&[1, 2, 3, 4], false)?;
    let mut record = vec![0x61; 8 + size + 16];
    let mut sequence = 0_u64;
    let [high, low] = ((8 + size) as u16).to_be_bytes();
    Ok(Prepared::new(cipher.provider_name(), move || {
        let mut associated = [0, 0, 0, 0, 0, 0, 0, 0, 0x17, 3, 3, high, low];
        associated[..8].copy_from_slice(&sequence.to_be_bytes());
        sequence += 1;
        sealing.tls_record(&mut associated)?;
        sealing.cipher_in_place(&mut record)?;
        Ok(())
    }))
}

/// OpenSSH: the cipher counts the IV itself; the packet's length is associated data.
fn ssh(context: &Context, name: &str, size: usize) -> Result<Prepared> {
    let cipher = Cipher::fetch(context, name, None)?;
    let mut sealing = start(&cipher, Direction::Encrypt)?;
    sealing.set_fixed_iv(&Iv::default().0, true)?;
    let mut packet = vec![0x61; size];
    let (mut last, mut tag) = ([0; 1], [0; 16]);
    Ok(Prepared::new(cipher.provider_name(), move || {
        sealing.generate_iv(&mut last)?;
        sealing.cipher_associate(&[0, 0, 5, 0])?;
        sealing.cipher_in_place(&mut packet)?;
        sealing.cipher_finish()?;
        sealing.tag(&mut tag)?;
        Ok(())
    }))
}
