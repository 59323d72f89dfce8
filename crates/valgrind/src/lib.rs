//! Does a branch or an address depend on a secret? For tests.
//!
//! After ctgrind (Langley, 2010). Valgrind's memory checker is told that secrets are undefined memory: it follows them
//! through all arithmetic, and complains of each branch and each address that depends on one. [`complaints`] counts them.
//!
//! Without Valgrind all this does nothing, and nothing is ever complained of. On other processors than x86-64 neither.

/// Requests of valgrind.h and memcheck.h.
const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
const MAKE_UNDEFINED: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16 | 1;
const MAKE_DEFINED: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16 | 2;

/// Whether Valgrind runs the process.
pub fn is_here() -> bool {
    ask(RUNNING_ON_VALGRIND, 0, 0) != 0
}

/// Says that what is there is secret.
pub fn hide<T: ?Sized>(secret: &T) {
    ask(
        MAKE_UNDEFINED,
        (&raw const *secret).cast::<u8>() as u64,
        size_of_val(secret) as u64,
    );
}

/// The same value, secret no more.
pub fn tell<T: Copy>(mut value: T) -> T {
    ask(
        MAKE_DEFINED,
        (&raw mut value).cast::<u8>() as u64,
        size_of::<T>() as u64,
    );
    value
}

/// The branches and addresses in `operation` that depend on what is hidden.
pub fn complaints<T>(operation: impl FnOnce() -> T) -> u64 {
    let before = ask(COUNT_ERRORS, 0, 0);
    operation();
    ask(COUNT_ERRORS, 0, 0) - before
}

/// Asks Valgrind; 0 without it.
#[cfg(target_arch = "x86_64")]
fn ask(request: u64, address: u64, length: u64) -> u64 {
    let arguments = [request, address, length, 0, 0, 0_u64];
    let mut answer = 0_u64;
    // SAFETY: four rotations by 128 bits in all and an exchange of a register with itself: nothing, on a
    // processor. Valgrind knows the sequence, reads the arguments and changes rdx alone.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const arguments,
            inout("rdx") answer,
            inout("rdi") 0_u64 => _,
        );
    }
    answer
}

/// There is no Valgrind to ask.
#[cfg(not(target_arch = "x86_64"))]
fn ask(_request: u64, _address: u64, _length: u64) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The method itself: it finds a branch and an address. (Prints Valgrind's two complaints.)
    #[test]
    fn a_leak_is_found() {
        if !is_here() {
            eprintln!("Valgrind is not here: this test shows nothing (make engine-secrets)");
        }
        let secret = std::hint::black_box([3_u8; 2]);
        hide(&secret);
        let table = std::hint::black_box([1_u8; 256]);
        let branch = complaints(|| {
            if secret[0] > 2 {
                eprint!("")
            }
        });
        let address = complaints(|| std::hint::black_box(table[usize::from(secret[1])]));
        assert_eq!((branch > 0, address > 0), (is_here(), is_here()));
        assert_eq!(complaints(|| tell(secret) == [3; 2]), 0);
    }
}
