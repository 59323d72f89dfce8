//! Contexts that sign and verify messages (`EVP_MD_CTX`).

use super::input::Input;
use super::operations::signature;
use super::settings::{QUESTIONS, draw};
use super::world::{Context, World};
use crate::operations::{Kind, MESSAGE, digest_sign};
use crate::params::{Params, ask};
use crate::transcript::{Arg, NULL, Object, int, quietly};

/// `EVP_PKEY_OP_SIGNCTX`
const SIGN_MESSAGE: i32 = 1 << 7;

pub(super) fn begin(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(key) = world.key(input).filter(|key| key.kind().signs()) else {
        return;
    };
    let (t, context) = (world.t, world.context);
    let slot = input.below(world.messages.len());
    let reused = world.messages[slot].is_some() && input.once_in(2);
    // One that is begun anew stays with its key.
    let (md, key) = match world.messages[slot].filter(|_| reused) {
        Some(message) => (message.object, message.key),
        None => (Object(quietly!(t, EVP_MD_CTX_new()) as *mut _), key),
    };
    let usual = key.kind() != Kind::Edwards;
    let digest = match (usual, input.below(10)) {
        (true, 0) => None,
        (true, 1) => Some(c"SHA384"),
        (true, 2) => Some(c"SHA1"),
        (true, 3) => Some(c"MD5"),
        (true, 4) => Some(c"no such"),
        (true, _) | (false, 0) => Some(c"SHA256"),
        (false, _) => None,
    };
    let query = match input.below(10) {
        0 => Some(c"provider=default"),
        1 => Some(c"fips=yes"),
        _ => None,
    };
    let params = match input.once_in(6) {
        true => draw(world.t, input),
        false => Params::new(),
    };
    let function = input.one(&["EVP_DigestSignInit_ex", "EVP_DigestVerifyInit_ex"]);
    let answer = t.int(
        function,
        &[
            md.into(),
            NULL,
            digest.into(),
            context.into(),
            query.into(),
            key.object.into(),
            params.arg(),
        ],
    );
    // What a context does that was not begun is undefined.
    if answer <= 0 {
        if reused {
            world.messages[slot] = None;
        }
        quietly!(t, EVP_MD_CTX_free(md));
        return;
    }
    if !reused && let Some(old) = world.messages[slot].take() {
        quietly!(t, EVP_MD_CTX_free(old.object));
    }
    world.messages[slot] = Some(Context { object: md, key });
}

pub(super) fn update(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(message) = input.filled(&world.messages) else {
        return;
    };
    let data = &MESSAGE[..input.one(&[MESSAGE.len(), 0, 1, MESSAGE.len()])];
    let function = input.one(&["EVP_DigestSignUpdate", "EVP_DigestVerifyUpdate"]);
    // By the right one mostly.
    let function = match input.once_in(4) {
        true => function,
        false => right(
            world,
            message,
            "EVP_DigestSignUpdate",
            "EVP_DigestVerifyUpdate",
        ),
    };
    world.t.int(
        function,
        &[message.object.into(), Arg::from(data), data.len().into()],
    );
}

/// The function for what the context was begun for.
fn right(
    world: &World<'_>,
    message: Context,
    sign: &'static str,
    verify: &'static str,
) -> &'static str {
    let t = world.t;
    let operation = Object(quietly!(t, EVP_MD_CTX_get_pkey_ctx(message.object)) as *mut _);
    let answer = quietly!(t, EVP_PKEY_CTX_get_operation(operation)) as i32;
    t.clear();
    match answer {
        SIGN_MESSAGE => sign,
        _ => verify,
    }
}

pub(super) fn last(world: &mut World<'_>, input: &mut Input<'_>) {
    // What is signed in one call alone has no end: OpenSSL crashes.
    let message = input.filled(&world.messages);
    let Some(message) = message.filter(|message| message.key.kind() != Kind::Edwards) else {
        return;
    };
    let (t, md) = (world.t, message.object);
    let signs = right(world, message, "sign", "verify") == "sign";
    if signs != input.once_in(8) {
        let room = input.one(&[Some(1024), Some(1024), None, Some(64), Some(0)]);
        let made = digest_sign(t, md, None, room, false);
        if let Some(made) = made.filter(|_| room.is_some()) {
            world.note(message.key, made, false);
        }
    } else {
        let signature = signature(world, input, message.key);
        int!(t, EVP_DigestVerifyFinal(md, &signature, signature.len()));
    }
}

pub(super) fn at_once(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(message) = input.filled(&world.messages) else {
        return;
    };
    let (t, md) = (world.t, message.object);
    let data = &MESSAGE[..input.one(&[MESSAGE.len(), MESSAGE.len(), 0, 1])];
    let signs = right(world, message, "sign", "verify") == "sign";
    if signs != input.once_in(8) {
        let room = input.one(&[Some(1024), Some(1024), None, Some(64), Some(0)]);
        let made = digest_sign(t, md, Some(data), room, false);
        if let Some(made) = made.filter(|_| room.is_some()) {
            world.note(message.key, made, false);
        }
    } else {
        let signature = signature(world, input, message.key);
        int!(
            t,
            EVP_DigestVerify(md, &signature, signature.len(), data, data.len())
        );
    }
}

/// Sets or asks the operation's context in a message's.
pub(super) fn set(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(message) = input.filled(&world.messages) else {
        return;
    };
    let t = world.t;
    let operation = Object(quietly!(t, EVP_MD_CTX_get_pkey_ctx(message.object)) as *mut _);
    if input.once_in(4) {
        let (name, kind) = input.one(&QUESTIONS);
        ask(
            t,
            "EVP_PKEY_CTX_get_params",
            operation.into(),
            name,
            kind,
            false,
        );
        return;
    }
    let params = draw(world.t, input);
    int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
}

pub(super) fn copy(world: &mut World<'_>, input: &mut Input<'_>) {
    let Some(message) = input.filled(&world.messages) else {
        return;
    };
    let t = world.t;
    let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    let copied = int!(t, EVP_MD_CTX_copy_ex(copy, message.object));
    if copied != 1 {
        quietly!(t, EVP_MD_CTX_free(copy));
        return;
    }
    let slot = input.below(world.messages.len());
    let key = message.key;
    if let Some(old) = world.messages[slot].replace(Context { object: copy, key }) {
        quietly!(t, EVP_MD_CTX_free(old.object));
    }
}

pub(super) fn end(world: &mut World<'_>, input: &mut Input<'_>) {
    let slot = input.below(world.messages.len());
    if let Some(old) = world.messages[slot].take() {
        quietly!(world.t, EVP_MD_CTX_free(old.object));
    }
}
