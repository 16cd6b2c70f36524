//! TypeScript types of a JSON Schema, for the page: as many forms of a schema as our own types have, others are refused.

use serde_json::{Map, Value};

/// Types of everything that a schema defines, and of its root under this name.
pub fn types(root: &str, schema: &Value) -> String {
    let mut out = String::new();
    for (name, defined) in [(root, schema)].into_iter().chain(definitions(schema)) {
        out.push('\n');
        comment(&mut out, "", defined);
        match defined.get("properties") {
            Some(properties) => interface(&mut out, name, properties, defined),
            None => out.push_str(&format!("export type {name} = {};\n", form(defined))),
        }
    }
    out
}

fn definitions(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    all.map(|(name, defined)| (name.as_str(), defined))
}

fn interface(out: &mut String, name: &str, properties: &Value, schema: &Value) {
    let required = strings(schema.get("required"));
    out.push_str(&format!("export interface {name} {{\n"));
    for (member, defined) in properties.as_object().expect("properties are an object") {
        comment(out, "  ", defined);
        let form = form(defined);
        // A member that may be left out is left out rather than null.
        let line = match required.contains(&member.as_str()) {
            true => format!("  {member}: {form};\n"),
            false => format!("  {member}?: {};\n", form.trim_end_matches(" | null")),
        };
        out.push_str(&line);
    }
    out.push_str("}\n");
}

fn comment(out: &mut String, indent: &str, schema: &Value) {
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        out.push_str(&format!("{indent}/** {} */\n", text.replace('\n', " ")));
    }
}

/// How a value of this schema is written in TypeScript.
fn form(schema: &Value) -> String {
    let Some(schema) = schema.as_object() else { return "unknown".to_owned() };
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().expect("a reference has a last part").to_owned();
    }
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    for alternatives in ["enum", "oneOf", "anyOf"] {
        if let Some(all) = schema.get(alternatives).and_then(Value::as_array) {
            let literal = alternatives == "enum";
            let forms = all.iter().map(|one| if literal { one.to_string() } else { form(one) });
            return forms.collect::<Vec<_>>().join(" | ");
        }
    }
    let named = schema.get("type").expect("a schema says its type, its alternatives or a reference");
    let types = named.as_str().map_or_else(|| strings(Some(named)), |one| vec![one]);
    types.into_iter().map(|name| typed(name, schema)).collect::<Vec<_>>().join(" | ")
}

fn typed(name: &str, schema: &Map<String, Value>) -> String {
    match name {
        "integer" | "number" => "number".to_owned(),
        "string" | "boolean" | "null" => name.to_owned(),
        "array" => match schema.get("prefixItems").and_then(Value::as_array) {
            Some(items) => format!("[{}]", items.iter().map(form).collect::<Vec<_>>().join(", ")),
            None => {
                let items = form(schema.get("items").expect("an array says its items"));
                if items.contains(" | ") { format!("({items})[]") } else { format!("{items}[]") }
            }
        },
        "object" if schema.contains_key("properties") => in_place(schema),
        "object" => {
            let of = schema.get("additionalProperties").expect("an object in place is a map");
            // A type of ours may have the name that a map has in TypeScript.
            format!("{{ [name: string]: {} }}", form(of))
        }
        other => panic!("no TypeScript is known for the type {other}"),
    }
}

/// An object without a name: a variant that has fields.
fn in_place(schema: &Map<String, Value>) -> String {
    let required = strings(schema.get("required"));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let member = |(name, defined): (&String, &Value)| {
        let may_lack = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{name}{may_lack}: {}", form(defined))
    };
    format!("{{ {} }}", properties.map(member).collect::<Vec<_>>().join("; "))
}

fn strings(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn each_form_of_a_schema_has_its_type() {
    let schema = serde_json::json!({
        "type": "object",
        "description": "A thing.",
        "required": ["a", "c", "e", "f"],
        "properties": {
            "a": { "type": ["integer", "null"], "description": "Two\nlines." },
            "b": { "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }] },
            "c": { "type": "array", "items": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }] } },
            "d": { "type": "object", "additionalProperties": { "type": "boolean" } },
            "e": { "type": "array", "items": { "type": ["number", "null"] } },
            "f": { "type": "object", "required": ["g"], "properties": { "g": { "$ref": "#/$defs/B" }, "h": { "type": "string" } } },
        },
        "$defs": { "B": { "oneOf": [{ "const": "x" }, { "type": "string", "enum": ["y", "z"] }] } },
    });
    let expected = "
/** A thing. */
export interface T {
  /** Two lines. */
  a: number | null;
  b?: B;
  c: [string, number][];
  d?: { [name: string]: boolean };
  e: (number | null)[];
  f: { g: B; h?: string };
}

export type B = \"x\" | \"y\" | \"z\";
";
    assert_eq!(types("T", &schema), expected);
}
