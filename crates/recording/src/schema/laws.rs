//! Laws of plan files, as the schema of these has them.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Where a schema keeps what it names.
const DEFINITIONS: &str = "$defs";

fn named(name: &str) -> Schema {
    json_schema!({ "$ref": format!("#/{DEFINITIONS}/{name}") })
}

pub fn popularity(_: &mut SchemaGenerator) -> Schema {
    named("Popularity")
}

pub fn size(_: &mut SchemaGenerator) -> Schema {
    named("Size")
}

pub fn stages(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": named("Stage") })
}

pub fn arrivals(_: &mut SchemaGenerator) -> Schema {
    named("Arrivals")
}

pub fn lifetime(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [named("Lifetime"), { "type": "null" }] })
}

pub fn delay(_: &mut SchemaGenerator) -> Schema {
    named("Delay")
}

/// Adds what plan files define of all that the schema names, and of what that names.
pub fn define(schema: &mut Value) {
    let plans: Value = serde_json::from_str(plan::Plan::schema()).expect("the schema of plans is JSON");
    let mut wanted = Vec::new();
    names(schema, &mut wanted);
    let of_plans = plans[DEFINITIONS].as_object().expect("it defines its types");
    let root = schema.as_object_mut().expect("a schema is an object");
    let own = root.entry(DEFINITIONS).or_insert_with(|| Value::Object(Map::new()));
    let own = own.as_object_mut().expect("definitions are an object");
    while let Some(name) = wanted.pop() {
        if !own.contains_key(&name) {
            let defined = of_plans.get(&name).unwrap_or_else(|| panic!("nobody defines {name}"));
            names(defined, &mut wanted);
            own.insert(name, defined.clone());
        }
    }
}

/// All that a schema names.
fn names(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            let named = members.get("$ref").and_then(Value::as_str);
            found.extend(named.and_then(|name| name.rsplit('/').next()).map(str::to_owned));
            members.values().for_each(|member| names(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
