//! A host that has everything in memory: for tests, and for trying a script without a run.

use crate::model::host::{Field, Host, Level, Presence, Refused, Stop};
use crate::model::tree::Binding;
use crate::model::value::{Argument, CookieValue, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The outside world as plain values. Time stands still at `now`, chance is a fixed sequence, and files are a map.
#[derive(Debug, Default)]
pub struct MemoryHost {
    /// The user's variables.
    pub variables: BTreeMap<Rc<str>, Value>,
    /// The properties.
    pub properties: BTreeMap<Rc<str>, Value>,
    /// Messages that were logged.
    pub log: Vec<(Level, String)>,
    /// Text that was printed.
    pub printed: String,
    /// Known values of the sample, the request and the place in the run.
    pub fields: Vec<(Field, Value)>,
    /// The request's header fields.
    pub headers: Vec<(Rc<str>, Rc<str>)>,
    /// The user's cookies.
    pub cookies: Vec<CookieValue>,
    /// The request's arguments.
    pub arguments: Vec<Argument>,
    /// Targets that a script asked to stop.
    pub stops: Vec<Stop>,
    /// Milliseconds that scripts slept.
    pub paused: u64,
    /// Milliseconds of Unix time.
    pub now: i64,
    /// The state of chance.
    pub chance: u64,
    /// Files by their path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Names that this element's scripts do not have.
    pub absent: Vec<Binding>,
}

impl MemoryHost {
    /// The value of a field; null where it was never set.
    pub fn field(&self, field: Field) -> Value {
        self.fields
            .iter()
            .rev()
            .find(|(known, _)| *known == field)
            .map_or(Value::Null, |(_, value)| value.clone())
    }

    /// Gives a field a value.
    pub fn set_field(&mut self, field: Field, value: Value) {
        self.fields.retain(|(known, _)| *known != field);
        self.fields.push((field, value));
    }
}

impl Host for MemoryHost {
    fn presence(&self, binding: Binding) -> Presence {
        if self.absent.contains(&binding) { Presence::Absent } else { Presence::Here }
    }

    fn variable(&mut self, name: &str) -> Option<Value> {
        self.variables.get(name).cloned()
    }

    fn set_variable(&mut self, name: &str, value: Value) {
        self.variables.insert(Rc::from(name), value);
    }

    fn remove_variable(&mut self, name: &str) -> Option<Value> {
        self.variables.remove(name)
    }

    fn variables(&self) -> Vec<Rc<str>> {
        self.variables.keys().cloned().collect()
    }

    fn property(&mut self, name: &str) -> Option<Value> {
        self.properties.get(name).cloned()
    }

    fn set_property(&mut self, name: &str, value: Value) {
        self.properties.insert(Rc::from(name), value);
    }

    fn remove_property(&mut self, name: &str) -> Option<Value> {
        self.properties.remove(name)
    }

    fn properties(&self) -> Vec<Rc<str>> {
        self.properties.keys().cloned().collect()
    }

    fn log(&mut self, level: Level, line: &str) {
        self.log.push((level, line.to_owned()));
    }

    fn print(&mut self, text: &str) {
        self.printed.push_str(text);
    }

    fn get(&mut self, field: Field) -> Value {
        match field {
            Field::Bytes(of) => match self.field(Field::Body(of)) {
                Value::Text(text) => Value::bytes(text.as_bytes()),
                other => other,
            },
            // One sample in all: that of the script is the one before it.
            field => self.field(field),
        }
    }

    fn set(&mut self, field: Field, value: Value) -> Result<(), Refused> {
        self.set_field(field, value);
        Ok(())
    }

    fn add_header(&mut self, name: &str, value: &str) -> Result<(), Refused> {
        self.headers.push((Rc::from(name), Rc::from(value)));
        Ok(())
    }

    fn remove_header(&mut self, name: &str) -> Result<(), Refused> {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        Ok(())
    }

    fn cookies(&mut self) -> Vec<CookieValue> {
        self.cookies.clone()
    }

    fn set_cookies(&mut self, cookies: Vec<CookieValue>) -> Result<(), Refused> {
        self.cookies = cookies;
        Ok(())
    }

    fn arguments(&mut self) -> Vec<Argument> {
        self.arguments.clone()
    }

    fn add_argument(&mut self, argument: Argument) -> Result<(), Refused> {
        self.arguments.push(argument);
        Ok(())
    }

    fn clear_arguments(&mut self) -> Result<(), Refused> {
        self.arguments.clear();
        Ok(())
    }

    fn stop(&mut self, what: Stop) {
        self.stops.push(what);
    }

    fn pause(&mut self, millis: u64) {
        self.paused += millis;
    }

    fn now(&mut self) -> i64 {
        self.now
    }

    fn nanos(&mut self) -> i64 {
        self.now.saturating_mul(1_000_000)
    }

    fn random(&mut self) -> u64 {
        // SplitMix64.
        self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.chance;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }

    fn read_file(&mut self, path: &str) -> Result<Rc<[u8]>, Refused> {
        match self.files.get(path) {
            Some(bytes) => Ok(Rc::from(bytes.as_slice())),
            None => Err(Rc::from(format!("{path} (No such file or directory)"))),
        }
    }

    fn write_file(&mut self, path: &str, bytes: &[u8], appends: bool) -> Result<(), Refused> {
        let file = self.files.entry(path.to_owned()).or_default();
        if !appends {
            file.clear();
        }
        file.extend_from_slice(bytes);
        Ok(())
    }

    fn has_file(&mut self, path: &str) -> bool {
        self.files.contains_key(path)
    }
}
