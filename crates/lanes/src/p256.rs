//! NIST P-256 (SP 800-186, section 3.2.1.3), eight operations at once: ECDSA signatures, public keys,
//! ECDH. The module `wide` has the same operations for a caller that has only one.
//!
//! Constant time in private keys and nonces. Secrets are wiped, and so is what an operation leaves of
//! them on the stack and in registers (`wipe.rs`). What is signed with and how is told in
//! `weierstrass/ecdsa.rs`, how nonces are made in `weierstrass/nonce.rs`.

mod moduli;

#[cfg(test)]
pub(crate) use moduli::{Field, Order};

use crate::digits::from_words;
use crate::weierstrass::api::curve_api;
use crate::weierstrass::comb::{Comb, build};
use crate::weierstrass::curve::Curve;
use crate::weierstrass::wide::comb as wide_comb;
use std::sync::OnceLock;

curve_api!(P256, 5 digits, 32 bytes);

/// The curve.
pub(crate) struct P256;

impl Curve<5> for P256 {
    type Field = moduli::Field;
    type Order = moduli::Order;

    const BYTES: usize = BYTES;
    const B: [u64; 5] = from_words([
        0x5ac6_35d8_aa3a_93e7,
        0xb3eb_bd55_7698_86bc,
        0x651d_06b0_cc53_b0f6,
        0x3bce_3c3e_27d2_604b,
    ]);
    const GENERATOR: [[u64; 5]; 2] = [
        from_words([
            0x6b17_d1f2_e12c_4247,
            0xf8bc_e6e5_63a4_40f2,
            0x7703_7d81_2deb_33a0,
            0xf4a1_3945_d898_c296,
        ]),
        from_words([
            0x4fe3_42e2_fe1a_7f9b,
            0x8ee7_eb4a_7c0f_9e16,
            0x2bce_3357_6b31_5ece,
            0xcbb6_4068_37bf_51f5,
        ]),
    ];

    /// 37 windows of 64 entries, 204 KiB.
    const COMB_WIDTH: usize = 7;

    /// 7 rounds of 16 entries, 77 KiB.
    const WIDE_WIDTH: usize = 5;

    fn comb() -> Result<&'static Comb<5>, Error> {
        static COMB: OnceLock<Result<Comb<5>, Error>> = OnceLock::new();
        let comb = COMB.get_or_init(build::<P256, 5>);
        comb.as_ref().map_err(|error| *error)
    }

    fn wide_table() -> Result<&'static wide_comb::Table<5>, Error> {
        static TABLE: OnceLock<Result<wide_comb::Table<5>, Error>> = OnceLock::new();
        let table = TABLE.get_or_init(wide_comb::build::<P256, 5>);
        table.as_ref().map_err(|error| *error)
    }
}
