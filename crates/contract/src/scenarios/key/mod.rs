//! Keys: read, described, taken apart and put together, copied, compared, checked, written.

mod older;
mod write;

use std::ffi::{CStr, CString};

use super::Scenario;
use crate::keys::{self, der};
use crate::operations::{self, Kind};
use crate::params::{self, Param, Params, ask};
use crate::transcript::{NULL, Object, Transcript, int, object, quietly};
use older::{encoded_public_key, legacy};
use write::write;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for key in keys::ALL {
        all.push(Scenario::new(format!("key/{}", key.name), move |t| {
            t.scene("read");
            let pair = keys::private(t, key.name);
            t.say(&format!("{}{}", pair.is_null(), t.errors()));
            everything(t, key.name, pair, false);
            let public = keys::public(t, key.name);
            everything(t, key.name, public, false);
        }));
    }
    for (name, kind, group) in GENERATED {
        all.push(Scenario::new(format!("key/generated/{name}"), move |t| {
            t.scene("generate");
            let key = generate(t, kind, group);
            everything(t, name, key, true);
        }));
    }
    all
}

/// Keys that the library context generates.
pub(super) const GENERATED: [(&str, &CStr, Option<&str>); 13] = [
    ("ec-P-256", c"EC", Some("P-256")),
    ("ec-P-384", c"EC", Some("P-384")),
    ("ec-P-521", c"EC", Some("P-521")),
    ("ec-P-224", c"EC", Some("P-224")),
    ("ec-secp256k1", c"EC", Some("secp256k1")),
    ("ec-brainpoolP256r1", c"EC", Some("brainpoolP256r1")),
    ("ec-SM2", c"EC", Some("SM2")),
    ("sm2", c"SM2", None),
    ("x25519", c"X25519", None),
    ("x448", c"X448", None),
    ("ed25519", c"ED25519", None),
    ("ed448", c"ED448", None),
    ("dh", c"DH", Some("ffdhe2048")),
];

pub(super) fn generate(t: &Transcript, kind: &CStr, group: Option<&str>) -> Object {
    let context = object!(t, EVP_PKEY_CTX_new_from_name(NULL, kind, NULL));
    int!(t, EVP_PKEY_keygen_init(context));
    if let Some(group) = group {
        let params = Params::new().text("group", group);
        int!(t, EVP_PKEY_CTX_set_params(context, params.arg()));
    }
    let mut key = Object::NONE;
    int!(t, EVP_PKEY_generate(context, &mut key));
    operations::free(t, context);
    key
}

const SELECTIONS: [(&str, i32); 6] = [
    ("pair", 0x87),
    ("public", 0x86),
    ("private", 0x01),
    ("parameters", 0x84),
    ("only public", 0x02),
    ("nothing", 0),
];

fn everything(t: &'static Transcript, name: &str, key: Object, random: bool) {
    if key.is_null() {
        return;
    }
    let half = if has_private(t, key) {
        "pair"
    } else {
        "public"
    };
    t.scene(format!("{half}/describe"));
    describe(t, key, random);
    t.scene(format!("{half}/print"));
    for function in [
        "EVP_PKEY_print_private",
        "EVP_PKEY_print_public",
        "EVP_PKEY_print_params",
    ] {
        let bio = keys::sink(t);
        t.int(function, &[bio.into(), key.into(), 0.into(), NULL]);
        let text = String::from_utf8_lossy(&keys::written(t, bio)).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        t.say(&if random {
            // What is said of it, not its numbers.
            lines
                .iter()
                .filter(|line| !line.chars().all(|c| c == ':' || c.is_ascii_hexdigit()))
                .copied()
                .collect::<Vec<_>>()
                .join("/")
        } else {
            lines.join("/")
        });
        quietly!(t, BIO_free(bio));
    }
    t.scene(format!("{half}/check"));
    // Whether numbers of that size are prime takes long.
    if !matches!(name, "rsa3072" | "rsa4096" | "dsa2048") {
        check(t, key);
    }
    for (selected, selection) in SELECTIONS {
        t.scene(format!("{half}/todata {selected}"));
        todata(t, name, key, selection, random);
    }
    t.scene(format!("{half}/dup"));
    let copy = object!(t, EVP_PKEY_dup(key));
    if !copy.is_null() {
        describe(t, copy, random);
        int!(t, EVP_PKEY_eq(key, copy));
        int!(t, EVP_PKEY_parameters_eq(key, copy));
        if half == "pair" {
            operations::works(t, name, copy_or_random(copy, random));
        }
    }
    t.scene(format!("{half}/eq"));
    for other in [
        "rsa2048", "rsa1024", "ec-P-256", "ec-P-384", "x25519", "ed25519", "pss2048", "sm2",
    ] {
        let other = keys::public(t, other);
        int!(t, EVP_PKEY_eq(key, other));
        int!(t, EVP_PKEY_parameters_eq(key, other));
        int!(t, EVP_PKEY_eq(other, key));
    }
    t.scene(format!("{half}/copy parameters"));
    copy_parameters(t, key);
    t.scene(format!("{half}/set"));
    set(t, key);
    t.scene(format!("{half}/write"));
    write(t, key, random);
    t.scene(format!("{half}/encoded public key"));
    encoded_public_key(t, name, key, random);
    t.scene(format!("{half}/legacy"));
    legacy(t, name, key, random);
    if !random {
        t.scene(format!("{half}/works"));
        operations::works(t, name, key);
    }
}

/// What a random key signs or derives differs every time.
fn copy_or_random(copy: Object, random: bool) -> Object {
    if random { Object::NONE } else { copy }
}

fn has_private(t: &Transcript, key: Object) -> bool {
    let answer = !der(t, "i2d_PrivateKey", key).is_empty();
    t.clear();
    answer
}

/// All that is said of a key.
pub(super) fn describe(t: &Transcript, key: Object, random: bool) {
    for function in [
        "EVP_PKEY_get_bits",
        "EVP_PKEY_get_security_bits",
        "EVP_PKEY_get_size",
        "EVP_PKEY_get_id",
        "EVP_PKEY_get_base_id",
        "EVP_PKEY_can_sign",
        "EVP_PKEY_missing_parameters",
        "EVP_PKEY_get_ec_point_conv_form",
        "EVP_PKEY_get_field_type",
    ] {
        t.int(function, &[key.into()]);
    }
    t.text("EVP_PKEY_get0_type_name", &[key.into()]);
    for name in [
        c"RSA",
        c"RSA-PSS",
        c"EC",
        c"SM2",
        c"X25519",
        c"ED25519",
        c"id-ecPublicKey",
        c"rsaEncryption",
    ] {
        int!(t, EVP_PKEY_is_a(key, name));
    }
    let mut text = vec![0; 80];
    let answer = quietly!(
        t,
        EVP_PKEY_get_default_digest_name(key, &mut text, text.len())
    ) as i32;
    let errors = t.errors();
    // SAFETY: a text, or the zeros that were there.
    let said = unsafe { crate::library::text(text.as_ptr().cast()) };
    t.say(&format!(
        "EVP_PKEY_get_default_digest_name -> {answer} {said:?}{errors}"
    ));
    let mut id = 0_i32;
    let answer = quietly!(t, EVP_PKEY_get_default_digest_nid(key, &mut id)) as i32;
    t.say(&format!(
        "EVP_PKEY_get_default_digest_nid -> {answer} {id}{}",
        t.errors()
    ));
    for digest in [c"SHA256", c"SHA384", c"MD5", c"no such"] {
        int!(
            t,
            EVP_PKEY_digestsign_supports_digest(key, NULL, digest, NULL)
        );
    }
    let mut text = vec![0; 80];
    let mut length = 0_usize;
    let answer = quietly!(
        t,
        EVP_PKEY_get_group_name(key, &mut text, text.len(), &mut length)
    ) as i32;
    // SAFETY: as above.
    let said = unsafe { crate::library::text(text.as_ptr().cast()) };
    t.say(&format!(
        "EVP_PKEY_get_group_name -> {answer} {length} {said:?}{}",
        t.errors()
    ));
    for function in ["EVP_PKEY_gettable_params", "EVP_PKEY_settable_params"] {
        let array = t.quietly(function, &[key.into()]) as *const Param;
        let errors = t.errors();
        // SAFETY: OpenSSL's own array, or null.
        t.say(&format!("{function} -> {}{errors}", unsafe {
            params::descriptors(array)
        }));
    }
    // Of any type, whether listed or not.
    for (name, kind) in PARAMETERS {
        let name = CString::new(*name).unwrap_or_default();
        ask(t, "EVP_PKEY_get_params", key.into(), &name, *kind, random);
    }
}

/// Parameters of any type of key, with the type that OpenSSL's manual says.
const PARAMETERS: &[(&str, u32)] = &[
    ("bits", 1),
    ("security-bits", 1),
    ("max-size", 1),
    ("security-category", 1),
    ("default-digest", 4),
    ("mandatory-digest", 4),
    ("group", 4),
    ("encoding", 4),
    ("point-format", 4),
    ("group-check", 4),
    ("field-type", 4),
    ("use-cofactor-flag", 1),
    ("include-public", 1),
    ("decoded-from-explicit", 1),
    ("pub", 5),
    ("encoded-pub-key", 5),
    ("priv", 2),
    ("priv", 5),
    ("qx", 2),
    ("qy", 2),
    ("p", 2),
    ("a", 2),
    ("b", 2),
    ("generator", 5),
    ("order", 2),
    ("cofactor", 2),
    ("seed", 5),
    ("distid", 5),
    ("n", 2),
    ("e", 2),
    ("d", 2),
    ("rsa-factor1", 2),
    ("rsa-factor2", 2),
    ("rsa-factor3", 2),
    ("rsa-exponent1", 2),
    ("rsa-exponent2", 2),
    ("rsa-exponent3", 2),
    ("rsa-coefficient1", 2),
    ("rsa-coefficient2", 2),
    ("digest", 4),
    ("mgf", 4),
    ("mgf1-digest", 4),
    ("saltlen", 1),
    ("saltlen", 2),
    ("g", 2),
    ("q", 2),
    ("no such", 2),
];

fn check(t: &Transcript, key: Object) {
    for function in [
        "EVP_PKEY_check",
        "EVP_PKEY_public_check",
        "EVP_PKEY_public_check_quick",
        "EVP_PKEY_private_check",
        "EVP_PKEY_pairwise_check",
        "EVP_PKEY_param_check",
        "EVP_PKEY_param_check_quick",
    ] {
        let context = operations::context(t, key);
        t.int(function, &[context.into()]);
        operations::free(t, context);
    }
}

fn todata(t: &'static Transcript, name: &str, key: Object, selection: i32, random: bool) {
    let mut array = std::ptr::null::<Param>();
    let answer = quietly!(t, EVP_PKEY_todata(key, selection, &raw mut array)) as i32;
    let errors = t.errors();
    // SAFETY: what was answered, or null.
    t.say(&format!("EVP_PKEY_todata -> {answer} {}{errors}", unsafe {
        params::values(array, random)
    }));
    if answer != 1 {
        return;
    }
    for wanted in [selection, 0x87, 0x86] {
        let kind = t
            .text_quietly("EVP_PKEY_get0_type_name", &[key.into()])
            .unwrap_or_default();
        let kind = CString::new(kind).unwrap_or_default();
        let context =
            Object(quietly!(t, EVP_PKEY_CTX_new_from_name(NULL, kind.as_c_str(), NULL)) as *mut _);
        int!(t, EVP_PKEY_fromdata_init(context));
        let mut again = Object::NONE;
        int!(t, EVP_PKEY_fromdata(context, &mut again, wanted, array));
        operations::free(t, context);
        if !again.is_null() {
            int!(t, EVP_PKEY_eq(again, key));
            if !random {
                let mut array = std::ptr::null::<Param>();
                let answer = quietly!(t, EVP_PKEY_todata(again, 0x87, &raw mut array)) as i32;
                // SAFETY: what was answered, or null.
                let told = unsafe { params::values(array, random) };
                t.say(&format!("again -> {answer} {told}{}", t.errors()));
                // OpenSSL crashes where a DH or RSA key lacks its public half.
                let group = Kind::of(name) != Kind::Dh || selection & wanted & 0x84 == 0x84;
                if selection & wanted & 2 != 0 && group {
                    operations::works(t, name, again);
                }
            }
            quietly!(t, EVP_PKEY_free(again));
        }
    }
    quietly!(t, OSSL_PARAM_free(array));
}

fn copy_parameters(t: &Transcript, key: Object) {
    let empty = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
    int!(t, EVP_PKEY_copy_parameters(empty, key));
    t.text("EVP_PKEY_get0_type_name", &[empty.into()]);
    int!(t, EVP_PKEY_get_bits(empty));
    int!(t, EVP_PKEY_parameters_eq(empty, key));
    int!(t, EVP_PKEY_eq(empty, key));
    int!(t, EVP_PKEY_missing_parameters(empty));
    let other = keys::public(t, "ec-P-256");
    int!(t, EVP_PKEY_copy_parameters(other, key));
    int!(t, EVP_PKEY_copy_parameters(key, other));
}

fn set(t: &Transcript, key: Object) {
    let copy = Object(quietly!(t, EVP_PKEY_dup(key)) as *mut _);
    for params in [
        Params::new(),
        Params::new().text("point-format", "compressed"),
        Params::new().text("point-format", "nonsense"),
        Params::new().text("encoding", "explicit"),
        Params::new().text("encoding", "named_curve"),
        Params::new().int("use-cofactor-flag", 1),
        Params::new().int("include-public", 0),
        Params::new().text("group", "P-384"),
        Params::new().octets("encoded-pub-key", &[4; 65]),
        Params::new().octets("encoded-pub-key", &[9; 32]),
        Params::new().octets("encoded-pub-key", &[]),
        Params::new().octets("pub", &[9; 32]),
        Params::new().octets("priv", &[9; 32]),
        Params::new().octets("distid", b"name"),
        Params::new().text("properties", "provider=default"),
        Params::new().int("no such", 1),
    ] {
        int!(t, EVP_PKEY_set_params(copy, params.arg()));
        int!(t, EVP_PKEY_eq(copy, key));
    }
    t.say(&format!("public {}", der(t, "i2d_PUBKEY", copy).len()));
    for (name, kind) in [
        (c"point-format", 4),
        (c"encoding", 4),
        (c"use-cofactor-flag", 1),
        (c"include-public", 1),
    ] {
        ask(t, "EVP_PKEY_get_params", copy.into(), name, kind, false);
    }
    int!(t, EVP_PKEY_set_utf8_string_param(copy, c"group", c"P-256"));
    int!(t, EVP_PKEY_set_int_param(copy, c"bits", 5));
    int!(t, EVP_PKEY_set1_tls_encodedpoint(copy, NULL, 0));
    t.clear();
    quietly!(t, EVP_PKEY_free(copy));
}
