//! Programs that link the library, or load it: in C with the header, and the example in Python of docs/coprocessor.md.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use outboard_programs::{CardService, Workplace};

/// Of the test's own build.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("it runs");
    let directory = test.parent().and_then(Path::parent);
    directory.expect("tests lie in deps").join(name)
}

/// The directory of the library.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("it runs");
    let directory = test.parent().expect("it lies in a directory").to_owned();
    assert!(
        directory.join("libcsulcca.so").exists(),
        "the library is built with the tests"
    );
    directory
}

/// A service whose coprocessor is on, with master keys, and with the points on that the programs need.
fn service(workplace: &Workplace) -> Option<CardService> {
    let (daemon, command) = (built("outboardd"), built("outboard"));
    if !(daemon.exists() && command.exists()) {
        assert!(
            std::env::var_os("OUTBOARD_TEST_ALL").is_none(),
            "outboardd is missing (run 'cargo build')"
        );
        return None;
    }
    let service = CardService::start(workplace, &daemon, &command, None).expect("it starts");
    let says = |words: &[&str]| {
        let done = service.command(words);
        done.unwrap_or_else(|error| panic!("{words:?}: {error}"))
    };
    says(&["cca", "enable"]);
    for kind in ["SYM-MK", "AES-MK", "ASYM-MK", "APKA-MK"] {
        for step in ["RANDOM", "SET"] {
            let rules = format!("rule_array={kind},{step}");
            says(&["cca", "call", "CSNBMKP", &rules]);
        }
    }
    // Parts of keys, and encrypted PINs.
    says(&[
        "cca",
        "call",
        "access-points",
        "enable=0x1b,0x1c,0xb0,0x211,0x221",
    ]);
    Some(service)
}

fn run(command: &mut Command, service: &CardService) -> Output {
    let output = command
        .env("OUTBOARD_CCA", service.directory())
        .env("LD_LIBRARY_PATH", library())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    output
}

#[test]
fn a_program_in_c_calls_verbs_and_survives_what_it_does_wrong() {
    let workplace = Workplace::new().expect("a directory");
    let Some(service) = service(&workplace) else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = workplace.join("program");
    let compiled = Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
        .arg(root.join("include"))
        .arg(root.join("tests/program.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(library())
        .arg("-lcsulcca")
        .output()
        .expect("a C compiler is installed");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let output = run(&mut Command::new(&program), &service);
    assert_eq!(output.stdout, b"done\n");
}

#[test]
fn the_example_in_python_does_what_the_document_says() {
    let workplace = Workplace::new().expect("a directory");
    let Some(service) = service(&workplace) else {
        return;
    };
    let document = include_str!("../../../docs/coprocessor.md");
    let example = document.split("```python\n").nth(1);
    let example = example.and_then(|rest| rest.split("```").next());
    let mut python = Command::new("python3");
    let output = run(python.args(["-c", example.expect("it is there")]), &service);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("The MAC is verified."), "{said}");
}

/// Without a service, a program waits no longer than a request is tried, and learns the published reason.
#[test]
fn without_a_service_the_answer_is_the_published_one() {
    let script = "import ctypes\n\
                  library = ctypes.CDLL('libcsulcca.so')\n\
                  code, reason = ctypes.c_long(), ctypes.c_long()\n\
                  library.CSNBRNG(ctypes.byref(code), ctypes.byref(reason), None, None, b'RANDOM  ', ctypes.create_string_buffer(8))\n\
                  print(code.value, reason.value)";
    let output = Command::new("python3")
        .args(["-c", script])
        .env("OUTBOARD_CCA", "/nonexistent")
        .env("LD_LIBRARY_PATH", library())
        .output()
        .expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "12 338\n");
}
