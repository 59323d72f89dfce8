//! How large the pieces were that were hashed, authenticated or enciphered: a histogram for people.

use super::text::{float, is_bulk, is_small, limit, megabytes};
use crate::output::{TITLE, To, styled};
use crate::table::{Align, Table};
use outboard_observe_report::{Report, Row};
use outboard_wording::{bytes, count, time};

/// The longest bar, in characters.
const WIDTH: f64 = 20.0;

/// A line for each size; empty if nothing large was done.
pub(super) fn text(report: &Report, to: To) -> String {
    let mut table = Table::new(&[
        ("algorithm", Align::Left),
        ("operation", Align::Left),
        ("size", Align::Right),
        ("calls", Align::Right),
        ("", Align::Left),
        ("bytes", Align::Right),
        ("each", Align::Right),
        ("speed", Align::Right),
    ])
    .expendable(&["speed", "each"]);
    let told = report
        .work
        .iter()
        .filter(|row| is_bulk(row) && !is_small(row));
    for row in told {
        add(&mut table, row);
    }
    if table.is_empty() {
        return String::new();
    }
    format!("{}\n{}", styled(TITLE, "Sizes"), table.render_to(to))
}

/// A line for each size that there was, the algorithm in the first.
fn add(table: &mut Table, row: &Row) {
    let classes = row.work.sizes.iter().filter(|class| class.calls > 0);
    let mut names = [row.name.clone(), row.work.operation.name().to_owned()];
    for class in classes {
        let [name, operation] = std::mem::take(&mut names);
        table.row([
            name,
            operation,
            limit(class.up_to),
            count(class.calls),
            bar(float(class.calls) / float(row.work.calls)),
            bytes(class.bytes),
            time(float(class.nanoseconds) / float(class.calls)),
            megabytes(class.bytes, class.nanoseconds),
        ]);
    }
}

/// A bar for a share from 0 to 1, in eighths of a character; what is there is seen.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a small width"
    )]
    let eighths = (share.clamp(0.0, 1.0) * WIDTH * 8.0).round().max(1.0) as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_shares() {
        assert_eq!(bar(1.0), "█".repeat(20));
        assert_eq!(bar(0.5), "█".repeat(10));
        assert_eq!(bar(0.275), "█████▌");
        // One in a million is there all the same.
        assert_eq!(bar(1e-6), "▏");
    }
}
