//! Against AWS-LC, in pieces of any length.

use std::ffi::c_int;
use std::ptr;

use aws_lc_sys as lc;
use inout::InOutBuf;

use super::{AesGcm, BLOCK, Refusal, available, clean};
use crate::block::Block;
use crate::kernel::{STEP, available_wide};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545f4914f6cdd1d)
    }

    fn below(&mut self, limit: u64) -> usize {
        (self.next() % limit) as usize
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| (self.next() >> 56) as u8).collect()
    }

    /// Often short, often the end of a block or of a step.
    fn length(&mut self) -> usize {
        match self.below(4) {
            0 => self.below(20),
            1 => (16 * self.below(40) + self.below(3)).saturating_sub(1),
            2 => self.below(300),
            _ => self.below(2000),
        }
    }
}

/// The kernels that this processor has: whether each is the wide one.
fn kernels() -> &'static [bool] {
    if !available() {
        eprintln!("skipped: this processor has no VAES");
        &[]
    } else if !available_wide() {
        eprintln!("the wide kernel is skipped: this processor has no AVX-512");
        &[false]
    } else {
        &[false, true]
    }
}

/// A cipher that uses that kernel.
fn cipher(key: &[u8], seals: bool, wide: bool) -> AesGcm {
    let mut cipher = AesGcm::new(key, seals).expect("a key's length");
    cipher.state.key.choose(wide);
    cipher
}

/// What AWS-LC makes of it: the ciphertext, and the tag.
fn sealed(key: &[u8], iv: &[u8], associated: &[u8], data: &[u8]) -> (Vec<u8>, [u8; BLOCK]) {
    let (mut out, mut tag, mut written) = (vec![0; data.len()], [0; BLOCK], 0);
    // SAFETY: a context of its own; all lengths are those of the buffers.
    unsafe {
        let cipher = match key.len() {
            16 => lc::EVP_aes_128_gcm(),
            24 => lc::EVP_aes_192_gcm(),
            _ => lc::EVP_aes_256_gcm(),
        };
        let context = lc::EVP_CIPHER_CTX_new();
        let engine = ptr::null_mut();
        assert_eq!(
            lc::EVP_EncryptInit_ex(context, cipher, engine, ptr::null(), ptr::null()),
            1
        );
        let length = iv.len() as c_int;
        let set = lc::EVP_CTRL_AEAD_SET_IVLEN;
        assert_eq!(
            lc::EVP_CIPHER_CTX_ctrl(context, set, length, ptr::null_mut()),
            1
        );
        let (key, iv) = (key.as_ptr(), iv.as_ptr());
        assert_eq!(
            lc::EVP_EncryptInit_ex(context, ptr::null(), engine, key, iv),
            1
        );
        let mut update = |to: *mut u8, from: &[u8]| {
            let length = from.len() as c_int;
            assert_eq!(
                lc::EVP_EncryptUpdate(context, to, &raw mut written, from.as_ptr(), length),
                1
            );
        };
        update(ptr::null_mut(), associated);
        update(out.as_mut_ptr(), data);
        assert_eq!(
            lc::EVP_EncryptFinal_ex(context, ptr::null_mut(), &raw mut written),
            1
        );
        let get = lc::EVP_CTRL_AEAD_GET_TAG;
        assert_eq!(
            lc::EVP_CIPHER_CTX_ctrl(context, get, 16, tag.as_mut_ptr().cast()),
            1
        );
        lc::EVP_CIPHER_CTX_free(context);
    }
    (out, tag)
}

#[test]
fn any_pieces_are_as_aws_lc_has_them() {
    for wide in kernels() {
        pieces_are_as_aws_lc_has_them(*wide);
    }
}

fn pieces_are_as_aws_lc_has_them(wide: bool) {
    let mut random = Random(1);
    for round in 0..4000 {
        let key = [16, 24, 32][random.below(3)];
        let key = random.bytes(key);
        let iv = if random.below(2) == 0 {
            12
        } else {
            1 + random.below(40)
        };
        let mut iv = random.bytes(iv);
        if iv.len() == 16 {
            // Perhaps close to where the counter starts anew: drawn by chance, and seldom.
            iv[15] |= 0xf0;
        }
        let (associated, data) = (random.length(), random.length());
        let (associated, data) = (random.bytes(associated), random.bytes(data));
        let (expected, tag) = sealed(&key, &iv, &associated, &data);

        let mut cipher = cipher(&key, true, wide);
        for seals in [true, false] {
            let (before, after) = if seals {
                (&data, &expected)
            } else {
                (&expected, &data)
            };
            cipher.start(&iv, seals).expect("it is not empty");
            let mut rest = &associated[..];
            while !rest.is_empty() {
                let (piece, others) = rest.split_at((1 + random.length()).min(rest.len()));
                cipher.associate(piece).expect("before data");
                rest = others;
            }
            // In place, and from one place to another.
            let mut out = before.clone();
            let mut at = 0;
            while at < out.len() {
                let end = (at + random.length()).min(out.len());
                if random.below(2) == 0 {
                    cipher
                        .update(InOutBuf::from(&mut out[at..end]))
                        .expect("a message");
                } else {
                    let piece = InOutBuf::new(&before[at..end], &mut out[at..end]);
                    cipher
                        .update(piece.expect("equal lengths"))
                        .expect("a message");
                }
                if random.below(8) == 0 {
                    cipher = cipher.clone();
                }
                at = end;
            }
            assert!(
                out == *after,
                "round {round}: {} bytes, sealed: {seals}, wide: {wide}",
                out.len()
            );
            let mut made = [0; BLOCK];
            if seals {
                assert_eq!(cipher.open(&tag), Err(Refusal::Order));
                assert_eq!(cipher.seal(&mut made), Ok(()));
                assert_eq!(made, tag, "round {round}");
                assert_eq!(cipher.seal(&mut made), Err(Refusal::Order));
            } else {
                assert_eq!(cipher.seal(&mut made), Err(Refusal::Order));
                let length = 1 + random.below(16);
                assert_eq!(cipher.open(&tag[..length]), Ok(true), "round {round}");
                assert_eq!(cipher.open(&tag), Err(Refusal::Order));
            }
        }
    }
}

/// In one piece each: where steps, registers and blocks end, and next to it.
#[test]
fn every_border_is_as_aws_lc_has_it() {
    let mut random = Random(3);
    let steps = (0..=7).flat_map(|steps| {
        let border = BLOCK * STEP * steps;
        (border.saturating_sub(18)..=border + 18).chain((1..16).map(move |i| border + BLOCK * i))
    });
    for length in steps {
        for (key, wide) in [16, 24, 32]
            .iter()
            .flat_map(|key| kernels().iter().map(move |w| (*key, *w)))
        {
            let (key, iv, data) = (random.bytes(key), random.bytes(12), random.bytes(length));
            // Associated data has the same borders.
            let associated = [length, 13][random.below(2)];
            let associated = random.bytes(associated);
            let (expected, tag) = sealed(&key, &iv, &associated, &data);
            for (seals, in_place) in [(true, true), (true, false), (false, true), (false, false)] {
                let (before, after) = if seals {
                    (&data, &expected)
                } else {
                    (&expected, &data)
                };
                let mut cipher = cipher(&key, seals, wide);
                cipher.start(&iv, seals).expect("a vector");
                cipher.associate(&associated).expect("before data");
                let mut out = before.clone();
                let piece = if in_place {
                    InOutBuf::from(&mut out[..])
                } else {
                    out.fill(0xee);
                    InOutBuf::new(before, &mut out).expect("equal lengths")
                };
                cipher.update(piece).expect("a message");
                let of = format!("{length} bytes, sealed: {seals}, wide: {wide}");
                assert!(out == *after, "{of}");
                if seals {
                    let mut made = [0; BLOCK];
                    cipher.seal(&mut made).expect("a message");
                    assert_eq!(made, tag, "{of}");
                } else {
                    assert_eq!(cipher.open(&tag), Ok(true), "{of}");
                }
            }
        }
    }
}

/// The last 32 bits count alone. A vector of 16 bytes makes any first block.
#[test]
fn counters_start_anew() {
    let mut random = Random(2);
    for wide in kernels().iter().flat_map(|wide| [*wide; 8]) {
        let (key, iv) = (random.bytes(16), random.bytes(16));
        let mut cipher = cipher(&key, true, wide);
        cipher.start(&iv, true).expect("it is not empty");
        // As if it had begun there: compared with the same, block by block.
        let count = u32::MAX - random.below(40) as u32;
        cipher.state.message.go_on_from(count, 0);
        let mut single = cipher.clone();
        let mut all = random.bytes(16 * 60);
        let mut pieces = all.clone();
        cipher
            .update(InOutBuf::from(&mut all[..]))
            .expect("a message");
        for piece in pieces.chunks_mut(7) {
            single.update(InOutBuf::from(piece)).expect("a message");
        }
        let mut tags = [[0; BLOCK]; 2];
        for (cipher, tag) in [&mut cipher, &mut single].into_iter().zip(&mut tags) {
            cipher.seal(tag).expect("a message");
        }
        assert!(all == pieces && tags[0] == tags[1]);
    }
}

#[test]
fn what_is_out_of_order_is_refused() {
    if !available() {
        return;
    }
    assert!(AesGcm::new(&[0; 17], true).is_err());
    let mut cipher = AesGcm::new(&[0; 16], true).expect("a key's length");
    assert_eq!(cipher.key_length(), 16);
    assert_eq!(cipher.associate(&[1]), Err(Refusal::Order));
    assert_eq!(
        cipher.update(InOutBuf::from(&mut [1][..])),
        Err(Refusal::Order)
    );
    assert_eq!(cipher.start(&[], true), Err(Refusal::Length));
    cipher.start(&[0; 12], true).expect("a vector");
    cipher
        .update(InOutBuf::from(&mut [1][..]))
        .expect("a message");
    assert_eq!(cipher.associate(&[1]), Err(Refusal::Order));
    cipher.state.message.go_on_from(9, (1 << 36) - 33);
    assert_eq!(
        cipher.update(InOutBuf::from(&mut [1, 2][..])),
        Err(Refusal::Order)
    );
    cipher
        .update(InOutBuf::from(&mut [1][..]))
        .expect("the last byte");
}

/// As OpenSSL goes on after a wrong tag: with the same stream.
#[test]
fn a_wrong_tag_does_not_end_the_message() {
    if !available() {
        return;
    }
    let (key, iv, data) = ([7; 32], [8; 12], [9; 100]);
    let (expected, tag) = sealed(&key, &iv, &[], &data);
    let mut cipher = AesGcm::new(&key, false).expect("a key's length");
    for at in [0, 5, 16, 37] {
        cipher.start(&iv, false).expect("a vector");
        let mut out = expected.clone();
        cipher
            .update(InOutBuf::from(&mut out[..at]))
            .expect("a message");
        assert_eq!(cipher.open(&[]), Err(Refusal::Length));
        assert_eq!(cipher.open(&tag), Ok(false));
        cipher
            .update(InOutBuf::from(&mut out[at..]))
            .expect("it goes on");
        assert_eq!(out, data);
        assert_eq!(cipher.open(&tag), Ok(false));
    }
}

/// How deep the stack is looked through: more than anything here uses.
const DEPTH: usize = 16 * 1024;

#[inline(always)]
fn clear_below() {
    // SAFETY: what lies below the stack pointer belongs to nobody; the pointer goes along, and comes back.
    unsafe {
        std::arch::asm!(
            "sub rsp, {depth}",
            "mov rdi, rsp",
            "rep stosb",
            "add rsp, {depth}",
            depth = const DEPTH,
            inout("rcx") DEPTH => _,
            inout("rax") 0 => _,
            out("rdi") _,
        );
    }
}

/// How many of these are below the stack pointer.
#[inline(always)]
fn found_below(secrets: &[[u8; BLOCK]]) -> usize {
    let mut pointer: *const u64;
    // SAFETY: it copies a register.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack)) };
    pointer = pointer.wrapping_byte_sub(DEPTH);
    let mut found = 0;
    for _ in 0..DEPTH / 8 {
        // SAFETY: memory of this thread's stack, which is larger.
        let word = unsafe { pointer.read_volatile() };
        // A half tells as much as is needed to guess the other.
        let halves = secrets.iter().flat_map(|secret| secret.as_chunks().0);
        let mut halves = halves.map(|half| u64::from_ne_bytes(*half));
        found += usize::from(word != 0 && halves.any(|half| half == word));
        pointer = pointer.wrapping_add(1);
    }
    found
}

/// What the hash of such a message becomes, block by block, and with the next block added: with the data known, each tells H.
fn states(cipher: &AesGcm, associated: &[u8], ciphertext: &[u8]) -> Vec<[u8; BLOCK]> {
    let (key, mut hash, mut all) = (&cipher.state.key, Block::zero(), Vec::new());
    let lengths = 8 * (((associated.len() as u128) << 64) | ciphertext.len() as u128);
    let lengths = lengths.to_be_bytes();
    let blocks = associated.chunks(BLOCK).chain(ciphertext.chunks(BLOCK));
    for block in blocks.chain([&lengths[..]]) {
        let sum = hash ^ Block::part(block);
        // SAFETY: a key was made, so the processor has the features.
        let [product, reversed] = unsafe { [key.product(sum), key.product(sum).reversed()] };
        // The first sum is what anybody may know.
        if !hash.is_zero() {
            // SAFETY: as above.
            all.extend([sum, unsafe { sum.reversed() }]);
        }
        all.extend([product, reversed]);
        hash = product;
    }
    all.into_iter().map(|mut block| *block.bytes()).collect()
}

/// What the hash of such associated data is at each place, step by step: with so many places, each for every so-many-th block.
fn states_at_places(cipher: &AesGcm, associated: &[u8], places: usize) -> Vec<[u8; BLOCK]> {
    let mut all = Vec::new();
    let steps = associated.as_chunks::<BLOCK>().0.as_chunks::<STEP>().0;
    for place in 0..places {
        let mut hash = Block::zero();
        for step in &steps[..steps.len().saturating_sub(1)] {
            for block in step.iter().skip(place).step_by(places) {
                hash ^= Block::new(block);
                for _ in 0..places {
                    // SAFETY: a key was made, so the processor has the features.
                    hash = unsafe { cipher.state.key.product(hash) };
                }
            }
            // SAFETY: as above.
            all.extend([hash, unsafe { hash.reversed() }]);
        }
    }
    all.into_iter().map(|mut block| *block.bytes()).collect()
}

/// Adversaries found powers of H there, which the compiler had loaded before a loop; then what was hashed; then a key in a register.
#[test]
fn no_secret_is_left_on_the_stack_or_in_a_register() {
    for wide in kernels() {
        no_secret_is_left_by(*wide);
    }
    // What is looked for would be found.
    let secret = [0xa5; BLOCK];
    clear_below();
    leave(&secret);
    assert_eq!(found_below(&[secret]), 2);
}

fn no_secret_is_left_by(wide: bool) {
    let iv = &[6; 12];
    let mut random = Random(4);
    let with_avx512 = available_wide();
    for length in [5, 16, 21, 53, 80, 81, 100, 130, 200, 245, 501, 520, 1541] {
        for associated in [5, 13, 100, 300, 900] {
            let (associated, mut data) = (random.bytes(associated), random.bytes(length));
            let mut cipher = cipher(&[5; 32], true, wide);
            let (ciphertext, _) = sealed(&[5; 32], iv, &associated, &data);
            let places = if wide { 4 } else { 2 };
            // All powers, as if long messages had been there.
            cipher.start(iv, true).expect("a vector");
            cipher.associate(&[0; 999]).expect("before data");
            let mut secrets = cipher.state.key.secrets();
            secrets.push(cipher.state.message.mask());
            secrets.extend(states(&cipher, &associated, &ciphertext));
            secrets.extend(states_at_places(&cipher, &associated, places));
            clear_below();
            cipher.set_key(&[5; 32], true).expect("a key's length");
            assert_eq!(found_below(&secrets), 0, "made");
            for seals in [true, false] {
                // Each call by itself: the next one would write over what is left.
                let mut nothing_is_left = |what, call: &mut dyn FnMut(&mut AesGcm)| {
                    let mut registers = [[0; BLOCK]; 128];
                    std::hint::black_box(&mut registers);
                    // Of this test itself: the C library copies by any register.
                    clean::clear_registers();
                    if with_avx512 {
                        clean::clear_upper_registers();
                    }
                    clear_below();
                    call(&mut cipher);
                    store_registers(&mut registers, with_avx512);
                    let found = found_below(&secrets);
                    let of = format!(
                        "{} and {length} bytes, sealed: {seals}, wide: {wide}",
                        associated.len()
                    );
                    assert_eq!(found, 0, "{what} {of}");
                    let held = registers.iter().any(|register| secrets.contains(register));
                    assert!(!held, "{what} {of}");
                };
                nothing_is_left("key", &mut |cipher| {
                    cipher.set_key(&[5; 32], seals).expect("a key's length");
                });
                nothing_is_left("start", &mut |cipher| {
                    cipher.start(iv, seals).expect("a vector");
                });
                nothing_is_left("associate", &mut |cipher| {
                    cipher.associate(&associated).expect("before data");
                });
                nothing_is_left("clone", &mut |cipher| *cipher = cipher.clone());
                nothing_is_left("update", &mut |cipher| {
                    cipher
                        .update(InOutBuf::from(&mut data[..]))
                        .expect("a message");
                });
                nothing_is_left("end", &mut |cipher| {
                    let mut tag = [0; BLOCK];
                    if seals {
                        cipher.seal(&mut tag).expect("a message");
                    } else {
                        assert_eq!(cipher.open(&tag), Ok(false));
                    }
                });
            }
        }
    }
}

/// The vector registers: each block of each.
type Registers = [[u8; BLOCK]; 128];

/// Writes the vector registers as they are, to a place that is ready: to make one would take registers.
#[inline(always)]
fn store_registers(all: &mut Registers, with_avx512: bool) {
    // SAFETY: it writes what is there. The processor has AVX2, or no cipher was made.
    unsafe {
        std::arch::asm!(
            "test {wide}, {wide}",
            "jz 2f",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "vmovdqu64 [{to} + 64 * \\n], zmm\\n",
            ".endr",
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "vmovdqu64 [{to} + 64 * \\n], zmm\\n",
            ".endr",
            "jmp 3f",
            "2:",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "vmovdqu [{to} + 64 * \\n], ymm\\n",
            ".endr",
            "3:",
            wide = in(reg) u64::from(with_avx512),
            to = in(reg) all.as_mut_ptr(),
            options(nostack),
        );
    }
}

#[inline(never)]
fn leave(secret: &[u8; BLOCK]) {
    std::hint::black_box(&mut secret.map(|byte| byte));
}
