//! The document names every verb and every access-control point that is off by default.

use outboard_cca::{AccessPoint, Request};

#[test]
fn the_document_lists_what_is_there() {
    let document = include_str!("../../../docs/coprocessor.md");
    for name in Request::VERBS.iter().map(|verb| verb.name) {
        assert!(
            document.contains(name),
            "docs/coprocessor.md does not name {name}"
        );
    }
    for point in AccessPoint::ALL
        .iter()
        .filter(|point| !point.is_on_by_default())
    {
        let number = format!("`0x{:04x}`", *point as u16);
        assert!(
            document.contains(&number),
            "docs/coprocessor.md does not name {number}: {}",
            point.describe()
        );
    }
}
