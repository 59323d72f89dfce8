//! AES-GCM contexts. Whole messages in any order of calls; what differs by its nature (`docs/provider.md`) is left out.

use super::input::Input;
use super::world::World;
use crate::params::hex;
use crate::transcript::{NULL, Object, int, quietly};

const GET_TAG: i32 = 0x10;
const SET_TAG: i32 = 0x11;
const DATA: [u8; 700] = [0x5a; 700];
const LENGTHS: [usize; 8] = [0, 1, 15, 16, 17, 64, 300, 700];

pub(super) fn begin(world: &mut World<'_>, input: &mut Input<'_>) {
    let (t, context) = (world.t, world.context);
    let slot = input.below(world.ciphers.len());
    let cipher = match world.ciphers[slot] {
        Some(cipher) => cipher,
        None => Object(quietly!(t, EVP_CIPHER_CTX_new()) as *mut _),
    };
    world.ciphers[slot] = Some(cipher);
    let name = input.one(&[c"AES-128-GCM", c"AES-256-GCM", c"AES-192-GCM"]);
    let algorithm = Object(quietly!(t, EVP_CIPHER_fetch(context, name, NULL)) as *mut _);
    let (key, iv) = ([input.byte(); 32], [input.byte(); 16]);
    let encrypt = i32::from(!input.once_in(2));
    int!(
        t,
        EVP_CipherInit_ex2(cipher, algorithm, &key, &iv, encrypt, NULL)
    );
    quietly!(t, EVP_CIPHER_free(algorithm));
}

pub(super) fn update(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(cipher) = input.filled(&world.ciphers) else {
        return;
    };
    let t = world.t;
    let length = input.one(&LENGTHS);
    let (mut out, mut written) = (vec![0_u8; length + 32], -7_i32);
    // What is authenticated, or encrypted: elsewhere, or in its place.
    let answer = match input.below(4) {
        0 => int!(
            t,
            EVP_CipherUpdate(cipher, NULL, &mut written, &DATA, length as i32)
        ),
        1 => {
            out[..length].copy_from_slice(&DATA[..length]);
            let place = out.as_mut_ptr();
            int!(
                t,
                EVP_CipherUpdate(cipher, place, &mut written, place, length as i32)
            )
        }
        _ => int!(
            t,
            EVP_CipherUpdate(cipher, &mut out, &mut written, &DATA, length as i32)
        ),
    };
    let shown = usize::try_from(written).unwrap_or(0).min(out.len());
    if answer == 1 {
        t.say(&format!("{written} {}", hex(&out[..shown])));
    }
}

pub(super) fn last(world: &mut World<'_>, input: &mut Input<'_>) {
    let slot = input.below(world.ciphers.len());
    let Some(cipher) = world.ciphers[slot] else {
        return;
    };
    let t = world.t;
    let encrypts = quietly!(t, EVP_CIPHER_CTX_is_encrypting(cipher)) as i32 == 1;
    let mut tag = [input.byte(); 16];
    if !encrypts {
        int!(t, EVP_CIPHER_CTX_ctrl(cipher, SET_TAG, 16, &mut tag));
    }
    let (mut out, mut written) = ([0_u8; 32], -7_i32);
    let answer = int!(t, EVP_CipherFinal_ex(cipher, &mut out, &mut written));
    if answer == 1 {
        int!(t, EVP_CIPHER_CTX_ctrl(cipher, GET_TAG, 16, &mut tag));
        t.say(&format!("{written} {}", hex(&tag)));
    }
    // What a message is after its end is begun anew: asked further, stock and ours each have their own garbage.
    quietly!(t, EVP_CIPHER_CTX_free(cipher));
    world.ciphers[slot] = None;
}

pub(super) fn copy(world: &mut World<'_>, input: &mut Input<'_>) {
    let (from, to) = (
        input.below(world.ciphers.len()),
        input.below(world.ciphers.len()),
    );
    let Some(cipher) = world.ciphers[from].filter(|_| from != to) else {
        return;
    };
    let t = world.t;
    let copy = Object(quietly!(t, EVP_CIPHER_CTX_new()) as *mut _);
    if int!(t, EVP_CIPHER_CTX_copy(copy, cipher)) != 1 {
        quietly!(t, EVP_CIPHER_CTX_free(copy));
        return;
    }
    if let Some(old) = world.ciphers[to].replace(copy) {
        quietly!(t, EVP_CIPHER_CTX_free(old));
    }
}
