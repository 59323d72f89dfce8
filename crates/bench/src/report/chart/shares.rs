//! The remaining part of a cost: stock's is the whole, and Outboard's is a part of it. So microseconds and seconds fit into
//! one picture.

use maud::{Markup, html};

use super::{Chart, Ink, Page, Px, lines, text_width};

/// Groups of pairs of bars.
pub(in crate::report) struct Shares {
    pub title: String,
    pub groups: Vec<Group>,
}

/// Pairs of one kind.
pub(in crate::report) struct Group {
    pub heading: String,
    pub pairs: Vec<Pair>,
}

/// One cost, with stock and with Outboard.
pub(in crate::report) struct Pair {
    pub label: String,
    /// With Outboard, as a part of stock's: 0.25 is a quarter.
    pub share: f64,
    /// Its interval: a whisker.
    pub interval: (f64, f64),
    /// Both figures: "594 µs → 240 µs".
    pub text: String,
    /// "2.5 ×".
    pub ratio: String,
    /// The difference is noise, or too small to matter. Such a ratio is in thin type.
    pub same: bool,
    /// Not to be believed: drawn hollow.
    pub invalid: bool,
}

const BAR: f64 = 8.0;
/// Between the two bars of a pair.
const SLIT: f64 = 1.5;
const LINE: f64 = 16.0;
/// From a heading's top to its first pair.
const HEADING: f64 = 24.0;
/// Whiskers end here, as parts of stock: the figures beside them say more than their length.
const LONGEST_WHISKER: f64 = 1.25;
/// Between pairs.
const GAP: f64 = 8.0;

/// Where things lie, from left to right.
struct Columns {
    label_width: f64,
    left: f64,
    /// How long stock's bars are.
    whole: f64,
    /// The largest share that there is room for.
    most: f64,
}

impl Chart for Shares {
    fn title(&self) -> &str {
        &self.title
    }

    fn description(&self) -> String {
        let groups = self.groups.iter().map(|group| {
            let pairs = group.pairs.iter().map(|pair| {
                let Pair {
                    label, text, ratio, ..
                } = pair;
                format!("{label}: {text} ({ratio})")
            });
            let pairs: Vec<String> = pairs.collect();
            format!("{}: {}.", group.heading, pairs.join("; "))
        });
        groups.collect::<Vec<_>>().join(" ")
    }

    fn draw(&self, page: Page) -> (f64, Markup) {
        let columns = self.columns(page);
        let mut y = 0.0;
        let mut drawing = Vec::new();
        for group in &self.groups {
            drawing.push(html! {
                text class="group" x="0" y=(Px(y + 13.0)) { (group.heading) }
            });
            y += HEADING;
            for pair in &group.pairs {
                let (height, drawn) = pair.draw(page, &columns, y);
                drawing.push(drawn);
                y += height + GAP;
            }
            y += 10.0;
        }
        let drawing = html! { @for part in drawing { (part) } };
        (y - 10.0 - GAP + 4.0, drawing)
    }
}

impl Shares {
    fn columns(&self, page: Page) -> Columns {
        let pairs = || self.groups.iter().flat_map(|group| &group.pairs);
        let texts = pairs()
            .map(|pair| text_width(&pair.text))
            .fold(0.0, f64::max);
        let ratios = 52.0;
        let (label_width, left, room) = match page {
            Page::Wide => (214.0, 226.0, page.width() - 226.0 - texts - ratios - 16.0),
            Page::Narrow => (page.width() - ratios, 0.0, page.width() - texts - 10.0),
        };
        // What costs more with Outboard reaches further than stock; a whisker may, but not to the others' loss.
        let most = pairs()
            .map(|pair| pair.share.max(pair.interval.1.min(LONGEST_WHISKER)))
            .fold(1.0, f64::max);
        Columns {
            label_width,
            left,
            whole: room / most,
            most,
        }
    }
}

impl Pair {
    /// Its height and its drawing, from `y` downwards.
    fn draw(&self, page: Page, columns: &Columns, y: f64) -> (f64, Markup) {
        let width = page.width();
        let label = lines(&self.label, columns.label_width);
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let label_height = label.len() as f64 * LINE;
        let bars_height = 2.0 * BAR + SLIT;
        let (label_y, bars_y, ratio_y, height) = match page {
            Page::Wide => {
                let height = label_height.max(bars_height);
                let bars_y = y + (height - bars_height) / 2.0;
                let middle = y + height / 2.0;
                (middle - label_height / 2.0, bars_y, middle + 4.5, height)
            }
            Page::Narrow => {
                let bars_y = y + label_height + 3.0;
                (y, bars_y, y + 12.0, label_height + 3.0 + bars_height)
            }
        };
        let middle = bars_y + bars_height / 2.0;
        let text_x = match page {
            Page::Wide => width - 60.0,
            Page::Narrow => width,
        };
        let muted = if self.same { " muted" } else { "" };
        let hollow = if self.invalid { " invalid" } else { "" };
        let ours = bars_y + BAR + SLIT;
        let at = |share: f64| columns.left + share.clamp(0.0, columns.most) * columns.whole;
        let drawing = html! {
            g {
                title { (self.label) ": " (self.text) }
                @for (line, text) in (0u16..).zip(&label) {
                    text class="label" x="0" y=(Px(label_y + f64::from(line) * LINE + 12.0)) { (text) }
                }
                rect class=(Ink::Baseline.class()) x=(Px(columns.left)) y=(Px(bars_y))
                    width=(Px(columns.whole)) height=(Px(BAR)) rx="1.5" {}
                rect class={ (Ink::Outboard.class()) (hollow) } x=(Px(columns.left)) y=(Px(ours))
                    width=(Px((self.share * columns.whole).max(1.0))) height=(Px(BAR)) rx="1.5" {}
                line class="whisker" x1=(Px(at(self.interval.0))) x2=(Px(at(self.interval.1)))
                    y1=(Px(ours + BAR / 2.0)) y2=(Px(ours + BAR / 2.0)) {}
                text class="value end" x=(Px(text_x)) y=(Px(middle + 4.5)) { (self.text) }
                text class={ "ratio" (muted) } x=(Px(width)) y=(Px(ratio_y)) { (self.ratio) }
            }
        };
        (height, drawing)
    }
}
