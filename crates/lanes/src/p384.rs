//! NIST P-384 (SP 800-186, section 3.2.1.4), eight operations at once: ECDSA signatures, public keys,
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

curve_api!(P384, 8 digits, 48 bytes);

/// The curve.
pub(crate) struct P384;

impl Curve<8> for P384 {
    type Field = moduli::Field;
    type Order = moduli::Order;

    const BYTES: usize = BYTES;
    const B: [u64; 8] = from_words([
        0xb331_2fa7_e23e_e7e4,
        0x988e_056b_e3f8_2d19,
        0x181d_9c6e_fe81_4112,
        0x0314_088f_5013_875a,
        0xc656_398d_8a2e_d19d,
        0x2a85_c8ed_d3ec_2aef,
    ]);
    const GENERATOR: [[u64; 8]; 2] = [
        from_words([
            0xaa87_ca22_be8b_0537,
            0x8eb1_c71e_f320_ad74,
            0x6e1d_3b62_8ba7_9b98,
            0x59f7_41e0_8254_2a38,
            0x5502_f25d_bf55_296c,
            0x3a54_5e38_7276_0ab7,
        ]),
        from_words([
            0x3617_de4a_9626_2c6f,
            0x5d9e_98bf_9292_dc29,
            0xf8f4_1dbd_289a_147c,
            0xe9da_3113_b5f0_b8c0,
            0x0a60_b1ce_1d7e_819d,
            0x7a43_1d7c_90ea_0e5f,
        ]),
    ];

    /// 55 windows of 64 entries, 468 KiB.
    const COMB_WIDTH: usize = 7;

    /// 8 rounds of 32 entries, 272 KiB.
    const WIDE_WIDTH: usize = 6;

    fn comb() -> Result<&'static Comb<8>, Error> {
        static COMB: OnceLock<Result<Comb<8>, Error>> = OnceLock::new();
        let comb = COMB.get_or_init(build::<P384, 8>);
        comb.as_ref().map_err(|error| *error)
    }

    fn wide_table() -> Result<&'static wide_comb::Table<8>, Error> {
        static TABLE: OnceLock<Result<wide_comb::Table<8>, Error>> = OnceLock::new();
        let table = TABLE.get_or_init(wide_comb::build::<P384, 8>);
        table.as_ref().map_err(|error| *error)
    }
}
