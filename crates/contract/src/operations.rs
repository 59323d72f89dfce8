//! What many scenarios do with a key, each in one call.

use std::ffi::CStr;

use crate::keys;
use crate::params::hex;
use crate::transcript::{Arg, NULL, Object, PASSED_OVER, Transcript, int, quietly};

/// A message.
pub(crate) const MESSAGE: &[u8] = b"what is signed";

/// The type of key, for what depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Rsa,
    Pss,
    Ec,
    Sm2,
    Edwards,
    Montgomery,
    Dsa,
    Dh,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            _ if name.starts_with("rsa") => Self::Rsa,
            _ if name.starts_with("pss") => Self::Pss,
            _ if name.starts_with("ec-") => Self::Ec,
            _ if name.starts_with("sm2") => Self::Sm2,
            _ if name.starts_with("ed") => Self::Edwards,
            _ if name.starts_with('x') => Self::Montgomery,
            _ if name.starts_with("dsa") => Self::Dsa,
            _ => Self::Dh,
        }
    }

    pub(crate) fn signs(self) -> bool {
        !matches!(self, Self::Montgomery | Self::Dh)
    }

    pub(crate) fn derives(self) -> bool {
        matches!(self, Self::Ec | Self::Sm2 | Self::Montgomery | Self::Dh)
    }
}

/// A context for a key, not written down.
pub(crate) fn context(t: &Transcript, key: Object) -> Object {
    if key.is_null() {
        return key;
    }
    Object(quietly!(t, EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL)) as *mut _)
}

/// Begins an operation; the context is none where it is refused, as some calls would then crash.
pub(crate) fn begin(t: &Transcript, function: &'static str, context: Object) -> Object {
    if t.int(function, &[context.into()]) <= 0 {
        free(t, context);
        return Object::NONE;
    }
    context
}

pub(crate) fn free(t: &Transcript, context: Object) {
    quietly!(t, EVP_PKEY_CTX_free(context));
}

/// What was written to a buffer of a call that succeeded.
fn output(answer: i32, buffer: &[u8], length: usize, exact: bool) -> String {
    if answer == PASSED_OVER {
        return "passed over".into();
    }
    if answer <= 0 {
        return format!("length {length}");
    }
    if exact {
        format!(
            "length {length} {}",
            hex(&buffer[..length.min(buffer.len())])
        )
    } else {
        "random".into()
    }
}

/// `EVP_PKEY_sign`, `_derive`, `_decrypt`, `_encrypt`, `_verify_recover`: into a buffer of so much room, or none to ask
/// for its size. Writes the output down where it is the same every time.
pub(crate) fn produce(
    t: &Transcript,
    function: &'static str,
    context: Object,
    room: Option<usize>,
    input: &[u8],
    exact: bool,
) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 2048];
    let mut length = room.unwrap_or(0);
    let place = if room.is_some() {
        Arg::from(&mut buffer)
    } else {
        NULL
    };
    let mut arguments = vec![context.into(), place, Arg::from(&mut length)];
    if function != "EVP_PKEY_derive" {
        arguments.push(input.into());
        arguments.push(input.len().into());
    }
    let answer = t.quiet_int(function, &arguments);
    let errors = t.errors();
    let shown = if answer > 0 && room.is_none() {
        format!("length {length}")
    } else {
        output(answer, &buffer, length, exact)
    };
    let room = room.map_or("no buffer".into(), |room| format!("{room} bytes"));
    t.say(&format!("{function}({room}) -> {answer} {shown}{errors}"));
    buffer.truncate(length);
    (answer > 0).then_some(buffer)
}

/// `EVP_DigestSign` or `EVP_DigestSignFinal`.
pub(crate) fn digest_sign(
    t: &Transcript,
    digest: Object,
    message: Option<&[u8]>,
    room: Option<usize>,
    exact: bool,
) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 2048];
    let mut length = room.unwrap_or(0);
    let place = if room.is_some() {
        Arg::from(&mut buffer)
    } else {
        NULL
    };
    let (name, answer) = match message {
        Some(message) => (
            "EVP_DigestSign",
            t.quiet_int(
                "EVP_DigestSign",
                &[
                    digest.into(),
                    place,
                    Arg::from(&mut length),
                    message.into(),
                    message.len().into(),
                ],
            ),
        ),
        None => (
            "EVP_DigestSignFinal",
            t.quiet_int(
                "EVP_DigestSignFinal",
                &[digest.into(), place, Arg::from(&mut length)],
            ),
        ),
    };
    let errors = t.errors();
    let shown = if answer > 0 && room.is_none() {
        format!("length {length}")
    } else {
        output(answer, &buffer, length, exact)
    };
    let room = room.map_or("no buffer".into(), |room| format!("{room} bytes"));
    t.say(&format!("{name}({room}) -> {answer} {shown}{errors}"));
    buffer.truncate(length);
    (answer > 0).then_some(buffer)
}

/// A digest context that signs or verifies, with its operation's context; none where it does not begin: what OpenSSL
/// then does is undefined.
pub(crate) fn digest_init(
    t: &Transcript,
    function: &'static str,
    digest: Option<&CStr>,
    key: Object,
) -> (Object, Object) {
    let context = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    let mut operation = Object::NONE;
    let answer = t.int(
        function,
        &[
            context.into(),
            Arg::from(&mut operation),
            digest.into(),
            NULL,
            NULL,
            key.into(),
            NULL,
        ],
    );
    if answer <= 0 {
        quietly!(t, EVP_MD_CTX_free(context));
        return (Object::NONE, Object::NONE);
    }
    (context, operation)
}

/// What a program with OpenSSL alone says of a signature of a message.
pub(crate) fn verify_plainly(
    t: &Transcript,
    key: &str,
    digest: Option<&CStr>,
    pss: bool,
    message: &[u8],
    signature: &[u8],
) {
    let plain = t.plain();
    let key = keys::private_in(t, plain.into(), key);
    let context = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    let mut operation = Object::NONE;
    quietly!(
        t,
        EVP_DigestVerifyInit_ex(context, &mut operation, digest, plain, NULL, key, NULL)
    );
    if pss {
        quietly!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
        quietly!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, -2));
    }
    let answer = quietly!(
        t,
        EVP_DigestVerify(context, signature, signature.len(), message, message.len())
    ) as i32;
    t.clear();
    t.say(&format!("OpenSSL alone verifies the signature -> {answer}"));
    quietly!(t, EVP_MD_CTX_free(context));
    quietly!(t, EVP_PKEY_free(key));
}

/// Signs a message in one call with default settings, and has the signature verified.
pub(crate) fn signs(t: &Transcript, name: &str, key: Object) {
    let kind = Kind::of(name);
    let digest = (kind != Kind::Edwards).then_some(c"SHA256");
    let (context, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    let exact = matches!(kind, Kind::Rsa | Kind::Edwards);
    digest_sign(t, context, Some(MESSAGE), Some(1024), exact);
    quietly!(t, EVP_MD_CTX_free(context));
}

/// The usual things done with a key of that kind, to see that it works: sign and verify, or derive.
pub(crate) fn works(t: &Transcript, name: &str, key: Object) {
    if key.is_null() {
        return;
    }
    let kind = Kind::of(name);
    if kind.signs() {
        signs(t, name, key);
    }
    if kind.derives() {
        let context = context(t, key);
        let context = begin(t, "EVP_PKEY_derive_init", context);
        int!(t, EVP_PKEY_derive_set_peer(context, key));
        produce(t, "EVP_PKEY_derive", context, Some(512), &[], true);
        free(t, context);
    }
}

/// A digest of a message, of the given length.
pub(crate) fn hashed(length: usize) -> Vec<u8> {
    (0..length).map(|index| index as u8 ^ 0x5a).collect()
}

/// The length of a digest's value.
pub(crate) fn digest_length(t: &Transcript, name: &CStr) -> usize {
    let digest = Object(quietly!(t, EVP_MD_fetch(t.plain(), name, NULL)) as *mut _);
    if digest.is_null() {
        t.clear();
        return 32;
    }
    let length = quietly!(t, EVP_MD_get_size(digest));
    quietly!(t, EVP_MD_free(digest));
    length
}
