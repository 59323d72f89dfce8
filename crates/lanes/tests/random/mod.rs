//! What the differential tests draw from: reproducible, and not for keys that matter.

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) struct Random(u64);

#[allow(dead_code)] // Not every test draws everything.
impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.word() % limit as u64) as usize
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.word() as u8)
    }

    /// One of the edge cases, one time in four.
    pub(crate) fn bytes_or<const N: usize>(&mut self, edges: &[[u8; N]]) -> [u8; N] {
        if self.below(4) == 0 {
            edges[self.below(edges.len())]
        } else {
            self.bytes()
        }
    }
}

/// How many batches to compare: `LANES_BATCHES`, or 100,000, of which the emulation manages a few.
#[allow(dead_code)]
pub(crate) fn batches() -> u64 {
    let usual = if cfg!(feature = "emulation") {
        20
    } else {
        100_000
    };
    std::env::var("LANES_BATCHES").map_or(usual, |count| {
        count.parse().expect("LANES_BATCHES is a number of batches")
    })
}
