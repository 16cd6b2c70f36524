//! The committed schemas are those of today's types.

use super::typescript;
use crate::json::{JsonDocument, SCHEMA, SCHEMA_VERSION};
use crate::page::Model;
use measure::RunEvent;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Set by `cargo xtask schema`: files are written rather than compared.
const WRITE: &str = "WRINGER_WRITE_SCHEMA";

fn of<T: JsonSchema>(title: &str) -> Schema {
    let mut schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema
}

fn sorted(schema: Schema) -> Value {
    let mut schema = schema.to_value();
    // Whether serde_json keeps the order of members depends on what else is built along with this.
    schema.sort_all_objects();
    schema
}

#[track_caller]
fn compare(name: &str, schema: Schema, committed: &str) {
    let text = serde_json::to_string_pretty(&sorted(schema)).unwrap() + "\n";
    compare_text(&format!("src/schema/{name}"), &text, committed);
}

#[track_caller]
fn compare_text(name: &str, text: &str, committed: &str) {
    if std::env::var_os(WRITE).is_some() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        return std::fs::write(file, text).unwrap();
    }
    assert!(text == committed, "types have changed since {name} was written: run cargo xtask schema");
}

#[test]
fn the_committed_schema_of_runs_is_that_of_the_types() {
    let mut schema = of::<JsonDocument<'_>>("A run of wringer");
    let properties = schema.get_mut("properties").and_then(|properties| properties.as_object_mut()).unwrap();
    properties.insert("schema".to_owned(), json!({ "const": SCHEMA }));
    properties.insert("schema_version".to_owned(), json!({ "const": SCHEMA_VERSION }));
    compare("run.json", schema, super::run());
}

#[test]
fn the_committed_schema_of_events_is_that_of_the_types() {
    compare("event.json", of::<RunEvent>("A record of a run of wringer"), super::event());
}

#[test]
fn each_kind_of_record_in_the_schema_is_known_to_who_reads_it() {
    let schema: Value = serde_json::from_str(super::event()).unwrap();
    let forms = schema["oneOf"].as_array().unwrap();
    assert!(forms.len() > 12);
    for form in forms {
        let kind = form["properties"]["kind"]["const"].as_str().unwrap();
        // Some cannot be without their fields, and say which.
        match RunEvent::read(format!(r#"{{"kind":"{kind}"}}"#).as_bytes()) {
            Ok(event) => assert_eq!(serde_json::to_value(event).unwrap()["kind"], kind),
            Err(error) => assert!(error.to_string().starts_with("missing field"), "{kind}: {error}"),
        }
    }
}

/// Says in its first line where it comes from.
const GENERATED: &str = "// Types of a run as the server and reports tell it. Made of crates/report/src/page by `cargo xtask schema`: change them there.\n";

#[test]
fn the_committed_schema_of_the_page_is_that_of_the_types() {
    let text = format!("{GENERATED}{}", typescript::types("Model", &sorted(of::<Model>("Model"))));
    compare_types("../../web/src/packed.ts", &text);
}

#[track_caller]
fn compare_types(name: &str, text: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    compare_text(name, text, &committed);
}

/// Decisions that the page draws, by the schemas that are committed.
#[test]
fn the_committed_schema_of_decisions_is_that_of_the_page() {
    let roots = [("compare", "Comparison"), ("find", "Search"), ("size", "Sizes"), ("stress", "Stress")];
    for (name, root) in roots {
        let schema = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../decide/src/schema");
        let schema =
            std::fs::read_to_string(schema.join(name).with_extension("json")).expect("it is committed");
        let types = typescript::types(root, &serde_json::from_str(&schema).expect("JSON"));
        let from = format!(
            "// Types of what wringer {name} --json writes. Made of crates/decide/src/schema/{name}.json by `cargo xtask schema`: change its types.\n"
        );
        compare_types(&format!("../../web/src/decision/types/{name}.ts"), &format!("{from}{types}"));
    }
}
