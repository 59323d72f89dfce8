//! The checks that stand between a fault and a result, and why they find it.
//!
//! # What is defended against
//! The processor or its memory disturbs a value once, and goes on as if nothing had happened. A wrong result would
//! not only be wrong: an RSA result that is right modulo one prime gives away the other, a pair of ECDSA or Ed25519
//! signatures with the same nonce gives away the key, and so does a product with a disturbed point, bit by bit. So
//! nothing leaves that was not checked. A second fault that undoes the first is not defended against.
//!
//! # Why a fault is found
//! The same four rules hold for RSA, the NIST curves and Curve25519:
//!
//! 1. **Another way back.** A check holds the result against the operands along another path than the one that led
//!    to it: a disturbed value takes part in one side of the comparison only. (A computation that is merely repeated
//!    shows less: what both runs read wrong stays unseen.)
//! 2. **Operands are read anew** from memory, [`reread`](crate::vector::reread), so that a copy in a register that
//!    was disturbed does not stand on both sides.
//! 3. **What is compared is what is released.** After the comparison nothing changes the result any more.
//! 4. **Each lane answers for itself.** What lanes share, a table or an inversion, is checked in each.
//!
//! Each step of an operation, from the operands to the bytes that leave, is guarded by one of its checks:
//!
//! | operation | a fault in | is found because | [`Check`] |
//! |---|---|---|---|
//! | RSA, wide too | any step | the result to the power of e is the input: it undoes recombination, both powers and CRT | `RsaPublicPower` |
//! | P-256, P-384: all | recoding, the lookups | the entries that were looked up add up to the scalar | `Tally` |
//! | | additions, doublings, 1/Z | the affine point is on the curve | `OnCurve` |
//! | | what is released of x | it comes out of the point a second time | `X` |
//! | public keys | the sign of 1/Z, and so of y | y Z³ is Y, or −Y where the scalar was negated (y Z, if "wide") | `SignOfY` |
//! | | what is released of y | it comes out of the point a second time | `Y` |
//! | ECDSA | 1/k, s | s k = z + r d | `Equation` |
//! | the first use | the base point's table | it is made twice; a fault in it would last | `Table` |
//! | X25519 with a peer | the bits that steer the ladder | each is read twice | `LadderBits` |
//! | | the ladder, the division | both points of the ladder still differ by the peer's | `LadderDifference` |
//! | X25519 public keys | the multiple, the division | twice the multiple by half the scalar is the same point | `TwiceU` |
//! | Ed25519 keys, signatures | the multiple, the division | the same, in x and in y | `TwiceX`, `TwiceY` |
//! | | the bit for x's sign | x is as odd as the encoding says | `TwiceSign` |
//! | Ed25519 keys | hashing the seed | it is hashed twice | `Seed` |
//! | Ed25519 signatures | the nonce, s | the nonce that s and the hash lead back to is the one that is hashed anew | `Nonce` |
//! | one key, wide: X25519 with a peer | as eight: bits, ladder, division | as eight | `LadderBits`, `LadderDifference` |
//! | multiples of the base point, wide | recoding, the lookups, the sum of the lanes | the entries that were looked up add up to the scalar | `Tally` |
//! | | additions | the point is on the curve | `OnCurve` |
//! | X25519 public keys, wide | the division, what is released of u | u times its denominator is its numerator | `U` |
//! | Ed25519 keys, signatures, wide | 1/Z, what is released of y | x and y times Z are X and Y | `X`, `Y` |
//! | | the bit for x's sign | x is as odd as the encoding says | `Sign` |
//! | | hashing the seed, the nonce, s | as eight: a second lane hashes again | `Seed`, `Nonce` |
//! | the first use, wide | the base point's table | it is made twice; a fault in it would last | `Table` |
//! | ML-DSA signatures | the limit of r0, c s2 | both are made again, of w and s2 | `LowPart` |
//! | | any other step | the signature is none: the caller verifies it before it releases it | |
//! | all of Curve25519, eight | the inversion that eight lanes share | each inverse is tried on its element, and made again alone | `SharedInverse` |
//!
//! One operation across the lanes (`wide`) has the checks of eight at once. Its lanes depend on each other, so they answer
//! together: a result is released if every check passed in every lane.
//!
//! The last is the only one that mends: without it nothing wrong would be released either, but one lane's fault would
//! have the other seven withheld. That a peer's point of P-256 or P-384 is on the curve is no check of this list: it
//! refuses what an attacker sends, not what the processor does.
//!
//! The formulas behind these relations stand where they are computed: `rsa/private.rs`, `rsa/wide/private.rs`,
//! `weierstrass/check.rs`, `curve25519/montgomery.rs`, `curve25519/edwards.rs`, `curve25519/wide/comb.rs`, `ed25519/sign.rs`.
//!
//! # That each is needed
//! A result is released in the lanes in which all of its checks passed. Each check sends its verdict through
//! [`Check::verdict`]. There a test (`tests/*_faults.rs`) can make it say yes to everything: then a fault that is
//! aimed at what the check guards has to release a wrong result, and with the check must not. So a check that is
//! removed, or that lets everything pass, fails the tests.

use crate::vector::Mask;

/// A check, named for what it compares: see the table above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "fault"),
    expect(unreachable_pub, reason = "tests of faults name checks")
)]
pub enum Check {
    /// RSA's private operation: the result to the power of e is the input.
    RsaPublicPower,
    /// NIST curves, and Curve25519 wide: the multiples that were looked up add up to the scalar.
    Tally,
    /// NIST curves, and Curve25519 wide: the point is on the curve.
    OnCurve,
    /// NIST curves: what is released of x comes out a second time. Ed25519, wide: x Z is X.
    X,
    /// NIST curves, public keys: what is released of y comes out a second time. Ed25519, wide: y Z is Y.
    Y,
    /// NIST curves, public keys: y Z³ is Y, or -Y where the scalar was negated (y Z across the lanes).
    SignOfY,
    /// ECDSA: s k = z + r d.
    Equation,
    /// NIST curves, and Curve25519 wide: the base point's table came out the same twice.
    Table,
    /// X25519's public keys, wide: u times its denominator is its numerator.
    U,
    /// Ed25519, wide: the encoding has x's sign.
    Sign,
    /// X25519: each bit of the scalar was the same twice.
    LadderBits,
    /// X25519: the ladder's points differ by the peer's.
    LadderDifference,
    /// X25519's public keys: u is that of twice the multiple by half the scalar.
    TwiceU,
    /// Ed25519: x is that of twice the multiple by half the scalar.
    TwiceX,
    /// Ed25519: so is y.
    TwiceY,
    /// Ed25519: the encoding has x's sign.
    TwiceSign,
    /// Ed25519's keys: the seed's hash came out the same twice.
    Seed,
    /// Ed25519's signatures: the nonce that the signature leads back to is the one that is hashed anew.
    Nonce,
    /// ML-DSA: w - c s2 came out the same twice, and its low parts are within the limit.
    LowPart,
    /// Curve25519: an inverse times its element is 1.
    SharedInverse,
}

impl Check {
    /// The lanes that passed this check.
    #[inline(always)]
    pub(crate) fn verdict(self, passed: Mask) -> Mask {
        #[cfg(feature = "fault")]
        let passed = crate::fault::verdict(self, passed);
        passed
    }
}
