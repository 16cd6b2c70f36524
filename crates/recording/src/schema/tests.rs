//! The committed schemas are those of today's types.

use super::laws;
use crate::written::{WrittenCapture, WrittenFit};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::json;

/// Set by `cargo xtask schema`: files are written rather than compared.
const WRITE: &str = "WRINGER_WRITE_SCHEMA";

#[track_caller]
fn compare<T: JsonSchema>(name: &str, title: &str, form: &str, committed: &str) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    schema["properties"]["schema"] = json!({ "const": form });
    laws::define(&mut schema);
    // Whether serde_json keeps the order of members depends on what else is built along with this.
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os(WRITE).is_some() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema").join(name);
        return std::fs::write(file, text).unwrap();
    }
    assert!(text == committed, "types have changed since {name} was written: run cargo xtask schema");
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let title = "An import of wringer capture";
    compare::<WrittenCapture<'_>>("capture.json", title, WrittenCapture::SCHEMA, super::capture());
    let title = "Laws of wringer fit";
    compare::<WrittenFit<'_>>("fit.json", title, WrittenFit::SCHEMA, super::fit());
}
