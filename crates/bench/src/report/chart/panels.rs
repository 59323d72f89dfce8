//! Small multiples: how a figure grows with a size or a number, one little picture for each case.

use maud::{Markup, html};

use super::super::quantity::readable;
use super::{Ink, Px, ticks};

/// Panels of one measure, over one scale.
pub(in crate::report) struct Panels {
    /// Unique on the page.
    pub id: String,
    /// What the lines' points are: "handshakes".
    pub measure: String,
    pub unit: String,
    /// What lies along the panels: "bytes".
    pub along: String,
    pub panels: Vec<Panel>,
}

/// One case.
pub(in crate::report) struct Panel {
    pub label: String,
    pub lines: Vec<Line>,
}

/// One setup.
pub(in crate::report) struct Line {
    pub ink: Ink,
    pub setup: String,
    /// In the order of `x`.
    pub points: Vec<Point>,
}

/// One figure.
pub(in crate::report) struct Point {
    /// A positive number.
    pub x: f64,
    /// As the result has it: "64 KiB".
    pub name: String,
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub invalid: bool,
}

const WIDTH: f64 = 226.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = HEIGHT - 24.0;

impl Panels {
    /// All panels; they wrap as the page is wide.
    pub(in crate::report) fn draw(&self) -> Markup {
        html! {
            div class="panels" {
                @for (index, panel) in self.panels.iter().enumerate() {
                    figure class="panel" {
                        figcaption { (panel.label) }
                        (self.panel(panel, &format!("{}-{index}", self.id)))
                    }
                }
            }
        }
    }

    fn panel(&self, panel: &Panel, id: &str) -> Markup {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let scale = self.scale();
        let first = points()
            .map(|point| scale(point.x))
            .fold(f64::INFINITY, f64::min);
        let last = points()
            .map(|point| scale(point.x))
            .fold(f64::NEG_INFINITY, f64::max);
        let most = points()
            .map(|point| point.value.max(point.high))
            .fold(f64::MIN_POSITIVE, f64::max);
        let across = move |x: f64| {
            let span = (last - first).max(f64::MIN_POSITIVE);
            LEFT + 4.0 + (scale(x) - first) / span * (RIGHT - LEFT - 8.0)
        };
        let up = move |value: f64| BOTTOM - value.max(0.0) / most * (BOTTOM - TOP);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img"
                viewBox={ "0 0 " (Px(WIDTH)) " " (Px(HEIGHT)) } width=(Px(WIDTH)) height=(Px(HEIGHT))
                aria-labelledby={ (id) "-title " (id) "-text" } {
                title id={ (id) "-title" } { (panel.label) ": " (self.measure) " by " (self.along) }
                desc id={ (id) "-text" } { (self.description(panel)) }
                @for tick in ticks(most, 3.0) {
                    line class={ @if tick > 0.0 { "grid" } @else { "one" } }
                        x1=(Px(LEFT)) x2=(Px(RIGHT)) y1=(Px(up(tick))) y2=(Px(up(tick))) {}
                    text class="tick end" x=(Px(LEFT - 6.0)) y=(Px(up(tick) + 4.0)) { (short(tick, &self.unit)) }
                }
                @for (x, name, anchor) in axis_names(panel) {
                    text class={ "tick " (anchor) } x=(Px(across(x))) y=(Px(HEIGHT - 6.0)) { (name) }
                }
                @for line in &panel.lines {
                    (self.line(line, &across, &up))
                }
            }
        }
    }

    /// Doublings lie equally far apart, equal steps too.
    fn scale(&self) -> fn(f64) -> f64 {
        let mut places: Vec<f64> = self
            .panels
            .iter()
            .flat_map(|panel| &panel.lines)
            .flat_map(|line| &line.points)
            .map(|point| point.x)
            .collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let step = |pair: &[f64]| pair[1] - pair[0];
        let mut steps = places.windows(2).map(step);
        let first = steps.next().unwrap_or(0.0);
        if places.len() > 2 && steps.all(|step| (step - first).abs() < 1e-9) {
            |x| x
        } else {
            f64::log2
        }
    }

    fn line(&self, line: &Line, across: &dyn Fn(f64) -> f64, up: &dyn Fn(f64) -> f64) -> Markup {
        let path: Vec<String> = line
            .points
            .iter()
            .map(|point| format!("{} {}", Px(across(point.x)), Px(up(point.value))))
            .collect();
        html! {
            path class={ "line " (line.ink.class()) } d={ "M" (path.join("L")) } {}
            @for point in &line.points {
                g {
                    title {
                        (line.setup) ", " (self.along) " " (point.name) ": " (readable(point.value, &self.unit))
                    }
                    @if point.high > point.low {
                        line class={ "interval " (line.ink.class()) } x1=(Px(across(point.x)))
                            x2=(Px(across(point.x))) y1=(Px(up(point.low))) y2=(Px(up(point.high))) {}
                    }
                    circle class={ "dot " (line.ink.class()) @if point.invalid { " invalid" } }
                        cx=(Px(across(point.x))) cy=(Px(up(point.value))) r="3" {}
                }
            }
        }
    }

    fn description(&self, panel: &Panel) -> String {
        let lines = panel.lines.iter().map(|line| {
            let points = line
                .points
                .iter()
                .map(|point| format!("{} {}", point.name, readable(point.value, &self.unit)));
            format!("{}: {}.", line.setup, points.collect::<Vec<_>>().join(", "))
        });
        lines.collect::<Vec<_>>().join(" ")
    }
}

/// The first, the middle and the last name of the points, with how each is anchored.
fn axis_names(panel: &Panel) -> Vec<(f64, String, &'static str)> {
    let mut points: Vec<(f64, &str)> = panel
        .lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| (point.x, point.name.as_str()))
        .collect();
    points.sort_by(|left, right| left.0.total_cmp(&right.0));
    points.dedup_by(|left, right| left.0 == right.0);
    let named = |index: usize, anchor| (points[index].0, points[index].1.to_owned(), anchor);
    match points.len() {
        0 => Vec::new(),
        1 => vec![named(0, "start")],
        2 => vec![named(0, "start"), named(1, "end")],
        count => vec![
            named(0, "start"),
            named(count / 2, ""),
            named(count - 1, "end"),
        ],
    }
}

/// A tick's figure, as short as it goes: `5 G`, `2.5 k`, `40 µs`.
fn short(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let (value, unit) = match unit {
        "ns" => (value / 1e9, "s"),
        "" => (value * 100.0, "%"),
        unit => (value, unit),
    };
    let small = unit == "s";
    let (factor, prefix) = match value {
        1e9.. => (1e9, "G"),
        1e6.. => (1e6, "M"),
        1e3.. => (1e3, "k"),
        1.0.. => (1.0, ""),
        1e-3.. if small => (1e-3, "m"),
        1e-6.. if small => (1e-6, "µ"),
        _ if small => (1e-9, "n"),
        _ => (1.0, ""),
    };
    let digits = (value / factor * 100.0).round() / 100.0;
    let unit = match unit {
        "s" => "s",
        "%" => "%",
        _ => "",
    };
    if prefix.is_empty() && unit.is_empty() {
        digits.to_string()
    } else {
        format!("{digits} {prefix}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!(short(2500.0, "1/s"), "2.5 k");
        assert_eq!(short(5e9, "B/s"), "5 G");
        assert_eq!(short(40e-6, "s"), "40 µs");
        assert_eq!(short(40_000.0, "ns"), "40 µs");
        assert_eq!(short(0.5, ""), "50 %");
        assert_eq!(short(0.0, "s"), "0");
        assert_eq!(short(8.0, "1/s"), "8");
    }
}
