//! Environment of a plan when it is read: properties, included files, the moment.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Looks at program text of a language: what of it does not run, each with its line in the text.
pub type Unsupported = dyn Fn(&str, &str) -> Vec<(u32, String)>;

/// Runs program text of a language once, with variables as they are at the start: its value as text.
pub type Evaluate<'a> = dyn Fn(&str, &str, &mut BTreeMap<String, String>) -> Result<String, String> + 'a;

/// Environment of a plan when it is read.
pub struct Settings<'a> {
    /// Properties by name: those of `-J`, `-G`, `-D`, `-q`, `-S` and `-p`.
    pub properties: BTreeMap<String, String>,
    /// The plan's file name, without its folder.
    pub plan_name: String,
    /// Gives the content of a file that the plan names, by the path that stands there: of an Include Controller, of a data set
    /// whose first line gives names, of an upload.
    pub included: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    /// Gives the path by which whoever runs the plan finds a file that it names.
    pub located: &'a dyn Fn(&str) -> String,
    /// Looks up a name of a host: its addresses, none where it has none.
    pub looked_up: &'a dyn Fn(&str) -> Vec<IpAddr>,
    /// Looks at program text of a language before the run: what of it does not run, each with its line in the text.
    pub unsupported: &'a Unsupported,
    /// Runs program text that stands where a value is computed once, at the start.
    pub evaluate: &'a Evaluate<'a>,
    /// Seed of random values that are drawn once, at the start.
    pub seed: u64,
    /// Milliseconds since 1970.
    pub now_ms: i64,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings {
            properties: BTreeMap::new(),
            plan_name: "plan.jmx".to_owned(),
            included: &|_| None,
            located: &str::to_owned,
            looked_up: &|_| Vec::new(),
            unsupported: &|_, _| Vec::new(),
            evaluate: &|language, _, _| Err(format!("it runs program text in {language}")),
            seed: 1,
            now_ms: 0,
        }
    }
}

/// Variables that a results file has a column for, by the property `sample_variables`.
pub fn sample_variables(properties: &BTreeMap<String, String>) -> Vec<String> {
    let named = properties.get("sample_variables").map_or("", String::as_str);
    named.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Reads a file of properties as Java does: `name=value`, `name: value` or `name value`, comments with `#` or `!`, a backslash
/// before a line end goes on with the next line. Bytes are ISO 8859-1, other characters `\uXXXX`.
pub fn read_properties(bytes: &[u8]) -> Vec<(String, String)> {
    let text: String = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    let mut found = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while line.chars().rev().take_while(|one| *one == '\\').count() % 2 == 1 {
            line.pop();
            line.push_str(lines.next().unwrap_or("").trim_start());
        }
        let (name, value) = cut(&line);
        found.push((unescaped(name), unescaped(value)));
    }
    found
}

/// Cuts at the first `=`, `:` or blank that no backslash frees.
fn cut(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|one: char| {
        let ends = !escaped && matches!(one, '=' | ':' | ' ' | '\t');
        escaped = one == '\\' && !escaped;
        ends
    });
    let end = end.unwrap_or(line.len());
    let value = line[end..].trim_start();
    let value = value.strip_prefix(['=', ':']).map_or(value, str::trim_start);
    (&line[..end], value)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('t') => plain.push('\t'),
                Some('n') => plain.push('\n'),
                Some('r') => plain.push('\r'),
                Some('u') => {
                    let digits: String = characters.by_ref().take(4).collect();
                    plain.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some(other) => plain.push(other),
                None => {}
            },
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_as_java_reads_them() {
        let text = b"# comment\n! another\n\nhost=h.example\n a.b : c d \nempty=\nonly\nlong=one,\\\n   two\nx\\=y=1\\t\\u00e9\n";
        let expected = [
            ("host", "h.example"),
            ("a.b", "c d "),
            ("empty", ""),
            ("only", ""),
            ("long", "one,two"),
            ("x=y", "1\té"),
        ];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(read_properties(text), expected);
    }
}
