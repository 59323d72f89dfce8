//! AWS-LC's object of a private RSA key, made of its numbers.

use aws_lc_sys as lc;

use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};

/// The numbers of a private key (RFC 8017, A.1.2).
pub(super) struct Numbers {
    pub(super) n: Owned<lc::BIGNUM>,
    pub(super) e: Owned<lc::BIGNUM>,
    pub(super) d: Owned<lc::BIGNUM>,
    pub(super) p: Owned<lc::BIGNUM>,
    pub(super) q: Owned<lc::BIGNUM>,
    pub(super) dp: Owned<lc::BIGNUM>,
    pub(super) dq: Owned<lc::BIGNUM>,
    pub(super) qinv: Owned<lc::BIGNUM>,
}

/// An object of those numbers. Whether they belong together is not looked at: RSA_new_private_key
/// would, which takes half as long as a signature.
pub(super) fn assemble(numbers: Numbers) -> Result<Owned<lc::RSA>> {
    let Numbers {
        n,
        e,
        d,
        p,
        q,
        dp,
        dq,
        qinv,
    } = numbers;
    // SAFETY: a live key, which takes over live numbers, each given away once.
    unsafe {
        let rsa = Owned::new(lc::RSA_new(), Error::Resource)?;
        let key = rsa.as_ptr();
        check(
            lc::RSA_set0_key(key, n.into_raw(), e.into_raw(), d.into_raw()),
            Error::InvalidKey,
        )?;
        // While there is nothing else to look at: the modulus and the public exponent.
        check(lc::RSA_check_key(key), Error::InvalidKey)?;
        check(
            lc::RSA_set0_factors(key, p.into_raw(), q.into_raw()),
            Error::InvalidKey,
        )?;
        check(
            lc::RSA_set0_crt_params(key, dp.into_raw(), dq.into_raw(), qinv.into_raw()),
            Error::InvalidKey,
        )?;
        Ok(rsa)
    }
}
