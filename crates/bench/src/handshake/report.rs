//! What was measured, as a table, as JSON and as a picture.

use outboard_stopwatch::Phase;
use serde::Serialize;

use super::Case;
use super::window::Window;
use crate::report::phases::{self, Bars};
use crate::statistics::{median, quartiles, rounded};
use crate::table::{Align, table};

/// All cases.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: u32,
    cases: Vec<Compared>,
}

/// One case in both setups. Times are medians of windows, for one connection, in microseconds.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    server: &'static str,
    key: &'static str,
    version: &'static str,
    resumed: bool,
    connections_per_window: u64,
    phases: Vec<Row>,
    total: Row,
    /// Stock / Outboard: the median of neighbouring windows, and its quartiles.
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
    #[serde(skip)]
    name: String,
}

#[derive(Debug, Serialize)]
struct Row {
    phase: &'static str,
    stock_us: f64,
    outboard_us: f64,
    stock_calls: Option<f64>,
    outboard_calls: Option<f64>,
}

impl Compared {
    pub(super) fn new(case: Case, connections: u64, windows: &[(Window, Window)]) -> Self {
        let middle = |of: &dyn Fn(&Window) -> f64| {
            let side = |window: fn(&(Window, Window)) -> &Window| {
                median(
                    &windows
                        .iter()
                        .map(|pair| of(window(pair)))
                        .collect::<Vec<_>>(),
                )
            };
            [side(|pair| &pair.0), side(|pair| &pair.1)]
        };
        let row = |phase, [stock, outboard]: [f64; 2], calls: Option<[f64; 2]>| Row {
            phase,
            stock_us: rounded(stock / 1e3),
            outboard_us: rounded(outboard / 1e3),
            stock_calls: calls.map(|calls| rounded(calls[0])),
            outboard_calls: calls.map(|calls| rounded(calls[1])),
        };
        let has_cpu = windows.iter().all(|pair| pair.0.cpu.is_some());
        let mut phases: Vec<Row> = Phase::ALL
            .into_iter()
            // A pair in memory has none.
            .filter(|phase| has_cpu || *phase != Phase::Network)
            .map(|phase| {
                let index = phase as usize;
                let times = middle(&|window| window.phases[index]);
                let calls = middle(&|window| window.calls[index]);
                row(phase.name(), times, Some(calls))
            })
            .collect();
        let total = middle(&Window::total);
        if has_cpu {
            let outside = middle(&Window::outside);
            phases.push(row("program, kernel", outside, None));
        }
        let ratios: Vec<f64> = windows
            .iter()
            .map(|pair| pair.0.total() / pair.1.total().max(1.0))
            .collect();
        let (low, _, high) = quartiles(&ratios);
        Self {
            server: case.place.name(),
            key: case.key.name,
            version: case.version.name(),
            resumed: case.resumed,
            connections_per_window: connections,
            phases,
            total: row("all", total, None),
            ratio: rounded(median(&ratios)),
            ratio_low: rounded(low),
            ratio_high: rounded(high),
            name: case.name(),
        }
    }

    fn text(&self) -> String {
        let columns = [
            ("phase", Align::Left),
            ("stock µs", Align::Right),
            ("share", Align::Right),
            ("outboard µs", Align::Right),
            ("share", Align::Right),
            ("ratio", Align::Right),
            ("calls", Align::Right),
        ];
        let share = |part: f64, whole: f64| format!("{:.0} %", 100.0 * part / whole.max(1e-9));
        let rows: Vec<Vec<String>> = self
            .phases
            .iter()
            .filter(|row| row.stock_us + row.outboard_us >= 0.05)
            .chain([&self.total])
            .map(|row| {
                let calls = row.outboard_calls.map(|calls| format!("{calls:.0}"));
                vec![
                    row.phase.to_owned(),
                    format!("{:.1}", row.stock_us),
                    share(row.stock_us, self.total.stock_us),
                    format!("{:.1}", row.outboard_us),
                    share(row.outboard_us, self.total.outboard_us),
                    format!("{:.2}", row.stock_us / row.outboard_us.max(1e-3)),
                    calls.unwrap_or_default(),
                ]
            })
            .collect();
        let busy = if self.was_busy() {
            "\nThe machine was busy: the phases, which are elapsed time, are more than the CPU time.\n"
        } else {
            ""
        };
        format!(
            "{}: {:.2} times as fast ({:.2} to {:.2})\n\n{}{busy}",
            self.name,
            self.ratio,
            self.ratio_low,
            self.ratio_high,
            table(&columns, &rows)
        )
    }

    fn was_busy(&self) -> bool {
        let sum = |of: fn(&Row) -> f64| self.phases.iter().map(of).sum::<f64>();
        let is_more = |sum: f64, total: f64| sum > 1.05 * total;
        is_more(sum(|row| row.stock_us), self.total.stock_us)
            || is_more(sum(|row| row.outboard_us), self.total.outboard_us)
    }

    fn bars(&self) -> Bars {
        let phases = self.phases.iter();
        Bars {
            heading: format!("{}: {:.2}\u{a0}×", self.name, self.ratio),
            phases: phases
                .map(|row| (row.phase, row.stock_us * 1e-6, row.outboard_us * 1e-6))
                .filter(|(_, stock, outboard)| stock + outboard >= 5e-8)
                .collect(),
        }
    }
}

impl Report {
    pub(super) fn new(cases: Vec<Compared>) -> Self {
        Self { schema: 1, cases }
    }

    pub(super) fn text(&self) -> String {
        let cases: Vec<String> = self.cases.iter().map(Compared::text).collect();
        format!(
            "Time of the server for one connection: a handshake, 2,048 bytes each way, its end.\n\n{}",
            cases.join("\n")
        )
    }

    pub(super) fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    pub(super) fn picture(&self) -> String {
        let bars: Vec<Bars> = self.cases.iter().map(Compared::bars).collect();
        phases::picture(&bars)
    }
}
