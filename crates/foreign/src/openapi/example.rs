//! Values of parameters and bodies: the examples that stand there, or what fits a schema. Guesses are told.

use crate::taken::Taken;
use crate::value::{array, text_of};
use serde_json::{Map, Value, json};

/// How deep schemas are followed, which may contain themselves.
const DEEPEST: usize = 8;

/// The value that a reference leads to.
pub(super) fn followed<'a>(api: &'a Value, mut value: &'a Value) -> &'a Value {
    for _ in 0..DEEPEST {
        let to = value.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        match to.and_then(|to| api.pointer(to)) {
            Some(found) => value = found,
            None => break,
        }
    }
    value
}

/// Where values come from.
pub(super) struct Examples<'a> {
    pub(super) api: &'a Value,
    pub(super) taken: &'a mut Taken,
}

impl Examples<'_> {
    /// The example of a parameter or a body: its own, or one made of its schema. `whose`: as it is told of.
    pub(super) fn of(&mut self, described: &Value, whose: &str) -> Value {
        if let Some(own) = described.get("example").or_else(|| described.get("x-example")) {
            return own.clone();
        }
        let first = described.get("examples").and_then(Value::as_object).and_then(|all| all.values().next());
        if let Some(value) = first.and_then(|first| followed(self.api, first).get("value")) {
            return value.clone();
        }
        // Swagger 2 has the schema of a parameter beside its name; a parameter may have a body's form.
        let media = described.get("content").and_then(Value::as_object).and_then(|all| all.values().next());
        let schema = described.get("schema").or_else(|| media?.get("schema")).unwrap_or(described);
        self.of_schema(schema, whose, 0)
    }

    /// A value that fits a schema.
    fn of_schema(&mut self, schema: &Value, whose: &str, depth: usize) -> Value {
        let schema = followed(self.api, schema);
        if depth > DEEPEST {
            return Value::Null;
        }
        let given = ["example", "default", "const"].iter().find_map(|name| schema.get(*name));
        let listed = ["/examples/0", "/enum/0"].iter().find_map(|place| schema.pointer(place));
        if let Some(value) = given.or(listed) {
            return value.clone();
        }
        if schema.get("allOf").is_some() {
            return self.of_all(schema, whose, depth);
        }
        if let Some(one) = schema.pointer("/oneOf/0").or_else(|| schema.pointer("/anyOf/0")) {
            return self.of_schema(one, whose, depth + 1);
        }
        let kind = match schema.get("type") {
            // Since 3.1 a type may be a list, with null in it.
            Some(Value::Array(all)) => all.iter().find(|kind| *kind != "null").map(text_of),
            Some(kind) => Some(text_of(kind)),
            None if schema.get("properties").is_some() => Some("object".to_owned()),
            None => None,
        };
        match kind.as_deref() {
            Some("object") => self.of_object(schema, whose, depth),
            Some("array") => {
                json!([self.of_schema(schema.get("items").unwrap_or(&Value::Null), whose, depth + 1)])
            }
            Some("integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
            Some("number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1.5)),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            Some(_) | None => Value::String(self.text(schema, whose)),
        }
    }

    /// The members of all its parts in one object, or the first part's value where they are none.
    fn of_all(&mut self, schema: &Value, whose: &str, depth: usize) -> Value {
        let mut merged = Map::new();
        let mut other = None;
        let own = schema.get("properties").is_some().then(|| self.of_object(schema, whose, depth));
        let parts: Vec<Value> =
            array(schema, "allOf").map(|part| self.of_schema(part, whose, depth + 1)).collect();
        for part in parts.into_iter().chain(own) {
            match part {
                Value::Object(members) => merged.extend(members),
                value => other = other.or(Some(value)),
            }
        }
        if merged.is_empty() { other.unwrap_or(Value::Object(merged)) } else { Value::Object(merged) }
    }

    fn of_object(&mut self, schema: &Value, whose: &str, depth: usize) -> Value {
        let mut members = Map::new();
        for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let is_theirs = followed(self.api, member).get("readOnly").and_then(Value::as_bool) == Some(true);
            if !is_theirs {
                let value = self.of_schema(member, &format!("{whose}.{name}"), depth + 1);
                members.insert(name.clone(), value);
            }
        }
        Value::Object(members)
    }

    fn text(&mut self, schema: &Value, whose: &str) -> String {
        if let Some(pattern) = schema.get("pattern") {
            self.taken.leave_out(format!("{whose} is to match {}: 'text' is sent", text_of(pattern)));
        }
        let text = match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => "2026-01-01T00:00:00Z",
            Some("date") => "2026-01-01",
            Some("uuid") => "00000000-0000-4000-8000-000000000000",
            Some("email") => "user@example.com",
            Some("uri") => "https://example.com/",
            Some("ipv4") => "192.0.2.1",
            Some("ipv6") => "2001:db8::1",
            _ => "text",
        };
        let shortest = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(10_000) as usize;
        let longest =
            schema.get("maxLength").and_then(Value::as_u64).map_or(usize::MAX, |most| most as usize);
        text.chars().chain(std::iter::repeat('x')).take(shortest.max(text.len()).min(longest)).collect()
    }
}
