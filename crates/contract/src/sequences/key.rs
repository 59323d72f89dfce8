//! Keys: read, generated, copied, put together from their parts, asked.

use super::input::Input;
use super::world::{Key, World};
use crate::keys::{self, der};
use crate::operations::Kind;
use crate::params::{self, Param, Params, hex};
use crate::transcript::{NULL, Object, int, object, quietly};

/// Those that are read, the usual ones more often.
const READ: [&str; 20] = [
    "ec-P-256",
    "ec-P-256",
    "ec-P-256",
    "rsa2048",
    "rsa2048",
    "rsa1024",
    "x25519",
    "x25519",
    "ed25519",
    "ed25519",
    "ec-P-384",
    "ec-P-521",
    "pss2048",
    "pss2048-sha256",
    "ec-P-224",
    "ec-P-256-explicit",
    "ec-P-256-compressed",
    "ec-secp256k1",
    "x448",
    "ed448",
];

pub(super) fn read(world: &mut World<'_>, input: &mut Input<'_>) {
    let slot = input.below(world.keys.len());
    read_into(world, slot, input);
}

pub(super) fn read_into(world: &mut World<'_>, slot: usize, input: &mut Input<'_>) {
    let (t, context) = (world.t, world.context);
    let name = input.one(&READ);
    let object = match input.once_in(4) {
        false => keys::private_in(t, context.into(), name),
        true => keys::public_in(t, context.into(), name),
    };
    t.clear();
    t.say(&format!("{slot} is {name}: {}", object.is_null()));
    let random = false;
    world.put_key_into(
        slot,
        Key {
            object,
            name,
            random,
        },
    );
}

pub(super) fn generate(world: &mut World<'_>, input: &mut Input<'_>) {
    let (t, context) = (world.t, world.context);
    let template = match input.once_in(3) {
        // RSA keys take long.
        true => world
            .key(input)
            .filter(|key| !matches!(key.kind(), Kind::Rsa | Kind::Pss)),
        false => None,
    };
    let (operation, name) = match template {
        Some(key) => {
            let operation = object!(t, EVP_PKEY_CTX_new_from_pkey(context, key.object, NULL));
            (operation, key.name)
        }
        None => {
            let (kind, name) = input.one(&[
                (c"EC", "ec-"),
                (c"EC", "ec-"),
                (c"X25519", "x25519"),
                (c"ED25519", "ed25519"),
                (c"X448", "x448"),
            ]);
            let operation = object!(t, EVP_PKEY_CTX_new_from_name(context, kind, NULL));
            (operation, name)
        }
    };
    int!(t, EVP_PKEY_keygen_init(operation));
    if Kind::of(name) == Kind::Ec && (template.is_none() || input.once_in(3)) {
        let mut params = Params::new().text(
            "group",
            input.one(&[
                "P-256",
                "P-256",
                "P-384",
                "P-521",
                "P-224",
                "secp256k1",
                "no such",
            ]),
        );
        match input.below(8) {
            0 => params = params.text("encoding", input.one(&["explicit", "named_curve", "x"])),
            1 => params = params.text("point-format", input.one(&["compressed", "uncompressed"])),
            2 => params = params.int("use-cofactor-flag", input.one(&[0, 1])),
            _ => {}
        }
        int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
    }
    for _ in 0..1 + usize::from(input.once_in(6)) {
        let mut object = Object::NONE;
        int!(t, EVP_PKEY_generate(operation, &mut object));
        let random = true;
        let key = Key {
            object,
            name,
            random,
        };
        world.put_key(input, key);
    }
    quietly!(t, EVP_PKEY_CTX_free(operation));
}

pub(super) fn copy(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(key) = world.key(input) else { return };
    let t = world.t;
    if key.kind() == Kind::Ec && input.once_in(2) {
        let target = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
        int!(t, EVP_PKEY_copy_parameters(target, key.object));
        int!(t, EVP_PKEY_missing_parameters(target));
        // A key that nobody gave a type crashes OpenSSL.
        if quietly!(t, EVP_PKEY_get0_type_name(target)) == 0 {
            t.clear();
            quietly!(t, EVP_PKEY_free(target));
            return;
        }
        return world.put_key(
            input,
            Key {
                object: target,
                ..key
            },
        );
    }
    let object = object!(t, EVP_PKEY_dup(key.object));
    world.put_key(input, Key { object, ..key });
}

/// A key from the parts of another, of which one may be missing.
pub(super) fn rebuild(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(key) = world.key(input) else { return };
    let (t, context) = (world.t, world.context);
    let mut array = std::ptr::null_mut::<Param>();
    let selection = input.one(&[0x87, 0x87, 0x86, 0x84, 0x85]);
    int!(t, EVP_PKEY_todata(key.object, selection, &raw mut array));
    // SAFETY: what was answered, or null.
    let elements = unsafe { params::elements(array) };
    let kind = t.text_quietly("EVP_PKEY_get0_type_name", &[key.object.into()]);
    let kind = std::ffi::CString::new(kind.unwrap_or_default()).unwrap_or_default();
    let operation = object!(
        t,
        EVP_PKEY_CTX_new_from_name(context, kind.as_c_str(), NULL)
    );
    let begun = int!(t, EVP_PKEY_fromdata_init(operation));
    let missing = input.once_in(3).then(|| input.below(elements.len().max(1)));
    // Without some of their numbers keys of other types crash OpenSSL.
    let missing = missing.filter(|_| key.kind() == Kind::Ec);
    let taken = elements
        .iter()
        .enumerate()
        .filter(|(at, (_, param))| Some(*at) != missing && !param.data.is_null());
    let params = taken.fold(Params::new(), |params, (_, (name, param))| {
        params.copy(name, param)
    });
    let mut object = Object::NONE;
    if begun == 1 {
        let selection = input.one(&[0x87, 0x87, 0x86, 0x84]);
        int!(
            t,
            EVP_PKEY_fromdata(operation, &mut object, selection, params.arg())
        );
    }
    quietly!(t, EVP_PKEY_CTX_free(operation));
    quietly!(t, OSSL_PARAM_free(array));
    // An RSA key without its numbers crashes OpenSSL.
    if matches!(key.kind(), Kind::Rsa | Kind::Pss) && !object.is_null() {
        let bits = quietly!(t, EVP_PKEY_get_bits(object)) as i32;
        t.clear();
        if bits <= 0 {
            quietly!(t, EVP_PKEY_free(object));
            return;
        }
    }
    world.put_key(input, Key { object, ..key });
}

/// The public half as TLS sends it, from one key into a copy of another.
pub(super) fn set_point(world: &mut World<'_>, input: &mut Input<'_>) {
    let (Some(key), Some(from)) = (world.key(input), world.key(input)) else {
        return;
    };
    let t = world.t;
    let fits = |key: Key| matches!(key.kind(), Kind::Ec | Kind::Montgomery);
    if !fits(key) || !fits(from) {
        return;
    }
    let object = object!(t, EVP_PKEY_dup(key.object));
    let mut at = std::ptr::null_mut::<u8>();
    let length = quietly!(
        t,
        EVP_PKEY_get1_encoded_public_key(from.object, &raw mut at)
    );
    t.say(&format!("point of {length}{}", t.errors()));
    if !at.is_null() {
        // SAFETY: so many bytes were answered.
        let mut point = unsafe { std::slice::from_raw_parts(at, length) }.to_vec();
        quietly!(t, CRYPTO_free(at, NULL, 0));
        match input.below(6) {
            0 => point.truncate(length / 2),
            1 if !from.random => point[length / 2] ^= 1,
            2 => point[0] = 0xff,
            _ => {}
        }
        let taken = int!(
            t,
            EVP_PKEY_set1_encoded_public_key(object, &point, point.len())
        );
        // A point that was refused stays nevertheless in OpenSSL's own key, which then nobody takes over.
        if taken != 1 {
            quietly!(t, EVP_PKEY_free(object));
            return;
        }
    }
    let random = key.random || from.random;
    world.put_key(
        input,
        Key {
            object,
            random,
            ..key
        },
    );
}

/// What a key says of itself.
pub(super) fn ask(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(key) = world.key(input) else { return };
    let t = world.t;
    match input.below(3) {
        0 => {
            for function in [
                "EVP_PKEY_get_bits",
                "EVP_PKEY_get_security_bits",
                "EVP_PKEY_get_size",
            ] {
                t.int(function, &[key.object.into()]);
            }
        }
        1 => {
            let operation = Object(quietly!(
                t,
                EVP_PKEY_CTX_new_from_pkey(world.context, key.object, NULL)
            ) as *mut _);
            let function = input.one(&[
                "EVP_PKEY_public_check",
                "EVP_PKEY_public_check_quick",
                "EVP_PKEY_param_check",
                "EVP_PKEY_private_check",
                "EVP_PKEY_pairwise_check",
            ]);
            // Long with RSA keys.
            if !matches!(key.kind(), Kind::Rsa | Kind::Pss) {
                t.int(function, &[operation.into()]);
            }
            quietly!(t, EVP_PKEY_CTX_free(operation));
        }
        _ => {
            let function = input.one(&["i2d_PrivateKey", "i2d_PUBKEY"]);
            let bytes = der(t, function, key.object);
            let shown = match (bytes.is_empty(), key.random) {
                (false, true) => "bytes".to_owned(),
                _ => hex(&bytes),
            };
            t.say(&format!("{function} {shown}{}", t.errors()));
        }
    }
}

pub(super) fn compare(world: &mut World<'_>, input: &mut Input<'_>) {
    let (Some(one), Some(other)) = (world.key(input), world.key(input)) else {
        return;
    };
    let t = world.t;
    int!(t, EVP_PKEY_eq(one.object, other.object));
    int!(t, EVP_PKEY_parameters_eq(one.object, other.object));
}
