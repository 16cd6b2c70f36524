//! The committed schemas are those of today's types.

use crate::json::{Document, SCHEMA, SCHEMA_VERSION};
use measure::RunEvent;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::json;

/// Set by `cargo xtask schema`: files are written rather than compared.
const WRITE: &str = "WRINGER_WRITE_SCHEMA";

fn of<T: JsonSchema>(title: &str) -> Schema {
    let mut schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema
}

#[track_caller]
fn compare(name: &str, schema: Schema, committed: &str) {
    let mut schema = schema.to_value();
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
fn the_committed_schema_of_runs_is_that_of_the_types() {
    let mut schema = of::<Document<'_>>("A run of wringer");
    let properties = schema.get_mut("properties").and_then(|properties| properties.as_object_mut()).unwrap();
    properties.insert("schema".to_owned(), json!({ "const": SCHEMA }));
    properties.insert("schema_version".to_owned(), json!({ "const": SCHEMA_VERSION }));
    compare("run.json", schema, super::run());
}

#[test]
fn the_committed_schema_of_events_is_that_of_the_types() {
    compare("event.json", of::<RunEvent>("A record of a run of wringer"), super::event());
}
