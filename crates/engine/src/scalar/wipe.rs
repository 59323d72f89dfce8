//! Wiping what short operations leave.

use aws_lc_sys as lc;

/// Overwrites bytes with zeros, many at a time: `Zeroize` writes one by one, which is a tenth of a key derivation.
pub fn wipe(bytes: &mut [u8]) {
    // SAFETY: writes as many bytes as there are.
    unsafe { lc::OPENSSL_cleanse(bytes.as_mut_ptr().cast(), bytes.len()) };
}

/// As much stack as a key derivation uses at most, in bytes; a test compares. What is not optimised uses more.
pub(super) const STACK: usize = if cfg!(debug_assertions) { 16 } else { 4 } << 10;

/// Runs what leaves secrets in moved values, and clears the stack that it used, and the registers.
pub(super) fn wiped<T>(operation: impl FnOnce() -> T) -> T {
    outboard_lanes::wiped(STACK, operation)
}

#[cfg(test)]
mod tests {
    use super::wipe;

    #[test]
    fn nothing_stays() {
        let mut bytes = [0xa5; 300];
        wipe(&mut bytes[1..299]);
        assert!(bytes[1..299].iter().all(|byte| *byte == 0));
        assert_eq!([bytes[0], bytes[299]], [0xa5; 2]);
        wipe(&mut []);
    }
}
