//! The report as readers get it: written by the command, opened in a browser.
//!
//! `OUTBOARD_REPORT_DIR=DIR` keeps the report and pictures of its pages for who wants to look, and
//! `OUTBOARD_REPORT_RESULTS=DIR` takes the results there instead of made-up ones;
//! `OUTBOARD_TEST_ALL=1` fails where Chromium is not installed.

mod browser;
mod samples;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs};

use outboard_bench::result::{ResultFile, read_all};

use browser::Browser;

/// Has the command write the report of the results in a directory.
fn report(directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
        .arg("report")
        .arg(directory)
        .output()
        .expect("the command was built")
}

/// The report of these results, in a directory that lives as long as the first value.
fn reported(results: &[ResultFile]) -> (Option<tempfile::TempDir>, PathBuf) {
    let kept = env::var_os("OUTBOARD_REPORT_DIR").map(PathBuf::from);
    let temporary = kept
        .is_none()
        .then(|| tempfile::tempdir().expect("a temporary directory"));
    let directory =
        kept.unwrap_or_else(|| temporary.as_ref().expect("nothing kept").path().to_owned());
    for result in results {
        result.save(&directory).expect("a directory of ours");
    }
    let output = report(&directory);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (temporary, directory)
}

/// On a phone and at a desk, by day and by night: charts are drawn, nothing is cut off, nothing is fetched,
/// nothing is complained about.
#[test]
fn the_page_is_whole_on_every_screen() {
    let Some(browser) = Browser::start() else {
        let message =
            "chromium is not installed (apt-get install chromium): the report was not looked at";
        assert!(env::var_os("OUTBOARD_TEST_ALL").is_none(), "{message}");
        eprintln!("{message}");
        return;
    };
    let samples = match env::var_os("OUTBOARD_REPORT_RESULTS") {
        Some(results) => read_all(Path::new(&results)).expect("results"),
        None => samples::samples(),
    };
    let (_temporary, directory) = reported(&samples);
    let tables: usize = samples.iter().map(|sample| sample.tables.len()).sum();
    let page = directory.join("report.html");
    let mut wrong = Vec::new();
    for (medium, width, scheme) in [
        ("screen", 320, "light"),
        ("screen", 390, "dark"),
        ("screen", 768, "dark"),
        ("screen", 1280, "light"),
        // A4, less its margins; whoever reads at night prints on white all the same.
        ("print", 673, "dark"),
    ] {
        browser.open(&page, medium, width, scheme);
        let shown = |what: &str| {
            let all = format!("[...document.querySelectorAll('{what}')]");
            let count = format!(
                "{all}.filter(one => one.getClientRects().length && one.checkVisibility()).length"
            );
            browser.evaluate(&count).as_u64().expect("a number")
        };
        assert!(
            shown("svg.chart:not(.key)") > tables as u64,
            "a chart for each table"
        );
        if medium == "print" {
            let all = browser.evaluate("document.querySelectorAll('table').length");
            assert_eq!(
                Some(shown("table")),
                all.as_u64(),
                "paper cannot be unfolded"
            );
            assert_eq!(
                browser.evaluate("getComputedStyle(document.body).backgroundColor"),
                "rgb(255, 255, 255)"
            );
        }
        // As set, then in the widest letters that a system may have for it.
        for letters in ["", "'DejaVu Sans', Verdana"] {
            browser.evaluate(&format!(
                "for (const one of document.querySelectorAll('body, svg')) one.style.fontFamily = \"{letters}\""
            ));
            if letters.is_empty() && env::var_os("OUTBOARD_REPORT_DIR").is_some() {
                keep(
                    &browser.picture(),
                    &directory.join(format!("{medium}-{width}-{scheme}.png")),
                );
            }
            let found = browser.evaluate(include_str!("check.js"));
            for text in found.as_array().expect("a list") {
                wrong.push(format!("{medium} {width} {scheme} {letters}: {text}"));
            }
        }
        wrong.extend(browser.complaints());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // The checks can fail.
    browser.evaluate("document.querySelector('svg.wide text.ratio').setAttribute('x', '2000'); console.error('on purpose')");
    assert_ne!(
        browser.evaluate(include_str!("check.js")),
        serde_json::json!([])
    );
    assert_eq!(browser.complaints().len(), 1);
}

/// What is said without pictures: gains, losses, doubts, and the published beside ours.
#[test]
fn the_markdown_hides_nothing() {
    let (_temporary, directory) = reported(&samples::samples());
    let text = fs::read_to_string(directory.join("report.md")).expect("it was written");
    let text = text.replace('\u{a0}', " ");
    for part in [
        "# Up to 6.7 × as many handshakes per second; 14 of 192 comparisons got slower",
        "- tls failed: stunnel did not start: cannot bind 127.0.0.1:8443",
        "no aes-128-gcm counted by any process of the transfer",
        "Read with care: other programs had 31 % of the processors.",
        "mlkem768-encapsulate: operations 0.94 ×",
        "| nginx, RSA-4096 | handshakes (more is better) | 215 /s | 736 /s, **3.4 ×** (3.4–3.5) |",
        "| Full handshakes per second | 5.2 to 32 × (2005) | 1.09 to 6.7 × |",
        "| CPU for one new connection, hundreds being held | 1.43 × (2017) | 1.56 to 1.68 × |",
        "    outboard-bench run tls --out results",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // What was not proven is no gain, in whatever list.
    let gains = text.lines().filter(|line| line.starts_with("- **"));
    assert!(gains.clone().count() >= 4 && !gains.clone().any(|line| line.contains("rsync")));
}

/// Results may come from anyone.
#[test]
fn what_results_say_stays_text() {
    let element = "<script>alert(1)</script>";
    let mut samples = samples::samples();
    for sample in &mut samples {
        sample.summary = element.to_owned();
        sample.machine.processor = element.to_owned();
        sample.notes.push(element.to_owned());
        sample.failure = Some(element.to_owned());
        sample
            .versions
            .insert(element.to_owned(), element.to_owned());
        for table in &mut sample.tables {
            table.title = element.to_owned();
            for row in &mut table.rows {
                row.labels.values_mut().for_each(|label| *label += element);
                row.invalid = Some(element.to_owned());
            }
        }
    }
    let rendered = outboard_bench::report::render(&samples);
    for text in [
        rendered.html,
        rendered.markdown,
        rendered.picture,
        rendered.then,
    ] {
        assert!(!text.contains("<script"), "{text}");
    }
}

/// What a web server in front gains is told as the study told it: against the application server's own code.
#[test]
fn trading_stands_beside_its_study() {
    let rendered = outboard_bench::report::render(&samples::samples());
    // 1,200 to 1,400 transactions per second with RSA-2048 and 760 to 950 with RSA-4096, of 640 and 190.
    let text = rendered.markdown.replace('\u{a0}', " ");
    let line = "| Transactions per second, TLS in a web server in front | 2.0 to 6.0 × (2013) | 1.88 to 5.0 × |";
    assert!(text.contains(line), "{text}");
    for title in ["CPU for one transaction", "Response time"] {
        for place in ["the application server", "a web server in front"] {
            let title = format!("{title}, TLS in {place}");
            assert!(rendered.html.contains(&title), "{title}");
        }
    }
}

/// The pictures for a README are such by themselves.
#[test]
fn the_pictures_stand_for_themselves() {
    let (_temporary, directory) = reported(&samples::samples());
    for (name, part) in [
        ("report.svg", "nginx, RSA-4096: 4.66 ms → 1.36 ms (3.4"),
        ("then.svg", "published 2005"),
    ] {
        let picture = fs::read_to_string(directory.join(name)).expect("it was written");
        assert!(picture.starts_with("<?xml"));
        assert!(picture.contains("prefers-color-scheme:dark"));
        assert!(!picture.contains("<script") && !picture.contains("href"));
        assert!(picture.contains(part), "{name}: {part}\n{picture}");
    }
}

/// What the README shows is what the committed results say, drawn by the code beside them.
#[test]
fn the_committed_pictures_are_those_of_the_committed_results() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let results = read_all(&directory).expect("results/ holds readable results");
    let rendered = outboard_bench::report::render(&results);
    for (name, picture) in [
        ("report.svg", rendered.picture),
        ("then.svg", rendered.then),
    ] {
        let committed = fs::read_to_string(directory.join(name)).expect("it is committed");
        assert!(
            committed == picture,
            "results/{name} is not of these results: make report, and commit it"
        );
    }
}

fn keep(base64: &str, path: &Path) {
    let file = fs::File::create(path).expect("a directory of ours");
    let mut decoder = Command::new("base64")
        .arg("-d")
        .stdin(Stdio::piped())
        .stdout(file)
        .spawn()
        .expect("coreutils");
    let mut pipe = decoder.stdin.take().expect("it was piped");
    std::io::Write::write_all(&mut pipe, base64.as_bytes()).expect("base64 reads");
    drop(pipe);
    assert!(decoder.wait().is_ok_and(|status| status.success()));
}
