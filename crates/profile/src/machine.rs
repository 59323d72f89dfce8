//! Which processor this is: whom a profile belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A processor: as much of it as decides which path is fastest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The architecture, by Rust's name: `x86_64`, `aarch64`, …
    pub architecture: String,
    /// The maker's signature, such as `GenuineIntel`; empty where the processor doesn't tell.
    pub vendor: String,
    /// The family as CPUID tells it, the extended family included; 0 where it doesn't.
    pub family: u32,
    /// The model, the extended model included.
    pub model: u32,
    /// The stepping.
    pub stepping: u32,
    /// The name it is sold by; empty where it wasn't asked for (see [`Machine::named`]).
    #[serde(default)]
    pub name: String,
    /// The instructions that matter here and that both processor and system support, sorted.
    pub features: Vec<String>,
}

/// What a built-in profile can know about a processor it has never measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// x86-64 with AVX-512 IFMA and VAES: Intel since Ice Lake, AMD since Zen 4.
    Avx512,
    /// x86-64 with AVX2, BMI2 and ADX: Intel since Broadwell, AMD since Zen.
    Avx2,
    /// 64-bit Arm with the cryptographic instructions.
    Arm,
    /// Anything else.
    Other,
}

/// How a processor takes vectors of all eight lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakesLanes {
    /// All eight in each cycle: Zen 5's servers and desktops.
    AtOnce,
    /// Four, then four: Zen 4.
    InHalves,
}

/// AMD's families with AVX-512.
const ZEN_4: u32 = 0x19;
const ZEN_5: u32 = 0x1a;

impl Machine {
    /// This machine, without its name.
    pub fn detect() -> Self {
        Self {
            vendor: architecture::vendor(),
            ..Self::glance()
        }
    }

    /// This machine, without its name and its vendor: what the C library knows already. To ask the processor
    /// itself takes a CPUID instruction for each answer, 5 to 20 µs in a virtual machine.
    pub fn glance() -> Self {
        let mut machine = architecture::glance();
        machine.features.sort_unstable();
        machine
    }

    /// With the name it is sold by, for people.
    #[must_use]
    pub fn named(mut self) -> Self {
        self.name = architecture::name();
        self
    }

    /// Whether it has an instruction set, by its name in [`features`](Self::features).
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|name| name == feature)
    }

    /// Whether what was measured on the other holds here: everything but the name is equal. A vendor that
    /// was not asked for is taken for equal: no two vendors' processors have one family, model and stepping
    /// and the same features.
    pub fn is_like(&self, other: &Self) -> bool {
        let unasked = self.vendor.is_empty() || other.vendor.is_empty();
        self.architecture == other.architecture
            && (unasked || self.vendor == other.vendor)
            && (self.family, self.model, self.stepping)
                == (other.family, other.model, other.stepping)
            && self.features == other.features
    }

    /// How the other differs, for people: `AMD EPYC with avx512f`, where a name alone says nothing.
    pub(crate) fn told_apart(&self, other: &Self) -> String {
        if self.to_string() != other.to_string() {
            return self.to_string();
        }
        let mut text = self.to_string();
        let numbers = |machine: &Self| (machine.family, machine.model, machine.stepping);
        if self.architecture != other.architecture {
            text += &format!(", {}", self.architecture);
        }
        if self.vendor != other.vendor && !self.vendor.is_empty() {
            text += &format!(" of {}", self.vendor);
        }
        if numbers(self) != numbers(other) {
            let (family, model, stepping) = numbers(self);
            text += &format!(" family {family} model {model} stepping {stepping}");
        }
        let missing = |from: &Self, of: &Self| {
            let names = of.features.iter().filter(|name| !from.has(name));
            names.cloned().collect::<Vec<_>>().join(", ")
        };
        let (more, less) = (missing(other, self), missing(self, other));
        if !more.is_empty() {
            text += &format!(" with {more}");
        }
        if !less.is_empty() {
            text += &format!(" without {less}");
        }
        text
    }

    /// How it takes vectors of all eight lanes, as far as one operation across them was measured to win. Laptops' Zen 5
    /// and Intel's servers were not measured.
    pub fn takes_lanes(&self) -> Option<TakesLanes> {
        match (self.class(), self.family, self.model) {
            (Class::Avx512, ZEN_4, _) => Some(TakesLanes::InHalves),
            (Class::Avx512, ZEN_5, 0x00..=0x1f | 0x40..=0x4f) => Some(TakesLanes::AtOnce),
            _ => None,
        }
    }

    /// The class of the processor.
    pub fn class(&self) -> Class {
        let all = |features: &[&str]| features.iter().all(|feature| self.has(feature));
        /// What lanes need (`outboard_lanes::available`), and more.
        const AVX512: &[&str] = &[
            "avx512f",
            "avx512dq",
            "avx512ifma",
            "avx512bw",
            "avx512vl",
            "avx512vbmi2",
            "vaes",
            "vpclmulqdq",
            "adx",
            "bmi2",
        ];
        match self.architecture.as_str() {
            "x86_64" if all(AVX512) => Class::Avx512,
            "x86_64" if all(&["avx2", "bmi2", "adx", "aes"]) => Class::Avx2,
            "aarch64" if all(&["aes", "pmull"]) => Class::Arm,
            _ => Class::Other,
        }
    }

    /// One of which nothing is known but the architecture.
    #[allow(dead_code)] // every architecture but one has another way
    fn unknown() -> Self {
        Self {
            architecture: std::env::consts::ARCH.into(),
            vendor: String::new(),
            family: 0,
            model: 0,
            stepping: 0,
            name: String::new(),
            features: Vec::new(),
        }
    }
}

/// Name, or what stands for it.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            return f.write_str(&self.name);
        }
        if self.vendor.is_empty() {
            return f.write_str(&self.architecture);
        }
        write!(
            f,
            "{} family {} model {} stepping {}",
            self.vendor, self.family, self.model, self.stepping
        )
    }
}

#[cfg(target_arch = "x86_64")]
mod architecture {
    //! CPUID: Intel's Software Developer's Manual volume 2, AMD's volume 3.

    use std::arch::x86_64::__cpuid;

    use outboard_processor::{Feature, has, numbers, signature};

    use super::Machine;

    pub(super) fn glance() -> Machine {
        let features = Feature::ALL.iter().filter(|feature| has(**feature));
        let (family, model, stepping) = numbers(signature());
        Machine {
            family,
            model,
            stepping,
            features: features.map(|feature| feature.name().to_owned()).collect(),
            ..Machine::unknown()
        }
    }

    pub(super) fn name() -> String {
        if __cpuid(0x8000_0000).eax < 0x8000_0004 {
            return String::new();
        }
        let words: Vec<u32> = (0x8000_0002..=0x8000_0004)
            .map(__cpuid)
            .flat_map(|leaf| [leaf.eax, leaf.ebx, leaf.ecx, leaf.edx])
            .collect();
        text(&words)
    }

    pub(super) fn vendor() -> String {
        let highest = __cpuid(0);
        text(&[highest.ebx, highest.edx, highest.ecx])
    }

    fn text(words: &[u32]) -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        String::from_utf8_lossy(&bytes)
            .trim_matches(|c: char| c == '\0' || c.is_whitespace())
            .to_owned()
    }
}

/// The names of those that there are.
#[cfg(target_arch = "aarch64")]
fn present(features: &[(&str, bool)]) -> Vec<String> {
    features
        .iter()
        .filter(|(_, present)| *present)
        .map(|(name, _)| (*name).to_owned())
        .collect()
}

#[cfg(target_arch = "aarch64")]
mod architecture {
    //! The kernel's word (HWCAP) for what there is; it doesn't tell who made it.

    use std::arch::is_aarch64_feature_detected;

    use super::{Machine, present};

    pub(super) fn glance() -> Machine {
        let features = [
            ("aes", is_aarch64_feature_detected!("aes")),
            ("pmull", is_aarch64_feature_detected!("pmull")),
            ("sha2", is_aarch64_feature_detected!("sha2")),
            ("sha3", is_aarch64_feature_detected!("sha3")),
            ("sve", is_aarch64_feature_detected!("sve")),
            ("sve2", is_aarch64_feature_detected!("sve2")),
        ];
        Machine {
            features: present(&features),
            ..Machine::unknown()
        }
    }

    pub(super) fn vendor() -> String {
        String::new()
    }

    pub(super) fn name() -> String {
        String::new()
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod architecture {
    use super::Machine;

    pub(super) fn glance() -> Machine {
        Machine::unknown()
    }

    pub(super) fn vendor() -> String {
        String::new()
    }

    pub(super) fn name() -> String {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_operation::{Operation, Path};

    #[test]
    fn a_machine_is_like_itself_whatever_it_is_called() {
        let machine = Machine::detect();
        assert!(machine.is_like(&Machine::detect().named()));
        let older = Machine {
            stepping: machine.stepping + 1,
            ..machine.clone()
        };
        assert!(!machine.is_like(&older));
        let lesser = Machine {
            features: Vec::new(),
            ..machine.clone()
        };
        assert_eq!(machine.is_like(&lesser), machine.features.is_empty());
        let another_makers = Machine {
            vendor: "another".into(),
            ..machine.clone()
        };
        assert_eq!(machine.is_like(&another_makers), machine.vendor.is_empty());
    }

    #[test]
    fn a_glance_shows_the_same() {
        let (machine, glance) = (Machine::detect(), Machine::glance());
        assert!(glance.is_like(&machine) && machine.is_like(&glance));
        assert_eq!(glance.class(), machine.class());
        assert_eq!(glance.vendor, "");
    }

    /// The table of docs/processors.md.
    #[test]
    fn processors_are_classified_by_their_instructions() {
        const NEHALEM: &[&str] = &["ssse3"];
        const SANDY_BRIDGE: &[&str] = &["aes", "avx", "pclmulqdq"];
        const HASWELL: &[&str] = &["avx2", "bmi2"];
        const BROADWELL: &[&str] = &["adx"];
        const ZEN: &[&str] = &["sha"];
        const ZEN_3: &[&str] = &["vaes", "vpclmulqdq"];
        const SKYLAKE_SERVER: &[&str] = &["avx512f", "avx512dq", "avx512bw", "avx512vl"];
        const ICE_LAKE: &[&str] = &["avx512ifma", "avx512vbmi2"];
        let x86_64: [(&str, Class, &[&[&str]]); 9] = [
            ("Nehalem", Class::Other, &[]),
            ("Sandy Bridge", Class::Other, &[SANDY_BRIDGE]),
            ("Haswell", Class::Other, &[SANDY_BRIDGE, HASWELL]),
            (
                "Broadwell",
                Class::Avx2,
                &[SANDY_BRIDGE, HASWELL, BROADWELL],
            ),
            ("Zen", Class::Avx2, &[SANDY_BRIDGE, HASWELL, BROADWELL, ZEN]),
            // And Arrow Lake, which has AVX-IFMA as well.
            (
                "Zen 3",
                Class::Avx2,
                &[SANDY_BRIDGE, HASWELL, BROADWELL, ZEN, ZEN_3],
            ),
            (
                "Skylake, a server's",
                Class::Avx2,
                &[SANDY_BRIDGE, HASWELL, BROADWELL, SKYLAKE_SERVER],
            ),
            // As some hypervisors show it.
            (
                "Ice Lake without VAES",
                Class::Avx2,
                &[SANDY_BRIDGE, HASWELL, BROADWELL, SKYLAKE_SERVER, ICE_LAKE],
            ),
            (
                "Ice Lake",
                Class::Avx512,
                &[
                    SANDY_BRIDGE,
                    HASWELL,
                    BROADWELL,
                    ZEN,
                    ZEN_3,
                    SKYLAKE_SERVER,
                    ICE_LAKE,
                ],
            ),
        ];
        let machine = |architecture: &str, features: &[&[&str]]| Machine {
            architecture: architecture.to_owned(),
            features: features
                .concat()
                .iter()
                .map(|&name| name.to_owned())
                .collect(),
            ..Machine::unknown()
        };
        let chosen = |machine: &Machine| crate::Profile::built_in(machine, "3.0.19").chosen();
        for (name, class, features) in x86_64 {
            let machine = machine("x86_64", &[&[NEHALEM], features].concat());
            assert_eq!(machine.class(), class, "{name}");
            assert_eq!(chosen(&machine) == 0, class == Class::Other, "{name}");
            // OpenSSL 3.0 has nothing for VAES, later ones nothing without AVX-512, and what comes is not known.
            let gcm = |version| {
                crate::Profile::built_in(&machine, version).path(Operation::Aes128GcmSeal)
            };
            let has_vaes = matches!(name, "Zen 3" | "Ice Lake");
            assert_eq!(gcm("3.0.19") == Path::Scalar, has_vaes, "{name}");
            for version in ["3.5.5", "4.0.3"] {
                assert_eq!(gcm(version) == Path::Scalar, name == "Zen 3", "{name}");
            }
            assert_eq!(gcm("4.1.0"), Path::Stock, "{name}");
        }
        let arm: &[&str] = &["aes", "pmull", "sha2"];
        assert_eq!(machine("aarch64", &[arm]).class(), Class::Arm);
        // A Raspberry Pi 4.
        for bare in [
            machine("aarch64", &[]),
            machine("riscv64", &[]),
            machine("s390x", &[arm]),
        ] {
            assert_eq!(bare.class(), Class::Other);
            assert_eq!(chosen(&bare), 0);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_kernel_agrees() {
        let text = std::fs::read_to_string("/proc/cpuinfo").expect("proc is mounted");
        let field = |name: &str| {
            text.lines()
                .find_map(|line| {
                    let (key, value) = line.split_once(':')?;
                    (key.trim() == name).then(|| value.trim().to_owned())
                })
                .unwrap_or_default()
        };
        let machine = Machine::detect().named();
        assert_eq!(machine.vendor, field("vendor_id"));
        assert_eq!(machine.family.to_string(), field("cpu family"));
        assert_eq!(machine.model.to_string(), field("model"));
        assert_eq!(machine.stepping.to_string(), field("stepping"));
        assert_eq!(machine.name, field("model name"));
        let flags = field("flags");
        let of_kernel = |feature: &str| {
            let name = match feature {
                "sha" => "sha_ni",
                "avx512vbmi2" => "avx512_vbmi2",
                "avx512vnni" => "avx512_vnni",
                other => other,
            };
            flags.split(' ').any(|flag| flag == name)
        };
        for feature in [
            "aes",
            "pclmulqdq",
            "ssse3",
            "avx",
            "avx2",
            "bmi2",
            "adx",
            "sha",
            "vaes",
            "vpclmulqdq",
            "avx512f",
            "avx512dq",
            "avx512ifma",
            "avx512bw",
            "avx512vl",
            "avx512vbmi",
            "avx512vbmi2",
            "avx512vnni",
        ] {
            assert_eq!(machine.has(feature), of_kernel(feature), "{feature}");
        }
    }
}
