//! Bars side by side: the same figure under each setup.

use maud::{Markup, html};

use super::{Chart, Ink, Page, Px, lines, text_width};

/// Groups of bars from one zero.
pub(in crate::report) struct Bars {
    pub title: String,
    pub groups: Vec<Group>,
}

/// What is compared: one case, a bar for each setup.
pub(in crate::report) struct Group {
    pub label: String,
    pub bars: Vec<Bar>,
}

/// One figure.
pub(in crate::report) struct Bar {
    pub ink: Ink,
    /// "Outboard".
    pub setup: String,
    pub value: f64,
    /// The quartiles: whiskers.
    pub low: f64,
    pub high: f64,
    /// The figure with its unit: "594 µs".
    pub text: String,
    /// "4.6 ×"; the baseline has none.
    pub ratio: Option<String>,
    /// Not to be believed: drawn hollow.
    pub invalid: bool,
}

const BAR: f64 = 13.0;
const LINE: f64 = 16.0;
/// Between a bar's end and its figure.
const GAP: f64 = 7.0;

impl Chart for Bars {
    fn title(&self) -> &str {
        &self.title
    }

    fn description(&self) -> String {
        let groups = self.groups.iter().map(|group| {
            let bars = group.bars.iter().map(|bar| match &bar.ratio {
                Some(ratio) => format!("{} {} ({ratio})", bar.setup, bar.text),
                None => format!("{} {}", bar.setup, bar.text),
            });
            format!("{}: {}.", group.label, bars.collect::<Vec<_>>().join(", "))
        });
        groups.collect::<Vec<_>>().join(" ")
    }

    fn draw(&self, page: Page) -> (f64, Markup) {
        let width = page.width();
        let (left, label_width) = match page {
            Page::Wide => (236.0, 222.0),
            Page::Narrow => (0.0, width),
        };
        let ratios = 56.0;
        let texts = self
            .bars()
            .map(|bar| text_width(&bar.text))
            .fold(0.0, f64::max);
        let room = width - left - ratios - texts - 2.0 * GAP;
        let most = self
            .bars()
            .map(|bar| bar.value.max(bar.high))
            .fold(f64::MIN_POSITIVE, f64::max);
        let scale = |value: f64| value.max(0.0) / most * room;

        let mut y = 4.0;
        let mut drawing = Vec::new();
        for group in &self.groups {
            let label = lines(&group.label, label_width);
            #[expect(clippy::cast_precision_loss, reason = "a few lines and bars")]
            let (label_height, bars_height) = (
                label.len() as f64 * LINE,
                group.bars.len() as f64 * (BAR + 4.0),
            );
            let (label_y, bars_y, height) = match page {
                Page::Wide => {
                    let height = label_height.max(bars_height);
                    (
                        y + (height - label_height) / 2.0,
                        y + (height - bars_height) / 2.0,
                        height,
                    )
                }
                Page::Narrow => (y, y + label_height + 3.0, label_height + bars_height + 3.0),
            };
            drawing.push(html! {
                @for (line, text) in (0u16..).zip(&label) {
                    text class="label" x="0" y=(Px(label_y + f64::from(line) * LINE + 12.0)) { (text) }
                }
                @for (index, bar) in (0u16..).zip(&group.bars) {
                    (self.bar(bar, &group.label, left, bars_y + f64::from(index) * (BAR + 4.0), width, &scale))
                }
            });
            y += height + 14.0;
        }
        let height = y;
        let drawing = html! {
            line class="zero" x1=(Px(left)) x2=(Px(left)) y1="0" y2=(Px(height - 10.0)) {}
            @for group in drawing { (group) }
        };
        (height, drawing)
    }
}

impl Bars {
    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| &group.bars)
    }

    fn bar(
        &self,
        bar: &Bar,
        label: &str,
        left: f64,
        y: f64,
        width: f64,
        scale: &dyn Fn(f64) -> f64,
    ) -> Markup {
        let middle = y + BAR / 2.0;
        let end = left + scale(bar.value.max(bar.high)) + GAP;
        let hollow = if bar.invalid { " invalid" } else { "" };
        html! {
            g {
                title { (label) ", " (bar.setup) ": " (bar.text) }
                rect class={ (bar.ink.class()) (hollow) } x=(Px(left)) y=(Px(y))
                    width=(Px(scale(bar.value).max(1.0))) height=(Px(BAR)) rx="2" {}
                @if bar.high > bar.low {
                    line class="whisker" x1=(Px(left + scale(bar.low))) x2=(Px(left + scale(bar.high)))
                        y1=(Px(middle)) y2=(Px(middle)) {}
                }
                text class="value" x=(Px(end)) y=(Px(middle + 4.5)) { (bar.text) }
                @if let Some(ratio) = &bar.ratio {
                    text class="ratio" x=(Px(width)) y=(Px(middle + 4.5)) { (ratio) }
                }
            }
        }
    }
}
