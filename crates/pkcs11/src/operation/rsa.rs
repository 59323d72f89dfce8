//! The private operation of RSA.

use std::sync::Arc;

use outboard_engine::Operation;
use outboard_engine::card::{Request, rsa};
use zeroize::Zeroizing;

use super::computation::{Bytes, Computation, Manner};
use crate::error::Error;
use crate::module::Module;

/// Raises a block, as long as the modulus, to the private exponent: on the path of the profile, where
/// there is one for its length. The
/// operations are what it counts as, for 2,048, 3,072 and 4,096 bits.
pub(super) fn power(
    module: &Module,
    key: &Arc<rsa::Key>,
    block: Vec<u8>,
    operations: [Operation; 3],
    manner: Manner,
) -> Computation<Bytes> {
    let operation = match key.bits() {
        2048 => operations[0],
        3072 => operations[1],
        4096 => operations[2],
        _ => {
            let mut result = Zeroizing::new(vec![0; key.length()]);
            let done = key.power(&block, &mut result);
            return Computation::Done(done.map(|_| result).map_err(Error::from));
        }
    };
    module.compute(Request::rsa(operation, Arc::clone(key), block), manner)
}
