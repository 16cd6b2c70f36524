//! Runs of the same plan: what two plans must have in common so that their runs may be held against each other. Which server they speak to, the
//! seed and the system interface may differ; whatever else does is named.

use super::Summary;
use measure::RunEvent;
use plan::Plan;
use record::{Item, Reader};
use serde_json::Value;

/// Fields that may differ.
const FREE: [&str; 2] = ["seed", "io"];
/// Fields that hold an address.
const ADDRESSES: [&str; 3] = ["target", "listen", "authority"];
/// Letters of a value that a difference shows.
const SHOWN: usize = 60;

/// A plan without what may differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Neutral(Value);

impl Neutral {
    /// Of a plan as a run's head has it; `None`: it cannot be read.
    pub fn of(text: &str) -> Option<Neutral> {
        let plan = Plan::from_text(text).ok()?;
        let mut value = serde_json::to_value(plan).ok()?;
        let fields = value.as_object_mut()?;
        FREE.iter().for_each(|field| drop(fields.remove(*field)));
        without_addresses(&mut value);
        Some(Neutral(value))
    }

    /// Of the plan of a kept run; `None`: it cannot be read.
    pub fn of_run(run: &Summary) -> Option<Neutral> {
        let bytes = super::bytes(&run.file).ok()?;
        let mut records = Reader::new(&bytes).ok()?;
        records.find_map(|item| match item {
            Item::Event(RunEvent::Head(head)) => Some(Neutral::of(&head.plan)),
            Item::Event(_) | Item::Gap(_) => None,
        })?
    }

    /// The first difference to another one, with its place; `None`: there is none.
    pub fn unlike(&self, other: &Neutral) -> Option<String> {
        differing("", &self.0, &other.0)
    }
}

fn without_addresses(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if ADDRESSES.contains(&name.as_str()) => "*".clone_into(text),
                    _ => without_addresses(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_addresses),
        Value::String(text) => {
            if let Some((scheme, rest)) = text.split_once("://") {
                let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
                *text = format!("{scheme}://*{path}");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn differing(place: &str, one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) => {
            let mut names: Vec<&String> = fields.keys().chain(others.keys()).collect();
            names.sort();
            names.dedup();
            let value = |of: &serde_json::Map<String, Value>, name: &String| {
                of.get(name).cloned().unwrap_or(Value::Null)
            };
            names.into_iter().find_map(|name| {
                let below = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                differing(&below, &value(fields, name), &value(others, name))
            })
        }
        (Value::Array(values), Value::Array(others)) if values.len() == others.len() => {
            let mut pairs = values.iter().zip(others).enumerate();
            pairs.find_map(|(nth, (one, other))| differing(&format!("{place}[{nth}]"), one, other))
        }
        _ if one == other => None,
        _ => Some(format!("{place}: {} and {}", short(one), short(other))),
    }
}

fn short(value: &Value) -> String {
    let text = if value.is_null() { "nothing".to_owned() } else { value.to_string() };
    if text.chars().count() <= SHOWN { text } else { text.chars().take(SHOWN).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seed: u64, port: u16, users: u32) -> Neutral {
        let text = format!(
            "version = 1\nseed = {seed}\n[load]\n[[load.phases]]\nname = \"measure\"\npace = {{ users = {users} }}\nstop = {{ after = \"5s\" }}\n\
             [[load.phases.scenario.steps]]\nrequests = {{ requests = [{{ name = \"home\", url = \"http://127.0.0.1:{port}/a\" }}] }}\n"
        );
        Neutral::of(&text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn seeds_and_addresses_may_differ_and_what_else_does_is_named() {
        assert_eq!(plan(1, 80, 5).unlike(&plan(2, 81, 5)), None);
        let said = plan(1, 80, 5).unlike(&plan(1, 80, 6)).expect("they differ");
        assert!(said.starts_with("load.phases[0].pace") && said.ends_with("5 and 6"), "{said}");
        assert_eq!(Neutral::of("no plan"), None);
    }
}
