//! Variables: those that have one value for the whole run are put into texts before it; the others get names that placeholders
//! can hold.

use crate::element::{Element, Properties, Value};
use crate::expression::Text;
use crate::function;
use std::collections::{BTreeMap, BTreeSet};

/// Suffix of the name of a variable with the number of matches.
pub(super) const MATCHES: &str = "_matchNr";

/// Known facts about the variables of a plan.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// Values from the start on.
    pub(super) start: BTreeMap<String, String>,
    /// Names that something sets while users run.
    set: BTreeSet<String>,
    /// Names whose number of matches some text holds.
    counted: BTreeSet<String>,
    /// A script sets names that it computes, so any may change.
    any: bool,
    /// Names of placeholders, by those of variables.
    names: BTreeMap<String, String>,
}

/// A variable as a text uses it.
pub(super) enum Variable {
    /// The same value for the whole run.
    Constant(String),
    /// A value of each user, under the name that placeholders have.
    Kept(String),
    /// Nothing ever sets it.
    Unset,
}

impl Variables {
    /// Finds what is set while users run, below an element.
    pub(super) fn of(plan: &Element) -> Variables {
        let mut variables = Variables::default();
        variables.look(plan);
        variables
    }

    fn look(&mut self, element: &Element) {
        let text = |name: &str| element.properties.text(name);
        match element.class.as_str() {
            "CSVDataSet" => self.set_all(text("variableNames").split(',')),
            "CounterConfig" => self.set_all([text("CounterConfig.name")]),
            "RandomVariableConfig" => self.set_all([text("variableName")]),
            "UserParameters" => {
                let names = element.properties.list("UserParameters.names").iter();
                self.set_all(names.map(Value::as_text));
            }
            "RegexExtractor" => self.set_all([text("RegexExtractor.refname")]),
            "BoundaryExtractor" => self.set_all([text("BoundaryExtractor.refname")]),
            "XPathExtractor" => self.set_all([text("XPathExtractor.refname")]),
            "XPath2Extractor" => self.set_all([text("XPathExtractor2.refname")]),
            "HtmlExtractor" => self.set_all([text("HtmlExtractor.refname")]),
            "JMESPathExtractor" => self.set_all([text("JMESExtractor.referenceName")]),
            "JSONPostProcessor" => self.set_all(text("JSONPostProcessor.referenceNames").split(';')),
            "ForeachController" => self.set_all([text("ForeachController.returnVal")]),
            _ => {}
        }
        each_text(&element.properties, &mut |text| self.look_into(text));
        element.children.iter().for_each(|child| self.look(child));
    }

    fn set_all<'t>(&mut self, names: impl IntoIterator<Item = &'t str>) {
        let names = names.into_iter().map(str::trim).filter(|name| !name.is_empty());
        self.set.extend(names.map(str::to_owned));
    }

    /// Scripts and functions name what they set.
    fn look_into(&mut self, text: &str) {
        for put in text.split("vars.put").skip(1).chain(text.split("vars.remove").skip(1)) {
            let argument = put.trim_start_matches("Object").trim_start().trim_start_matches('(').trim_start();
            let quote = argument.chars().next().filter(|one| matches!(one, '"' | '\''));
            match quote.and_then(|quote| argument[1..].split(quote).next()) {
                Some(name) if !name.contains('$') => self.set_all([name]),
                _ => self.any = true,
            }
        }
        for (at, _) in text.match_indices(MATCHES) {
            let name = text[..at].rsplit(['{', '"', '\'', '(', ' ']).next().expect("a split has a part");
            self.counted.insert(name.to_owned());
        }
        let Ok(parsed) = Text::parse(text, &function::is_known) else { return };
        parsed.calls(&mut |call| {
            for argument in call.arguments.iter().skip(function::before_names(&call.name)) {
                let named = argument.as_fixed().map(str::trim).filter(|name| is_word(name));
                self.set.extend(named.filter(|_| function::keeps(&call.name)).map(str::to_owned));
            }
        });
    }

    /// A name that turns out to be set while users run.
    pub(super) fn learn(&mut self, name: &str) {
        self.set_all([name]);
    }

    /// True if something sets it while users run.
    pub(super) fn is_set(&self, name: &str) -> bool {
        let listed = |known: &String| {
            let rest = name.strip_prefix(known.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("_"))
        };
        self.any || self.set.iter().any(listed) || name.starts_with("__jm__")
    }

    /// True if the number of its matches is used.
    pub(super) fn is_counted(&self, name: &str) -> bool {
        self.any || self.counted.contains(name)
    }

    /// Returns the variable that a name in a text stands for.
    pub(super) fn get(&mut self, name: &str) -> Variable {
        match self.start.get(name) {
            Some(value) if !self.is_set(name) => Variable::Constant(value.clone()),
            None if !self.is_set(name) => Variable::Unset,
            _ => Variable::Kept(self.name(name)),
        }
    }

    /// The name of its placeholder: its own, where placeholders may have it.
    pub(super) fn name(&mut self, variable: &str) -> String {
        if let Some(known) = self.names.get(variable) {
            return known.clone();
        }
        let plain = crate::placeholder_name(variable);
        let taken = |name: &String| self.names.values().any(|known| known == name);
        let numbered = (2..).map(|nth| format!("{plain}_{nth}"));
        let name =
            std::iter::once(plain.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(plain.clone());
        self.names.insert(variable.to_owned(), name.clone());
        name
    }

    /// Variables that have values from the start on are kept by users, whatever texts hold: programs may ask for them.
    pub(super) fn keep_all(&mut self) {
        let names: Vec<String> = self.start.keys().cloned().collect();
        names.iter().for_each(|name| drop(self.name(name)));
    }

    /// Names that texts hold, and the values that users begin with: a variable without one stands for its own text.
    pub(super) fn used(&self) -> impl Iterator<Item = (&str, String)> {
        self.names.iter().map(|(variable, name)| {
            let start = self.start.get(variable).cloned();
            (name.as_str(), start.unwrap_or_else(|| format!("${{{variable}}}")))
        })
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_alphanumeric() || "_-.".contains(one))
}

/// Hands over each text of properties, those of elements within them too.
pub(super) fn each_text<'a>(properties: &'a Properties, to: &mut dyn FnMut(&'a str)) {
    properties.all().for_each(|(_, value)| text_of(value, to));
}

fn text_of<'a>(value: &'a Value, to: &mut dyn FnMut(&'a str)) {
    match value {
        Value::Text(text) => to(text),
        Value::Object(object) => each_text(&object.properties, to),
        Value::List(list) => list.iter().for_each(|value| text_of(value, to)),
    }
}
