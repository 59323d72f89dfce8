//! A key's numbers, laid out across the lanes once, when it is loaded.

use super::multiply::Modulus;
use super::power::WINDOW;
use crate::rsa::key::Size;
use crate::rsa::number::{self, Constants};
use crate::vector::{DIGIT, Digit};
use zeroize::Zeroizing;

/// Numbers in the registers of a size. Wiped when dropped.
type Row = Zeroizing<Vec<Digit>>;

/// Registers of a number: of each prime in half of the lanes, of n in all of them.
pub(super) const fn registers(size: Size) -> usize {
    size.prime_digits().div_ceil(4)
}

/// A modulus, or one of each prime.
struct Moduli {
    m: Row,
    /// 1/2^52 mod m.
    multiple: Row,
    /// −1/m mod 2^52: one digit.
    k: Row,
}

impl Moduli {
    fn as_ref<const R: usize>(&self) -> Modulus<'_, R> {
        Modulus {
            digits: row(&self.m),
            multiple: row(&self.multiple),
            k: &self.k[0],
        }
    }
}

/// What wide operations need of a public key: modulo n.
pub(in crate::rsa) struct PublicKey {
    n: Moduli,
    r2: Row,
}

impl PublicKey {
    pub(in crate::rsa) fn new(n: &Constants, size: Size) -> Self {
        let whole = |number: &[u64]| across(registers(size), [(0, number)]);
        let k = Zeroizing::new(vec![Digit::splat(n.k[0])]);
        let multiple = multiple(n);
        Self {
            n: Moduli {
                m: whole(&n.m),
                multiple: whole(&multiple),
                k,
            },
            r2: whole(&n.r2),
        }
    }

    pub(super) fn n<const R: usize>(&self) -> Modulus<'_, R> {
        self.n.as_ref()
    }

    /// R² mod n.
    pub(super) fn r2<const R: usize>(&self) -> &[Digit; R] {
        row(&self.r2)
    }
}

/// What wide operations need of a private key. Numbers modulo p are in lanes 0 to 3, those modulo q in lanes 4 to 7.
pub(in crate::rsa) struct PrivateKey {
    primes: Moduli,
    one: Row,
    r2: Row,
    r3: Row,
    qinv: Row,
    /// q·R mod n, R that of n, in all lanes.
    q: Row,
    windows: Zeroizing<Vec<[u8; 2]>>,
}

impl PrivateKey {
    /// Of p and of q each: constants, R³, the exponent; then qinv·R mod p, and n.
    pub(in crate::rsa) fn new(
        constants: [&Constants; 2],
        r3: [&[u64]; 2],
        exponents: [&[u64]; 2],
        qinv: &[u64],
        n: &Constants,
        size: Size,
    ) -> Self {
        let halves = |p: &[u64], q: &[u64]| across(registers(size), [(0, p), (4, q)]);
        let [p, q] = constants;
        let mut k = Zeroizing::new(vec![Digit::ZERO]);
        k[0].0 = core::array::from_fn(|lane| if lane < 4 { p.k[0] } else { q.k[0] });
        let primes = Moduli {
            m: halves(&p.m, &q.m),
            multiple: halves(&multiple(p), &multiple(q)),
            k,
        };
        let mut long_q = Zeroizing::new(vec![0; n.m.len()]);
        long_q[..q.m.len()].copy_from_slice(&q.m);
        let long_q = n.multiply(&long_q, &n.r2);
        Self {
            primes,
            one: halves(&p.one, &q.one),
            r2: halves(&p.r2, &q.r2),
            r3: halves(r3[0], r3[1]),
            qinv: halves(qinv, &[]),
            q: across(registers(size), [(0, &long_q[..])]),
            windows: windows(exponents, size),
        }
    }

    pub(super) fn primes<const R: usize>(&self) -> Modulus<'_, R> {
        self.primes.as_ref()
    }

    /// R mod p and mod q.
    pub(super) fn one<const R: usize>(&self) -> &[Digit; R] {
        row(&self.one)
    }

    /// R² mod p and mod q.
    pub(super) fn r2<const R: usize>(&self) -> &[Digit; R] {
        row(&self.r2)
    }

    /// R³ mod p and mod q.
    pub(super) fn r3<const R: usize>(&self) -> &[Digit; R] {
        row(&self.r3)
    }

    /// R/q mod p, and 0 in the lanes of q.
    pub(super) fn qinv<const R: usize>(&self) -> &[Digit; R] {
        row(&self.qinv)
    }

    /// q·R mod n, R that of n.
    pub(super) fn q<const R: usize>(&self) -> &[Digit; R] {
        row(&self.q)
    }

    /// The exponents' windows of p and of q, the highest first.
    pub(in crate::rsa) fn windows(&self) -> &[[u8; 2]] {
        &self.windows
    }

    /// All of it that is secret but for the windows.
    #[cfg(all(test, feature = "emulation"))]
    pub(in crate::rsa) fn secrets(&self) -> impl Iterator<Item = &[Digit]> {
        let Moduli { m, multiple, k } = &self.primes;
        let of_primes = [m, multiple, k, &self.one, &self.r2, &self.r3];
        let rows = of_primes.into_iter().chain([&self.qinv, &self.q]);
        rows.map(|row| &row[..])
    }
}

/// Numbers that start at a lane each, digit `i` in register `i mod registers`.
pub(super) fn across<const COUNT: usize>(
    registers: usize,
    numbers: [(usize, &[u64]); COUNT],
) -> Row {
    let mut row = Zeroizing::new(vec![Digit::ZERO; registers]);
    for (lane, number) in numbers {
        for (i, digit) in number.iter().enumerate() {
            row[i % registers].0[lane + i / registers] = *digit;
        }
    }
    row
}

/// A row of the size that the caller's type has.
pub(super) fn row<const R: usize>(row: &[Digit]) -> &[Digit; R] {
    row.try_into().expect("the registers of the key's size")
}

/// 1/2^52 mod m, which is (k·m + 1)/2^52.
pub(super) fn multiple(constants: &Constants) -> number::Number {
    let k = u128::from(constants.k[0]);
    let mut carry = 1;
    let mut digits = constants.m.iter().map(|digit| {
        let sum = k * u128::from(*digit) + carry;
        carry = sum >> 52;
        sum as u64 & DIGIT
    });
    // The lowest digit is 0.
    digits.next();
    let mut out = Zeroizing::new(vec![0; constants.m.len()]);
    for (out, digit) in out.iter_mut().zip(digits) {
        *out = digit;
    }
    let highest = out.last_mut().expect("a modulus has a digit");
    *highest = carry as u64;
    out
}

/// The windows of two exponents side by side, the highest first.
fn windows(exponents: [&[u64]; 2], size: Size) -> Zeroizing<Vec<[u8; 2]>> {
    let count = (size.bits() / 2).div_ceil(WINDOW);
    let window = |exponent, i| number::bits(exponent, (count - 1 - i) * WINDOW, WINDOW) as u8;
    let pair = |i| exponents.map(|exponent| window(exponent, i));
    Zeroizing::new((0..count).map(pair).collect())
}
