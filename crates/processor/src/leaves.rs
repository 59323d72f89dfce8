//! What CPUID tells, by the C library where it knows.

use std::arch::x86_64::{__cpuid, __cpuid_count};

/// The words of leaves 1 (signature and features) and 7 (newer features) that matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaves {
    pub(crate) signature: u32,
    pub(crate) version_ecx: u32,
    pub(crate) extended_ebx: u32,
    pub(crate) extended_ecx: u32,
}

/// Family, model and stepping, as the processor packs them.
pub fn signature() -> u32 {
    Leaves::get().signature
}

/// Family, model and stepping of a [`signature`], the extended parts added as both makers' manuals say.
pub fn numbers(signature: u32) -> (u32, u32, u32) {
    let field = |shift: u32, bits: u32| signature >> shift & ((1 << bits) - 1);
    let family = match field(8, 4) {
        0xf => 0xf + field(20, 8),
        family => family,
    };
    let model = match family {
        0x6 | 0xf.. => field(16, 4) << 4 | field(4, 4),
        _ => field(4, 4),
    };
    (family, model, field(0, 4))
}

impl Leaves {
    pub(crate) fn get() -> Self {
        Self::known().unwrap_or_else(Self::asked)
    }

    /// By the processor.
    fn asked() -> Self {
        let version = __cpuid(1);
        let mut leaves = Self {
            signature: version.eax,
            version_ecx: version.ecx,
            ..Self::default()
        };
        if __cpuid(0).eax >= 7 {
            let extended = __cpuid_count(7, 0);
            (leaves.extended_ebx, leaves.extended_ecx) = (extended.ebx, extended.ecx);
        }
        leaves
    }

    /// By glibc, since 2.33 (`<sys/platform/x86.h>`); none where it does not tell.
    #[cfg(target_env = "gnu")]
    fn known() -> Option<Self> {
        /// glibc's `struct cpuid_feature`.
        #[repr(C)]
        struct Leaf {
            /// EAX, EBX, ECX and EDX.
            cpuid: [u32; 4],
            active: [u32; 4],
        }
        type LeafOf = unsafe extern "C" fn(leaf: u32) -> *const Leaf;
        /// Its numbers of the leaves.
        const INDEX_1: u32 = 0;
        const INDEX_7: u32 = 1;

        let name = c"__x86_get_cpuid_feature_leaf";
        // SAFETY: looks a name up among what is loaded.
        let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        // SAFETY: null, or glibc's function of that reserved name.
        let function: Option<LeafOf> = unsafe { std::mem::transmute(function) };
        let leaf = |index| {
            // SAFETY: answers a constant of its own for any number, or null.
            let leaf = unsafe { function?(index).as_ref() }?;
            Some(leaf.cpuid)
        };
        let ([signature, _, version_ecx, _], [_, extended_ebx, extended_ecx, _]) =
            (leaf(INDEX_1)?, leaf(INDEX_7)?);
        (signature != 0).then_some(Self {
            signature,
            version_ecx,
            extended_ebx,
            extended_ecx,
        })
    }

    #[cfg(not(target_env = "gnu"))]
    fn known() -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_says_what_the_c_library_knows() {
        if let Some(known) = Leaves::known() {
            assert_eq!(known, Leaves::asked());
        }
        assert_ne!(signature(), 0);
    }

    #[test]
    fn signatures_split_as_the_makers_say() {
        assert_eq!(numbers(0x000c_06f2), (6, 207, 2)); // Emerald Rapids
        assert_eq!(numbers(0x00a2_0f12), (25, 33, 2)); // Zen 3
        assert_eq!(numbers(0x0000_0633), (6, 3, 3)); // Pentium II
        assert_eq!(numbers(0x0000_0543), (5, 4, 3)); // Pentium MMX
    }
}
