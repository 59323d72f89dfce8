//! PINs: published vectors, and attacks that must fail.

mod attacks;
mod card_values;
mod change;
#[path = "../common/mod.rs"]
mod common;
mod methods;
mod translation;
mod vectors;

use std::sync::Arc;

use common::{Card, bytes, hex};
use outboard_cca::*;
use proptest::prelude::*;

const KEY: &str = "FEDCBA9876543210 0123456789ABCDEF";
const BASE: &str = "0123456789ABCDEF FEDCBA9876543210";
/// The twelve digits before the check digit of 4012345678909.
const PAN: &str = "401234567890";
const ISO_0: &str = "ISO-0   NONE           F";

fn derived(profile: &str, serial: &str) -> Bytes {
    format!("{profile}{serial:24}").as_str().into()
}

fn encrypt(
    card: &Card,
    key: &Bytes,
    pin: &str,
    profile: &str,
    pan: &str,
) -> Result<Bytes, (u32, u32)> {
    let request = ClearPinEncrypt {
        pin_encrypting_key_identifier: key.clone(),
        clear_pin: format!("{pin:16}").as_str().into(),
        pin_profile: profile.into(),
        pan_data: pan.into(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::ClearPinEncrypt(reply) => Ok(reply.encrypted_pin_block),
        _ => unreachable!("another verb's reply"),
    }
}

struct Translation<'a> {
    keys: [&'a Bytes; 2],
    profiles: [Bytes; 2],
    pans: [&'a str; 2],
    block: &'a Bytes,
    rules: &'a [&'a str],
}

fn translate(card: &Card, of: Translation<'_>) -> Result<Bytes, (u32, u32)> {
    let request = EncryptedPinTranslate {
        input_pin_encrypting_key_identifier: of.keys[0].clone(),
        output_pin_encrypting_key_identifier: of.keys[1].clone(),
        input_pin_profile: of.profiles[0].clone(),
        output_pin_profile: of.profiles[1].clone(),
        pan_data_in: of.pans[0].into(),
        pan_data_out: of.pans[1].into(),
        pin_block_in: of.block.clone(),
        rule_array: Rules::of(of.rules),
        sequence_number: 0,
    };
    match card.ask(request)? {
        Reply::EncryptedPinTranslate(reply) => Ok(reply.pin_block_out),
        _ => unreachable!("another verb's reply"),
    }
}

/// A card on which both ends of a key are there, as only a test has them.
fn card() -> Card {
    let card = Card::new();
    card.enable(&[
        AccessPoint::ClearPinEncrypt,
        AccessPoint::ClearPinGenerate,
        AccessPoint::EncryptedPinGenerate,
    ]);
    card
}

fn array(elements: [&str; 3]) -> Bytes {
    elements
        .map(|element| format!("{element:16}"))
        .concat()
        .as_str()
        .into()
}

struct Verification<'a> {
    keys: [&'a Bytes; 2],
    block: &'a Bytes,
    method: &'a str,
    check: u32,
    data: [&'a str; 3],
}

fn verify(card: &Card, of: Verification<'_>) -> Result<(), (u32, u32)> {
    let request = EncryptedPinVerify {
        pin_encrypting_key_identifier: of.keys[0].clone(),
        pin_verifying_key_identifier: of.keys[1].clone(),
        pin_profile: ISO_0.into(),
        pan_data: PAN.into(),
        encrypted_pin_block: of.block.clone(),
        rule_array: Rules::of(&[of.method]),
        pin_check_length: of.check,
        data_array: array(of.data),
    };
    card.ask(request).map(drop)
}

const VALIDATION: &str = "4012345678909FFF";

fn clear(
    card: &Card,
    key: &Bytes,
    method: &str,
    lengths: [u32; 2],
    data: [&str; 3],
) -> Result<String, (u32, u32)> {
    let request = ClearPinGenerate {
        pin_generating_key_identifier: key.clone(),
        rule_array: Rules::of(&[method]),
        pin_length: lengths[0],
        pin_check_length: lengths[1],
        data_array: array(data),
    };
    match card.ask(request)? {
        Reply::ClearPinGenerate(reply) => Ok(String::from_utf8_lossy(&reply.returned_result)
            .trim()
            .to_owned()),
        _ => unreachable!("another verb's reply"),
    }
}
