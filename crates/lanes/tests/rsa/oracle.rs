//! RSA by AWS-LC: keys, and the same operations to compare with.

#![allow(dead_code)] // Tests, benchmarks and the fuzz target each use a part.

use aws_lc_sys::*;
use outboard_lanes::rsa::Components;
use std::ptr::null_mut;

/// Keys of a size, of AWS-LC's making, different in every run.
pub(crate) fn keys(bits: u32) -> impl Iterator<Item = Key> {
    let count = match bits {
        2048 => 9,
        3072 => 3,
        _ => 2,
    };
    (0..count).map(move |_| Key::generate(bits))
}

/// A key of AWS-LC.
pub(crate) struct Key(*mut RSA);

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: made by RSA_new, freed once.
        unsafe { RSA_free(self.0) }
    }
}

fn bytes(number: *const BIGNUM) -> Vec<u8> {
    // SAFETY: the callers pass a number of a live key or of their own.
    unsafe {
        let mut out = vec![0; BN_num_bytes(number) as usize];
        BN_bn2bin(number, out.as_mut_ptr());
        out
    }
}

impl Key {
    pub(crate) fn generate(bits: u32) -> Key {
        // SAFETY: plain calls, each checked; all are freed.
        unsafe {
            let (rsa, e) = (RSA_new(), BN_new());
            assert_eq!(BN_set_word(e, 65537), 1);
            assert_eq!(RSA_generate_key_ex(rsa, bits as i32, e, null_mut()), 1);
            BN_free(e);
            Key(rsa)
        }
    }

    /// The key in PKCS #1's form.
    pub(crate) fn to_der(&self) -> Vec<u8> {
        let (mut bytes, mut len) = (null_mut(), 0);
        // SAFETY: AWS-LC allocates what it returns; it is copied and freed.
        unsafe {
            assert_eq!(RSA_private_key_to_bytes(&mut bytes, &mut len, self.0), 1);
            let der = std::slice::from_raw_parts(bytes, len).to_vec();
            OPENSSL_free(bytes.cast());
            der
        }
    }

    pub(crate) fn from_der(der: &[u8]) -> Key {
        // SAFETY: reads the bytes given.
        let key = unsafe { RSA_private_key_from_bytes(der.as_ptr(), der.len()) };
        assert!(!key.is_null());
        Key(key)
    }

    pub(crate) fn modulus(&self) -> Vec<u8> {
        // SAFETY: the key is live, and has all its numbers.
        bytes(unsafe { RSA_get0_n(self.0) })
    }

    pub(crate) fn p(&self) -> Vec<u8> {
        // SAFETY: as above.
        bytes(unsafe { RSA_get0_p(self.0) })
    }

    pub(crate) fn q(&self) -> Vec<u8> {
        // SAFETY: as above.
        bytes(unsafe { RSA_get0_q(self.0) })
    }

    pub(crate) fn dq(&self) -> Vec<u8> {
        // SAFETY: as above.
        bytes(unsafe { RSA_get0_dmq1(self.0) })
    }

    pub(crate) fn with_components<T>(&self, use_them: impl FnOnce(Components<'_>) -> T) -> T {
        // SAFETY: as above.
        let [e, dp, qinv] = unsafe {
            [
                RSA_get0_e(self.0),
                RSA_get0_dmp1(self.0),
                RSA_get0_iqmp(self.0),
            ]
            .map(bytes)
        };
        let (n, p, q, dq) = (self.modulus(), self.p(), self.q(), self.dq());
        use_them(Components {
            n: &n,
            e: &e,
            p: &p,
            q: &q,
            dp: &dp,
            dq: &dq,
            qinv: &qinv,
        })
    }

    /// x^d mod n.
    pub(crate) fn private(&self, x: &[u8]) -> Vec<u8> {
        let len = self.modulus().len();
        let x = [vec![0; len - x.len()], x.to_vec()].concat();
        let (mut out, mut written) = (vec![0; len], 0);
        // SAFETY: `out` has the length that is passed.
        let ok = unsafe {
            RSA_sign_raw(
                self.0,
                &mut written,
                out.as_mut_ptr(),
                len,
                x.as_ptr(),
                len,
                RSA_NO_PADDING,
            )
        };
        if ok == 1 {
            assert_eq!(written, len);
            return out;
        }
        // AWS-LC refuses a few inputs, 0 among them: their power without CRT.
        // SAFETY: the key is live, and has all its numbers.
        power(&x, &bytes(unsafe { RSA_get0_d(self.0) }), &self.modulus())
    }

    /// x^e mod n by the key's own function.
    pub(crate) fn encrypt(&self, x: &[u8]) -> Vec<u8> {
        let (mut out, mut written) = (vec![0; x.len()], 0);
        // SAFETY: `out` has the length that is passed.
        let ok = unsafe {
            let (out, len) = (out.as_mut_ptr(), x.len());
            RSA_encrypt(
                self.0,
                &mut written,
                out,
                len,
                x.as_ptr(),
                len,
                RSA_NO_PADDING,
            )
        };
        assert_eq!(ok, 1);
        out
    }

    /// x^e mod n.
    pub(crate) fn public(&self, x: &[u8]) -> Vec<u8> {
        // SAFETY: the key is live.
        let e = bytes(unsafe { RSA_get0_e(self.0) });
        power(x, &e, &self.modulus())
    }
}

/// A number of AWS-LC, freed when dropped.
struct Number(*mut BIGNUM);

impl Number {
    fn new(bytes: &[u8]) -> Number {
        // SAFETY: makes a number of the bytes given.
        Number(unsafe { BN_bin2bn(bytes.as_ptr(), bytes.len(), null_mut()) })
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe { BN_free(self.0) }
    }
}

/// x^e mod n, as long as n.
pub(crate) fn power(x: &[u8], e: &[u8], n: &[u8]) -> Vec<u8> {
    let (out, x, e, modulus) = (
        Number::new(&[]),
        Number::new(x),
        Number::new(e),
        Number::new(n),
    );
    let mut bytes = vec![0; n.len()];
    // SAFETY: all numbers are live.
    unsafe {
        let context = BN_CTX_new();
        assert_eq!(BN_mod_exp(out.0, x.0, e.0, modulus.0, context), 1);
        assert_eq!(BN_bn2bin_padded(bytes.as_mut_ptr(), bytes.len(), out.0), 1);
        BN_CTX_free(context);
    }
    bytes
}

/// a·b mod m.
pub(crate) fn product_mod(a: &[u8], b: &[u8], m: &[u8]) -> Vec<u8> {
    let (out, a, b, m) = (
        Number::new(&[]),
        Number::new(a),
        Number::new(b),
        Number::new(m),
    );
    // SAFETY: all numbers are live.
    unsafe {
        let context = BN_CTX_new();
        assert_eq!(BN_mod_mul(out.0, a.0, b.0, m.0, context), 1);
        BN_CTX_free(context);
    }
    bytes(out.0)
}

/// 1/x mod m.
pub(crate) fn inverse_mod(x: &[u8], m: &[u8]) -> Vec<u8> {
    let (out, x, m) = (Number::new(&[]), Number::new(x), Number::new(m));
    // SAFETY: all numbers are live.
    unsafe {
        let context = BN_CTX_new();
        assert_ne!(BN_mod_inverse(out.0, x.0, m.0, context), null_mut());
        BN_CTX_free(context);
    }
    bytes(out.0)
}

/// x mod m.
pub(crate) fn remainder(x: &[u8], m: &[u8]) -> Vec<u8> {
    let (out, x, m) = (Number::new(&[]), Number::new(x), Number::new(m));
    // SAFETY: all numbers are live.
    unsafe {
        let context = BN_CTX_new();
        assert_eq!(BN_nnmod(out.0, x.0, m.0, context), 1);
        BN_CTX_free(context);
    }
    bytes(out.0)
}

/// Whether a block is EMSA-PSS of a digest for the key of n and e, with a salt of so many bytes.
pub(crate) fn is_pss(
    digest: &[u8],
    algorithm: *const EVP_MD,
    salt: usize,
    block: &[u8],
    [n, e]: [&[u8]; 2],
) -> bool {
    let [n, e] = [n, e].map(Number::new);
    // SAFETY: the key takes copies of the numbers and is freed; the block is as long as its modulus, the digest
    // as the algorithm's.
    unsafe {
        let key = Key(RSA_new());
        assert_eq!(RSA_set0_key(key.0, BN_dup(n.0), BN_dup(e.0), null_mut()), 1);
        assert_eq!(block.len(), RSA_size(key.0) as usize);
        let verdict = RSA_verify_PKCS1_PSS_mgf1(
            key.0,
            digest.as_ptr(),
            algorithm,
            algorithm,
            block.as_ptr(),
            salt as i32,
        );
        ERR_clear_error();
        verdict == 1
    }
}
