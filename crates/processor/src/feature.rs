//! Instructions by name.

use std::arch::x86_64::_xgetbv;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::leaves::{Leaves, numbers};

macro_rules! features {
    ($($feature:ident = $name:literal, $needs:ident, $word:ident $bit:literal;)+) => {
        /// Instructions that matter to Outboard.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature {
            $(#[doc = $name] $feature,)+
        }

        impl Feature {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$feature),+];

            /// The name, as Rust and Linux know it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$feature => $name,)+
                }
            }
        }

        fn present(leaves: &Leaves, saved: Saved) -> u32 {
            let mut found = 0;
            $(
                if saved.$needs && leaves.$word >> $bit & 1 == 1 {
                    found |= 1 << Feature::$feature as u32;
                }
            )+
            found
        }
    };
}

// What the system must save of the registers for it, and CPUID's word and bit: Intel's Software Developer's Manual,
// volume 2; AMD's, volume 3.
features! {
    Aes = "aes", nothing, version_ecx 25;
    Pclmulqdq = "pclmulqdq", nothing, version_ecx 1;
    Ssse3 = "ssse3", nothing, version_ecx 9;
    Avx = "avx", avx, version_ecx 28;
    Avx2 = "avx2", avx, extended_ebx 5;
    Bmi2 = "bmi2", nothing, extended_ebx 8;
    Adx = "adx", nothing, extended_ebx 19;
    Sha = "sha", nothing, extended_ebx 29;
    Vaes = "vaes", avx, extended_ecx 9;
    Vpclmulqdq = "vpclmulqdq", avx, extended_ecx 10;
    Avx512f = "avx512f", avx512, extended_ebx 16;
    Avx512dq = "avx512dq", avx512, extended_ebx 17;
    Avx512ifma = "avx512ifma", avx512, extended_ebx 21;
    Avx512bw = "avx512bw", avx512, extended_ebx 30;
    Avx512vl = "avx512vl", avx512, extended_ebx 31;
    Avx512vbmi = "avx512vbmi", avx512, extended_ecx 1;
    Avx512vbmi2 = "avx512vbmi2", avx512, extended_ecx 6;
    Avx512vnni = "avx512vnni", avx512, extended_ecx 11;
}

/// What the system saves on a switch of threads; without that, the registers cannot be used.
#[derive(Clone, Copy)]
struct Saved {
    nothing: bool,
    avx: bool,
    avx512: bool,
}

impl Saved {
    fn by_the_system(leaves: &Leaves) -> Self {
        const OSXSAVE: u32 = 27;
        let saved = if leaves.version_ecx >> OSXSAVE & 1 == 1 {
            // SAFETY: so XGETBV exists.
            unsafe { xgetbv() }
        } else {
            0
        };
        let avx = saved & 0b110 == 0b110; // XMM and YMM
        Self {
            nothing: true,
            avx,
            avx512: avx && saved & 0xe0 == 0xe0, // and masks, upper halves, upper registers
        }
    }
}

/// # Safety
/// CPUID says OSXSAVE.
#[target_feature(enable = "xsave")]
unsafe fn xgetbv() -> u64 {
    // SAFETY: the caller vouches for the instruction; register 0 always exists then.
    unsafe { _xgetbv(0) }
}

const KNOWN: u32 = 1 << 31;
const SPLITS: u32 = 1 << 30;
const POPCNT: u32 = 1 << 29;
const _: () = assert!(Feature::ALL.len() < 29);

/// Whether the processor has these instructions, and the system lets programs use them.
pub fn has(feature: Feature) -> bool {
    has_all(&[feature])
}

/// Whether it has all of these.
#[inline]
pub fn has_all(features: &[Feature]) -> bool {
    let found = found();
    let wanted = features
        .iter()
        .fold(0, |bits, &feature| bits | 1 << feature as u32);
    found & wanted == wanted
}

/// Whether the processor has POPCNT. No feature: machines differ by features, and all that have others of these have this one.
#[inline]
pub fn has_popcnt() -> bool {
    found() & POPCNT != 0
}

/// Whether the processor works off an instruction of 512 bits in two halves, so that two of 256 bits take no longer:
/// AMD's Zen 4, and most of the laptops' Zen 5.
#[inline]
pub fn splits_512_bits() -> bool {
    found() & SPLITS != 0
}

/// Whether a processor of AVX-512 and these numbers does. AMD alone has these families.
fn splits(family: u32, model: u32) -> bool {
    match family {
        // Zen 4.
        0x19 => true,
        // The laptops' Zen 5; not what they share with desktops (model 0x70).
        0x1a => matches!(model, 0x20..=0x2f | 0x60..=0x6f),
        _ => false,
    }
}

#[inline]
fn found() -> u32 {
    static FOUND: AtomicU32 = AtomicU32::new(0);
    let mut found = FOUND.load(Ordering::Relaxed);
    if found == 0 {
        found = find();
        FOUND.store(found, Ordering::Relaxed);
    }
    found
}

#[cold]
fn find() -> u32 {
    let leaves = Leaves::get();
    let found = present(&leaves, Saved::by_the_system(&leaves));
    let (family, model, _) = numbers(leaves.signature);
    let splits = found & 1 << Feature::Avx512f as u32 != 0 && splits(family, model);
    let popcnt = leaves.version_ecx & 1 << 23 != 0;
    found | if splits { SPLITS } else { 0 } | if popcnt { POPCNT } else { 0 } | KNOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_amds_alone() {
        // EPYC 9004; EPYC 9005 and Ryzen 9000; laptops of Zen 5; Ice Lake, Sapphire Rapids.
        assert!(splits(0x19, 0x11));
        assert!(!splits(0x1a, 0x02) && !splits(0x1a, 0x44));
        assert!(splits(0x1a, 0x24) && splits(0x1a, 0x60));
        // Strix Halo, and what comes later.
        assert!(!splits(0x1a, 0x70) && !splits(0x1a, 0x50) && !splits(0x1b, 0x00));
        assert!(!splits(0x6, 0x6a) && !splits(0x6, 0x8f));
    }

    #[test]
    fn bits_are_counted_where_rust_says_so() {
        assert_eq!(has_popcnt(), is_x86_feature_detected!("popcnt"));
    }

    #[test]
    fn rust_finds_the_same() {
        macro_rules! compare {
            ($($feature:ident = $name:tt),+) => {{
                $(assert_eq!(has(Feature::$feature), is_x86_feature_detected!($name), $name);)+
                [$(Feature::$feature),+]
            }};
        }
        let compared = compare!(
            Aes = "aes",
            Pclmulqdq = "pclmulqdq",
            Ssse3 = "ssse3",
            Avx = "avx",
            Avx2 = "avx2",
            Bmi2 = "bmi2",
            Adx = "adx",
            Sha = "sha",
            Vaes = "vaes",
            Vpclmulqdq = "vpclmulqdq",
            Avx512f = "avx512f",
            Avx512dq = "avx512dq",
            Avx512ifma = "avx512ifma",
            Avx512bw = "avx512bw",
            Avx512vl = "avx512vl",
            Avx512vbmi = "avx512vbmi",
            Avx512vbmi2 = "avx512vbmi2",
            Avx512vnni = "avx512vnni"
        );
        assert_eq!(compared, Feature::ALL);
    }

    #[test]
    fn what_the_system_does_not_save_is_not_there() {
        let all = Leaves {
            signature: 0,
            version_ecx: !0,
            extended_ebx: !0,
            extended_ecx: !0,
        };
        let with = |avx, avx512| {
            let saved = Saved {
                nothing: true,
                avx,
                avx512,
            };
            present(&all, saved).count_ones() as usize
        };
        assert_eq!(with(true, true), Feature::ALL.len());
        assert_eq!(with(true, false), Feature::ALL.len() - 8);
        assert_eq!(with(false, false), Feature::ALL.len() - 12);
        let none = Leaves::default();
        assert_eq!(present(&none, Saved::by_the_system(&none)), 0);
    }
}
