//! The proof: a file copied as today and as advised, in pairs.

use outboard_ledger::Snapshot;
use outboard_operation::Path;
use outboard_programs::{OpenSsl, Workplace};
use serde::Serialize;
use std::io;

use super::algorithm::Kind;
use super::installed::{Lists, Side};
use super::report::Half;
use super::stand::{Negotiated, Seconds, Stand};
use crate::pairs::{alternate, median};
use crate::serving::Serving;
use crate::{Error, Listener};

/// The gain of the advice.
#[derive(Debug, Serialize)]
pub struct Proof {
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// How many pairs were measured.
    pub pairs: u32,
    /// The algorithms that client and server agree on with today's settings.
    pub today: Negotiated,
    /// The algorithms that they agree on with the advice.
    pub advised: Negotiated,
    /// The share of the bytes that Outboard ciphered at both ends, as advised, by its ledger; `None` if it did not
    /// serve.
    pub by_outboard: Option<f64>,
    /// The client's seconds in user mode with today's settings and stock OpenSSL.
    pub today_user_seconds: f64,
    /// The client's seconds in user mode as advised.
    pub advised_user_seconds: f64,
    /// Median of the pairs' ratios today / advised, user time; above 1 the advice gains.
    pub ratio: f64,
    /// The smallest of the pairs' ratios.
    pub low: f64,
    /// The largest of the pairs' ratios.
    pub high: f64,
    /// The same ratio of user and system time together.
    pub cpu_ratio: f64,
}

/// The size of a proof, and its place.
pub(super) struct Proving {
    workplace: Workplace,
    bytes: u64,
    pairs: u32,
}

impl Proving {
    /// With room for the file and its copy.
    pub(super) fn new(is_quick: bool) -> Result<Self, Error> {
        let (bytes, pairs) = if is_quick {
            (128 << 20, 3)
        } else {
            (1 << 30, 5)
        };
        Ok(Self {
            workplace: room_for(2 * bytes)?,
            bytes,
            pairs,
        })
    }

    /// Copies with the client's settings of `halves`, today's and the advised ones.
    pub(super) fn measure(
        self,
        serving: &Serving,
        offered: &Lists,
        halves: &[Half],
        listener: &dyn Listener,
    ) -> Result<Proof, Error> {
        let client = halves
            .iter()
            .find(|half| half.side == Side::Client)
            .ok_or("the client's settings are not among these")?;
        let Self {
            workplace,
            bytes,
            pairs,
        } = self;
        let stock = OpenSsl::stock(&workplace)?;
        let openssl = serving.openssl(&workplace)?;
        let stand = Stand::new(workplace, stock.clone(), offered, bytes)?;
        prove(
            &stand,
            (&client.today, &stock),
            (&client.advice.lists, &openssl),
            bytes,
            pairs,
            listener,
        )
    }
}

/// A directory in memory, or else where temporary files are.
///
/// # Errors
/// If so many bytes have no room there.
fn room_for(bytes: u64) -> Result<Workplace, Error> {
    let workplace = Workplace::in_memory(bytes)?;
    let space = rustix::fs::statvfs(workplace.path()).map_err(io::Error::from)?;
    if space.f_bavail.saturating_mul(space.f_frsize) < bytes {
        let place = workplace.path().parent().unwrap_or(workplace.path());
        let (place, size) = (place.display(), bytes >> 20);
        return Err(format!(
            "{place} has no room for {size} MiB (name another directory with TMPDIR)"
        )
        .into());
    }
    Ok(workplace)
}

/// Copies the stand's file by scp, with `today` under `stock` and with `advised` under `serving`.
fn prove(
    stand: &Stand,
    (today, stock): (&Lists, &OpenSsl),
    (advised, serving): (&Lists, &OpenSsl),
    bytes: u64,
    pairs: u32,
    listener: &dyn Listener,
) -> Result<Proof, Error> {
    let mut progress = listener.begin(
        u64::from(pairs),
        &format!("copying {} MiB {} times", bytes >> 20, 2 * pairs),
    );
    progress.name("scp, today's and advised lists");
    let (today, advised) = (wishes(today), wishes(advised));
    let (today, advised) = (borrowed(&today), borrowed(&advised));
    let mut taken: Vec<(Seconds, Seconds)> = Vec::new();
    for pair in 0..pairs {
        taken.push(alternate(
            pair,
            || stand.copy(&today, stock),
            || stand.copy(&advised, serving),
        )?);
        progress.step();
    }
    let ratios: Vec<f64> = taken.iter().map(|(t, a)| t.client / a.client).collect();
    let middle =
        |of: &dyn Fn(&(Seconds, Seconds)) -> f64| median(taken.iter().map(of)).unwrap_or_default();
    Ok(Proof {
        bytes,
        pairs,
        by_outboard: ciphered(serving)?
            .map(|ciphered| share(ciphered, 2 * u64::from(pairs) * bytes)),
        // Logins of their own, for which the ledger above is closed.
        today: stand.negotiated(&today, stock)?,
        advised: stand.negotiated(&advised, serving)?,
        today_user_seconds: middle(&|(today, _)| today.client),
        advised_user_seconds: middle(&|(_, advised)| advised.client),
        ratio: median(ratios.iter().copied()).unwrap_or_default(),
        low: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        high: ratios.iter().copied().fold(0.0, f64::max),
        cpu_ratio: middle(&|(today, advised)| today.client_cpu / advised.client_cpu),
    })
}

/// The bytes that Outboard ciphered, by the ledger of that configuration, if it has one.
fn ciphered(openssl: &OpenSsl) -> Result<Option<u64>, Error> {
    let Some(ledger) = openssl.ledger() else {
        return Ok(None);
    };
    // There is no ledger if the profile offers no operation that the copy used.
    let total = match ledger.exists() {
        true => Snapshot::read(ledger)?.total(),
        false => return Ok(Some(0)),
    };
    // Only ciphers have bytes.
    let ours = total.rows().filter(|row| row.path != Path::Stock);
    Ok(Some(ours.map(|row| row.work.bytes).sum()))
}

/// A share of at most 1. Packets are a little larger than their content.
#[expect(clippy::cast_precision_loss, reason = "a few digits are enough")]
fn share(part: u64, whole: u64) -> f64 {
    (part as f64 / whole as f64).min(1.0)
}

fn borrowed<'a>(wishes: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    wishes.iter().map(|(k, v)| (*k, v.as_str())).collect()
}

fn wishes(lists: &Lists) -> Vec<(&'static str, String)> {
    Kind::ORDERED
        .iter()
        .filter_map(|kind| Some((kind.keyword(), lists.get(kind)?.join(","))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_refused_at_once() {
        drop(room_for(1).expect("a byte has room"));
        let refusal = room_for(1 << 60).expect_err("an exbibyte has none");
        assert!(
            refusal.to_string().contains(" has no room for "),
            "{refusal}"
        );
    }
}
