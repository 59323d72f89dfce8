//! Loops written out by the compiler's front end.

/// `unroll!(I < N => { … })` is the body once for each constant `I` from 0 to N − 1, for N ≤ 8;
/// `unroll!(I < N of 20 => { … })` the same for N ≤ 20.
///
/// The optimizer unrolls such loops as well, but nested ones only up to a limit of its own, and an array of
/// vectors that is indexed by a loop's variable lives in memory.
///
/// A macro cannot count to a constant of the program, so it writes the body down 8 or 20 times, each behind a
/// comparison of constants. Where N is written as a number, it writes it down N times.
macro_rules! unroll {
    ($i:ident < 3 => $body:block) => { $crate::vector::unroll!(@ $i, $body, 0 1 2) };
    ($i:ident < 4 => $body:block) => { $crate::vector::unroll!(@ $i, $body, 0 1 2 3) };
    ($i:ident < 5 => $body:block) => { $crate::vector::unroll!(@ $i, $body, 0 1 2 3 4) };
    ($i:ident < 20 => $body:block) => {
        $crate::vector::unroll!(@ $i, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    ($i:ident < 10 => $body:block) => { $crate::vector::unroll!(@ $i, $body, 0 1 2 3 4 5 6 7 8 9) };
    ($i:ident < $n:ident of 10 => $body:block) => {
        $crate::vector::unroll!($i < 10 => { if $i < $n $body })
    };
    ($i:ident < $n:ident of 20 => $body:block) => {
        $crate::vector::unroll!($i < 20 => { if $i < $n $body })
    };
    ($i:ident < $n:expr => $body:block) => {
        $crate::vector::unroll!(@ $i, { if $i < $n $body }, 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident, $body:block, $($value:literal)*) => {
        $(
            #[allow(clippy::absurd_extreme_comparisons, clippy::identity_op, clippy::erasing_op)]
            {
                #[allow(unused)]
                const $i: usize = $value;
                $body
            }
        )*
    };
}

pub(crate) use unroll;
