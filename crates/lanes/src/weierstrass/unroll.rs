//! Loops written out by the compiler's front end.

/// `unroll!(I < N => { … })` is the body once for each constant `I` from 0 to N - 1, for N ≤ 8.
///
/// The optimizer unrolls such loops as well, but nested ones only up to a limit of its own, and an
/// array of vectors that is indexed by a loop's variable lives in memory.
macro_rules! unroll {
    ($i:ident < $n:expr => $body:block) => {
        unroll!(@ $i, $n, $body, 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident, $n:expr, $body:block, $($value:literal)*) => {
        $(
            #[allow(clippy::absurd_extreme_comparisons, clippy::identity_op, clippy::erasing_op)]
            if $value < $n {
                #[allow(unused)]
                const $i: usize = $value;
                $body
            }
        )*
    };
}

pub(crate) use unroll;
