//! Whether documents fit the schemas of docs/schema.

use std::path::Path;

/// Fails unless a document fits the file of docs/schema that it names, and has no field that the file does not describe.
#[track_caller]
pub(crate) fn assert_fits_its_schema(document: &serde_json::Value) {
    let errors = schema_errors(document);
    assert!(errors.is_empty(), "{errors:#?}");
}

/// How a document differs from its schema.
pub(crate) fn schema_errors(document: &serde_json::Value) -> Vec<String> {
    let name = document["schema"]
        .as_str()
        .expect("a document names its schema");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let file = directory.join(format!("{name}.json"));
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut schema: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors = validator.iter_errors(document);
    errors
        .map(|error| format!("{name} {}: {error}", error.instance_path()))
        .collect()
}

/// Later versions may add fields, so the schemas allow any. Here a field must be described.
fn close(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.contains_key("required") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
