//! The header in the repository is what the table says. `OUTBOARD_WRITE=1` writes it.

#[test]
fn the_header_is_the_tables() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/include/csulincl.h");
    let text = csulcca::header();
    if std::env::var_os("OUTBOARD_WRITE").is_some() {
        std::fs::write(file, &text).expect("it is ours");
    }
    let written = std::fs::read_to_string(file).expect("it is in the repository");
    assert!(
        text == written,
        "run OUTBOARD_WRITE=1 cargo test -p outboard-csulcca --test header"
    );
}
