//! Results of every shape that the report has to set: long names, many setups, scaling, invalid figures,
//! noise, an interruption. The figures are made up, but of today's magnitudes.

use std::collections::BTreeMap;

use outboard_bench::result::{
    Better, Extent, Machine, Noise, Ratio, ResultFile, Row, SCHEMA, Table, VERSION,
};

pub(crate) fn samples() -> Vec<ResultFile> {
    vec![
        speed(),
        layers(),
        cards(),
        ssh(),
        tls(),
        trading(),
        rampup(),
        steady(),
    ]
}

/// Nothing but what every result has.
pub(crate) fn empty(workload: &str) -> ResultFile {
    ResultFile {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        workload: workload.to_owned(),
        summary: format!("What {workload} does, in a sentence"),
        outboard: "0.1.0".to_owned(),
        extent: Extent::Full,
        began: 1_795_305_600,
        seconds: 312.0,
        complete: true,
        failure: None,
        machine: Machine {
            processor: "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz".to_owned(),
            cores: 2,
            memory: 8 << 30,
            kernel: "Linux 6.18.5".to_owned(),
            system: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        },
        noise: Noise {
            others: 0.013,
            stolen: 0.0,
            load: 0.31,
            reasons: Vec::new(),
        },
        versions: BTreeMap::from([("libcrypto".to_owned(), "OpenSSL 3.0.22".to_owned())]),
        commands: vec![format!("outboard-bench run {workload} --out results")],
        notes: Vec::new(),
        tables: Vec::new(),
    }
}

/// A measure with the rows of one case: (setup, figure) pairs, the first being the baseline.
struct Figures<'a> {
    measure: &'a str,
    unit: &'a str,
    better: Better,
}

impl<'a> Figures<'a> {
    fn new(measure: &'a str, unit: &'a str, better: Better) -> Self {
        Self {
            measure,
            unit,
            better,
        }
    }

    fn rows(&self, labels: &[(&str, &str)], setups: &[(&str, f64)]) -> Vec<Row> {
        let baseline = setups[0];
        setups
            .iter()
            .map(|&(setup, median)| {
                let ratio = match self.better {
                    Better::Higher => median / baseline.1,
                    _ => baseline.1 / median,
                };
                Row {
                    labels: labels
                        .iter()
                        .map(|(name, label)| ((*name).to_owned(), (*label).to_owned()))
                        .collect(),
                    measure: self.measure.to_owned(),
                    unit: self.unit.to_owned(),
                    better: self.better,
                    setup: setup.to_owned(),
                    samples: 15,
                    median,
                    low: median * 0.97,
                    high: median * 1.04,
                    ratio: (setup != baseline.0 && self.better != Better::Neither).then(|| Ratio {
                        baseline: baseline.0.to_owned(),
                        median: ratio,
                        low: ratio * 0.985,
                        high: ratio * 1.015,
                    }),
                    proof: (setup != baseline.0).then(|| "counted".to_owned()),
                    invalid: None,
                }
            })
            .collect()
    }
}

fn table(name: &str, title: &str, columns: &[&str], rows: Vec<Row>) -> Table {
    Table {
        name: name.to_owned(),
        title: title.to_owned(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        rows,
    }
}

fn speed() -> ResultFile {
    let rate = Figures::new("rate", "1/s", Better::Higher);
    let operations = [
        ("rsa-2048-sign", 3085.0f64, 9442.0),
        ("rsa-3072-sign", 424.0, 1532.0),
        ("rsa-4096-sign", 211.0, 971.0),
        ("ecdsa-p256-sign", 42_283.0, 184_000.0),
        ("ecdsa-p256-verify", 14_603.0, 14_590.0),
        ("ecdsa-p384-sign", 1091.0, 38_443.0),
        ("ecdh-p256", 19_087.0, 70_220.0),
        ("x25519", 26_652.0, 160_000.0),
        ("ed25519-sign", 23_103.0, 228_356.0),
        ("ed25519-verify", 7980.0, 25_169.0),
        ("mlkem768-encapsulate", 11_200.0, 10_500.0),
        ("p521-keygen", 2100.0, 4300.0),
    ];
    let operations = operations
        .iter()
        .flat_map(|&(name, stock, outboard)| {
            rate.rows(
                &[("operation", name)],
                &[
                    ("stock", stock),
                    ("outboard", outboard),
                    // A peer that is as fast, and once much slower.
                    (
                        "openssl-4.0",
                        if name.starts_with("p521") {
                            stock / 12.0
                        } else {
                            stock
                        },
                    ),
                ],
            )
        })
        .collect();
    let throughput = Figures::new("throughput", "B/s", Better::Higher);
    let mut bulk = Vec::new();
    for (name, stock, outboard) in [
        ("aes-128-gcm", 5.69e9, 11.79e9),
        ("aes-256-gcm", 4.61e9, 9.1e9),
        ("chacha20-poly1305", 3.39e9, 3.38e9),
        ("sha-256", 1.07e9, 1.12e9),
    ] {
        for bytes in [16u32, 64, 256, 1024, 8192, 16_384, 65_536, 1 << 20] {
            let part = f64::from(bytes) / (f64::from(bytes) + 900.0);
            let gain = if bytes < 1024 { 1.0 } else { outboard / stock };
            bulk.extend(throughput.rows(
                &[("operation", name), ("bytes", &bytes.to_string())],
                &[("stock", stock * part), ("outboard", stock * gain * part)],
            ));
        }
    }
    ResultFile {
        tables: vec![
            table(
                "operations",
                "Operations without much data, per second of one core",
                &["operation"],
                operations,
            ),
            table(
                "bulk",
                "Bytes per second of one core, by the length of a message",
                &["operation", "bytes"],
                bulk,
            ),
        ],
        ..empty("speed")
    }
}

fn layers() -> ResultFile {
    let rate = Figures::new("rate", "1/s", Better::Higher);
    let mut rows = Vec::new();
    for (operation, peak, engine, evp) in [
        ("aes-128-gcm", 11.8e9, 40e-9, 350e-9),
        ("aes-256-gcm", 9.1e9, 30e-9, 280e-9),
    ] {
        for bytes in [64u32, 256, 1024, 4096, 65_536, 1 << 20] {
            let kernel = 50e-9 + f64::from(bytes) / peak;
            rows.extend(rate.rows(
                &[("operation", operation), ("bytes", &bytes.to_string())],
                &[
                    ("kernel", 1.0 / kernel),
                    ("engine", 1.0 / (kernel + engine)),
                    ("EVP, Outboard", 1.0 / (kernel + evp)),
                    ("EVP, stock", 0.5 / (kernel + evp)),
                ],
            ));
        }
    }
    let title = "Sealing a message, by its length, at each interface";
    ResultFile {
        tables: vec![table("bulk", title, &["operation", "bytes"], rows)],
        ..empty("layers")
    }
}

fn cards() -> ResultFile {
    let rate = Figures::new("rate", "1/s", Better::Higher);
    let latency = Figures::new("latency", "s", Better::Lower);
    let mut rows = Vec::new();
    for (operation, stock, full) in [
        ("rsa-2048-sign", 3085.0f64, 9442.0),
        ("p384-sign", 1091.0, 38_443.0),
    ] {
        for jobs in [1u32, 2, 4, 8, 16, 32] {
            let labels = [("operation", operation), ("jobs", &*jobs.to_string())];
            let rates = [
                ("stock", stock),
                ("1 card", stock.max(full * f64::from(jobs.min(8)) / 8.0)),
                ("2 cards", stock.max(full * f64::from(jobs.min(16)) / 8.4)),
                ("4 cards", stock.max(full * f64::from(jobs.min(32)) / 8.6)),
                ("8 cards", stock.max(full * f64::from(jobs.min(32)) / 8.6)),
                ("16 cards", stock.max(full * f64::from(jobs.min(32)) / 8.7)),
                ("32 cards", stock.max(full * f64::from(jobs.min(32)) / 8.8)),
            ];
            rows.extend(rate.rows(&labels, &rates));
            let latencies = rates.map(|(setup, rate)| (setup, f64::from(jobs) / rate));
            rows.extend(latency.rows(&labels, &latencies));
        }
    }
    let title = "Operations with the private key, by the number of jobs";
    let together = [
        ("rsa-2048-sign", 3085.0, 2891.0, 9842.0, 9442.0),
        ("rsa-4096-sign", 211.0, 454.0, 1471.0, 971.0),
        ("p384-sign", 1091.0, 10_933.0, 158_443.0, 38_443.0),
    ];
    let together = together
        .iter()
        .flat_map(|&(operation, stock, aws_lc, lanes, crypto_mb)| {
            let rates = [
                ("stock", stock),
                ("AWS-LC", aws_lc),
                ("lanes", lanes),
                ("crypto_mb", crypto_mb),
            ];
            rate.rows(&[("operation", operation)], &rates)
        })
        .collect();
    let eight = "Eight private-key operations handed over together: per second of one core";
    ResultFile {
        tables: vec![
            table("private", title, &["operation", "jobs"], rows),
            table("together", eight, &["operation"], together),
        ],
        notes: vec!["The latency is the mean: jobs / rate.".to_owned()],
        ..empty("cards")
    }
}

fn ssh() -> ResultFile {
    let throughput = Figures::new("throughput", "B/s", Better::Higher);
    let user = Figures::new("user", "s", Better::Lower);
    let sides = |stock: f64, outboard: f64| {
        let one = f64::midpoint(stock, outboard);
        [
            ("stock", stock),
            ("client", one),
            ("server", one),
            ("both", outboard),
        ]
    };
    let mut tables = Vec::new();
    for tool in ["scp", "sftp", "rsync"] {
        let mut rows = Vec::new();
        for (cipher, mac, stock, outboard) in [
            ("aes128-gcm", "-", 0.105, 0.061),
            ("aes256-gcm", "-", 0.118, 0.067),
            ("aes128-ctr", "hmac-sha2-256-etm", 0.31, 0.30),
            ("chacha20-poly1305", "-", 0.29, 0.294),
            ("3des-cbc", "hmac-sha1", 8.2, 8.6),
        ] {
            let labels = [("cipher", cipher), ("mac", mac)];
            let real = Figures::new("real", "s", Better::Lower);
            rows.extend(real.rows(&labels, &sides(stock * 2.0, outboard * 2.0)));
            rows.extend(user.rows(&labels, &sides(stock, outboard)));
            rows.extend(throughput.rows(&labels, &sides(1e8 / stock, 1e8 / outboard)));
        }
        if tool == "rsync" {
            let both = rows
                .iter_mut()
                .find(|row| row.setup == "both" && row.measure == "user");
            both.expect("it was measured").invalid =
                Some("no aes-128-gcm counted by any process of the transfer".to_owned());
        }
        let title = format!("{tool} of 206 MB, by cipher and MAC");
        tables.push(table(tool, &title, &["cipher", "mac"], rows));
    }
    let share = Figures::new("sshd CPU share", "", Better::Lower);
    tables.push(table(
        "download",
        "scp over a line of 100 Mbit/s: the load of sshd",
        &["cipher"],
        share.rows(
            &[("cipher", "aes128-gcm")],
            &[("stock", 0.031), ("server", 0.019)],
        ),
    ));
    let shares = Figures::new("share of CPU", "", Better::Neither);
    tables.push(table(
        "cryptography",
        "How much of a transfer's CPU is cryptography",
        &["tool", "cipher"],
        shares.rows(
            &[("tool", "scp"), ("cipher", "aes128-gcm")],
            &[("stock", 0.43), ("both", 0.21)],
        ),
    ));
    ResultFile {
        tables,
        extent: Extent::Quick,
        noise: Noise {
            others: 0.31,
            stolen: 0.02,
            load: 3.4,
            reasons: vec!["other programs had 31 % of the processors".to_owned()],
        },
        ..empty("ssh")
    }
}

fn tls() -> ResultFile {
    let rate = Figures::new("handshakes", "1/s", Better::Higher);
    let cpu = Figures::new("server CPU", "s", Better::Lower);
    let columns = [
        "server",
        "key",
        "protocol",
        "cipher",
        "sid_cached_percent",
        "client_authentication",
    ];
    let mut rows = Vec::new();
    for (server, gain) in [("nginx", 0.95), ("HAProxy", 0.97), ("Apache", 0.93)] {
        for (key, stock, outboard, cached, client) in [
            ("RSA-2048", 594e-6, 340e-6, "0", "no"),
            ("RSA-2048", 194e-6, 190e-6, "100", "no"),
            ("RSA-2048", 794e-6, 540e-6, "0", "yes"),
            ("RSA-3072", 2543e-6, 880e-6, "0", "no"),
            ("RSA-4096", 4655e-6, 1290e-6, "0", "no"),
            ("P-256", 353e-6, 300e-6, "0", "no"),
            ("P-384", 1676e-6, 420e-6, "0", "no"),
        ] {
            let labels = [server, key, "TLS 1.3", "aes-128-gcm", cached, client];
            let labels: Vec<_> = columns.into_iter().zip(labels).collect();
            let mut costs = vec![("stock", stock), ("outboard", outboard / gain)];
            if server == "HAProxy" {
                costs.push(("outboard-async", outboard * 0.6));
            }
            let rates: Vec<_> = costs
                .iter()
                .map(|(setup, cost)| (*setup, 1.0 / cost))
                .collect();
            rows.extend(cpu.rows(&labels, &costs));
            rows.extend(rate.rows(&labels, &rates));
        }
    }
    let title = "TLS handshakes, each with one exchange of 2,048 bytes";
    ResultFile {
        tables: vec![table("handshakes", title, &columns, rows)],
        complete: false,
        failure: Some("stunnel did not start: cannot bind 127.0.0.1:8443".to_owned()),
        ..empty("tls")
    }
}

fn trading() -> ResultFile {
    let rate = Figures::new("transactions", "1/s", Better::Higher);
    let response = Figures::new("response", "s", Better::Lower);
    let columns = ["server", "front", "key", "protocol", "handshakes"];
    let mut rows = Vec::new();
    for (front, key, rates) in [
        ("-", "RSA-2048", [640.0, 900.0, 800.0]),
        ("-", "RSA-4096", [190.0, 730.0, 610.0]),
        ("Apache", "RSA-2048", [1100.0, 1400.0, 1200.0]),
        ("Apache", "RSA-4096", [180.0, 950.0, 760.0]),
    ] {
        for handshakes in ["handshake per request", "handshake per session"] {
            let labels = ["Tomcat", front, key, "TLS 1.3", handshakes];
            let labels: Vec<_> = columns.into_iter().zip(labels).collect();
            let setups = ["stock", "outboard", "service"];
            let rates: Vec<_> = setups.into_iter().zip(rates).collect();
            let waits: Vec<_> = rates
                .iter()
                .map(|(name, rate)| (*name, 25.0 / rate))
                .collect();
            rows.extend(rate.rows(&labels, &rates));
            rows.extend(response.rows(&labels, &waits));
        }
    }
    let title = "A trading application over HTTPS";
    ResultFile {
        tables: vec![table("transactions", title, &columns, rows)],
        ..empty("trading")
    }
}

fn rampup() -> ResultFile {
    let cpu = Figures::new("server CPU", "s", Better::Lower);
    let mut rows = Vec::new();
    for front in ["HAProxy", "stunnel"] {
        let held = (0..12).map(|group| format!("{}-{}", group * 50, group * 50 + 49));
        for held in held.chain(["all".to_owned()]) {
            rows.extend(cpu.rows(
                &[("front", front), ("held", &held)],
                &[
                    ("stock", 640e-6),
                    ("outboard", 410e-6),
                    ("outboard-async", 380e-6),
                ],
            ));
        }
    }
    let title = "600 connections, one after another and kept: CPU of the server for each";
    ResultFile {
        tables: vec![table("connections", title, &["front", "held"], rows)],
        ..empty("rampup")
    }
}

fn steady() -> ResultFile {
    let cpu = Figures::new("server CPU", "s", Better::Lower);
    let rows = ["HAProxy", "stunnel"]
        .into_iter()
        .flat_map(|front| {
            cpu.rows(
                &[("front", front)],
                &[("stock", 41e-6), ("outboard", 40.5e-6)],
            )
        })
        .collect();
    let title = "200 kept connections, a query a second each";
    ResultFile {
        tables: vec![table("transactions", title, &["front"], rows)],
        ..empty("steady")
    }
}
