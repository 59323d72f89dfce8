//! SSH: OpenSSH on System z with CPACF (2010), SunSSH on Niagara 2 (2008), and the ciphers below them.

use serde::Deserialize;

use super::data::{Prose, Table, published};
use super::{Gain, Topic};

pub(super) fn gains() -> Vec<Gain> {
    let mut gains = Vec::new();
    for (topic, tool, table) in [
        (
            Topic::ScpUserTime,
            "scp",
            published!("ssh-2010-table-02-scp-localhost-z9ec.csv"),
        ),
        (
            Topic::ScpUserTime,
            "scp",
            published!("ssh-2010-table-03-scp-localhost-z10ec.csv"),
        ),
        (
            Topic::ScpUserTime,
            "scp",
            published!("ssh-2010-table-09-scp-localhost-sha1-z10ec.csv"),
        ),
        (
            Topic::ScpUserTime,
            "scp",
            published!("ssh-2010-table-05-scp-zvm-guests-osa-z9bc.csv"),
        ),
        (
            Topic::ScpUserTime,
            "scp",
            published!("ssh-2010-table-06-scp-zvm-guests-vswitch-z9bc.csv"),
        ),
        (
            Topic::SftpUserTime,
            "sftp",
            published!("ssh-2010-table-07-sftp-localhost-z9ec.csv"),
        ),
        (
            Topic::SftpUserTime,
            "sftp",
            published!("ssh-2010-table-11-sftp-localhost-mac-z10ec.csv"),
        ),
    ] {
        gains.extend(user_times(topic, tool, &table));
    }
    for table in [
        published!("ssh-2010-table-08-mac-influence-z9ec.csv"),
        published!("ssh-2010-table-10-scp-zvm-guests-mac-z9bc.csv"),
    ] {
        gains.extend(macs(&table));
    }
    gains.extend(one_side_or_both());
    gains.extend(download());
    gains.extend(solaris());
    gains.extend(ciphers());
    gains.extend(ciphers_by_length());
    gains.extend(files());
    gains
}

#[derive(Deserialize)]
struct Transfer {
    server: String,
    cipher: String,
    mac: String,
    engine: String,
    user_s: f64,
}

/// User time without the engine against with it. "default" was aes128-cbc, which has its own rows.
fn user_times(topic: Topic, tool: &str, table: &Table) -> Vec<Gain> {
    let rows: Vec<Transfer> = table.rows();
    let alike =
        |one: &Transfer, other: &Transfer| (&one.cipher, &one.mac) == (&other.cipher, &other.mac);
    with_and_without(&rows, |row| &row.engine, alike)
        .filter(|(with, _)| with.cipher != "default")
        .map(|(with, without)| Gain {
            topic,
            case: format!("{tool}, {}, MAC {}", with.cipher, with.mac),
            by: format!("CPACF, {}", with.server),
            ratio: without.user_s / with.user_s,
            hedge: "",
            source: table.source(),
        })
        .collect()
}

/// User time with MD5 as the MAC, which the hardware did not have, against SHA-1, both with the engine.
fn macs(table: &Table) -> Vec<Gain> {
    let rows: Vec<Transfer> = table.rows();
    let is = |row: &&Transfer, mac: &str| row.engine != "none" && row.mac == mac;
    let slow = rows.iter().filter(|row| is(row, "MD5"));
    slow.filter_map(|slow| {
        let mut fast = rows.iter().filter(|row| is(row, "SHA-1"));
        let fast = fast.find(|fast| fast.cipher == slow.cipher)?;
        Some(Gain {
            topic: Topic::Mac,
            case: format!("scp, {}, SHA-1 against MD5", fast.cipher),
            by: format!("CPACF, {}", fast.server),
            ratio: slow.user_s / fast.user_s,
            hedge: "",
            source: table.source(),
        })
    })
    .collect()
}

#[derive(Deserialize)]
struct Sides {
    server: String,
    cipher: String,
    mac: String,
    engine_active_in: String,
    throughput_mb_s: f64,
}

fn one_side_or_both() -> Vec<Gain> {
    let table = published!("ssh-2010-table-04-scp-zvm-guests-engine-side-z9bc.csv");
    let rows: Vec<Sides> = table.rows();
    let none = rows.iter().find(|row| row.engine_active_in == "none");
    let none = none.expect("the table has its baseline").throughput_mb_s;
    rows.iter()
        .filter(|row| row.engine_active_in != "none")
        .map(|row| Gain {
            topic: Topic::TransferRate,
            case: format!(
                "scp, {}, MAC {}, {}",
                row.cipher, row.mac, row.engine_active_in
            ),
            by: format!("CPACF, {}", row.server),
            ratio: row.throughput_mb_s / none,
            hedge: "",
            source: table.source(),
        })
        .collect()
}

/// The load of sshd while a PC downloads: the elapsed time was the network's, the same with and without.
fn download() -> Vec<Gain> {
    let table = published!("ssh-2010-prose-figures.csv");
    let rows: Vec<Prose> = table.rows();
    let load = |condition: &str| {
        rows.iter()
            .find(|row| {
                row.subject == "scp download host to PC"
                    && row.metric == "cpu"
                    && row.condition.starts_with(condition)
            })
            .expect("the figures are in the table")
            .value
    };
    [
        ("CPACF, z9 EC", "engine off, sshd", "engine on, sshd"),
        (
            "CPACF and CEX2C, z9",
            "engine off, sshd (same host",
            "engine on with CEX2C",
        ),
    ]
    .into_iter()
    .map(|(by, without, with)| Gain {
        topic: Topic::DownloadServer,
        case: "scp to a PC, aes128-cbc, CPU of sshd".to_owned(),
        by: by.to_owned(),
        ratio: load(without) / load(with),
        hedge: "about",
        source: table.source(),
    })
    .collect()
}

#[derive(Deserialize)]
struct Zeros {
    platform: String,
    cipher: String,
    engine: String,
    real_s: Option<f64>,
}

/// Zeros through ssh: the elapsed time was that of one core's cryptography.
fn solaris() -> Vec<Gain> {
    let table = published!("sunssh-2008-transfer.csv");
    let rows: Vec<Zeros> = table.rows();
    let alike = |one: &Zeros, other: &Zeros| {
        (&one.platform, &one.cipher) == (&other.platform, &other.cipher)
    };
    with_and_without(&rows, |row| &row.engine, alike)
        .filter_map(|(with, without)| {
            Some(Gain {
                topic: Topic::TransferRate,
                case: format!("ssh, {}, client's side", with.cipher),
                by: match with.platform.as_str() {
                    "T2" => "Niagara 2's unit, T5220".to_owned(),
                    other => other.to_owned(),
                },
                ratio: without.real_s? / with.real_s?,
                hedge: "",
                source: table.source(),
            })
        })
        .collect()
}

#[derive(Deserialize)]
struct Speed {
    server: String,
    cipher: String,
    engine: String,
    block_bytes: u32,
    throughput_mb_s: f64,
}

fn ciphers() -> Vec<Gain> {
    let table = published!("ssh-2010-table-01-openssl-speed-8k.csv");
    let rows: Vec<Speed> = table.rows();
    let alike =
        |one: &Speed, other: &Speed| (&one.server, &one.cipher) == (&other.server, &other.cipher);
    with_and_without(&rows, |row| &row.engine, alike)
        .map(|(with, without)| Gain {
            topic: Topic::CipherSpeed,
            case: format!("{}, {} bytes", with.cipher, with.block_bytes),
            by: format!("CPACF, {}", with.server),
            ratio: with.throughput_mb_s / without.throughput_mb_s,
            hedge: "",
            source: table.source(),
        })
        .collect()
}

#[derive(Deserialize)]
struct SpeedByLength {
    server: String,
    cipher: String,
    engine: String,
    block_bytes: u32,
    throughput_1e3_bytes_s: f64,
}

/// What the engine gained by the length of a message; at 8 KiB it is in [`ciphers`].
fn ciphers_by_length() -> Vec<Gain> {
    let table = published!("ssh-2010-examples-06-07-11-12-openssl-speed-z9ec.csv");
    let rows: Vec<SpeedByLength> = table.rows();
    let alike = |one: &SpeedByLength, other: &SpeedByLength| {
        (&one.cipher, one.block_bytes) == (&other.cipher, other.block_bytes)
    };
    with_and_without(&rows, |row| &row.engine, alike)
        .filter(|(with, _)| with.block_bytes < 8192)
        .map(|(with, without)| Gain {
            topic: Topic::CipherSpeed,
            case: format!("{}, {} bytes", with.cipher, with.block_bytes),
            by: format!("CPACF, {}", with.server),
            ratio: with.throughput_1e3_bytes_s / without.throughput_1e3_bytes_s,
            hedge: "",
            source: table.source(),
        })
        .collect()
}

#[derive(Deserialize)]
struct InMemory {
    operation: String,
    platform: String,
    engine: String,
    real_s: f64,
}

/// `openssl enc` of zeros: 8 KiB at a time.
fn files() -> Vec<Gain> {
    let table = published!("sunssh-2008-in-memory.csv");
    let rows: Vec<InMemory> = table.rows();
    let alike = |one: &InMemory, other: &InMemory| {
        (&one.operation, &one.platform) == (&other.operation, &other.platform)
    };
    with_and_without(&rows, |row| &row.engine, alike)
        .map(|(with, without)| Gain {
            topic: Topic::CipherSpeed,
            case: format!("{}, 8192 bytes", with.operation),
            by: "Niagara 2's unit, T5220".to_owned(),
            ratio: without.real_s / with.real_s,
            hedge: "",
            source: table.source(),
        })
        .collect()
}

/// Every row with an engine, and the first row that is like it but without.
fn with_and_without<'a, Row>(
    rows: &'a [Row],
    engine: impl Fn(&Row) -> &str + Copy + 'a,
    alike: impl Fn(&Row, &Row) -> bool + 'a,
) -> impl Iterator<Item = (&'a Row, &'a Row)> {
    let with = rows.iter().filter(move |row| engine(row) != "none");
    with.filter_map(move |with| {
        let mut without = rows.iter().filter(|row| engine(row) == "none");
        Some((with, without.find(|row| alike(row, with))?))
    })
}
