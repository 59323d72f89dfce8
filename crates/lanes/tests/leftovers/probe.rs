//! Calls a function and looks at what it leaves behind: below its caller on the stack, and in vector registers.

use crate::thread;
use std::arch::asm;
use std::hint::black_box;

/// The stack's size: more than enough.
const SIZE: usize = 4 << 20;

/// What the stack is filled with before a call.
const PATTERN: u8 = 0xa5;

/// What a function left.
pub(crate) struct Leftovers {
    /// The stack below its caller, the deepest byte first; what it did not reach is not there.
    pub(crate) stack: Vec<u8>,
    /// The vector registers.
    pub(crate) registers: Registers,
}

/// 32 registers of 512 bits; those that the processor lacks are 0.
#[repr(C, align(64))]
pub(crate) struct Registers(pub(crate) [u8; 32 * 64]);

/// Calls `function` on a thread whose stack is clean. Passes its result to `with`.
pub(crate) fn call<A: Copy, R>(function: fn(A) -> R, argument: A, with: impl Fn(R)) -> Leftovers {
    let mut stack = vec![0_u64; SIZE / 8];
    let mut copy = vec![PATTERN; SIZE];
    let mut registers = Registers([0; 32 * 64]);
    // A page to spare where the thread's stack was aligned.
    let bottom = stack[4096 / 8..].as_mut_ptr().cast::<u8>();
    thread::run_on(&mut stack, &mut || {
        // A pointer that the compiler does not know: the function gets a frame of its own.
        let function = black_box(function);
        let wide = is_x86_feature_detected!("avx512f");
        let copied: usize;
        // A thread begins with the vector registers of the one that makes it.
        outboard_lanes::wiped(8, || ());
        // SAFETY: fills what lies below the stack pointer, where nobody has anything.
        unsafe {
            asm!("mov rcx, rsp", "sub rcx, rdi", "rep stosb",
                inout("rdi") bottom => _, in("al") PATTERN, out("rcx") _);
        }
        let result = function(argument);
        // SAFETY: stores the registers where there is room for them, then copies what lies below the stack pointer
        // and above `bottom`, which is less than `copy` has room for. No call lies between the function and this.
        unsafe {
            if wide {
                asm!(
                    ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
                    "vmovdqa64 [{to} + 64 * \\i], zmm\\i",
                    ".endr", to = in(reg) &raw mut registers);
            } else {
                asm!(
                    ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
                    "vmovdqa [{to} + 64 * \\i], ymm\\i",
                    ".endr", to = in(reg) &raw mut registers);
            }
            asm!("mov rcx, rsp", "sub rcx, rsi", "mov {copied}, rcx", "rep movsb",
                copied = out(reg) copied, inout("rsi") bottom => _,
                inout("rdi") copy.as_mut_ptr() => _, out("rcx") _);
        }
        copy.truncate(copied);
        with(result);
    });
    let untouched = copy.iter().take_while(|byte| **byte == PATTERN).count();
    Leftovers {
        stack: copy.split_off(untouched),
        registers,
    }
}
