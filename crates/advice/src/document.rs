//! Advice as a document: reads the measurements that an earlier run printed.

use outboard_wording::printable;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Error;

/// The measurements in a document of that schema. `command` prints such documents.
///
/// # Errors
/// In words.
pub(super) fn measured<T: DeserializeOwned>(
    file: &Path,
    schema: &str,
    command: &str,
) -> Result<T, Error> {
    #[derive(Deserialize)]
    struct Document<T> {
        schema: String,
        measured: T,
    }
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("cannot read {name}: {error}"))?;
    let remedy = format!("(the file must be the output of '{command}')");
    let document: Document<T> = serde_json::from_str(&text)
        .map(printable_throughout)
        .and_then(serde_json::from_value)
        .map_err(|error| format!("cannot understand {name}: {error} {remedy}"))?;
    if document.schema != schema {
        let schema = document.schema;
        return Err(format!("{name} is a document of schema '{schema}' {remedy}").into());
    }
    Ok(document.measured)
}

/// The document without characters that control a terminal. Anybody may have written it.
fn printable_throughout(mut value: Value) -> Value {
    fn visit(value: &mut Value) {
        match value {
            Value::String(text) => *text = printable(text),
            Value::Array(values) => values.iter_mut().for_each(visit),
            Value::Object(values) => values.values_mut().for_each(visit),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    visit(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_document_names_steers_no_terminal() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text = r#"{"schema": "s", "measured": {"names": ["\u001b[2Jx"]}}"#;
        fs::write(file.path(), text).expect("it is ours");
        let read: Value = measured(file.path(), "s", "c").expect("it is one");
        assert_eq!(read["names"][0], r"\u{1b}[2Jx");
    }
    /// Advice on something else has some of the same fields, which a reader would misunderstand.
    #[test]
    fn advice_on_something_else_is_refused() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), r#"{"schema": "other", "measured": {}}"#).expect("it is ours");
        let refusal = measured::<Value>(file.path(), "s", "c").expect_err("it is another");
        let said = refusal.to_string();
        assert!(
            said.ends_with(" is a document of schema 'other' (the file must be the output of 'c')"),
            "{said}"
        );
    }
}
