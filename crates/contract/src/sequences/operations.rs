//! Contexts of an operation with a key (`EVP_PKEY_CTX`).

use super::input::Input;
use super::settings::{QUESTIONS, draw};
use super::world::{Context, Key, World};
use crate::keys;
use crate::operations::{Kind, hashed, produce};
use crate::params::ask;
use crate::transcript::{Arg, NULL, Object, int, object, quietly};

/// Rooms for an output.
const ROOMS: [Option<usize>; 8] = [
    Some(1024),
    Some(1024),
    Some(1024),
    None,
    Some(64),
    Some(32),
    Some(0),
    Some(255),
];
const LENGTHS: [usize; 8] = [32, 32, 32, 20, 48, 64, 0, 31];

pub(super) fn begin(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(key) = world.key(input) else { return };
    let (t, context) = (world.t, world.context);
    let slot = input.below(world.operations.len());
    // One that is there is begun anew, else a new one is made.
    let reused = world.operations[slot].filter(|_| input.once_in(3));
    let (operation, key) = match reused {
        Some(operation) => (operation.object, operation.key),
        None => {
            let query = match input.below(8) {
                0 => Some(c"provider=default"),
                1 => Some(c"?provider=default"),
                2 => Some(c"fips=yes"),
                _ => None,
            };
            let made = object!(t, EVP_PKEY_CTX_new_from_pkey(context, key.object, query));
            (made, key)
        }
    };
    if operation.is_null() {
        return;
    }
    let function = match key.kind() {
        kind if kind.derives() && (!kind.signs() || input.once_in(2)) => "EVP_PKEY_derive_init",
        _ => input.one(&[
            "EVP_PKEY_sign_init",
            "EVP_PKEY_sign_init",
            "EVP_PKEY_verify_init",
            "EVP_PKEY_verify_init",
            "EVP_PKEY_verify_recover_init",
            "EVP_PKEY_derive_init",
        ]),
    };
    if input.once_in(6) {
        let params = draw(world.t, input);
        let with = match function {
            "EVP_PKEY_sign_init" => "EVP_PKEY_sign_init_ex",
            "EVP_PKEY_verify_init" => "EVP_PKEY_verify_init_ex",
            "EVP_PKEY_verify_recover_init" => "EVP_PKEY_verify_recover_init_ex",
            _ => "EVP_PKEY_derive_init_ex",
        };
        t.int(with, &[operation.into(), params.arg()]);
    } else {
        t.int(function, &[operation.into()]);
    }
    if reused.is_none() {
        put(world, slot, operation, key);
    }
}

fn put(world: &mut World<'_>, slot: usize, object: Object, key: Key) {
    if object.is_null() {
        return;
    }
    if let Some(old) = world.operations[slot].replace(Context { object, key }) {
        quietly!(world.t, EVP_PKEY_CTX_free(old.object));
    }
}

pub(super) fn set(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(operation) = input.filled(&world.operations) else {
        return;
    };
    let params = draw(world.t, input);
    int!(
        world.t,
        EVP_PKEY_CTX_set_params(operation.object, params.arg())
    );
}

pub(super) fn get(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(operation) = input.filled(&world.operations) else {
        return;
    };
    let (name, kind) = input.one(&QUESTIONS);
    ask(
        world.t,
        "EVP_PKEY_CTX_get_params",
        operation.object.into(),
        name,
        kind,
        false,
    );
}

pub(super) fn peer(world: &mut World<'_>, input: &mut Input<'_>) {
    let (Some(operation), Some(key)) = (input.filled(&world.operations), world.key(input)) else {
        return;
    };
    let t = world.t;
    match input.below(4) {
        0 => int!(
            t,
            EVP_PKEY_derive_set_peer_ex(operation.object, key.object, 0)
        ),
        1 => int!(
            t,
            EVP_PKEY_derive_set_peer_ex(operation.object, key.object, 1)
        ),
        _ => int!(t, EVP_PKEY_derive_set_peer(operation.object, key.object)),
    };
    // The secret depends on it, too.
    if key.random {
        for other in world.operations.iter_mut().flatten() {
            other.key.random |= other.object == operation.object;
        }
    }
}

/// Signs, verifies, recovers or derives, whether or not the context was begun for that.
pub(super) fn act(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(operation) = input.filled(&world.operations) else {
        return;
    };
    let (t, object, key) = (world.t, operation.object, operation.key);
    let choice = match key.kind() {
        Kind::Ec => input.one(&["sign", "verify", "derive"]),
        kind if kind.signs() => input.one(&["sign", "verify", "recover"]),
        _ => "derive",
    };
    let data = hashed(input.one(&LENGTHS));
    let made = match choice {
        "sign" => produce(t, "EVP_PKEY_sign", object, room(input), &data, false),
        "derive" => produce(t, "EVP_PKEY_derive", object, room(input), &[], false),
        "recover" => {
            let signature = signature(world, input, key);
            produce(
                t,
                "EVP_PKEY_verify_recover",
                object,
                room(input),
                &signature,
                false,
            )
        }
        _ => {
            let signature = signature(world, input, key);
            int!(
                t,
                EVP_PKEY_verify(object, &signature, signature.len(), &data, data.len())
            );
            None
        }
    };
    if let Some(made) = made.filter(|_| choice != "recover") {
        world.note(key, made, choice == "derive");
    }
}

fn room(input: &mut Input<'_>) -> Option<usize> {
    input.one(&ROOMS)
}

/// The last one that was made, or the key's fixed one, whole or changed.
pub(super) fn signature(world: &World<'_>, input: &mut Input<'_>, key: Key) -> Vec<u8> {
    // A random one of another key is refused for another reason every time.
    let own = (input.once_in(2) || key.random) && (world.made.exact || world.made.key == key.name);
    let (mut bytes, exact) = match own {
        true => (world.made.bytes.clone(), world.made.exact),
        false => (keys::signature(key.name).to_vec(), true),
    };
    // A change of a random one ends differently every time.
    if exact && !bytes.is_empty() {
        match input.below(8) {
            0 => {
                let at = usize::from(input.byte()) % bytes.len();
                bytes[at] ^= 1 << input.below(8);
            }
            1 => bytes.truncate(bytes.len() - 1),
            2 => bytes.push(0),
            3 => bytes.clear(),
            _ => {}
        }
    }
    bytes
}

pub(super) fn copy(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(operation) = input.filled(&world.operations) else {
        return;
    };
    let copy = object!(world.t, EVP_PKEY_CTX_dup(operation.object));
    let slot = input.below(world.operations.len());
    put(world, slot, copy, operation.key);
}

pub(super) fn end(world: &mut World<'_>, input: &mut Input<'_>) {
    let slot = input.below(world.operations.len());
    if let Some(old) = world.operations[slot].take() {
        quietly!(world.t, EVP_PKEY_CTX_free(old.object));
    }
}

/// A message by an algorithm that was fetched by name (3.4 and later).
pub(super) fn message(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(key) = world.key(input) else { return };
    let (t, context) = (world.t, world.context);
    let name = match key.kind() {
        Kind::Rsa => input.one(&[c"RSA-SHA256", c"RSA"]),
        Kind::Ec => input.one(&[c"ECDSA-SHA256", c"ECDSA"]),
        Kind::Edwards if key.name == "ed25519" => {
            input.one(&[c"ED25519", c"ED25519", c"ED25519ph", c"ED25519ctx"])
        }
        _ => return,
    };
    let algorithm = object!(t, EVP_SIGNATURE_fetch(context, name, NULL));
    let operation = object!(t, EVP_PKEY_CTX_new_from_pkey(context, key.object, NULL));
    let signs = input.once_in(2);
    let params = match input.once_in(3) {
        true => draw(world.t, input),
        false => crate::params::Params::new(),
    };
    let (begin, update) = match signs {
        true => ("EVP_PKEY_sign_message_init", "EVP_PKEY_sign_message_update"),
        false => (
            "EVP_PKEY_verify_message_init",
            "EVP_PKEY_verify_message_update",
        ),
    };
    let begun = t.int(begin, &[operation.into(), algorithm.into(), params.arg()]);
    let data = hashed(input.one(&LENGTHS));
    if begun == 1 && !signs {
        let signature = signature(world, input, key);
        int!(
            t,
            EVP_PKEY_CTX_set_signature(operation, &signature, signature.len())
        );
    }
    if begun == 1 {
        for _ in 0..input.below(3) {
            t.int(
                update,
                &[operation.into(), Arg::from(&data), data.len().into()],
            );
        }
    }
    let mut made = None;
    match (begun, signs) {
        (1, false) if input.once_in(2) => {
            let signature = signature(world, input, key);
            int!(
                t,
                EVP_PKEY_verify(operation, &signature, signature.len(), &data, data.len())
            );
        }
        (1, false) => _ = int!(t, EVP_PKEY_verify_message_final(operation)),
        (1, true) if input.once_in(2) => {
            made = produce(t, "EVP_PKEY_sign", operation, room(input), &data, false);
        }
        (1, true) => {
            let (mut out, mut length) = (vec![0; 1024], 1024_usize);
            let answer = int!(
                t,
                EVP_PKEY_sign_message_final(operation, &mut out, &mut length)
            );
            out.truncate(length);
            made = (answer == 1).then_some(out);
        }
        _ => {}
    }
    if let Some(made) = made {
        world.note(key, made, false);
    }
    quietly!(t, EVP_PKEY_CTX_free(operation));
    quietly!(t, EVP_SIGNATURE_free(algorithm));
}
