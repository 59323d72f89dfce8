//! ML-KEM and ML-DSA by the engine, on path `scalar`.

use outboard_engine::{Path, dsa, kem};
use outboard_operation::Operation;

use super::repeat;
use crate::workload::MESSAGE;
use crate::{Contender, Result};

/// A post-quantum operation.
///
/// # Panics
/// If it is none.
pub(super) fn contender(operation: Operation) -> Result<Box<Contender<'static>>> {
    const PATH: Path = Path::Scalar;
    for set in kem::Set::ALL {
        if operation == set.keygen() {
            return Ok(repeat(move || Ok(kem::generate(set, PATH).map(drop)?)));
        }
        let key = || kem::generate(set, PATH);
        if operation == set.encapsulation() {
            let key = key()?;
            return Ok(repeat(move || Ok(key.encapsulate(PATH).map(drop)?)));
        }
        if operation == set.decapsulation() {
            let key = key()?;
            let (ciphertext, _) = key.encapsulate(PATH)?;
            return Ok(repeat(move || {
                Ok(key.decapsulate(PATH, &ciphertext).map(drop)?)
            }));
        }
    }
    for set in dsa::Set::ALL {
        if operation == set.keygen() {
            return Ok(repeat(move || Ok(dsa::generate(set, PATH).map(drop)?)));
        }
        if operation == set.signing() {
            let key = dsa::generate(set, PATH)?;
            return Ok(repeat(move || {
                Ok(key.sign(PATH, &MESSAGE, &[]).map(drop)?)
            }));
        }
        if operation == set.verification() {
            let key = dsa::generate(set, PATH)?;
            let signature = key.sign(PATH, &MESSAGE, &[])?;
            return Ok(repeat(move || {
                Ok(key.verify(PATH, &MESSAGE, &[], &signature).map(drop)?)
            }));
        }
    }
    panic!("{} is no post-quantum operation", operation.name())
}
