//! Points of the curve -x^2 + y^2 = 1 + d x^2 y^2 (edwards25519, RFC 8032 section 5.1), eight at
//! once.
//!
//! Hisil, Wong, Carter and Dawson, "Twisted Edwards curves revisited" (2008): extended coordinates
//! x = X/Z, y = Y/Z, x y = T/Z; addition 8M, with a precomputed affine point 7M; doubling 4M + 4S.
//! The formulas are complete: they hold for every pair of points, the neutral one included.
//!
//! Additions and doublings first give E, F, G, H with X = E F, Y = G H, Z = F G, T = E H
//! ([`Completed`]); the form that the next step needs is made from that:
//!
//! ```text
//!            ┌──▶ Projective ── double ──▶ ┐
//! Completed ─┤                             ├─▶ Completed
//!            └──▶ Extended ─── add ──────▶ ┘
//!                    └──▶ Cached, the other summand (Multiple where it is affine)
//! ```
//!
//! Everything is constant time.

use super::field::{Columns, Constant, DIGITS, Element, ONE, TWO, ZERO};
use super::inverse;
use super::words::Words;
use crate::checks::Check;
use crate::vector::{Digit, Mask, Vector, reread};
use zeroize::{Zeroize, Zeroizing};

/// d = -121665/121666.
const D: Constant = [
    0xb_4dca_1359_78a3,
    0x4_d414_1d8a_b75e,
    0x7_79e8_9800_700a,
    0xf_e738_cc74_0797,
    0x0_5203_6cee_2b6f,
];

const TWICE_D: Constant = [
    0x6_9b94_26b2_f159,
    0x9_a828_3b15_6ebd,
    0xe_f3d1_3000_e014,
    0xf_ce71_98e8_0f2e,
    0x0_2406_d9dc_56df,
];

/// 2^((p - 1) / 4), a square root of -1.
const ROOT_OF_MINUS_1: Constant = [
    0xe_1b27_4a0e_a0b0,
    0x0_6ad2_fe47_8c4e,
    0xd_fbd7_a72f_4318,
    0xd_f0b2_b4d0_0993,
    0x0_2b83_2480_4fc1,
];

const BASE_X: Constant = [
    0x6_2d60_8f25_d51a,
    0x6_0952_5a7b_2c95,
    0xd_d6dc_5c69_2cc7,
    0x5_3fec_0a4e_231f,
    0x0_2169_36d3_cd6e,
];

/// 4/5.
const BASE_Y: Constant = [
    0x6_6666_6666_6658,
    0x6_6666_6666_6666,
    0x6_6666_6666_6666,
    0x6_6666_6666_6666,
    0x0_6666_6666_6666,
];

/// X = E F, Y = G H, Z = F G, T = E H: so x = E/G and y = H/F.
#[derive(Clone, Copy)]
pub(crate) struct Completed<V> {
    pub(crate) e: Element<V>,
    pub(crate) f: Element<V>,
    pub(crate) g: Element<V>,
    pub(crate) h: Element<V>,
}

/// A [`Completed`] point in memory.
#[derive(Clone, Copy)]
pub(crate) struct StoredCompleted {
    e: [Digit; DIGITS],
    f: [Digit; DIGITS],
    g: [Digit; DIGITS],
    h: [Digit; DIGITS],
}

impl Zeroize for StoredCompleted {
    fn zeroize(&mut self) {
        let StoredCompleted { e, f, g, h } = self;
        [e, f, g, h].into_iter().for_each(Zeroize::zeroize);
    }
}

impl StoredCompleted {
    pub(crate) const ZERO: StoredCompleted = StoredCompleted {
        e: [Digit::ZERO; DIGITS],
        f: [Digit::ZERO; DIGITS],
        g: [Digit::ZERO; DIGITS],
        h: [Digit::ZERO; DIGITS],
    };

    /// Takes one lane of another point.
    pub(crate) fn take_lane(&mut self, lane: usize, from: &StoredCompleted) {
        let StoredCompleted { e, f, g, h } = from;
        let to = [&mut self.e, &mut self.f, &mut self.g, &mut self.h];
        for (to, from) in to
            .into_iter()
            .flatten()
            .zip([e, f, g, h].into_iter().flatten())
        {
            to.0[lane] = from.0[lane];
        }
    }
}

/// A point to double.
#[derive(Clone, Copy)]
pub(crate) struct Projective<V> {
    x: Element<V>,
    y: Element<V>,
    x_plus_y: Element<V>,
    z: Element<V>,
}

/// A point to add to.
#[derive(Clone, Copy)]
pub(crate) struct Extended<V> {
    y_minus_x: Element<V>,
    y_plus_x: Element<V>,
    /// Raised by 1.
    z: Columns<V>,
    t: Element<V>,
}

/// A summand.
#[derive(Clone, Copy)]
pub(crate) struct Cached<V> {
    pub(crate) y_minus_x: Element<V>,
    pub(crate) y_plus_x: Element<V>,
    pub(crate) z: Element<V>,
    /// 2 d T.
    pub(crate) t: Element<V>,
}

/// A [`Cached`] point in memory.
#[derive(Clone, Copy)]
pub(crate) struct StoredCached {
    y_minus_x: [Digit; DIGITS],
    y_plus_x: [Digit; DIGITS],
    z: [Digit; DIGITS],
    t: [Digit; DIGITS],
}

impl StoredCached {
    pub(crate) const ZERO: StoredCached = StoredCached {
        y_minus_x: [Digit::ZERO; DIGITS],
        y_plus_x: [Digit::ZERO; DIGITS],
        z: [Digit::ZERO; DIGITS],
        t: [Digit::ZERO; DIGITS],
    };
}

/// An affine summand: Z = 1.
#[derive(Clone, Copy)]
pub(crate) struct Multiple<V> {
    pub(crate) y_minus_x: Element<V>,
    pub(crate) y_plus_x: Element<V>,
    /// 2 d x y.
    pub(crate) t: Element<V>,
}

/// Points in the encoding of RFC 8032.
#[derive(Clone, Copy)]
pub(crate) struct Encoded<V> {
    /// y, and above it the lowest bit of x.
    pub(crate) words: Words,
    x: Element<V>,
}

impl<V: Vector> Encoded<V> {
    #[inline(always)]
    fn of(x: Element<V>, y: Element<V>) -> Self {
        let mut words = y.to_words();
        let top = V::load(&words.0[3]);
        top.blend(x.is_odd(), top.or(V::splat(1 << 63)))
            .store(&mut words.0[3]);
        Encoded { words, x }
    }

    /// The lanes that are `point`, as it is in memory. As in [`Encoded::is_twice`], what is checked are `words`, which
    /// are those that are released.
    #[inline(always)]
    pub(crate) fn is(&self, point: &StoredCompleted, words: &Words) -> Mask {
        let (words, own) = (reread(words), self.reread_x());
        let again = Completed::affine(own, Element::from_words(words));
        let sign = V::load(&words.0[3]).test(V::splat(1 << 63));
        let (x, y) = again.equals(Completed::load(reread(point)));
        Check::X.verdict(x) & Check::Y.verdict(y) & Check::Sign.verdict(!(sign ^ own.is_odd()))
    }

    /// x, through memory: whether it is odd is found a second time, not remembered.
    #[inline(always)]
    fn reread_x(&self) -> Element<V> {
        let mut x = Zeroizing::new([Digit::ZERO; DIGITS]);
        self.x.store(&mut x);
        Element::load(reread(&*x))
    }

    /// The lanes that are twice `half`. It is `words` that is checked: y and the sign are read from
    /// it.
    #[inline(always)]
    pub(crate) fn is_twice(&self, half: Completed<V>) -> Mask {
        let (words, own) = (reread(&self.words), self.reread_x());
        let point = Completed::affine(own, Element::from_words(words));
        let sign = V::load(&words.0[3]).test(V::splat(1 << 63));
        let (x, y) = point.equals(half.projective().double());
        Check::TwiceX.verdict(x)
            & Check::TwiceY.verdict(y)
            & Check::TwiceSign.verdict(!(sign ^ own.is_odd()))
    }
}

impl<V: Vector> Completed<V> {
    #[inline(always)]
    pub(crate) fn affine(x: Element<V>, y: Element<V>) -> Self {
        let one = Element::constant(&ONE);
        Completed {
            e: x,
            f: one,
            g: one,
            h: y,
        }
    }

    #[inline(always)]
    pub(crate) fn neutral() -> Self {
        Self::affine(Element::constant(&ZERO), Element::constant(&ONE))
    }

    #[inline(always)]
    pub(crate) fn base_point() -> Self {
        Self::affine(Element::constant(&BASE_X), Element::constant(&BASE_Y))
    }

    #[inline(always)]
    pub(crate) fn projective(self) -> Projective<V> {
        let x = self.e.mul(self.f);
        let y = self.g.mul(self.h);
        let z = self.f.mul(self.g);
        Projective {
            x: x.carry(),
            y: y.carry(),
            x_plus_y: x.add(y).carry(),
            z: z.carry(),
        }
    }

    #[inline(always)]
    pub(crate) fn extended(self) -> Extended<V> {
        let x = self.e.mul(self.f);
        let y = self.g.mul_raised::<1>(self.h);
        Extended {
            y_minus_x: y.sub(x).carry(),
            y_plus_x: y.add(x).carry(),
            z: self.f.mul_raised::<1>(self.g),
            t: self.e.mul(self.h).carry(),
        }
    }

    /// The affine coordinates x and y.
    #[inline(always)]
    pub(crate) fn coordinates(self) -> (Element<V>, Element<V>) {
        let inverse = inverse::invert(self.f.mul(self.g).carry());
        let x = self.e.mul(self.f).carry().mul(inverse);
        let y = self.g.mul(self.h).carry().mul(inverse);
        (x.carry(), y.carry())
    }

    #[inline(always)]
    pub(crate) fn encode(self) -> Encoded<V> {
        let (x, y) = self.coordinates();
        Encoded::of(x, y)
    }

    /// The encoding of the point in lane 0.
    #[inline(always)]
    pub(crate) fn encode_first(self) -> Encoded<V> {
        let inverse = inverse::invert_first(self.f.mul(self.g).carry());
        let x = self.e.mul(self.f).carry().mul(inverse);
        let y = self.g.mul(self.h).carry().mul(inverse);
        Encoded::of(x.carry(), y.carry())
    }

    #[inline(always)]
    pub(crate) fn negate(self) -> Self {
        Completed {
            e: self.e.negate(),
            ..self
        }
    }

    /// The lanes where both have the same x, and those where both have the same y.
    #[inline(always)]
    pub(crate) fn equals(self, other: Self) -> (Mask, Mask) {
        let x = self.e.mul_raised::<1>(other.g).sub(other.e.mul(self.g));
        let y = self.h.mul_raised::<1>(other.f).sub(other.h.mul(self.f));
        (x.carry().is_zero(), y.carry().is_zero())
    }

    /// The lanes with a point of the curve: Y^2 - X^2 = Z^2 + d T^2, and Z is not zero.
    #[inline(always)]
    pub(crate) fn is_on_curve(self) -> Mask {
        let x = self.e.mul(self.f).carry();
        let y = self.g.mul(self.h).carry();
        let z = self.f.mul(self.g).carry();
        let t = self.e.mul(self.h).carry();
        let dtt = t.square().carry().mul(Element::constant(&D));
        let right = x.square().add(z.square()).add(dtt);
        let same = y.square_raised::<4>().sub(right).carry().is_zero();
        same & !z.is_zero()
    }

    #[inline(always)]
    pub(crate) fn load(from: &StoredCompleted) -> Self {
        Completed {
            e: Element::load(&from.e),
            f: Element::load(&from.f),
            g: Element::load(&from.g),
            h: Element::load(&from.h),
        }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut StoredCompleted) {
        self.e.store(&mut to.e);
        self.f.store(&mut to.f);
        self.g.store(&mut to.g);
        self.h.store(&mut to.h);
    }
}

impl<V: Vector> Projective<V> {
    /// dbl-2008-hwcd with a = -1 and all signs changed.
    #[inline(always)]
    pub(crate) fn double(self) -> Completed<V> {
        let xx = self.x.square();
        let yy = self.y.square_raised::<1>();
        let zz = self.z.square_raised::<2>();
        let h = yy.add(xx);
        let g = yy.sub(xx);
        let e = self.x_plus_y.square_raised::<4>().sub(h);
        let f = zz.double().sub(g);
        Completed {
            e: e.carry(),
            f: f.carry(),
            g: g.carry(),
            h: h.carry(),
        }
    }
}

impl<V: Vector> Extended<V> {
    /// add-2008-hwcd-3.
    #[inline(always)]
    pub(crate) fn add(self, other: Cached<V>) -> Completed<V> {
        let zz = self.z.carry().mul_raised::<1>(other.z);
        let Cached {
            y_minus_x,
            y_plus_x,
            t,
            ..
        } = other;
        self.sum(
            zz,
            Multiple {
                y_minus_x,
                y_plus_x,
                t,
            },
            0,
        )
    }

    /// madd-2008-hwcd-3, subtracting in the lanes of `negative`.
    #[inline(always)]
    pub(crate) fn add_multiple(self, other: Multiple<V>, negative: Mask) -> Completed<V> {
        self.sum(self.z, other, negative)
    }

    /// The sum, where `zz` is Z1 Z2, raised by 1.
    #[inline(always)]
    fn sum(self, zz: Columns<V>, other: Multiple<V>, negative: Mask) -> Completed<V> {
        // -(x, y) = (-x, y): y - x and y + x change places, and t its sign.
        let minus = other.y_minus_x.blend(negative, other.y_plus_x);
        let plus = other.y_plus_x.blend(negative, other.y_minus_x);
        let a = self.y_minus_x.mul(minus);
        let b = self.y_plus_x.mul_raised::<1>(plus);
        let c = self.t.mul(other.t);
        let d = zz.double();
        let f = d.sub(c);
        let g = d.add(c);
        Completed {
            e: b.sub(a).carry(),
            f: f.blend(negative, g).carry(),
            g: g.blend(negative, f).carry(),
            h: b.add(a).carry(),
        }
    }

    #[inline(always)]
    pub(crate) fn cached(self) -> Cached<V> {
        Cached {
            y_minus_x: self.y_minus_x,
            y_plus_x: self.y_plus_x,
            z: self.z.carry(),
            t: self.t.mul(Element::constant(&TWICE_D)).carry(),
        }
    }
}

impl<V: Vector> Cached<V> {
    #[inline(always)]
    pub(crate) fn neutral() -> Self {
        let one = Element::constant(&ONE);
        Cached {
            y_minus_x: one,
            y_plus_x: one,
            z: one,
            t: Element::constant(&ZERO),
        }
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: Mask, other: Self) -> Self {
        Cached {
            y_minus_x: self.y_minus_x.blend(mask, other.y_minus_x),
            y_plus_x: self.y_plus_x.blend(mask, other.y_plus_x),
            z: self.z.blend(mask, other.z),
            t: self.t.blend(mask, other.t),
        }
    }

    #[inline(always)]
    pub(crate) fn load(from: &StoredCached) -> Self {
        Cached {
            y_minus_x: Element::load(&from.y_minus_x),
            y_plus_x: Element::load(&from.y_plus_x),
            z: Element::load(&from.z),
            t: Element::load(&from.t),
        }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut StoredCached) {
        self.y_minus_x.store(&mut to.y_minus_x);
        self.y_plus_x.store(&mut to.y_plus_x);
        self.z.store(&mut to.z);
        self.t.store(&mut to.t);
    }

    /// Each lane takes the lane of `self` that `from` names.
    #[inline(always)]
    pub(crate) fn permute(self, from: V) -> Self {
        Cached {
            y_minus_x: self.y_minus_x.permute(from),
            y_plus_x: self.y_plus_x.permute(from),
            z: self.z.permute(from),
            t: self.t.permute(from),
        }
    }

    /// The negative in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn negate(self, mask: Mask) -> Self {
        Cached {
            y_minus_x: self.y_minus_x.blend(mask, self.y_plus_x),
            y_plus_x: self.y_plus_x.blend(mask, self.y_minus_x),
            z: self.z,
            t: self.t.blend(mask, self.t.negate()),
        }
    }
}

impl<V: Vector> Multiple<V> {
    #[inline(always)]
    pub(crate) fn affine(x: Element<V>, y: Element<V>) -> Self {
        Multiple {
            y_minus_x: y.columns().raise::<1>().sub(x.columns()).carry(),
            y_plus_x: y.columns().add(x.columns()).carry(),
            t: x.mul(y).carry().mul(Element::constant(&TWICE_D)).carry(),
        }
    }

    /// The point itself, or its negative in the lanes of `negative`: (2 x / 2, 2 y / 2).
    #[inline(always)]
    pub(crate) fn completed(self, negative: Mask) -> Completed<V> {
        let minus = self.y_minus_x.blend(negative, self.y_plus_x).columns();
        let plus = self.y_plus_x.blend(negative, self.y_minus_x).columns();
        let two = Element::constant(&TWO);
        Completed {
            e: plus.raise::<1>().sub(minus).carry(),
            f: two,
            g: two,
            h: plus.add(minus).carry(),
        }
    }
}

/// The points with these encodings (RFC 8032 section 5.1.3), and the lanes where there is none: y
/// is on no point, or x = 0 is said to be odd. That y is below p is left to the caller.
#[inline(always)]
pub(crate) fn decode<V: Vector>(encodings: &Words) -> (Completed<V>, Mask) {
    let one = Element::<V>::constant(&ONE);
    let y = Element::from_words(encodings);
    let odd = V::load(&encodings.0[3]).test(V::splat(1 << 63));
    // x^2 = u/v = (y^2 - 1) / (d y^2 + 1), so x is u v^3 (u v^7)^((p - 5) / 8), or that times the
    // root of -1.
    let yy = y.square_raised::<1>();
    let u = yy.sub(one.columns()).carry();
    let v = yy
        .carry()
        .mul(Element::constant(&D))
        .add(one.columns())
        .carry();
    let v3 = v.square().carry().mul(v).carry();
    let uv3 = u.mul(v3).carry();
    let uv7 = uv3.mul(v3.mul(v).carry()).carry();
    let x = uv3.mul(uv7.power_for_root()).carry();
    let vxx = x.square().carry().mul_raised::<1>(v);
    let right = vxx.sub(u.columns()).carry().is_zero();
    let off_by_root = vxx.add(u.columns()).carry().is_zero();
    let x = x
        .mul(Element::constant(&ROOT_OF_MINUS_1))
        .carry()
        .blend(right, x);
    let wrong_sign = x.is_odd() ^ odd;
    let bad = !(right | off_by_root) | x.is_zero() & odd;
    (Completed::affine(x.blend(wrong_sign, x.negate()), y), bad)
}
