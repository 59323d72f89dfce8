//! User-defined extensions: the example, and modules that mean harm.

mod common;

use std::sync::Arc;

use common::{Card, hex};
use outboard_cca::*;

const AES: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const INVALID: (u32, u32) = (8, 20002);
const FAILED: (u32, u32) = (8, 20003);
const NO_SUCH: (u32, u32) = (8, 20001);

fn module(text: &str) -> Bytes {
    wat::parse_str(text).expect("WebAssembly as text").into()
}

/// A module with all imports, a page, some bytes at 0, and that body.
fn body(data: &str, body: &str) -> Bytes {
    let two = "(param i32 i32) (result i32)";
    let imports = [
        ("input", two),
        ("output", two),
        ("key", two),
        ("verb", two),
        ("set_bytes", "(param i32 i32 i32 i32 i32) (result i32)"),
        ("set_key", "(param i32 i32 i32 i32) (result i32)"),
        ("set_number", "(param i32 i32 i32 i32) (result i32)"),
        ("run_verb", "(param i32) (result i32)"),
        ("result", "(param i32 i32 i32 i32 i32) (result i32)"),
    ];
    let imports: String = imports
        .iter()
        .map(|(name, of)| format!("(import \"outboard\" \"{name}\" (func ${name} {of}))"))
        .collect();
    module(&format!(
        "(module {imports} (memory (export \"memory\") 1) (data (i32.const 0) \"{data}\")
         (func (export \"run\") (result i32) (local $of i32) {body}))"
    ))
}

/// Adds a module for the user of the tests.
fn add(
    card: &Card,
    module: &Bytes,
    verbs: &[&str],
    keys: &[(&str, &Bytes)],
) -> Result<(), (u32, u32)> {
    let keys = keys
        .iter()
        .map(|(name, key)| ((*name).to_owned(), (*key).clone()));
    let request = UserExtensions {
        rule_array: Rules::of(&["ADD"]),
        name: "test".into(),
        module: module.clone(),
        keys: keys.collect(),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        user: 0,
    };
    let answer = card.0.dispatch(Caller::ADMINISTRATOR, &request.into());
    if answer.return_code != 0 {
        return Err((answer.return_code, answer.reason_code));
    }
    rule(card, "GRANT");
    Ok(())
}

fn rule(card: &Card, rule: &str) -> Vec<ExtensionInfo> {
    let request = UserExtensions {
        rule_array: Rules::of(&[rule]),
        name: "TEST".into(),
        user: Caller::USER.user,
        ..Default::default()
    };
    match card.administer(request) {
        Reply::UserExtensions(reply) => reply.extensions,
        _ => unreachable!("another verb's reply"),
    }
}

fn call(card: &Card, input: &[u8]) -> Result<(u32, Bytes), (u32, u32)> {
    match card.ask(CallExtension {
        name: "test".into(),
        input: input.into(),
    })? {
        Reply::CallExtension(reply) => Ok((reply.code, reply.output)),
        _ => unreachable!("another verb's reply"),
    }
}

/// The example makes the code of an order within its limit, and of none beyond.
#[test]
fn the_example_keeps_to_its_limit() {
    let card = Card::new();
    let example = module(include_str!("../../../samples/udx/limit.wat"));
    let key = card.aes(&["AES", "MAC", "GENERATE"], AES);
    add(&card, &example, &["CSNBMGN2"], &[("mac", &key)]).expect("it is valid");
    let order = b"00100000to Alice";
    let Ok(Reply::MacGenerate2(wanted)) = card.ask(MacGenerate2 {
        rule_array: Rules::of(&["AES", "ONLY"]),
        key_identifier: key.clone(),
        message_text: order.into(),
        ..Default::default()
    }) else {
        panic!("no code")
    };
    let (code, output) = call(&card, order).expect("an answer");
    assert_eq!((code, hex(&output)), (0, hex(&wanted.mac_text)));
    for (order, code) in [
        ("00100001to Mallory", 2),
        ("99999999to Mallory", 2),
        ("0010000Xto Mallory", 1),
        ("00000001", 1),
        ("", 1),
    ] {
        assert_eq!(
            call(&card, order.as_bytes()),
            Ok((code, Bytes::default())),
            "{order}"
        );
    }
    // A verb that is refused: its codes.
    card.administer(AccessPoints {
        enable: Vec::new(),
        disable: vec![AccessPoint::MacGenerate as u16],
    });
    let refused = (8_u32 << 16 | 90).to_le_bytes();
    assert_eq!(call(&card, order), Ok((3, refused.into())));
}

#[test]
fn those_call_who_may() {
    let storage = Arc::new(Memory::default());
    let card = Card::with(Box::new(Arc::clone(&storage)));
    let one = body(
        "",
        "(drop (call $input (i32.const 0) (i32.const 3))) (call $output (i32.const 0) (i32.const 3))",
    );
    add(&card, &one, &[], &[]).expect("it is valid");
    let done = Ok((0, "abc".into()));
    assert_eq!(call(&card, b"abcdef"), done);
    let listed = rule(&card, "LIST");
    assert_eq!((listed.len(), &listed[0].name[..]), (1, "TEST"));
    assert_eq!(
        (listed[0].users.clone(), listed[0].ready),
        (vec![1000], true)
    );
    assert_eq!(listed[0].sha_256.len(), 64);
    rule(&card, "REVOKE");
    assert_eq!(call(&card, b"abcdef"), Err(NO_SUCH));
    rule(&card, "GRANT");
    // It is in the card's state.
    let again = Card(Coprocessor::new(Box::new(Arc::clone(&storage))).expect("its storage"));
    assert_eq!(call(&again, b"abcdef"), done);
    assert_eq!(rule(&again, "LIST"), rule(&card, "LIST"));
    assert_eq!(rule(&again, "REMOVE").len(), 0);
    assert_eq!(call(&again, b"abcdef"), Err(NO_SUCH));
    // Users add nothing.
    for rule in ["ADD", "REMOVE", "GRANT", "REVOKE", "LIST"] {
        let request = UserExtensions {
            rule_array: Rules::of(&[rule]),
            name: "TEST".into(),
            module: one.clone(),
            ..Default::default()
        };
        assert_eq!(card.ask(request).err(), Some((8, 90)), "{rule}");
    }
    // A new module of that name is another: nobody was granted it.
    let request = UserExtensions {
        rule_array: Rules::of(&["ADD"]),
        name: "TEST".into(),
        module: one,
        ..Default::default()
    };
    card.administer(request);
    assert_eq!(call(&card, b"abcdef"), Err(NO_SUCH));
}

#[test]
fn what_is_no_such_module_is_not_added() {
    let card = Card::new();
    let run = "(func (export \"run\") (result i32) (i32.const 0))";
    let memory = "(memory (export \"memory\") 1)";
    for wrong in [
        memory.to_owned(),
        run.to_owned(),
        format!("{memory} (func (export \"run\") (param i32) (result i32) (i32.const 0))"),
        format!("{memory} (func (export \"run\") (result i64) (i64.const 0))"),
        format!("{memory} (global (export \"run\") i32 (i32.const 0))"),
        format!("(import \"wasi_snapshot_preview1\" \"fd_write\" (func)) {memory} {run}"),
        format!("(import \"outboard\" \"exit\" (func)) {memory} {run}"),
        format!("(import \"outboard\" \"memory\" (memory 1)) {memory} {run}"),
        format!("{memory} {run} (func $start) (start $start)"),
        format!("{memory} {run} (func (drop (f64.const 1)))"),
        format!("{memory} (memory 1) {run}"),
        format!("(memory (export \"memory\") 17) {run}"),
        format!("(memory (export \"memory\") 65536) {run}"),
    ] {
        let wrong = module(&format!("(module {wrong})"));
        assert_eq!(add(&card, &wrong, &[], &[]), Err(INVALID));
    }
    let good = module(&format!("(module {memory} {run})"));
    for wrong in ["", "(module)", "\0asm", "\0asm\u{1}\0\0\0"] {
        assert_eq!(
            add(&card, &wrong.into(), &[], &[]),
            Err(INVALID),
            "{wrong:?}"
        );
    }
    let padded = [&good[..], &[0; 48 * 1024]].concat();
    assert_eq!(
        add(&card, &padded.into(), &[], &[]),
        Err(INVALID),
        "too long"
    );
    // An import of another type than the function has: it does not begin.
    let other = "(import \"outboard\" \"input\" (func (param i64)))";
    let other = module(&format!("(module {other} {memory} {run})"));
    add(&card, &other, &[], &[]).expect("it is a module");
    assert_eq!(call(&card, b""), Err(FAILED));
    // Verbs that change the card, take long, are Outboard's own, or tell of other keys.
    for verb in [
        "CSNBMKP", "CSNDPKG", "CSUARNT", "OBAACP", "OBUDXC", "CSNBKRR", "CSNBKRL", "CSNBXXX",
    ] {
        assert_eq!(add(&card, &good, &[verb], &[]), Err(INVALID), "{verb}");
    }
    let many = vec![("key", &good); 17];
    assert_eq!(add(&card, &good, &[], &many), Err(INVALID));
    // As many as there may be.
    for number in 0..20 {
        let request = UserExtensions {
            rule_array: Rules::of(&["ADD"]),
            name: format!("E{number}").as_str().into(),
            module: good.clone(),
            ..Default::default()
        };
        let answer = card.0.dispatch(Caller::ADMINISTRATOR, &request.into());
        // One is there already.
        assert_eq!(
            answer.return_code,
            if number < 15 { 0 } else { 12 },
            "{number}"
        );
    }
}

/// Each ends the module, and nothing else.
#[test]
fn modules_that_mean_harm_are_ended() {
    let card = Card::new();
    let key = card.aes(&["AES", "MAC", "GENERATE"], AES);
    let verb = "(local.set $of (call $verb (i32.const 0) (i32.const 8)))";
    let many = format!("(loop $again {verb} (br $again)) (i32.const 0)");
    let text_too_long = format!(
        "{verb} (call $set_bytes (local.get $of) (i32.const 16) (i32.const 12) (i32.const 0) (i32.const 65537))"
    );
    for harm in [
        "(loop $again (br $again)) (i32.const 0)",
        "(unreachable)",
        "(i32.div_u (i32.const 1) (i32.const 0))",
        "(i32.load (i32.const -4))",
        "(i32.store (i32.const 65533) (i32.const 0)) (i32.const 0)",
        "(memory.fill (i32.const 65535) (i32.const 0) (i32.const 2)) (i32.const 0)",
        // Pointers that are wild.
        "(call $input (i32.const -1) (i32.const 1))",
        "(call $input (i32.const 65536) (i32.const 1))",
        "(call $input (i32.const 0) (i32.const -1))",
        "(call $output (i32.const 65535) (i32.const 2))",
        "(call $output (i32.const -8) (i32.const 16))",
        "(call $output (i32.const 0) (i32.const 32769))",
        "(call $key (i32.const -1) (i32.const 3))",
        "(call $key (i32.const 0) (i32.const 65))",
        "(call $verb (i32.const 65530) (i32.const 8))",
        "(call $result (i32.const 0) (i32.const -1) (i32.const 1) (i32.const 0) (i32.const 0))",
        // Handles that are not theirs.
        "(call $run_verb (i32.const 0))",
        "(call $run_verb (i32.const -1))",
        "(call $set_key (i32.const 7) (i32.const 0) (i32.const 1) (i32.const 0))",
        "(call $set_key (call $verb (i32.const 0) (i32.const 8)) (i32.const 0) (i32.const 1) (i32.const 1))",
        "(call $set_key (call $verb (i32.const 0) (i32.const 8)) (i32.const 0) (i32.const 1) (i32.const -1))",
        "(call $set_number (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0))",
        "(call $set_bytes (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0))",
        "(call $result (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0))",
        // Too many, too much.
        &many,
        &text_too_long,
        "(loop $again (drop (call $output (i32.const 0) (i32.const 1024))) (br $again)) (i32.const 0)",
        "(loop $again (drop (call $run_verb (call $verb (i32.const 0) (i32.const 8)))) (br $again)) (i32.const 0)",
        // Not text.
        "(i32.store8 (i32.const 0) (i32.const 255)) (call $key (i32.const 0) (i32.const 3))",
    ] {
        let harm_ = body("CSNBMGN2........message_text", harm);
        add(&card, &harm_, &["CSNBMGN2"], &[("mac", &key)]).expect("it is valid");
        assert_eq!(call(&card, b"input"), Err(FAILED), "{harm}");
    }
    // One verb again and again: the fuel ends it.
    let again = format!(
        "{verb} (loop $again (drop (call $run_verb (local.get $of))) (br $again)) (i32.const 0)"
    );
    add(&card, &body("CSNBMGN2", &again), &["CSNBMGN2"], &[]).expect("it is valid");
    assert_eq!(call(&card, b""), Err(FAILED));
    // What a verb takes, it costs: a module makes a thousand MACs in a call, and no thousand signatures.
    let often = |verb: &str| {
        let begin = format!(
            "(local $left i32) (local.set $of (call $verb (i32.const 0) (i32.const {})))",
            verb.len()
        );
        let body_ = format!(
            "{begin} (local.set $left (i32.const 1000)) (loop $again (drop (call $run_verb (local.get $of)))
             (local.set $left (i32.sub (local.get $left) (i32.const 1))) (br_if $again (local.get $left))) (i32.const 7)"
        );
        add(&card, &body(verb, &body_), &[verb], &[]).expect("it is valid");
        call(&card, b"")
    };
    assert_eq!(often("CSNBMGN2"), Ok((7, Bytes::default())));
    assert_eq!(often("CSNBMVR"), Ok((7, Bytes::default())));
    for expensive in ["CSNDDSG", "CSNDPKD", "CSNDDSV", "CSNBPVR"] {
        assert_eq!(often(expensive), Err(FAILED), "{expensive}");
    }
    // So it ends what only copies: with no fuel for that, these went on for hours.
    for again in [
        "(call $set_bytes (local.get $of) (i32.const 16) (i32.const 12) (i32.const 0) (i32.const 65536))",
        "(call $key (i32.const 0) (i32.const 64))",
        "(call $verb (i32.const 64) (i32.const 8))",
        "(call $input (i32.const 1024) (i32.const 32768))",
        "(call $result (local.get $of) (i32.const 16) (i32.const 12) (i32.const 0) (i32.const 0))",
    ] {
        // So often that its own instructions do not use the fuel up.
        let often = format!(
            "(local $left i32) {verb} (local.set $left (i32.const 100000)) (loop $again (drop {again})
             (local.set $left (i32.sub (local.get $left) (i32.const 1))) (br_if $again (local.get $left)))
             (i32.const 0)"
        );
        add(
            &card,
            &body("CSNBMGN2........message_text", &often),
            &["CSNBMGN2"],
            &[],
        )
        .expect("it is valid");
        assert_eq!(call(&card, &[0; 32 * 1024]), Err(FAILED), "{again}");
    }
    let deep = "(module (memory (export \"memory\") 1)
        (func $deep (param i32) (result i32) (call $deep (i32.add (local.get 0) (i32.const 1))))
        (func (export \"run\") (result i32) (call $deep (i32.const 0))))";
    add(&card, &module(deep), &[], &[]).expect("it is valid");
    assert_eq!(call(&card, b""), Err(FAILED));
    let tables = "(module (memory (export \"memory\") 1) (table 5000 funcref)
        (func (export \"run\") (result i32) (i32.const 0)))";
    add(&card, &module(tables), &[], &[]).expect("it is valid");
    assert_eq!(call(&card, b""), Err(FAILED));
    // Its memory does not grow, and it learns that.
    add(&card, &body("", "(memory.grow (i32.const 1))"), &[], &[]).expect("it is valid");
    assert_eq!(call(&card, b""), Ok((u32::MAX, Bytes::default())));
    assert_eq!(call(&card, &[0; 32 * 1024 + 1]), Err((8, 153)));
    // The card goes on.
    assert!(
        card.ask(RandomNumberGenerate {
            form: "RANDOM".into()
        })
        .is_ok()
    );
}

/// What is not there is -1: keys, verbs, parameters, results.
#[test]
fn what_is_not_there_is_told() {
    let card = Card::new();
    let key = card.aes(&["AES", "MAC", "GENERATE"], AES);
    let data = "CSNBMGN2CSNBENC.rule_array......123456789.......";
    let of = "(call $verb (i32.const 0) (i32.const 8))";
    for (asks, answer) in [
        ("(call $key (i32.const 0) (i32.const 8))".to_owned(), -1_i32),
        ("(call $verb (i32.const 8) (i32.const 7))".to_owned(), -1),
        (of.to_owned(), 0),
        (
            format!(
                "(call $set_bytes {of} (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 8))"
            ),
            -1,
        ),
        (
            format!("(call $set_number {of} (i32.const 16) (i32.const 10) (i32.const 8))"),
            -1,
        ),
        (
            format!(
                "(call $set_bytes {of} (i32.const 16) (i32.const 10) (i32.const 32) (i32.const 9))"
            ),
            0,
        ),
        (
            format!(
                "(call $result {of} (i32.const 16) (i32.const 10) (i32.const 32) (i32.const 9))"
            ),
            -1,
        ),
        (format!("(call $run_verb {of})"), 8 << 16 | 129),
    ] {
        let asks_ = body(data, &asks);
        add(&card, &asks_, &["CSNBMGN2"], &[("mac", &key)]).expect("it is valid");
        let code = call(&card, b"").map(|(code, _)| code);
        assert_eq!(code, Ok(answer.cast_unsigned()), "{asks}");
    }
}

/// A key goes where a verb takes a key, and no verb gives its token back.
#[test]
fn a_key_s_token_does_not_leave() {
    let card = Card::new();
    let key = card.aes(&["AES", "MAC", "GENERATE"], AES);
    let set = |name: &str, at: u32| {
        let asks = format!(
            "(call $set_key (call $verb (i32.const 0) (i32.const 8)) (i32.const {at}) (i32.const {}) (i32.const 0))",
            name.len()
        );
        let module = body(
            "CSNBMGN2key_identifier..message_text....chaining_vector",
            &asks,
        );
        add(&card, &module, &["CSNBMGN2"], &[("mac", &key)]).expect("it is valid");
        call(&card, b"").map(|(code, _)| code.cast_signed())
    };
    assert_eq!(set("key_identifier", 8), Ok(0));
    assert_eq!(set("message_text", 24), Ok(-1));
    assert_eq!(set("chaining_vector", 40), Ok(-1));
    for verb in ["CSNBKTC", "CSNBKTC2", "CSNDKTC", "CSNBPEX"] {
        let module = body("", "(i32.const 0)");
        assert_eq!(add(&card, &module, &[verb], &[]), Err(INVALID), "{verb}");
    }
}

/// A module uses the labels that it was added with, as the administrator has them, and no others: not by its input, either.
#[test]
fn labels_of_others_are_not_there() {
    let card = Card::new();
    let key = card.des("MAC", &[], "0123456789ABCDEF FEDCBA9876543210");
    let other = card.des("MAC", &[], "FEDCBA9876543210 0123456789ABCDEF");
    let store = |caller: Caller, label: &str, token: &Bytes| {
        let create = KeyRecordCreate {
            key_label: label.into(),
        };
        let write = KeyRecordWrite {
            key_label: label.into(),
            key_token: token.clone(),
        };
        let one = card.0.dispatch(caller, &create.into()).return_code;
        one + card.0.dispatch(caller, &write.into()).return_code
    };
    // The caller's own labels come first: they are not the administrator's.
    assert_eq!(store(Caller::USER, "CALLERS.OWN", &other), 0);
    assert_eq!(store(Caller::ADMINISTRATOR, "SHOP.MAC", &key), 0);
    assert_eq!(store(Caller::ADMINISTRATOR, "OTHER.MAC", &other), 0);
    // CSNBKYT of the key whose identifier is the input.
    let data = "CSNBKYT.key_identifier..rule_array......KEY-ENC GENERATEENC-ZERO";
    let asks = body(
        data,
        "(local.set $of (call $verb (i32.const 0) (i32.const 7)))
         (drop (call $set_bytes (local.get $of) (i32.const 24) (i32.const 10) (i32.const 40) (i32.const 24)))
         (drop (call $set_bytes (local.get $of) (i32.const 8) (i32.const 14) (i32.const 1024)
            (call $input (i32.const 1024) (i32.const 64))))
         (call $run_verb (local.get $of))",
    );
    let shop = Bytes::from("SHOP.MAC");
    add(&card, &asks, &["CSNBKYT"], &[("mac", &shop)]).expect("it is valid");
    let ask = |input: &[u8]| call(&card, input).map(|(code, _)| (code >> 16, code & 0xffff));
    assert_eq!(ask(b"SHOP.MAC"), Ok((0, 0)));
    for label in ["OTHER.MAC", "CALLERS.OWN", "NO.SUCH"] {
        assert_eq!(ask(label.as_bytes()), Ok((8, 30)), "{label}");
    }
    // A token that its caller has, and one that is none.
    assert_eq!(ask(&other), Ok((0, 0)));
    assert_eq!(ask(&[1; 64]), Ok((8, 29)));
    // An administrator who calls it does not lend it any right.
    let request = CallExtension {
        name: "TEST".into(),
        input: "OTHER.MAC".into(),
    };
    let Reply::CallExtension(reply) = card.administer(request) else {
        unreachable!("another verb's reply")
    };
    assert_eq!(reply.code, 8 << 16 | 30);
}
