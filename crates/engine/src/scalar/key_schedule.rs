//! The key schedules of TLS: HKDF (RFC 5869), its use by TLS 1.3 (RFC 8446, 7.1), and the PRF of TLS 1.2 (RFC 5246, 5).
//!
//! Each derivation runs on a stretch of the stack that is cleared afterwards, and so are the registers ([`wiped`]).

use super::hmac::{Code, Hash, Key, MAX_LENGTH};
use super::wipe::wiped;
use crate::error::{Error, Result};

/// HKDF-Extract. An empty salt is as good as one of zeros.
pub fn extract(hash: Hash, salt: &[u8], secret: &[u8], output: &mut [u8]) -> Result<()> {
    wiped(|| extract_to(hash, salt, secret, output))
}

/// HKDF-Expand. What is expanded comes in parts.
pub fn expand(hash: Hash, secret: &[u8], info: &[&[u8]], output: &mut [u8]) -> Result<()> {
    wiped(|| expand_to(hash, secret, info, output))
}

/// HKDF: what is extracted is expanded.
pub fn hkdf(
    hash: Hash,
    salt: &[u8],
    secret: &[u8],
    info: &[&[u8]],
    output: &mut [u8],
) -> Result<()> {
    wiped(|| {
        let extracted = Key::new(hash, salt).code(&[secret]);
        expand_to(hash, &extracted, info, output)
    })
}

/// HKDF-Expand-Label; the label comes in two parts, of which the first is `tls13 ` in TLS.
pub fn expand_label(
    hash: Hash,
    secret: &[u8],
    label: [&[u8]; 2],
    context: &[u8],
    output: &mut [u8],
) -> Result<()> {
    wiped(|| expand_label_to(hash, secret, label, context, output))
}

/// The next secret of TLS 1.3: extracted from `secret` (none is as good as zeros) with what is derived from the `previous`
/// one by that label; without one, with nothing.
pub fn next_secret(
    hash: Hash,
    previous: Option<&[u8]>,
    secret: Option<&[u8]>,
    label: [&[u8]; 2],
    output: &mut [u8],
) -> Result<()> {
    const ZEROS: [u8; MAX_LENGTH] = [0; MAX_LENGTH];
    let secret = secret.unwrap_or(&ZEROS[..hash.length()]);
    wiped(|| {
        let Some(previous) = previous else {
            return extract_to(hash, &[], secret, output);
        };
        let mut salt = [0; MAX_LENGTH];
        let salt = &mut salt[..hash.length()];
        expand_label_to(hash, previous, label, hash.of_nothing(), salt)?;
        extract_to(hash, salt, secret, output)
    })
}

/// The PRF of TLS 1.2; the seed, label included, comes in parts.
pub fn prf(hash: Hash, secret: &[u8], seed: &[&[u8]], output: &mut [u8]) {
    wiped(|| prf_to(hash, secret, seed, output));
}

fn extract_to(hash: Hash, salt: &[u8], secret: &[u8], output: &mut [u8]) -> Result<()> {
    if output.len() != hash.length() {
        return Err(Error::InvalidInput);
    }
    output.copy_from_slice(&Key::new(hash, salt).code(&[secret]));
    Ok(())
}

fn expand_to(hash: Hash, secret: &[u8], info: &[&[u8]], output: &mut [u8]) -> Result<()> {
    if output.len() > 255 * hash.length() {
        return Err(Error::InvalidInput);
    }
    let key = Key::new(hash, secret);
    let mut block: Option<Code> = None;
    for (piece, counter) in output.chunks_mut(hash.length()).zip(1..=255_u8) {
        let mut message = key.begin();
        if let Some(block) = &block {
            message.update(block);
        }
        info.iter().for_each(|part| message.update(part));
        message.update(&[counter]);
        let code = key.finish(message);
        piece.copy_from_slice(&code[..piece.len()]);
        block = Some(code);
    }
    Ok(())
}

fn expand_label_to(
    hash: Hash,
    secret: &[u8],
    label: [&[u8]; 2],
    context: &[u8],
    output: &mut [u8],
) -> Result<()> {
    let byte = |length: usize| u8::try_from(length).map_err(|_| Error::InvalidInput);
    let length = u16::try_from(output.len()).map_err(|_| Error::InvalidInput)?;
    let [high, low] = length.to_be_bytes();
    let begin = [high, low, byte(label[0].len() + label[1].len())?];
    let middle = [byte(context.len())?];
    let info = [&begin, label[0], label[1], &middle, context];
    expand_to(hash, secret, &info, output)
}

fn prf_to(hash: Hash, secret: &[u8], seed: &[&[u8]], output: &mut [u8]) {
    let key = Key::new(hash, secret);
    let mut a = key.code(seed);
    let mut pieces = output.chunks_mut(hash.length()).peekable();
    while let Some(piece) = pieces.next() {
        let mut message = key.begin();
        message.update(&a);
        seed.iter().for_each(|part| message.update(part));
        piece.copy_from_slice(&key.finish(message)[..piece.len()]);
        if pieces.peek().is_some() {
            a = key.code(&[&a]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits = text.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16);
        digits
            .map(|pair| byte(pair).expect("hexadecimal"))
            .collect()
    }

    /// RFC 5869, test case 1.
    #[test]
    fn hkdf_is_that_of_rfc_5869() {
        let mut secret = [0; 32];
        let salt = hex("000102030405060708090a0b0c");
        extract(Hash::SHA256, &salt, &[0x0b; 22], &mut secret).expect("a secret");
        assert_eq!(
            secret[..],
            hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
        );
        let mut output = [0; 42];
        let info = hex("f0f1f2f3f4f5f6f7f8f9");
        expand(
            Hash::SHA256,
            &secret,
            &[&info[..3], &info[3..]],
            &mut output,
        )
        .expect("output");
        assert_eq!(
            output[..],
            hex(
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
            )
        );
    }

    /// RFC 8448, 3: the early secret, what is derived from it, and the handshake secret.
    #[test]
    fn secrets_are_those_of_rfc_8448() {
        let label: [&[u8]; 2] = [b"tls13 ", b"derived"];
        let mut early = [0; 32];
        next_secret(Hash::SHA256, None, None, label, &mut early).expect("a secret");
        assert_eq!(
            early[..],
            hex("33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a")
        );
        let shared = hex("8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d");
        let mut handshake = [0; 32];
        next_secret(
            Hash::SHA256,
            Some(&early),
            Some(&shared),
            label,
            &mut handshake,
        )
        .expect("a secret");
        assert_eq!(
            handshake[..],
            hex("1dc826e93606aa6fdc0aadc12f741b01046aa6b99f691ed221a9f0ca043fbeac")
        );
    }

    /// What a call leaves below its caller on the stack: how deep it went, and the bytes.
    #[cfg(target_arch = "x86_64")]
    fn left_by(call: &mut dyn FnMut()) -> Vec<u8> {
        use std::arch::asm;
        const LOOKED_AT: usize = 64 << 10;
        let call = std::hint::black_box(call);
        let mut copy = vec![0_u8; LOOKED_AT];
        // SAFETY: writes what lies below the stack pointer, where nobody has anything, and reads it. No call but the
        // one that is looked at lies in between.
        unsafe {
            asm!("mov rdi, rsp", "sub rdi, {looked}", "mov rcx, {looked}", "rep stosb", looked = const LOOKED_AT,
                in("al") 0xa5_u8, out("rdi") _, out("rcx") _);
            call();
            asm!("mov rsi, rsp", "sub rsi, {looked}", "mov rcx, {looked}", "rep movsb", looked = const LOOKED_AT,
                in("rdi") copy.as_mut_ptr(), out("rsi") _, out("rcx") _);
        }
        let untouched = copy.iter().take_while(|byte| **byte == 0xa5).count();
        copy.split_off(untouched)
    }

    /// By AWS-LC's functions and by those of the system's OpenSSL, which take more or less stack.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn no_derivation_goes_deeper_than_what_is_cleared() {
        let label: [&[u8]; 2] = [b"tls13 ", b"derived"];
        let mut output = [0; 250];
        for hash in [Hash::SHA256, Hash::SHA384] {
            let (secret, long) = ([0x5c; 48], [0x36; 300]);
            let mut next = [0; MAX_LENGTH];
            let next = &mut next[..hash.length()];
            let depths = [
                left_by(&mut || _ = extract_to(hash, &long, &secret, next)).len(),
                left_by(&mut || _ = expand_to(hash, &secret, &[&long, &long], &mut output)).len(),
                left_by(&mut || _ = expand_label_to(hash, &long, label, &secret, &mut output))
                    .len(),
                left_by(&mut || prf_to(hash, &long, &[&secret, &long], &mut output)).len(),
            ];
            println!("{depths:?}");
            for depth in depths {
                // The functions of other versions of OpenSSL may take half a KiB more.
                assert!(depth + 512 <= super::super::wipe::STACK, "{depth} bytes");
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn no_secret_stays_on_the_stack() {
        let secret: [u8; 48] = std::array::from_fn(|i| 0x80 | (i as u8 * 5));
        let mut output = [0; 96];
        let left = left_by(&mut || prf(Hash::SHA384, &secret, &[b"seed"], &mut output));
        let holds = |bytes: &[u8]| {
            left.windows(16)
                .any(|window| bytes.windows(16).any(|w| w == window))
        };
        assert!(!holds(&secret) && !holds(&output));
        let inner = secret.map(|byte| byte ^ 0x36);
        assert!(!holds(&inner));
        // Without the clearing it does.
        let left = left_by(&mut || prf_to(Hash::SHA384, &secret, &[b"seed"], &mut output));
        assert!(
            left.windows(16)
                .any(|window| output.windows(16).any(|w| w == window))
        );
    }
}
