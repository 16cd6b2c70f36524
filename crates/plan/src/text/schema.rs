//! The JSON Schema of plan files, made of the types that read them. It is made in tests alone and committed, so that nobody who
//! builds the tool compiles what makes it: `cargo xtask schema` writes the file, and a test compares it.

use crate::Plan;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Set by `cargo xtask schema`: the file is written rather than compared.
const WRITE: &str = "WRINGER_WRITE_SCHEMA";

/// Where a number, or true or false, is wanted, a variable may stand.
const VARIABLE: &str = r"^\$\{[^}]+\}$";

#[test]
fn the_committed_schema_is_that_of_the_types() {
    let mut schema = of_plans().to_value();
    // Whether serde_json keeps the order of members depends on what else is built along with this.
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os(WRITE).is_some() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/text/schema.json");
        return std::fs::write(&file, text).unwrap();
    }
    let is_same = text == Plan::schema();
    assert!(is_same, "types of plans have changed since schema.json was written: run cargo xtask schema");
}

/// The schema, in draft 2020-12.
fn of_plans() -> Schema {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Plan>();
    schema.insert("title".to_owned(), "A plan file of wringer".into());
    if let Some(root) = schema.as_object_mut() {
        variables_and_includes(root);
        let definitions = root.get_mut("$defs").and_then(Value::as_object_mut);
        definitions.into_iter().flatten().for_each(|(_, one)| refine(one));
        root.insert("type".to_owned(), "object".into());
        let properties = root.get_mut("properties").and_then(Value::as_object_mut);
        properties.into_iter().flatten().for_each(|(_, one)| refine(one));
    }
    schema
}

/// Adds the fields that the file has beside the plan; what it includes may say what must be there.
fn variables_and_includes(root: &mut Map<String, Value>) {
    let required = root.remove("required").unwrap_or_else(|| json!([]));
    root.insert("anyOf".to_owned(), json!([{ "required": ["include"] }, { "required": required }]));
    let Some(properties) = root.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let variables = json!({
        "type": "object",
        "description": "Values that stand in texts as ${NAME}; --set NAME=VALUE gives others.",
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    });
    properties.insert("variables".to_owned(), variables);
    properties.insert("include".to_owned(), include());
}

fn include() -> Value {
    json!({
        "description": "A file, or several, whose fields hold where this table does not say them.",
        "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
    })
}

/// Lets tables include files, and variables stand for numbers.
fn refine(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        schema.as_array_mut().into_iter().flatten().for_each(refine);
        return;
    };
    let is_choice = object.get("required").and_then(Value::as_array).is_some_and(|names| names.len() == 1)
        && object.get("properties").and_then(Value::as_object).is_some_and(|all| all.len() == 1);
    for key in ["properties", "$defs"] {
        let inner = object.get_mut(key).and_then(Value::as_object_mut);
        inner.into_iter().flatten().for_each(|(_, one)| refine(one));
    }
    for key in ["items", "anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(inner) = object.get_mut(key) {
            refine(inner);
        }
    }
    if object.contains_key("properties")
        && object.get("additionalProperties") == Some(&json!(false))
        && !is_choice
    {
        includable(object);
    }
    if is_number(object) {
        let own = Value::Object(std::mem::take(object));
        *schema = json!({ "anyOf": [own, { "type": "string", "pattern": VARIABLE }] });
    }
}

fn includable(object: &mut Map<String, Value>) {
    if let Some(required) = object.remove("required") {
        object.insert("anyOf".to_owned(), json!([{ "required": required }, { "required": ["include"] }]));
    }
    let properties = object.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().for_each(|all| drop(all.insert("include".to_owned(), include())));
}

/// True if a number, or true or false, is wanted.
fn is_number(object: &Map<String, Value>) -> bool {
    let is = |one: &Value| ["integer", "number", "boolean"].iter().any(|kind| one == kind);
    match object.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
        None => false,
    }
}
