//! Nothing secret stays behind: not in memory that is given back, not on the stack, not in a register.

use crate::block::Block;

/// What may be overwritten with zeros.
///
/// # Safety
/// All bytes 0 are a value of the type.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: bytes.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for Block {}
// SAFETY: as each of them.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Overwrites it with zeros.
#[inline]
pub(crate) fn wipe<T: Plain>(secret: &mut T) {
    let secret: *mut T = secret;
    // SAFETY: a valid, exclusive reference to what may be 0. The instruction that is none may read it, for all that the compiler
    // knows: so the zeros are there.
    unsafe {
        secret.write_bytes(0, 1);
        core::arch::asm!("/* {} */", in(reg) secret, options(nostack, preserves_flags));
    }
}

/// Clears the vector registers that AVX2 has, the general ones that a function need not keep, and what a function that was just called
/// has left on the stack.
///
/// The compiler keeps powers of H on the stack, and what was hashed, which tells H where the data are known: both were found there.
/// Registers come to the stack later, too: where a program calls a function for the first time, the loader saves them.
///
/// Never inline: so its frame begins where the other's did. `DEPTH` is a multiple of 32, in bytes, and more than the function uses: a
/// test looks. A register that this function saves first lies above what it clears.
#[inline(never)]
pub(crate) fn clear<const DEPTH: usize>() {
    // SAFETY: what lies below the stack pointer belongs to nobody. The pointer goes along, so that a signal's handler leaves it
    // alone, and comes back. The processor has AVX2: a key was made.
    unsafe {
        core::arch::asm!(
            "vzeroall",
            "sub rsp, {depth}",
            ".set outboard_at, 0",
            ".rept {depth} / 32",
            "vmovdqu ymmword ptr [rsp + outboard_at], ymm0",
            ".set outboard_at, outboard_at + 32",
            ".endr",
            "add rsp, {depth}",
            ".irp register, eax, ecx, edx, esi, edi, r8d, r9d, r10d, r11d",
            "xor \\register, \\register",
            ".endr",
            depth = const DEPTH,
            clobber_abi("sysv64"),
        );
    }
}

/// For what is learnt of a key, and for associated data.
pub(crate) const DEEP: usize = if CHECKS { 1280 } else { 640 };
/// For a message.
pub(crate) const SHALLOW: usize = if CHECKS { 1280 } else { 384 };
/// A build that checks arithmetic has larger frames.
const CHECKS: bool = cfg!(debug_assertions);

/// Clears these vector registers, for the same reason: at the end of each call.
#[inline]
pub(crate) fn clear_registers() {
    // SAFETY: see `clear`.
    unsafe { core::arch::asm!("vzeroall", clobber_abi("sysv64"), options(nomem, nostack)) };
}

/// Clears the vector registers that AVX-512 adds: `vzeroall` leaves them alone.
#[inline]
pub(crate) fn clear_upper_registers() {
    // SAFETY: the processor has AVX-512: the callers have asked, or the wide kernel has run.
    unsafe {
        core::arch::asm!(
            ".irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "vpxord zmm\\number, zmm\\number, zmm\\number",
            ".endr",
            clobber_abi("sysv64"),
            options(nomem, nostack),
        );
    }
}
