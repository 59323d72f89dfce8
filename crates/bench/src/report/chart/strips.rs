//! Ratios on one scale: how many times as good as the baseline, ours and the published.

use maud::{Markup, html};

use super::{Chart, Ink, Page, Px, diamond, lines, text_width};

/// Rows of marks on a logarithmic scale, 1 being "the same".
pub(in crate::report) struct Strips {
    pub title: String,
    pub rows: Vec<Strip>,
}

/// One row.
pub(in crate::report) struct Strip {
    pub label: String,
    pub marks: Vec<Mark>,
    /// What the row says in figures: "1.4 to 4.6 ×".
    pub text: String,
    /// A row that goes with the one before stands close to it and has its label set small.
    pub follows: bool,
}

/// One ratio.
pub(in crate::report) struct Mark {
    pub ink: Ink,
    pub ratio: f64,
    /// Its interval, where it has one.
    pub interval: Option<(f64, f64)>,
    /// Its name, which appears when the reader points at it.
    pub name: String,
    pub invalid: bool,
}

const LINE: f64 = 16.0;

impl Chart for Strips {
    fn title(&self) -> &str {
        &self.title
    }

    fn description(&self) -> String {
        let rows = self
            .rows
            .iter()
            .map(|row| format!("{}: {}.", row.label, row.text));
        rows.collect::<Vec<_>>().join(" ")
    }

    fn draw(&self, page: Page) -> (f64, Markup) {
        let scale = self.scale(page);
        let mut y = 22.0;
        let mut rows = Vec::new();
        for row in &self.rows {
            y += if row.follows { 0.0 } else { 8.0 };
            let (height, drawing) = row.draw(page, &scale, y);
            rows.push(drawing);
            y += height;
        }
        let height = y + 4.0;
        let drawing = html! {
            @for (x, class, name) in scale.ticks() {
                // A name is centred on its line, but not beyond the picture.
                text class="tick" x=(Px(x.clamp(21.0, page.width() - 21.0))) y="13" { (name) }
                // On a phone these would cross the labels; there each row has its own.
                @if page == Page::Wide {
                    line class=(class) x1=(Px(x)) x2=(Px(x)) y1="20" y2=(Px(height)) {}
                }
            }
            @for row in rows { (row) }
        };
        (height, drawing)
    }
}

impl Strips {
    /// A scale from a half power of two to another that holds every mark, and 1 with some room around.
    fn scale(&self, page: Page) -> Scale {
        let marks = || self.rows.iter().flat_map(|row| &row.marks);
        let ratios = || {
            marks().flat_map(|mark| {
                let (low, high) = mark.interval.unwrap_or((mark.ratio, mark.ratio));
                [mark.ratio, low, high].map(|ratio| ratio.max(1e-3).log2())
            })
        };
        let first = ratios().fold(-0.3, f64::min);
        let last = ratios().fold(1.0, f64::max);
        Scale {
            first: (first * 2.0 - 0.2).floor() / 2.0,
            last: (last * 2.0 + 0.2).ceil() / 2.0,
            left: if page == Page::Wide { 250.0 } else { 8.0 },
            right: page.width() - if page == Page::Wide { 96.0 } else { 12.0 },
        }
    }
}

impl Strip {
    /// Its height and its drawing, from `y` downwards.
    fn draw(&self, page: Page, scale: &Scale, y: f64) -> (f64, Markup) {
        let width = page.width();
        let label_width = match page {
            Page::Wide => scale.left - 12.0,
            // The text beside it is set bold, which is a tenth wider.
            Page::Narrow => width - 1.15 * text_width(&self.text) - 14.0,
        };
        let label = lines(&self.label, label_width);
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let label_height = label.len() as f64 * LINE;
        let (label_y, middle, text_y, height) = match page {
            Page::Wide => {
                let height = label_height.max(18.0);
                let middle = y + height / 2.0;
                (middle - label_height / 2.0, middle, middle + 4.5, height)
            }
            Page::Narrow => (y, y + label_height + 10.0, y + 12.0, label_height + 20.0),
        };
        let muted = if self.follows { " muted" } else { "" };
        let drawing = html! {
            @for (line, text) in (0u16..).zip(&label) {
                text class={ "label" (muted) } x="0" y=(Px(label_y + f64::from(line) * LINE + 12.0)) { (text) }
            }
            @if page == Page::Narrow {
                @for (x, class, _) in scale.ticks() {
                    line class=(class) x1=(Px(x)) x2=(Px(x)) y1=(Px(middle - 6.0)) y2=(Px(middle + 6.0)) {}
                }
            }
            line class="strip" x1=(Px(scale.left)) x2=(Px(scale.right)) y1=(Px(middle)) y2=(Px(middle)) {}
            @for mark in &self.marks { (mark.draw(scale, middle)) }
            text class={ "ratio" (muted) } x=(Px(width)) y=(Px(text_y)) { (self.text) }
        };
        (height, drawing)
    }
}

impl Mark {
    fn draw(&self, scale: &Scale, y: f64) -> Markup {
        let x = scale.at(self.ratio);
        let hollow = if self.invalid { " invalid" } else { "" };
        html! {
            g {
                title { (self.name) }
                @if let Some((low, high)) = self.interval {
                    line class={ "interval " (self.ink.class()) } x1=(Px(scale.at(low))) x2=(Px(scale.at(high)))
                        y1=(Px(y)) y2=(Px(y)) {}
                }
                @if self.ink == Ink::Published { (diamond(x, y)) }
                @else { circle class={ "dot " (self.ink.class()) (hollow) } cx=(Px(x)) cy=(Px(y)) r="4.5" {} }
            }
        }
    }
}

/// Where ratios lie: doublings are equally far apart.
struct Scale {
    /// The ends, as powers of two.
    first: f64,
    last: f64,
    /// The ends' places.
    left: f64,
    right: f64,
}

impl Scale {
    fn at(&self, ratio: f64) -> f64 {
        let place = (ratio.max(1e-3).log2() - self.first) / (self.last - self.first);
        self.left + place.clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// Where lines go, their class and what they are called. Only so many as don't touch each other.
    fn ticks(&self) -> Vec<(f64, &'static str, String)> {
        let doubling = (self.right - self.left) / (self.last - self.first);
        let step = match doubling {
            46.0.. => 1,
            23.0.. => 2,
            _ => 4,
        };
        let ticks = (-10i32..=20).filter(|power| power % step == 0);
        ticks
            .filter(|power| (self.first..=self.last).contains(&f64::from(*power)))
            .map(|power| {
                let class = if power == 0 { "one" } else { "grid" };
                (self.at(2f64.powi(power)), class, tick(power))
            })
            .collect()
    }
}

/// `¼ ×`, `½ ×`, `same`, `2 ×`.
fn tick(power: i32) -> String {
    match power {
        0 => "same".to_owned(),
        1.. => format!("{} ×", 1u32 << power),
        -1 => "½ ×".to_owned(),
        -2 => "¼ ×".to_owned(),
        _ => format!("1/{} ×", 1u32 << -power),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_holds_every_mark() {
        let mark = |ratio, low, high| Mark {
            ink: Ink::Outboard,
            ratio,
            interval: Some((low, high)),
            name: String::new(),
            invalid: false,
        };
        let strips = Strips {
            title: String::new(),
            rows: vec![Strip {
                label: "a".into(),
                marks: vec![mark(0.8, 0.4, 0.9), mark(30.0, 20.0, 33.0)],
                text: String::new(),
                follows: false,
            }],
        };
        let scale = strips.scale(Page::Narrow);
        assert!(scale.first <= 0.4f64.log2() && scale.last >= 33f64.log2());
        assert!(scale.at(1.0) < scale.at(2.0));
        let names = |page| -> Vec<String> {
            let ticks = strips.scale(page).ticks();
            ticks.into_iter().map(|tick| tick.2).collect()
        };
        let all = ["½ ×", "same", "2 ×", "4 ×", "8 ×", "16 ×", "32 ×"];
        assert_eq!(names(Page::Wide), all);
        assert_eq!(names(Page::Narrow), ["same", "4 ×", "16 ×"]);
    }
}
