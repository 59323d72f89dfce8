//! What `outboard doctor` says of cryptography that Outboard does not serve.

mod common;

use common::{findings_of, public_directory, version};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A copy of /bin/true with one more segment, which holds that text and is as long as the smallest file that is examined.
fn with_text_inside(file: &Path, text: &[u8]) {
    const PAGE: usize = 4096;
    const STACK: u32 = 0x6474_e551; // PT_GNU_STACK, the header that is given up for the new segment's
    common::copy(Path::new("/bin/true"), file);
    let mut bytes = fs::read(file).expect("it is ours");
    let offset = bytes.len().next_multiple_of(PAGE);
    bytes.resize(offset, 0);
    bytes.extend_from_slice(text);
    bytes.resize(offset + (600 << 10), 0);
    let number = |bytes: &[u8], at: usize, size: usize| {
        let mut number = [0; 8];
        number[..size].copy_from_slice(&bytes[at..at + size]);
        usize::try_from(u64::from_le_bytes(number)).expect("64 bits")
    };
    let headers = (number(&bytes, 32, 8)..)
        .step_by(56)
        .take(number(&bytes, 56, 2));
    let is_stack = |at: &usize| number(&bytes, *at, 4) == STACK as usize;
    let header = headers
        .into_iter()
        .find(is_stack)
        .expect("every program has one");
    let high = 1 << 30;
    // PT_LOAD, readable; offset, address, address, size in the file and in memory, alignment.
    bytes[header..header + 8].copy_from_slice(&[1, 0, 0, 0, 4, 0, 0, 0]);
    let fields = [offset, high, high, 600 << 10, 600 << 10, PAGE];
    for (field, value) in fields.into_iter().enumerate() {
        let at = header + 8 + 8 * field;
        bytes[at..at + 8].copy_from_slice(&(value as u64).to_le_bytes());
    }
    fs::write(file, bytes).expect("it is ours");
}

/// The finding whose text has that part.
#[track_caller]
fn finding_about<'a>(findings: &'a [Value], part: &str) -> &'a Value {
    let says = |finding: &&Value| {
        finding["what"]
            .as_str()
            .is_some_and(|what| what.contains(part))
    };
    findings
        .iter()
        .find(says)
        .unwrap_or_else(|| panic!("nothing about {part:?} in {findings:#?}"))
}

/// A program that has OpenSSL in its own file, though it is linked dynamically.
#[test]
fn a_program_with_an_openssl_of_its_own_is_told() {
    let directory = public_directory();
    let program = directory.path().join("own");
    with_text_inside(
        &program,
        b"\0OpenSSL 3.0.15 3 Sep 2024\0OPENSSLDIR: \"/opt/nowhere\"\0OpenSSL Default Provider\0",
    );
    let findings = findings_of(&["--program", &program.display().to_string()]);
    let finding = finding_about(&findings, "a copy of OpenSSL 3.0.15 inside");
    assert_eq!(finding["state"], "problem");
    common::says(&finding.to_string(), "/opt/nowhere/openssl.cnf");
    // A version alone is no copy: nginx and Python print the one that they were built with.
    with_text_inside(&program, b"\0OpenSSL 3.0.15 3 Sep 2024\0");
    let findings = findings_of(&["--program", &program.display().to_string()]);
    assert!(
        findings.iter().all(|finding| finding["state"] != "problem"),
        "{findings:#?}"
    );
}

/// As the loader finds it.
fn system_libcrypto() -> PathBuf {
    let listed = std::process::Command::new("sh")
        .args(["-c", "ldd \"$(command -v openssl)\""])
        .output();
    let listed = String::from_utf8(listed.expect("ldd is installed").stdout).expect("a text");
    let line = listed.lines().find(|line| line.contains("libcrypto.so"));
    let path = line.and_then(|line| line.split_whitespace().nth(2));
    fs::canonicalize(path.expect("openssl uses libcrypto")).expect("it is there")
}

/// What a Python wheel brings is seen in the running process, with the system's libcrypto beside it.
#[test]
fn copies_of_openssl_that_packages_bring_are_seen_in_processes() {
    if !common::are_installed(&["python3"]) {
        return;
    }
    let directory = public_directory();
    let wheel = directory.path().join("site-packages/cryptography");
    fs::create_dir_all(&wheel).expect("it is ours");
    let system = system_libcrypto();
    let (inside, bundled) = (
        wheel.join("_rust.abi3.so"),
        wheel.join("libcrypto-fb8d5b21.so.3"),
    );
    // Linked statically into another library, and a shared one of its own.
    common::copy(&system, &inside);
    common::copy(&system, &bundled);
    let script = "import ctypes, sys\n\
                  for file in sys.argv[1:]: ctypes.CDLL(file)\n\
                  print(flush=True); sys.stdin.read()";
    let mut child = std::process::Command::new("python3")
        .args(["-c", script])
        .args([&inside, &bundled, &system])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = [0];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut line).expect("loaded");
    let of_process = findings_of(&["--pid", &child.id().to_string()]);
    let of_system = findings_of(&[]);
    drop(child.stdin.take());
    child.wait().expect("it ends");
    for (findings, state) in [(&of_process, "note"), (&of_system, "note")] {
        for file in [&inside, &bundled] {
            let finding = finding_about(findings, &file.display().to_string());
            assert_eq!(finding["state"], state, "{finding:#}");
            common::says(
                &finding.to_string(),
                &format!("a copy of OpenSSL {}", version()),
            );
            common::says(&finding.to_string(), "pip install");
        }
    }
    finding_about(&of_process, &format!("uses {}", system.display()));
    finding_about(&of_system, &format!("(process {})", child.id()));
}

/// git loads GnuTLS for TLS, and libcrypto for libssh2: that is no program which Outboard serves.
#[test]
fn a_program_that_does_tls_with_gnutls_is_not_called_good() {
    let program = "/usr/lib/git-core/git-remote-https";
    let listed = std::process::Command::new("ldd").arg(program).output();
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let listed = listed.unwrap_or_default();
    if !listed.contains("libgnutls.so") || !listed.contains("libcrypto.so.3") {
        eprintln!("passed over: {program} does not load both");
        return;
    }
    let findings = findings_of(&["--program", program]);
    let finding = finding_about(&findings, "does TLS with GnuTLS");
    assert_eq!(finding["state"], "problem");
    common::says(&finding.to_string(), "(for libssh2.so.1");
}
