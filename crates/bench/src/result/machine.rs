//! The machine that figures come from.

use std::fs;

use serde::{Deserialize, Serialize};

/// The facts about a machine that a reader needs to judge its figures. Nothing here identifies a single machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz".
    pub processor: String,
    /// How many processors this process may use.
    pub cores: u32,
    /// In bytes.
    pub memory: u64,
    /// "Linux 6.18.5".
    pub kernel: String,
    /// "Debian GNU/Linux 12 (bookworm)".
    pub system: String,
}

impl Machine {
    /// This machine. A fact that the system does not provide stays empty or 0.
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let release = read("/proc/sys/kernel/osrelease");
        Self {
            processor: value(&read("/proc/cpuinfo"), "model name", ':').to_owned(),
            cores: std::thread::available_parallelism()
                .ok()
                .and_then(|cores| u32::try_from(cores.get()).ok())
                .unwrap_or(0),
            memory: value(&read("/proc/meminfo"), "MemTotal", ':')
                .trim_end_matches(" kB")
                .parse::<u64>()
                .map_or(0, |kibibytes| kibibytes * 1024),
            kernel: format!("Linux {}", release.trim()),
            system: value(&read("/etc/os-release"), "PRETTY_NAME", '=')
                .trim_matches('"')
                .to_owned(),
        }
    }
}

/// What follows `name` and a separator in the first line that begins so.
fn value<'a>(text: &'a str, name: &str, separator: char) -> &'a str {
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(key, _)| key.trim() == name)
        .map_or("", |(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_something() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && machine.memory > 1 << 20);
        assert!(machine.kernel.len() > "Linux ".len());
    }

    #[test]
    fn values_are_found_by_their_whole_name() {
        let text = "MemTotalX: 1 kB\nMemTotal:   16 kB\n";
        assert_eq!(value(text, "MemTotal", ':'), "16 kB");
        assert_eq!(
            value("PRETTY_NAME=\"A B\"\n", "PRETTY_NAME", '='),
            "\"A B\""
        );
    }
}
