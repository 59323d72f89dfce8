//! Where there are no lanes, their tests say so and do nothing: `make lanes-emulated`, a part of `make test`, runs
//! them on the emulation.

/// Whether there is anything to test here: lanes, or their emulation.
pub(crate) fn skip() -> bool {
    let skip = !outboard_lanes::available() && !cfg!(feature = "emulation");
    if skip {
        eprintln!("skipped: this processor has no AVX-512 IFMA (run: make lanes-emulated)");
    }
    skip
}
