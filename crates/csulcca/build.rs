//! Makes the exported functions and the table of their parameters from `verbs.txt`.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=verbs.txt");
    // Threads that called it hold its thread-local state, whose destructors run when they end: the code must still be there.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // What a program's linker writes down, wherever the file was.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcsulcca.so");
    let table = fs::read_to_string("verbs.txt").expect("it is in the repository");
    let lines = table.lines().filter(|line| !line.is_empty());
    let (mut verbs, mut functions) = (String::new(), String::new());
    let lines = lines.filter(|line| !line.starts_with('#'));
    let (unknown, lines): (Vec<_>, Vec<_>) = lines.partition(|line| line.ends_with(" -"));
    for line in unknown {
        let name = line.trim_end_matches(" -");
        let _ = writeln!(
            functions,
            "/// The verb {name}, which the coprocessor does not have.\n\
             ///\n\
             /// # Safety\n\
             /// Both codes are null, or lead to a `long`. Other parameters do not matter.\n\
             #[unsafe(no_mangle)]\n\
             pub unsafe extern \"C\" fn {name}(return_code: *mut c_long, reason_code: *mut c_long) {{\n    \
             // SAFETY: as the caller promises.\n    \
             unsafe {{ unknown(return_code, reason_code) }}\n}}"
        );
    }
    for (number, line) in lines.into_iter().enumerate() {
        let mut words = line.split(' ');
        let name = words.next().expect("a line has a name");
        let words: Vec<&str> = words.collect();
        let names: Vec<&str> = words.iter().map(|word| name_of(word)).collect();
        let parameters: String = words
            .iter()
            .map(|word| {
                let kind = kind_of(word, &names);
                format!("Parameter {{ name: {:?}, kind: {kind} }}, ", name_of(word))
            })
            .collect();
        let _ = writeln!(
            verbs,
            "    Verb {{ name: {name:?}, parameters: &[{parameters}] }},"
        );
        let arguments: String = names
            .iter()
            .map(|name| format!("{name}: *mut c_void, "))
            .collect();
        let _ = writeln!(
            functions,
            "/// The verb {name}: `csulincl.h` has its parameters.\n\
             ///\n\
             /// # Safety\n\
             /// Each parameter is null, or leads to as much memory as the publication says for it.\n\
             #[unsafe(no_mangle)]\n\
             pub unsafe extern \"C\" fn {name}(return_code: *mut c_long, reason_code: *mut c_long, \
             _exit_data_length: *mut c_void, _exit_data: *mut c_void, {arguments}) {{\n    \
             // SAFETY: as the caller promises.\n    \
             unsafe {{ call({number}, return_code, reason_code, &[{}]) }}\n}}",
            names.join(", ")
        );
    }
    let code = format!("pub(crate) const VERBS: &[Verb] = &[\n{verbs}];\n\n{functions}");
    let directory = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&directory).join("functions.rs"), code).expect("cargo made the directory");
}

fn name_of(word: &str) -> &str {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end = word.find(|letter| !is_part(letter)).unwrap_or(word.len());
    &word[..end]
}

/// What `verbs.txt` says of a parameter, as an expression.
fn kind_of(word: &str, names: &[&str]) -> String {
    let rest = &word[name_of(word).len()..];
    let mut letters = rest.chars();
    let mark = letters.next().expect("a parameter has a kind");
    let rest = letters.as_str();
    let (rest, way, more) = match rest.split_once('*') {
        Some((rest, more)) => (rest, "Out", more.parse().unwrap_or(0)),
        None => match rest.strip_suffix('+') {
            Some(rest) => (rest, "Both", 0),
            None => (rest, "In", 0),
        },
    };
    let place = |name: &str| {
        let place = names.iter().position(|other| *other == name);
        place.unwrap_or_else(|| panic!("{word}: there is no parameter {name}"))
    };
    match mark {
        '!' => "Kind::Unused".to_owned(),
        '#' => format!("Kind::Number(Way::{way})"),
        ':' => format!("Kind::Fixed(Way::{way}, {rest})"),
        '@' => format!("Kind::Sized(Way::{way}, {}, {more})", place(rest)),
        '~' => format!("Kind::ByRules(Way::{way}, {rest:?})"),
        '%' => format!("Kind::List({})", place(rest)),
        '=' if more > 0 => format!("Kind::Labels({})", place(rest)),
        '=' => format!("Kind::Keywords(Way::{way}, {})", place(rest)),
        _ => panic!("{word}: no kind of parameter"),
    }
}
