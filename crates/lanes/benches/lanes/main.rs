//! Every operation by four contenders: `make bench-lanes`.
//!
//! ```text
//! stock       the system's libcrypto.so.3 through EVP      stock.rs
//! AWS-LC      one at a time, its lowest interface          aws_lc.rs
//! crypto_mb   Intel's eight lanes, if it was fetched       crypto_mb.rs
//! lanes       this crate                                   ours.rs
//! wide        this crate, one operation across the lanes    ours.rs: a row of its own, "… wide"
//!                                    alternate.rs: who is measured when; report.rs: what is told
//! ```
//!
//! `SECONDS_EACH=` is the time for each contender, operation and number of filled lanes (default 0.5);
//! `ONLY=` a part of an operation's name; `CRYPTO_MB=` the directory of libcrypto_mb.so.

mod alternate;
mod aws_lc;
mod crypto_mb;
mod ours;
mod report;
mod stock;

use alternate::{Measured, Pace};

/// Runs an operation so many times; a batch's worth.
pub(crate) type Run = Box<dyn FnMut(usize)>;

/// An operation and who can do it.
pub(crate) struct Operation {
    /// As it is called in the report.
    pub(crate) name: &'static str,
    /// `vpmadd52` instructions for eight at once in lanes (`make lanes-count` counts them).
    pub(crate) multiply_adds: u64,
    /// Stock, AWS-LC, crypto_mb, lanes: in the report's order, as far as they are here.
    pub(crate) contenders: Vec<(&'static str, Run)>,
}

fn main() {
    if !outboard_lanes::available() {
        println!("{}", outboard_lanes::Error::Unavailable);
        return;
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let pace = Pace::from_environment();
    let stock = stock::Library::open();
    let crypto_mb = crypto_mb::open();
    report::header(stock.is_some(), crypto_mb.is_some());
    let mut all: Vec<Measured> = Vec::new();
    let contenders = |name: &str| {
        let mut contenders = Vec::new();
        let ours = ours::run(name);
        // Others do a wide operation as they do it otherwise.
        let name = name.trim_end_matches(" wide");
        contenders.extend(
            stock
                .as_ref()
                .and_then(|library| library.run(name))
                .map(|r| ("stock", r)),
        );
        contenders.extend(aws_lc::run(name).map(|run| ("AWS-LC", run)));
        contenders.extend(
            crypto_mb
                .and_then(|library| crypto_mb::run(library, name))
                .map(|run| ("crypto_mb", run)),
        );
        contenders.push(("lanes", ours));
        contenders
    };
    for &(name, multiply_adds) in ours::OPERATIONS {
        if !name.contains(&only) {
            continue;
        }
        let mut operation = Operation {
            name,
            multiply_adds,
            contenders: contenders(name),
        };
        let measured = alternate::measure(&mut operation, 8, &pace);
        report::row(&operation, &measured);
        all.extend(measured);
        if name.ends_with(" wide") {
            continue;
        }
        // Break-even: where eight lanes, so many filled, beat AWS-LC one by one.
        operation
            .contenders
            .retain(|(name, _)| matches!(*name, "AWS-LC" | "lanes"));
        for filled in 1..8 {
            all.extend(alternate::measure(&mut operation, filled, &pace));
        }
    }
    report::break_even(&all);
    report::write(&all);
}
