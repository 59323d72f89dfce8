//! How many `vpmadd52` each operation takes for eight at once: `make lanes-count`. The benchmark divides
//! the processor's rate by these numbers for the bound of what is possible.
#![cfg(feature = "fault")]

#[path = "../benches/lanes/aws_lc.rs"]
#[allow(dead_code)]
mod aws_lc;
#[path = "../benches/lanes/ours.rs"]
mod ours;

/// Runs an operation so many times.
type Run = Box<dyn FnMut(usize)>;

#[test]
fn the_benchmark_s_counts_are_right() {
    let mut wrong = 0;
    // What has next to none of them has no bound by them, and 0.
    for (name, noted) in ours::OPERATIONS.iter().filter(|(_, noted)| *noted > 0) {
        let mut run = ours::run(name);
        // Once for what is made at the first use.
        run(8);
        let ((), counted) = outboard_lanes::fault::count_multiply_adds(|| run(8));
        println!("    (\"{name}\", {counted}),");
        wrong += u32::from(counted != *noted);
    }
    assert_eq!(wrong, 0, "these belong into benches/lanes/ours.rs");
}
