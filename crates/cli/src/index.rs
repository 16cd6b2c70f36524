//! The index of all options, docs/src/options.md, is made of the description that reads the command line: `cargo xtask options` writes
//! it, and
//! the test here sees that the committed one is of today.

use crate::whole;
use clap::{Arg, Command};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// In the environment of a run that writes the page.
const WRITE: &str = "WRINGER_WRITE_OPTIONS";

const HEAD: &str = "\
# All options

Every option of wringer's own commands: its value, the commands that have it, and what their help says of it. The command lines
of old tools have those tools' options, see their pages. `wringer COMMAND --help` has the same by command. Each command has `--help`,
`--log FILTER` and `--lang en|zh`, too. `cargo xtask options` makes this page.

| option | commands | |
|---|---|---|
";

/// An option as its commands say it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    option: String,
    about: String,
}

fn page() -> String {
    let mut whole = whole();
    whole.build();
    let mut rows = BTreeMap::new();
    gather(&whole, "", &mut rows);
    let row = |said: &Said, commands: &[String]| {
        format!("| {} | {} | {} |\n", said.option, commands.join(", "), said.about)
    };
    HEAD.to_owned() + &rows.iter().map(|(said, commands)| row(said, commands)).collect::<String>()
}

/// Options of the commands below one, which is reached by the words `within`.
fn gather(command: &Command, within: &str, rows: &mut BTreeMap<Said, Vec<String>>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        let name = format!("{within}{}", below.get_name());
        for arg in below.get_arguments().filter(|arg| !arg.is_hide_set()) {
            if let Some(option) = shown(arg) {
                rows.entry(Said { option, about: about(arg) }).or_default().push(name.clone());
            }
        }
        gather(below, &format!("{name} "), rows);
    }
}

/// An option with its letter and the name of its value.
fn shown(arg: &Arg) -> Option<String> {
    let long = arg.get_long().filter(|long| !["help", "version", "log", "lang"].contains(long))?;
    let short = arg.get_short().map_or_else(String::new, |short| format!(", `-{short}`"));
    let names = arg.get_value_names().filter(|_| arg.get_action().takes_values());
    let value = names.and_then(|names| names.first()).map_or_else(String::new, |name| format!(" {name}"));
    Some(format!("`--{long}{}`{short}", value.replace('|', "\\|")))
}

/// The help, as a cell of a table. What a mark of Markdown would be stands for itself.
fn about(arg: &Arg) -> String {
    let about = arg.get_help().map_or_else(String::new, ToString::to_string);
    about.chars().fold(String::new(), |mut text, one| {
        match one {
            '<' => text += "&lt;",
            '|' | '*' | '[' | '_' | '`' => text.extend(['\\', one]),
            '\n' => text.push(' '),
            one => text.push(one),
        }
        text
    })
}

#[test]
fn the_committed_index_has_all_options() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/options.md");
    let page = page();
    if std::env::var_os(WRITE).is_some() {
        fs::write(&file, &page).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap();
    let differs = page.lines().zip(committed.lines()).find(|(now, then)| now != then);
    assert_eq!(differs, None, "docs/src/options.md is old: cargo xtask options");
    assert!(page == committed, "docs/src/options.md is old: cargo xtask options");
    assert!(page.contains("| `--users N`, `-c` | cache, http, tcp |"), "{page}");
}
