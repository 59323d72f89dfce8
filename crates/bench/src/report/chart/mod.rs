//! Charts as small SVG pictures: what is drawn, at the two widths that pages have.
//!
//! An SVG picture scales its letters with its lines. So that they stay readable, each chart is drawn for a
//! wide page and for a phone, and the style sheet shows the one that fits.

mod bars;
mod panels;
mod shares;
mod strips;

use maud::{Markup, PreEscaped, Render, html};

pub(super) use bars::{Bar, Bars, Group};
pub(super) use panels::{Line, Panel, Panels, Point};
pub(super) use shares::{Group as SharesGroup, Pair, Shares};
pub(super) use strips::{Mark, Strip, Strips};

/// The colours and letters of charts; the page's own styles build on it.
pub(super) const STYLE: &str = include_str!("chart.css");

/// The page that a chart is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// Labels stand left of what they name.
    Wide,
    /// A phone: labels stand above it.
    Narrow,
}

impl Page {
    /// The picture's width in its own units, which are CSS pixels where it is shown unscaled.
    fn width(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 340.0,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}

/// A chart that can be drawn for either page.
pub(super) trait Chart {
    /// What it shows, in a few words.
    fn title(&self) -> &str;
    /// Its content in words, for readers who cannot see it.
    fn description(&self) -> String;
    /// The height it takes and its elements.
    fn draw(&self, page: Page) -> (f64, Markup);
}

/// Both pictures of a chart. `id` is unique on the page.
pub(super) fn both(chart: &dyn Chart, id: &str) -> Markup {
    html! {
        (picture(chart, Page::Wide, id))
        (picture(chart, Page::Narrow, id))
    }
}

/// One picture that stands for itself as a file: its style, its legend, a line below and a margin included.
pub(super) fn standalone(chart: &dyn Chart, legend: &[(Ink, &str)], below: &str) -> String {
    let (drawn, drawing) = chart.draw(Page::Wide);
    let (margin, head) = (20.0, 44.0);
    let below = lines(below, Page::Wide.width());
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let foot = 8.0 + 16.0 * below.len() as f64;
    let (width, height) = (
        Page::Wide.width() + 2.0 * margin,
        drawn + head + foot + 2.0 * margin,
    );
    let frame = format!(
        "{} {} {} {}",
        Px(-margin),
        Px(-margin - head),
        Px(width),
        Px(height)
    );
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox=(frame)
            width=(Px(width)) height=(Px(height)) aria-labelledby="title text" {
            title id="title" { (chart.title()) }
            desc id="text" { (chart.description()) }
            style { (PreEscaped(STYLE)) }
            rect class="paper" x=(Px(-margin)) y=(Px(-margin - head)) width="100%" height="100%" {}
            text class="heading" x="0" y=(Px(-head + 8.0)) { (chart.title()) }
            @for (place, (ink, name)) in (0u16..).zip(legend) {
                @let x = f64::from(place) * 160.0;
                @if *ink == Ink::Published { (diamond(x + 6.0, -head + 28.0)) }
                @else { rect class=(ink.class()) x=(Px(x)) y=(Px(-head + 22.0)) width="12" height="12" rx="2.5" {} }
                text class="muted" x=(Px(x + 18.0)) y=(Px(-head + 32.5)) { (name) }
            }
            (drawing)
            @for (line, text) in (0u16..).zip(&below) {
                text class="muted" x="0" y=(Px(drawn + 20.0 + f64::from(line) * 16.0)) { (text) }
            }
        }
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        picture.into_string()
    )
}

fn picture(chart: &dyn Chart, page: Page, id: &str) -> Markup {
    let (height, drawing) = chart.draw(page);
    let (width, class) = (page.width(), page.class());
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class={ "chart " (class) } role="img"
            viewBox={ "0 0 " (Px(width)) " " (Px(height)) } width=(Px(width)) height=(Px(height))
            aria-labelledby={ (id) "-" (class) "-title " (id) "-" (class) "-text" } {
            title id={ (id) "-" (class) "-title" } { (chart.title()) }
            desc id={ (id) "-" (class) "-text" } { (chart.description()) }
            (drawing)
        }
    }
}

/// The kind of a figure, which decides the colour and shape of its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ink {
    /// The program's own OpenSSL: what all others are compared with.
    Baseline,
    /// Outboard.
    Outboard,
    /// Another setup, by its order of appearance.
    Other(usize),
    /// What a study published.
    Published,
}

impl Ink {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Outboard => "outboard",
            Self::Published => "published",
            Self::Other(index) => ["other-1", "other-2", "other-3", "other-4"][index % 4],
        }
    }
}

/// A legend in HTML, where it wraps by itself.
pub(super) fn legend(entries: &[(Ink, String)]) -> Markup {
    html! {
        ul class="legend" {
            @for (ink, name) in entries {
                li { (key(*ink)) (name) }
            }
        }
    }
}

/// The mark of a legend's entry.
pub(super) fn key(ink: Ink) -> Markup {
    html! {
        svg class="chart key" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" {
            @if ink == Ink::Published { (diamond(7.0, 7.0)) }
            @else { rect class=(ink.class()) x="1" y="1" width="12" height="12" rx="2.5" {} }
        }
    }
}

/// A hollow diamond: the mark of what was published.
fn diamond(x: f64, y: f64) -> Markup {
    let d = format!("M{} {}l5 5-5 5-5-5z", Px(x), Px(y - 5.0));
    html! { path class="published" d=(d) {} }
}

/// A length or place in a picture: one decimal at most.
#[derive(Clone, Copy)]
struct Px(f64);

impl std::fmt::Display for Px {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        // No "-0".
        write!(formatter, "{}", rounded + 0.0)
    }
}

impl Render for Px {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&self.to_string());
    }
}

/// How wide a text of 13 px is at most, about: DejaVu Sans, the widest letters that systems have for sans-serif.
fn text_width(text: &str) -> f64 {
    text.chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | 'I' => 3.8,
            '.' | ',' | ':' | ';' | '|' | '/' | ' ' | '\u{a0}' => 4.3,
            't' | 'f' | 'r' | '-' | '(' | ')' => 5.2,
            'm' | 'w' | 'M' | 'W' | '%' | '×' | '—' => 12.0,
            'A'..='Z' => 9.2,
            _ => 8.2,
        })
        .sum()
}

/// Breaks a label into lines that fit; a word too long for a line stays whole.
fn lines(label: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in label.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line) + 4.0 + text_width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Ticks of a scale from 0 that reach `most`: round steps, at most `count` of them.
fn ticks(most: f64, count: f64) -> Vec<f64> {
    if most.is_nan() || most <= 0.0 {
        return vec![0.0];
    }
    let rough = most / count;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    (0..)
        .map(|index| f64::from(index) * step)
        .take_while(|tick| *tick <= most * (1.0 + 1e-9))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_short() {
        assert_eq!(Px(12.345).to_string(), "12.3");
        assert_eq!(Px(12.0).to_string(), "12");
        assert_eq!(Px(-0.01).to_string(), "0");
    }

    #[test]
    fn labels_break_between_words() {
        assert_eq!(
            lines("scp, aes128-gcm, MAC none", 110.0),
            ["scp,", "aes128-gcm,", "MAC none"]
        );
        assert_eq!(lines("short", 500.0), ["short"]);
        assert!(lines("", 10.0).is_empty());
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(9442.0, 4.0), [0.0, 2500.0, 5000.0, 7500.0]);
        assert_eq!(ticks(0.0, 4.0), [0.0]);
        assert_eq!(ticks(1.0, 5.0).len(), 6);
    }
}
