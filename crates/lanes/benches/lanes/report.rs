//! The table, the break-even numbers and `target/bench/lanes.json`.

use crate::Operation;
use crate::alternate::Measured;
use crate::ours;
use serde_json::Value;
use std::path::PathBuf;

pub(crate) fn header(stock: bool, crypto_mb: bool) {
    if !stock {
        println!("no libcrypto.so.3 on this system: without stock");
    }
    if !crypto_mb {
        println!(
            "no crypto_mb (make bench-lanes fetches it; CRYPTO_MB= names its directory): without it"
        );
    }
    println!(
        "operations per second on one core, 8 lanes filled; medians (best), ratios of lanes to each"
    );
    println!(
        "{:34}{:>19}{:>21}{:>21}{:>19} {:>6} {:>6} {:>6} {:>6}",
        "", "stock", "AWS-LC", "crypto_mb", "lanes", "stock", "AWS-LC", "mb", "bound"
    );
}

pub(crate) fn row(operation: &Operation, measured: &[Measured]) {
    let of = |name: &str| measured.iter().find(|m| m.contender == name);
    let ours = of("lanes").expect("lanes are always measured");
    print!("{:34}", operation.name);
    for (name, width) in [
        ("stock", 19),
        ("AWS-LC", 21),
        ("crypto_mb", 21),
        ("lanes", 19),
    ] {
        let text = of(name).map_or("–".into(), |m| {
            format!("{:.0} ({:.0})", m.median(), m.best())
        });
        print!("{text:>width$}");
    }
    for name in ["stock", "AWS-LC", "crypto_mb"] {
        let text = of(name).map_or("–".into(), |other| format!("{:.2}", ours.ratio(other)));
        print!(" {text:>6}");
    }
    match operation.multiply_adds {
        0 => println!("      –"),
        _ => println!(" {:>5.0}%", 100.0 * ours.median_share()),
    }
}

/// The least number of filled lanes from which on lanes are faster than AWS-LC one by one.
pub(crate) fn break_even(all: &[Measured]) {
    println!("\nfilled lanes: lanes by AWS-LC one by one; the break-even number");
    let mut names: Vec<_> = all.iter().map(|m| m.operation).collect();
    names.dedup();
    names.retain(|name| !name.ends_with(" wide"));
    for name in names {
        let ratio = |filled: usize| {
            let of = |contender: &str| {
                all.iter()
                    .find(|m| (m.operation, m.filled, m.contender) == (name, filled, contender))
            };
            of("lanes")
                .zip(of("AWS-LC"))
                .map_or(f64::NAN, |(ours, theirs)| ours.ratio(theirs))
        };
        print!("{name:30}");
        for filled in 1..=8 {
            print!(" {:>5.2}", ratio(filled));
        }
        let losing = (1..=8)
            .rev()
            .find(|&filled| ratio(filled) <= 1.0)
            .unwrap_or(0);
        println!(
            "   {}",
            if losing == 8 {
                "never".into()
            } else {
                (losing + 1).to_string()
            }
        );
    }
}

/// Writes the medians and bests to `target/bench/lanes.json` of the workspace. Of operations that were not
/// measured this time (`ONLY=`), what is there stays.
pub(crate) fn write(all: &[Measured]) {
    let directory = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench"));
    let path = directory.join("lanes.json");
    let before = std::fs::read_to_string(&path).ok();
    let mut list: Vec<Value> = before
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    list.retain(|row| all.iter().all(|m| row["operation"] != m.operation));
    list.extend(all.iter().map(|m| {
        serde_json::json!({
            "operation": m.operation,
            "contender": m.contender,
            "filled_lanes": m.filled,
            "best_ops_s": m.best().round(),
            "median_ops_s": m.median().round(),
        })
    }));
    let place = |row: &Value| {
        let named = |(name, _): &(&str, u64)| row["operation"] == *name;
        ours::OPERATIONS.iter().position(named)
    };
    list.retain(|row| place(row).is_some());
    list.sort_by_key(place);
    let text = serde_json::to_string_pretty(&list).expect("numbers and strings");
    match std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&path, text)) {
        Ok(()) => println!("\nwrote target/bench/lanes.json"),
        Err(error) => eprintln!("cannot write {}: {error}", path.display()),
    }
}
