//! What the tests of P-256 and P-384 share: AWS-LC as the reference, scalars, randomness.
#![allow(dead_code)] // Each test program uses its part.

use aws_lc_sys as aws;
use core::ptr::null_mut;

/// A curve in AWS-LC.
pub(crate) struct Reference {
    pub nid: i32,
    /// Bytes of a scalar.
    pub bytes: usize,
    /// The group's order, hexadecimal.
    pub order: &'static str,
}

pub(crate) const P256: Reference = Reference {
    nid: aws::NID_X9_62_prime256v1,
    bytes: 32,
    order: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
};

pub(crate) const P384: Reference = Reference {
    nid: aws::NID_secp384r1,
    bytes: 48,
    order: "ffffffffffffffffffffffffffffffffffffffffffffffff\
            c7634d81f4372ddf581a0db248b0a77aecec196accc52973",
};

impl Reference {
    /// d G as `04 ‖ x ‖ y`.
    pub(crate) fn public_key(&self, d: &[u8]) -> Vec<u8> {
        self.multiple(d, None).expect("d G is not the identity")
    }

    /// x(d Q), or `None` if Q is not on the curve.
    pub(crate) fn shared_secret(&self, d: &[u8], q: &[u8]) -> Option<Vec<u8>> {
        Some(self.multiple(d, Some(q))?[1..=self.bytes].to_vec())
    }

    fn multiple(&self, d: &[u8], q: Option<&[u8]>) -> Option<Vec<u8>> {
        // SAFETY: plain calls with owned, live objects, each freed once; lengths are the slices'.
        unsafe {
            let group = aws::EC_GROUP_new_by_curve_name(self.nid);
            let k = aws::BN_bin2bn(d.as_ptr(), d.len(), null_mut());
            let point = aws::EC_POINT_new(group);
            let mut good = true;
            if let Some(q) = q {
                good = aws::EC_POINT_oct2point(group, point, q.as_ptr(), q.len(), null_mut()) == 1
                    && aws::EC_POINT_mul(group, point, null_mut(), point, k, null_mut()) == 1;
                aws::ERR_clear_error();
            } else {
                assert_eq!(
                    aws::EC_POINT_mul(group, point, k, null_mut(), null_mut(), null_mut()),
                    1
                );
            }
            let mut out = vec![0; 1 + 2 * self.bytes];
            if good {
                let form = aws::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
                let length = aws::EC_POINT_point2oct(
                    group,
                    point,
                    form,
                    out.as_mut_ptr(),
                    out.len(),
                    null_mut(),
                );
                assert_eq!(length, out.len());
            }
            aws::EC_POINT_free(point);
            aws::BN_free(k);
            good.then_some(out)
        }
    }

    /// Whether `r ‖ s` is a signature of `digest` under the public key `04 ‖ x ‖ y`.
    pub(crate) fn verifies(&self, public: &[u8], digest: &[u8], signature: &[u8]) -> bool {
        let (r, s) = signature.split_at(self.bytes);
        // SAFETY: as above; the signature owns r and s.
        unsafe {
            let key = aws::EC_KEY_new_by_curve_name(self.nid);
            let group = aws::EC_KEY_get0_group(key);
            let point = aws::EC_POINT_new(group);
            let read =
                aws::EC_POINT_oct2point(group, point, public.as_ptr(), public.len(), null_mut());
            assert_eq!((read, aws::EC_KEY_set_public_key(key, point)), (1, 1));
            let parsed = aws::ECDSA_SIG_new();
            aws::ECDSA_SIG_set0(
                parsed,
                aws::BN_bin2bn(r.as_ptr(), r.len(), null_mut()),
                aws::BN_bin2bn(s.as_ptr(), s.len(), null_mut()),
            );
            let verdict = aws::ECDSA_do_verify(digest.as_ptr(), digest.len(), parsed, key);
            aws::ERR_clear_error();
            aws::ECDSA_SIG_free(parsed);
            aws::EC_POINT_free(point);
            aws::EC_KEY_free(key);
            verdict == 1
        }
    }

    /// A big-endian number modulo n, as long as n.
    pub(crate) fn reduce(&self, number: &[u8]) -> Vec<u8> {
        let order = hex(self.order);
        let mut out = vec![0; self.bytes];
        // SAFETY: as above.
        unsafe {
            let context = aws::BN_CTX_new();
            let a = aws::BN_bin2bn(number.as_ptr(), number.len(), null_mut());
            let n = aws::BN_bin2bn(order.as_ptr(), order.len(), null_mut());
            assert_eq!(aws::BN_nnmod(a, a, n, context), 1);
            assert_eq!(aws::BN_bn2bin_padded(out.as_mut_ptr(), out.len(), a), 1);
            aws::BN_free(a);
            aws::BN_free(n);
            aws::BN_CTX_free(context);
        }
        out
    }

    /// n - j.
    pub(crate) fn order_minus(&self, j: u64) -> Vec<u8> {
        let mut out = hex(self.order);
        let mut borrow = u128::from(j);
        for byte in out.iter_mut().rev() {
            let less = 256 + u128::from(*byte) - (borrow & 0xff);
            *byte = less as u8;
            borrow = (borrow >> 8) + u128::from(less < 256);
        }
        out
    }

    /// Scalars in [1, n - 1] where something might break: near 0 and n, those whose last addition
    /// is or nearly is a doubling (`recode.rs`), single bits, runs of ones, near multiples of
    /// windows' powers.
    pub(crate) fn edge_scalars(&self) -> Vec<Vec<u8>> {
        let mut scalars = Vec::new();
        for j in 1..=140 {
            let mut small = vec![0; self.bytes];
            small[self.bytes - 1] = j;
            scalars.push(small);
            scalars.push(self.order_minus(u64::from(j)));
        }
        for bit in 0..8 * self.bytes {
            let mut power = vec![0; self.bytes];
            power[self.bytes - 1 - bit / 8] = 1 << (bit % 8);
            let mut ones = vec![0; self.bytes];
            for i in 0..bit {
                ones[self.bytes - 1 - i / 8] |= 1 << (i % 8);
            }
            scalars.push(power);
            scalars.push(ones);
        }
        for pattern in [
            0x00, 0x55, 0xaa, 0x33, 0x0f, 0xf0, 0xff, 0x80, 0x01, 0x7f, 0xfe,
        ] {
            let mut head = vec![pattern; self.bytes];
            head[0] = 0x42;
            scalars.push(head);
            let mut halves = vec![pattern; self.bytes];
            halves[..self.bytes / 2].fill(!pattern & 0x7f);
            scalars.push(halves);
        }
        scalars.retain(|k| self.is_scalar(k));
        scalars
    }

    pub(crate) fn is_scalar(&self, k: &[u8]) -> bool {
        k.iter().any(|&byte| byte != 0) && k < &hex(self.order)[..]
    }

    /// A random scalar.
    pub(crate) fn random_scalar(&self, random: &mut Random) -> Vec<u8> {
        loop {
            let k = random.bytes(self.bytes);
            if self.is_scalar(&k) {
                return k;
            }
        }
    }
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    let nibbles: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| char::from(byte).to_digit(16).expect("hexadecimal") as u8)
        .collect();
    nibbles
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// SplitMix64: the same numbers in every run.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}

/// How many batches of eight the differential tests run: `LANES_BATCHES`, else few enough
/// for every day.
pub(crate) fn batches() -> usize {
    std::env::var("LANES_BATCHES")
        .map(|text| text.parse().expect("LANES_BATCHES is a number"))
        .unwrap_or(if cfg!(debug_assertions) { 20 } else { 400 })
}

/// How many items of a batch of eight are also run alone, across the lanes: on the emulation one takes as long as
/// eight.
pub(crate) fn alone() -> usize {
    if cfg!(any(debug_assertions, feature = "emulation")) {
        1
    } else {
        8
    }
}
