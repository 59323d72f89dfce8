//! Many messages at once, in all lanes and in half of them, against AWS-LC one by one.

use super::*;
use crate::vector;
use aws_lc_sys as aws_lc;
use std::ptr::null_mut;

/// What is hashed: the function, the message in two parts, its end, and how many blocks come out.
#[derive(Clone, Copy)]
struct Case<'a> {
    function: Function,
    message: [&'a [u8]; 2],
    tail: &'a [u8],
    blocks: usize,
}

impl<'a> Case<'a> {
    fn job(&self, number: usize) -> Job<'a, usize> {
        let job = Job::new(self.function, self.message, number);
        match *self.tail {
            [] => job,
            [byte] => job.and_byte(byte),
            [first, second] => job.and_bytes([first, second]),
            _ => panic!("a tail has two bytes at most"),
        }
    }

    /// As AWS-LC has it: all blocks of a function without an end, or the digest.
    fn expected(&self) -> Vec<u8> {
        let message = [self.message[0], self.message[1], self.tail].concat();
        // SAFETY: each gives a constant.
        let (function, length) = unsafe {
            match (self.function.suffix, self.function.rate) {
                (0x06, 136) => (aws_lc::EVP_sha3_256(), 32),
                (0x06, 72) => (aws_lc::EVP_sha3_512(), 64),
                (0x1f, 168) => (aws_lc::EVP_shake128(), 168 * self.blocks),
                (0x1f, 136) => (aws_lc::EVP_shake256(), 136 * self.blocks),
                other => panic!("no function {other:?}"),
            }
        };
        let mut digest = vec![0; length];
        // SAFETY: the context is freed, once; AWS-LC reads and writes as many bytes as there are.
        unsafe {
            let context = aws_lc::EVP_MD_CTX_new();
            assert_eq!(aws_lc::EVP_DigestInit_ex(context, function, null_mut()), 1);
            let read = aws_lc::EVP_DigestUpdate(context, message.as_ptr().cast(), message.len());
            assert_eq!(read, 1);
            let written = match self.function.suffix {
                0x06 => aws_lc::EVP_DigestFinal_ex(context, digest.as_mut_ptr(), null_mut()),
                _ => aws_lc::EVP_DigestFinalXOF(context, digest.as_mut_ptr(), length),
            };
            assert_eq!(written, 1);
            aws_lc::EVP_MD_CTX_free(context);
        }
        digest
    }
}

/// One after another, and what came out.
struct Cases<'a> {
    cases: &'a [Case<'a>],
    begun: usize,
    found: Vec<Vec<u8>>,
}

impl<'a> Jobs<'a> for Cases<'a> {
    type Use = usize;

    fn next(&mut self) -> Option<Job<'a, usize>> {
        let number = self.begun;
        let job = self.cases.get(number)?.job(number);
        self.begun += 1;
        Some(job)
    }

    fn squeezed(&mut self, case: usize, number: usize, block: &Block) -> bool {
        self.found[case].extend(&block[..self.cases[case].function.rate]);
        number + 1 < self.cases[case].blocks
    }
}

struct Run<'a, 'b> {
    cases: &'b mut Cases<'a>,
    width: Option<usize>,
}

impl Kernel for Run<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        match self.width {
            Some(width) => run_in::<V, _>(self.cases, width),
            None => run::<V, _>(self.cases),
        }
    }
}

fn agree(cases: &[Case<'_>]) {
    for width in [Some(LANES), Some(HALF), Some(1), None] {
        let mut run = Cases {
            cases,
            begun: 0,
            found: vec![Vec::new(); cases.len()],
        };
        vector::run(Run {
            cases: &mut run,
            width,
        })
        .expect("lanes");
        for (number, (case, found)) in cases.iter().zip(&run.found).enumerate() {
            let expected = case.expected();
            let lengths = [
                case.message[0].len(),
                case.message[1].len(),
                case.tail.len(),
            ];
            assert_eq!(
                found[..expected.len()],
                expected,
                "case {number} of {lengths:?} bytes, {:?}, in lanes {width:?}",
                case.function
            );
        }
    }
}

/// Lengths around the ends of blocks, in one part and in two; longer and shorter ones side by side, so that lanes change from whole
/// steps to half ones, and back as new jobs begin.
#[test]
fn all_lengths() {
    let bytes: Vec<u8> = (0..1000_u32).map(|i| (i * 7 + i / 251) as u8).collect();
    let mut cases = Vec::new();
    for function in [SHAKE128, SHAKE256, SHA3_256, SHA3_512] {
        let rate = function.rate;
        let around = |length: usize| [length - 2, length - 1, length, length + 1, length + 2];
        let mut lengths = vec![0, 1, 31, 32, 33, 64, 5 * rate + 3];
        lengths.extend(around(rate));
        lengths.extend(around(2 * rate));
        for (at, length) in lengths.into_iter().enumerate() {
            for (first, tail) in [
                (0, 0),
                (0, 2),
                (1, 1),
                (32, 0),
                (32, 1),
                (length, 0),
                (length, 1),
                (length, 2),
            ] {
                let first = first.min(length);
                let blocks = match function.suffix {
                    0x1f => 1 + (at + tail) % 4,
                    _ => 1,
                };
                cases.push(Case {
                    function,
                    message: [&bytes[..first], &bytes[first..length]],
                    tail: &bytes[500..500 + tail],
                    blocks,
                });
            }
        }
    }
    agree(&cases);
    // The same in an order that mixes functions and lengths.
    let mixed: Vec<_> = (0..cases.len())
        .map(|i| cases[i * 101 % cases.len()])
        .collect();
    agree(&mixed);
    // Fewer than there are lanes: the last steps are half ones.
    for few in 1..LANES {
        agree(&mixed[..few]);
    }
    agree(&[]);
}
