//! Settings of a rig that somebody wants otherwise: a key that the configuration sets already gets another value.

use super::{File, Proxy, RigError, RigOptions, Setup};

/// A setting in a proxy's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, of several words where the proxy's is.
    pub key: String,
    /// The value, as it would stand in the configuration.
    pub value: String,
}

/// The configuration with the settings that the options ask for.
pub(super) fn applied(
    proxy: &'static dyn Proxy,
    mut setup: Setup,
    options: &RigOptions,
) -> Result<Setup, RigError> {
    for Setting { key, value } in &options.settings {
        if key.is_empty() || [key, value].iter().any(|text| text.contains(['\n', '\r', '\0'])) {
            return Err(RigError::NoLine { proxy, key: key.clone() });
        }
        if !proxy.set(&mut setup, key, value) {
            return Err(RigError::NoSetting { proxy, key: key.clone() });
        }
    }
    Ok(setup)
}

/// Gives a key another value in every line that begins with it, behind `before`. Blanks, or a colon, stand between both; a semicolon at
/// the end stays. False: there is no such line.
pub(super) fn replace(setup: &mut Setup, before: &str, key: &str, value: &str) -> bool {
    let mut found = false;
    for file in &mut setup.files {
        let lines = file.text.split_inclusive('\n').map(|line| match with_value(line, before, key, value) {
            Some(changed) => {
                found = true;
                changed
            }
            None => line.to_owned(),
        });
        file.text = lines.collect();
    }
    found
}

/// Appends a line to the first file.
pub(super) fn append(setup: &mut Setup, line: &str) -> bool {
    let Some(File { text, .. }) = setup.files.first_mut() else { return false };
    text.push_str(line);
    text.push('\n');
    true
}

fn with_value(line: &str, before: &str, key: &str, value: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix(before)?.strip_prefix(key)?;
    let is_between = |letter: char| letter == ':' || letter.is_ascii_whitespace();
    let old = rest.trim_start_matches(is_between);
    if old.len() == rest.len() {
        return None;
    }
    let beginning = &line[..line.len() - old.len()];
    let end = if old.trim_end().ends_with(';') && !value.ends_with(';') { ";" } else { "" };
    Some(format!("{}{value}{end}\n", beginning.trim_end_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, key: &str) -> (bool, String) {
        let files = vec![File::new("a", text.to_owned())];
        let mut setup = Setup { files, folders: vec![], arguments: vec![], logs: vec![] };
        let found = replace(&mut setup, "", key, "7");
        (found, setup.files.remove(0).text)
    }

    #[test]
    fn a_key_gets_its_value_and_nothing_else_changes() {
        for (text, key, wanted) in [
            ("a 1\n  max-entries 10\nb\n", "max-entries", "a 1\n  max-entries 7\nb\n"),
            ("\tproxy_cache_lock on;\n", "proxy_cache_lock", "\tproxy_cache_lock 7;\n"),
            (
                "timeout connect 5s\ntimeout server 60s\n",
                "timeout server",
                "timeout connect 5s\ntimeout server 7\n",
            ),
            ("num-threads: 1\n", "num-threads", "num-threads: 7\n"),
        ] {
            assert_eq!(changed(text, key), (true, wanted.to_owned()), "{text}");
        }
        for (text, key) in [("# max 1\n", "max"), ("maximum 1\n", "max"), ("max\n", "mini"), ("", "x")] {
            assert_eq!(changed(text, key), (false, text.to_owned()), "{text}");
        }
    }
}
