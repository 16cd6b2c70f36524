//! The committed schemas are those of today's types.

use crate::arena::Arena;
use crate::compare::{Decision, RunsDecision};
use crate::find::Search;
use crate::probe::ProbeReport;
use crate::size::Sizes;
use crate::stress::Report;
use crate::{Findings, Written};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::json;

/// Set by `cargo xtask schema`: files are written rather than compared.
const WRITE: &str = "WRINGER_WRITE_SCHEMA";

/// Both forms of a comparison.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "its schema alone is wanted")]
enum Comparison<'a> {
    Legs(Decision<'a>),
    Runs(RunsDecision<'a>),
}

fn of<T: JsonSchema>(title: &str) -> Schema {
    let mut schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema
}

/// That of findings, which all have one form around them.
fn of_findings<F: Findings + JsonSchema>(title: &str) -> Schema {
    let mut schema = of::<Written<F>>(title);
    let properties = schema.get_mut("properties").and_then(|properties| properties.as_object_mut());
    let properties = properties.expect("findings are an object");
    properties.insert("schema".to_owned(), json!({ "const": F::SCHEMA }));
    schema
}

#[track_caller]
fn compare(name: &str, schema: Schema, committed: &str) {
    let mut value = schema.to_value();
    // Whether serde_json keeps the order of members depends on what else is built along with this.
    value.sort_all_objects();
    let text = serde_json::to_string_pretty(&value).unwrap() + "\n";
    if std::env::var_os(WRITE).is_some() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema").join(name);
        return std::fs::write(file, text).unwrap();
    }
    assert!(text == committed, "types have changed since {name} was written: run cargo xtask schema");
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    compare("compare.json", of::<Comparison<'_>>("A comparison of wringer"), super::compare());
    compare("find.json", of::<Search<'_>>("A search of wringer"), super::find());
    compare("size.json", of_findings::<Sizes>("Working sets of wringer size"), super::size());
    compare("stress.json", of_findings::<Report>("Scenarios of wringer stress"), super::stress());
    compare("probe.json", of_findings::<ProbeReport>("A probe of wringer"), super::probe());
    compare("arena.json", of_findings::<Arena>("An arena of wringer"), super::arena());
}
