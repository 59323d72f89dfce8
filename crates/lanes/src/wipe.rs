//! Clears what an operation leaves where no variable is: on the stack below its caller, and in registers.
//!
//! `Zeroizing` clears the variable that it holds. The compiler keeps more copies than that: it spills registers
//! to the stack, moves values from frame to frame, and leaves the last ones in vector registers. No source can
//! name these places. So each public operation of this crate runs below [`after`], which clears the whole
//! stretch of the stack that the operation used, and every register in which a function may leave something.
//!
//! What an operation returns passes through `after` by value: secrets in it belong behind a pointer to memory
//! that is wiped when dropped.
//!
//! `tests/leftovers.rs` looks for secrets after each operation, and checks that each depth suffices.
//!
//! The cost is one `rep stosq` for each call, of 32 to 64 bytes a cycle: less than 1,000 cycles for 32 KiB.

/// How much stack an operation uses at most, in bytes. A test compares it with what is really used.
///
/// The emulation, which only tests run on, keeps its vectors in memory and so needs more.
pub(crate) const fn depth(kib: usize) -> usize {
    let factor = if cfg!(any(test, feature = "emulation")) {
        8
    } else {
        1
    };
    kib * 1024 * factor
}

/// Runs `operation`, then clears the `depth` bytes of stack below this call, and the registers.
///
/// The depth has to be that of the operation. If it were less, something would remain; if it were much more, a
/// small stack could end above it.
#[inline(never)]
pub fn after<T>(depth: usize, operation: impl FnOnce() -> T) -> T {
    let result = below(operation);
    clear_stack(depth);
    clear_registers();
    result
}

/// Keeps the operation out of the frame of [`after`], which is not cleared.
#[inline(never)]
fn below<T>(operation: impl FnOnce() -> T) -> T {
    operation()
}

/// Clears the `depth` bytes below the stack pointer, a multiple of 8.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn clear_stack(depth: usize) {
    // The stack pointer goes along: to Valgrind, and to a signal handler, this is a frame like any other.
    // SAFETY: what lies below the stack pointer belongs to nobody, and the operation before used it as deep as
    // this. The stack pointer is back where it was at the end, and no operand is addressed by it in between.
    unsafe {
        core::arch::asm!(
            "sub rsp, {depth}",
            "mov rdi, rsp",
            "rep stosq",
            "add rsp, {depth}",
            depth = in(reg) depth,
            inout("rcx") depth / 8 => _,
            inout("rax") 0_u64 => _,
            out("rdi") _,
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
fn clear_stack(depth: usize) {
    const STEP: usize = 4096;
    let mut frame = core::hint::black_box([0_u8; STEP]);
    zeroize::Zeroize::zeroize(&mut frame);
    if depth > STEP {
        clear_stack(depth - STEP);
    }
    core::hint::black_box(&frame);
}

/// Clears the registers that a function may leave anything in: all vector registers, and the general ones that
/// it need not restore.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn clear_registers() {
    use core::arch::asm;
    // SAFETY: each clears registers that it declares as lost, with instructions that the processor has.
    unsafe {
        if outboard_processor::has(outboard_processor::Feature::Avx512f) {
            asm!(
                ".irp i, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
                "vpxord zmm\\i, zmm\\i, zmm\\i",
                ".endr",
                ".irp i, 0,1,2,3,4,5,6,7",
                "kxorw k\\i, k\\i, k\\i",
                ".endr",
                "vzeroall",
                clobber_abi("sysv64"),
            );
        } else if outboard_processor::has(outboard_processor::Feature::Avx) {
            asm!("vzeroall", clobber_abi("sysv64"));
        } else {
            asm!(
                ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
                "pxor xmm\\i, xmm\\i",
                ".endr",
                clobber_abi("sysv64"),
            );
        }
        asm!(
            ".irp r, eax,ecx,edx,esi,edi,r8d,r9d,r10d,r11d",
            "xor \\r, \\r",
            ".endr",
            clobber_abi("sysv64"),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn clear_registers() {}
