//! Rows and windows: the inner loops of all of RSA.
//!
//! A *panel* is W neighbouring digits of a number (20; 15 where 20 does not divide N). A *row* adds one
//! digit of one factor times a panel of the other: 2W multiply-adds into W + 1 columns. The columns are a
//! *window* in registers which slides by one with each row: a column enters from memory at the top and
//! leaves at the bottom. Five rows are unrolled; then the registers are renamed, by moves, which take no port.
//!
//! ```text
//!  column   0 1 2 … W−1 W W+1 …        low half of x_i·y_j to column i + j, high half to i + j + 1
//!  row 0    ■ ■ ■ … ■   ■
//!  row 1      ■ ■ … ■   ■ ■            after W rows the window is W columns further on:
//!  row 2        ■ … ■   ■ ■ ■          the next panel of y goes on from there
//! ```
//!
//! # What was measured (Emerald Rapids; `vpmadd52` at two a cycle is 100 %)
//! * One load for two multiply-adds is free, and so are moves and prefetches.
//! * A 512-bit store costs half a cycle, as much as an instruction on the vector ports: this is why windows
//!   run on from panel to panel, and why nothing is initialised in memory that can start in a register.
//! * The order of instructions is worth 8 %: see [`reduce_row`] and [`add_group`].
//!
//! Alive at most: 21 columns, a row digit (two in a multiplication), five column digits, k, q, the next q
//! and its carry.

use crate::vector::{Digit, Vector, unroll};

/// Registers of a window: W ≤ 20 columns, five more for the rows unrolled, and one.
pub(super) type Window<V> = [V; 26];

/// Rows unrolled.
pub(super) const TURN: usize = 5;

/// Loads a window's first W columns.
#[inline(always)]
pub(super) fn load<V: Vector, const W: usize>(columns: &[Digit; W]) -> Window<V> {
    let mut window = [V::zero(); _];
    unroll!(J < W of 20 => {
        window[J] = V::load(&columns[J]);
    });
    window
}

/// Stores a window's first W columns.
#[inline(always)]
pub(super) fn store<V: Vector, const W: usize>(window: &Window<V>, columns: &mut [Digit; W]) {
    unroll!(J < W of 20 => {
        window[J].store(&mut columns[J]);
    });
}

/// Carries the excess of each column into the next, starting with `carry`, and stores the W digits.
#[inline(always)]
#[expect(unused_assignments, reason = "the last column's carry is 0")]
pub(super) fn normalise<V: Vector, const W: usize>(
    window: &Window<V>,
    mut carry: V,
    out: &mut [Digit; W],
) {
    unroll!(J < W of 20 => {
        let sum = window[J].add(carry);
        sum.store(&mut out[J]);
        carry = sum.shr::<52>();
    });
}

/// Renames the registers after a turn: column `j + 5` becomes column `j`.
#[inline(always)]
pub(super) fn slide<V: Vector, const W: usize>(window: &mut Window<V>) {
    unroll!(J < W of 20 => {
        window[J] = window[J + TURN];
    });
}

/// Adds `x` times the digits `5·group + skip` to `5·group + 4` of `y`. The window starts at column `c`.
///
/// A column takes a low half and a high half. The second has to wait four cycles for the first: the order
/// keeps them apart.
#[inline(always)]
pub(super) fn add_group<V: Vector, const W: usize>(
    window: &mut Window<V>,
    c: usize,
    x: V,
    y: &[Digit; W],
    group: usize,
    skip: usize,
) {
    let j = 5 * group;
    let y: [V; 5] = [
        V::load(&y[j]),
        V::load(&y[j + 1]),
        V::load(&y[j + 2]),
        V::load(&y[j + 3]),
        V::load(&y[j + 4]),
    ];
    unroll!(I < 5 => {
        if I >= skip {
            window[c + j + I] = window[c + j + I].madlo_in_order(x, y[I]);
        }
    });
    unroll!(I < 5 => {
        if 4 - I >= skip {
            window[c + j + 5 - I] = window[c + j + 5 - I].madhi_in_order(x, y[4 - I]);
        }
    });
}

/// One row: `window += x·y`.
#[inline(always)]
pub(super) fn add_row<V: Vector, const W: usize>(
    window: &mut Window<V>,
    c: usize,
    x: V,
    y: &[Digit; W],
) {
    unroll!(G < 4 => {
        if 5 * G < W {
            add_group(window, c, x, y, G, 0);
        }
    });
}

/// What one row of a reduction hands to the next.
#[derive(Clone, Copy)]
pub(super) struct Quotient<V> {
    k: V,
    /// The digit of the quotient for this row.
    pub(super) q: V,
    /// What the row's lowest column and the high half of q·m_0 carry into the next column.
    pub(super) carry: V,
}

impl<V: Vector> Quotient<V> {
    /// For the row that has `column` for its lowest.
    #[inline(always)]
    pub(super) fn new(k: &Digit, column: V, m0: &Digit) -> Self {
        let k = V::load(k);
        let q = k.madlo_in_order(column, k);
        let carry = column.shr::<52>().madhi_in_order(q, V::load(m0));
        Self { k, q, carry }
    }
}

/// One row of a reduction: `window += q·m`, where m_0 is done with. Makes the next row's quotient.
///
/// The next q must wait for its column, which waits for this q: a chain of q (4 cycles), low half of q·m_1
/// (4), add (1). A row takes the processor W cycles, so the chain hides behind it if it starts early: the
/// processor prefers older instructions. Hence the next q is computed in the row, not after it.
#[inline(always)]
pub(super) fn reduce_row<V: Vector, const W: usize>(
    window: &mut Window<V>,
    c: usize,
    quotient: &mut Quotient<V>,
    m: &[Digit; W],
) {
    let q = quotient.q;
    add_group(window, c, q, m, 0, 1);
    let next_carry = next_quotient(window, c, quotient);
    add_group(window, c, q, m, 1, 0);
    quotient.carry = next_carry.madhi_in_order(quotient.q, V::load(&m[0]));
    unroll!(G < 4 => {
        if 2 <= G && 5 * G < W {
            add_group(window, c, q, m, G, 0);
        }
    });
}

/// Completes column `c + 1` and makes the next row's q of it. Returns its carry, which still lacks q·m_0.
#[inline(always)]
pub(super) fn next_quotient<V: Vector>(
    window: &mut Window<V>,
    c: usize,
    quotient: &mut Quotient<V>,
) -> V {
    window[c + 1] = window[c + 1].add(quotient.carry);
    quotient.q = quotient.k.madlo_in_order(window[c + 1], quotient.k);
    window[c + 1].shr::<52>()
}
