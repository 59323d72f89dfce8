//! The picture of a connection's phases.

use super::chart::{self, Bar, Group, Ink};
use super::quantity::readable;

/// A case: for each phase its seconds with stock and with Outboard.
pub(crate) struct Bars {
    pub(crate) heading: String,
    pub(crate) phases: Vec<(&'static str, f64, f64)>,
}

/// An SVG picture of all cases.
pub(crate) fn picture(cases: &[Bars]) -> String {
    let bar = |ink, setup: &str, value, ratio| Bar {
        ink,
        setup: setup.to_owned(),
        value,
        low: value,
        high: value,
        text: readable(value, "s"),
        ratio,
        invalid: false,
    };
    let groups = cases.iter().flat_map(|case| {
        let heading = Group {
            label: case.heading.clone(),
            bars: Vec::new(),
        };
        let phases = case.phases.iter().map(|&(phase, stock, outboard)| {
            let ratio = (outboard > 0.0).then(|| format!("{:.2} ×", stock / outboard));
            Group {
                label: phase.to_owned(),
                bars: vec![
                    bar(Ink::Baseline, "stock", stock, None),
                    bar(Ink::Outboard, "Outboard", outboard, ratio),
                ],
            }
        });
        std::iter::once(heading).chain(phases)
    });
    let bars = chart::Bars {
        title: "Where a server's time goes in a TLS connection".to_owned(),
        groups: groups.collect(),
    };
    chart::standalone(
        &bars,
        &[(Ink::Baseline, "stock"), (Ink::Outboard, "with Outboard")],
        "Time for one connection, by phase. Less is better.",
    )
}
