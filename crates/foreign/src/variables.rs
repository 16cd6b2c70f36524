//! `{{NAME}}` in texts: values that were given, those of an environment, and those of the file itself.

use crate::taken::Taken;
use std::collections::{BTreeSet, HashMap};

/// How deep values are followed, which may hold others.
const DEEPEST: usize = 8;

/// Values, the strongest first.
pub(crate) struct KnownValues<'a> {
    set: &'a [(String, String)],
    environment: &'a [(String, String)],
    own: HashMap<String, String>,
    used: BTreeSet<String>,
}

impl<'a> KnownValues<'a> {
    pub(crate) fn new(set: &'a [(String, String)], environment: &'a [(String, String)]) -> KnownValues<'a> {
        KnownValues { set, environment, own: HashMap::new(), used: BTreeSet::new() }
    }

    /// Adds one of the file itself.
    pub(crate) fn own(&mut self, name: &str, value: String) {
        self.own.insert(name.to_owned(), value);
        self.used.insert(name.to_owned());
    }

    /// The value of a variable.
    pub(crate) fn value(&mut self, name: &str) -> Option<String> {
        self.used.insert(name.to_owned());
        let given = [self.set, self.environment].into_iter().flatten().find(|(known, _)| known == name);
        given.map(|(_, value)| value).or_else(|| self.own.get(name)).cloned()
    }

    /// A value that was given and that nothing asked for.
    pub(crate) fn unused(&self) -> Option<&str> {
        self.set.iter().map(|(name, _)| name.as_str()).find(|name| !self.used.contains(*name))
    }

    /// Text with the values of its variables; one without a value stays as it stands, and is told.
    pub(crate) fn filled(&mut self, text: &str, taken: &mut Taken) -> String {
        self.filled_at(text, taken, 0)
    }

    fn filled_at(&mut self, text: &str, taken: &mut Taken, depth: usize) -> String {
        let mut whole = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((name, after)) = behind.split_once("}}") else { break };
            whole += before;
            let name = name.trim();
            match self.value(name).filter(|_| depth < DEEPEST) {
                Some(value) => whole += &self.filled_at(&value, taken, depth + 1),
                None => {
                    // Whoever sends a file as a list has no such option.
                    taken.leave_out(format!(
                        "{{{{{name}}}}} has no value and is sent as it stands: wringer run and wringer plan new give it one by --set {name}=VALUE"
                    ));
                    whole += &format!("{{{{{name}}}}}");
                }
            }
            rest = after;
        }
        whole + rest
    }
}
