//! Variables of configuration and URL files: `$(NAME)`, `${NAME}` and `$NAME`, first those of the files, then the
//! environment's; unknown ones are empty.

use std::collections::BTreeMap;

/// Variables by name, and where others are looked up.
pub(super) struct Variables<'a> {
    known: BTreeMap<String, String>,
    env: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Variables<'a> {
    pub fn new(env: &'a dyn Fn(&str) -> Option<String>) -> Variables<'a> {
        Variables { known: BTreeMap::new(), env }
    }

    pub fn set(&mut self, name: &str, value: String) {
        self.known.insert(name.to_owned(), value);
    }

    /// The value of a name; empty where nobody knows it.
    fn value(&self, name: &str) -> String {
        self.known.get(name).cloned().or_else(|| (self.env)(name)).unwrap_or_default()
    }

    /// A text with its variables replaced; `\$` is a dollar.
    pub fn expand(&self, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '\\']) {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("\\$") {
                expanded.push('$');
                rest = after;
            } else if let Some((name, after)) = named(rest) {
                expanded.push_str(&self.value(name));
                rest = after;
            } else {
                expanded.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
        expanded + rest
    }
}

/// The name after a dollar, and what comes behind it.
fn named(text: &str) -> Option<(&str, &str)> {
    let after = text.strip_prefix('$')?;
    for (open, close) in [('(', ')'), ('{', '}')] {
        if let Some(inner) = after.strip_prefix(open) {
            return inner.split_once(close);
        }
    }
    let end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
    (end > 0).then(|| after.split_at(end))
}

/// True if a character may stand in a name.
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced() {
        let env = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
        let mut variables = Variables::new(&env);
        variables.set("HOST", "h:8".to_owned());
        for (text, expanded) in [
            ("http://$(HOST)/a", "http://h:8/a"),
            ("http://${HOST}/$(NONE)b", "http://h:8/b"),
            ("http://$HOST/x", "http://h:8/x"),
            ("$(HOME)/siege.log", "/home/me/siege.log"),
            ("http://h/?price=\\$5&a=b\\c", "http://h/?price=$5&a=b\\c"),
            ("a$", "a$"),
            ("$(open", "$(open"),
            ("ä$(HOST)ö", "äh:8ö"),
        ] {
            assert_eq!(variables.expand(text), expanded);
        }
    }
}
