//! TLS 1.2's records, sealed by stock and opened by Outboard, and the other way round.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use outboard_libcrypto::{Cipher, CipherContext, Context, Direction, Result};
use outboard_measure::Sides;

const EXPLICIT_IV: usize = 8;
const TAG: usize = 16;
const KEY_LENGTHS: [usize; 3] = [16, 24, 32];
const LENGTHS: [usize; 7] = [0, 1, 16, 46, 255, 2048, 16384];

fn context(side: &Context, key_length: usize, direction: Direction) -> CipherContext {
    let cipher = Cipher::fetch(side, &format!("AES-{}-GCM", key_length * 8), None).unwrap();
    let mut context = CipherContext::new(&cipher, direction).unwrap();
    context.start(Some(&vec![7; key_length]), None).unwrap();
    context.set_fixed_iv(&[1, 2, 3, 4], false).unwrap();
    context
}

/// Sequence number, type, version, and the length of the record as libssl has it in its hands.
fn announce(context: &mut CipherContext, number: u8, length: usize) {
    let mut associated = [0, 0, 0, 0, 0, 0, 0, number, 23, 3, 3, 0, 0];
    associated[11..].copy_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
    assert_eq!(context.tls_record(&mut associated).unwrap(), TAG);
}

/// Explicit vector, ciphertext, tag.
fn seal(context: &mut CipherContext, number: u8, text: &[u8]) -> Vec<u8> {
    let mut record = [&[0; EXPLICIT_IV], text, &[0; TAG]].concat();
    announce(context, number, EXPLICIT_IV + text.len());
    assert_eq!(context.cipher_in_place(&mut record).unwrap(), record.len());
    record
}

/// The text; and what an opened record holds in its place, right or not.
fn open(context: &mut CipherContext, number: u8, record: &[u8]) -> (Result<()>, Vec<u8>) {
    let mut record = record.to_vec();
    announce(context, number, record.len());
    let length = record.len();
    let opened = context
        .cipher_in_place(&mut record)
        .map(|answer| assert_eq!(answer, length));
    let end = record.len() - TAG;
    (opened, record[EXPLICIT_IV..end].to_vec())
}

/// The counted part of a record's vector.
fn counted(record: &[u8]) -> u64 {
    u64::from_be_bytes(record[..EXPLICIT_IV].try_into().unwrap())
}

fn text(length: usize) -> Vec<u8> {
    (0..length).map(|at| at as u8 ^ 0x5a).collect()
}

/// Each sealing side with each opening one.
fn pairs(sides: &Sides) -> Vec<(String, &Context, &Context)> {
    let both = common::both(sides);
    let pairs = both.iter().flat_map(|from| both.map(|to| (*from, to)));
    pairs
        .map(|(from, to)| (format!("{} to {}", from.0, to.0), from.1, to.1))
        .collect()
}

#[test]
fn each_side_opens_what_the_other_sealed() {
    let sides = common::sides();
    for key_length in KEY_LENGTHS {
        let name = format!("AES-{}-GCM", key_length * 8);
        let cipher = Cipher::fetch(&sides.outboard, &name, None).unwrap();
        assert_eq!(cipher.provider_name().as_deref(), Some("outboard"));
        for (name, from, to) in pairs(&sides) {
            let mut sealing = context(from, key_length, Direction::Encrypt);
            let mut opening = context(to, key_length, Direction::Decrypt);
            let mut last: Option<u64> = None;
            for (number, length) in (0..).zip(LENGTHS) {
                let record = seal(&mut sealing, number, &text(length));
                assert!(last.is_none_or(|last| counted(&record) == last.wrapping_add(1)));
                last = Some(counted(&record));
                let (opened, opened_text) = open(&mut opening, number, &record);
                assert!(opened.is_ok(), "{name}, {length} bytes: {opened:?}");
                assert_eq!(opened_text, text(length), "{name}, {length} bytes");
            }
        }
    }
}

#[test]
fn nothing_of_a_record_that_is_not_authentic_is_given_out() {
    let sides = common::sides();
    let mut sealing = context(&sides.outboard, 16, Direction::Encrypt);
    let mut opening = context(&sides.outboard, 16, Direction::Decrypt);
    let record = seal(&mut sealing, 0, &text(46));
    for at in [0, EXPLICIT_IV, EXPLICIT_IV + 45, record.len() - 1] {
        let mut wrong = record.clone();
        wrong[at] ^= 1;
        let (opened, left) = open(&mut opening, 0, &wrong);
        assert!(opened.is_err(), "byte {at}");
        assert_eq!(left, [0; 46], "byte {at}");
    }
    assert!(open(&mut opening, 1, &record).0.is_err(), "another number");
    let (opened, left) = open(&mut opening, 0, &record);
    assert!(opened.is_ok(), "{opened:?}");
    assert_eq!(left, text(46));
}

/// As libssl and OpenSSH use a context, one after the other; a copy goes on where the first one was.
#[test]
fn a_context_takes_records_and_messages_in_pieces() {
    let sides = common::sides();
    for (name, from, to) in pairs(&sides) {
        let mut sealing = context(from, 32, Direction::Encrypt);
        let mut opening = context(to, 32, Direction::Decrypt);
        let first = counted(&seal(&mut sealing, 0, &text(100)));

        let mut explicit = [0; EXPLICIT_IV];
        sealing.generate_iv(&mut explicit).unwrap();
        assert_eq!(counted(&explicit), first.wrapping_add(1), "{name}");
        sealing.associate(b"header").unwrap();
        let mut message = text(70);
        sealing.update_in_place(&mut message[..33]).unwrap();
        let mut sealing = sealing.duplicate().unwrap();
        sealing.update_in_place(&mut message[33..]).unwrap();
        sealing.finish(&mut []).unwrap();
        let mut tag = [0; TAG];
        sealing.tag(&mut tag).unwrap();

        let iv = [&[1, 2, 3, 4], &explicit[..]].concat();
        opening.start(None, Some(&iv)).unwrap();
        opening.set_tag(&tag).unwrap();
        opening.associate(b"header").unwrap();
        opening.update_in_place(&mut message).unwrap();
        opening.finish(&mut []).unwrap();
        assert_eq!(message, text(70), "{name}");

        let record = seal(&mut sealing, 2, &text(9));
        assert_eq!(counted(&record), first.wrapping_add(2), "{name}");
        let mut opening = opening.duplicate().unwrap();
        let (opened, left) = open(&mut opening, 2, &record);
        assert!(opened.is_ok(), "{name}: {opened:?}");
        assert_eq!(left, text(9), "{name}");
    }
}
