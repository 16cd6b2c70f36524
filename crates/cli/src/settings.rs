//! Defaults of options, from `wringer.toml` and from the environment; and [guards](super::guard).
//!
//! Pure: who finds the file and reads the environment is the binary's affair. A default is what would have been typed: it yields to what was
//! typed, and to options that exclude it. Start at [`CliSettings::of_file`] and [`CliSettings::given`].

use super::guard::{GuardNamed, Guards};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use std::ffi::OsString;

/// Beginning of variables.
pub const PREFIX: &str = "WRINGER_";

/// Variables that are read elsewhere, or by their beginnings.
const ELSEWHERE: [&str; 3] = ["LOG", "SECRET_", "CONFIG"];

/// The table that holds for every command.
const ALL: &str = "defaults";

/// Options of which only one can be meant: a default yields where another one is typed.
const EXCLUSIVE: [&[&str]; 4] = [
    &["users", "think", "rate", "stages", "connection-rate"],
    &["duration", "requests", "stages"],
    &["quiet", "tui", "verbose"],
    &["keep-in", "no-keep"],
];

/// One request is told where this option is typed, and nothing that was typed says how many: defaults of these yield to it.
const TELLS_ONE: (&str, [&str; 6]) =
    ("verbose", ["users", "rate", "stages", "connection-rate", "duration", "requests"]);

/// The default of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The command; `None`: each that has the option.
    pub command: Option<String>,
    /// The option's long name.
    pub option: String,
    /// Its values; none for an option that takes none.
    pub values: Vec<String>,
    /// False: an option that takes no value is not given.
    pub holds: bool,
    /// Where it stands.
    pub from: String,
}

impl Setting {
    /// As it would be typed.
    pub fn words(&self) -> Vec<String> {
        match self.values.is_empty() {
            true => vec![format!("--{}", self.option)],
            false => self.values.iter().map(|value| format!("--{}={value}", self.option)).collect(),
        }
    }
}

/// Defaults, the weakest first, and guards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CliSettings {
    /// The defaults.
    pub defaults: Vec<Setting>,
    /// The guards, where there are any.
    pub guards: Option<Guards>,
    /// Variables that begin like ours and are no option's.
    pub unknown: Vec<String>,
}

impl CliSettings {
    /// Reads a file. `name`: as messages name it.
    ///
    /// # Errors
    /// Every mistake in it, a line each.
    pub fn of_file(name: &str, text: &str) -> Result<CliSettings, Vec<String>> {
        let command = super::whole();
        let table: toml::Table = text.parse().map_err(|error| vec![format!("{name}: {error}")])?;
        let mut settings = CliSettings::default();
        let mut mistakes = Vec::new();
        // What holds for all is weaker than what holds for one.
        let (all, others): (Vec<_>, Vec<_>) = table.into_iter().partition(|(section, _)| section == ALL);
        for (section, value) in all.into_iter().chain(others) {
            let toml::Value::Table(entries) = value else {
                mistakes.push(format!(
                    "{name}: {section} stands outside of a table: put it under [{ALL}] or [http]"
                ));
                continue;
            };
            for (key, value) in entries {
                let taken = values(&value).and_then(|values| match section.as_str() {
                    "guard" => {
                        let guards = settings.guards.get_or_insert_with(Guards::default);
                        name.clone_into(&mut guards.from);
                        guards.set(&GuardNamed { name: &key, values })
                    }
                    _ => {
                        let from = format!("{name} [{section}]");
                        let of = Some(section.as_str()).filter(|section| *section != ALL);
                        settings.defaults.push(setting(&command, of, &key, values, from)?);
                        Ok(())
                    }
                });
                mistakes.extend(taken.err().map(|why| format!("{name}: [{section}] {key}: {why}")));
            }
        }
        if mistakes.is_empty() { Ok(settings) } else { Err(mistakes) }
    }

    /// Adds what the environment says, which is stronger.
    ///
    /// # Errors
    /// A variable whose value is none of its option.
    pub fn and_environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<CliSettings, String> {
        let command = super::whole();
        let mut general = Vec::new();
        let mut particular = Vec::new();
        let mut ours: Vec<(String, String)> = variables
            .into_iter()
            .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
            .collect();
        ours.sort();
        for (name, value) in ours {
            let rest = &name[PREFIX.len()..];
            if ELSEWHERE.iter().any(|other| rest.starts_with(other)) {
                continue;
            }
            let option = rest.to_ascii_lowercase().replace('_', "-");
            let of = |of: Option<&str>, option: &str| {
                setting(&command, of, option, vec![value.clone()], name.clone())
            };
            let split = option.split_once('-').filter(|(of, _)| command.find_subcommand(of).is_some());
            match split {
                _ if has_anywhere(&command, &option) => {
                    general.push(of(None, &option).map_err(|why| format!("{name}: {why}"))?);
                }
                Some((section, option)) if has_anywhere(&command, option) => {
                    particular.push(of(Some(section), option).map_err(|why| format!("{name}: {why}"))?);
                }
                Some(_) | None => self.unknown.push(name),
            }
        }
        self.defaults.extend(general.into_iter().chain(particular));
        Ok(self)
    }

    /// The defaults of a command, each option's strongest, in the order of their names.
    pub fn of_command(&self, command: &Command) -> Vec<&Setting> {
        let mut found: Vec<&Setting> = Vec::new();
        for setting in &self.defaults {
            let is_of = setting.command.as_ref().is_none_or(|name| name == command.get_name());
            if is_of && argument(command, &setting.option).is_some() {
                found.retain(|other| other.option != setting.option);
                found.push(setting);
            }
        }
        found.sort_by(|one, other| one.option.cmp(&other.option));
        found
    }

    /// Words that the defaults of a command add to what was typed. `matches`: what was typed.
    pub(super) fn given(&self, command: &Command, matches: &ArgMatches) -> Vec<OsString> {
        let typed: Vec<&Arg> = command
            .get_arguments()
            .filter(|arg| {
                let source = matches.try_contains_id(arg.get_id().as_str()).ok().filter(|there| *there);
                source.is_some()
                    && matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
            })
            .collect();
        let yields = |setting: &&&Setting| {
            let Some(arg) = argument(command, &setting.option) else { return true };
            typed.iter().any(|other| other.get_id() == arg.get_id() || excludes(command, other, arg))
        };
        let of_command = self.of_command(command);
        let holding = of_command.iter().filter(|setting| setting.holds && !yields(setting));
        holding.flat_map(|setting| setting.words()).map(OsString::from).collect()
    }
}

impl CliSettings {
    /// Text of what holds, and where each value comes from. `file`: the file that was found. `of`: the command; `None`: all that have
    /// defaults.
    ///
    /// # Errors
    /// There is no such command.
    pub fn text(&self, file: Option<&str>, of: Option<&str>) -> Result<String, String> {
        let whole = super::whole();
        let mut text = match file {
            Some(file) => format!("file: {file}\n"),
            None => "file: none; wringer.toml is looked for in this folder and those above it\n".to_owned(),
        };
        let guards = self.guards.iter().flat_map(Guards::rows);
        guards.for_each(|(name, value)| text += &format!("guard {name}: {value}\n"));
        let commands: Vec<&Command> = match of {
            Some(name) => {
                vec![whole.find_subcommand(name).ok_or_else(|| format!("there is no command {name}"))?]
            }
            None => whole.get_subcommands().filter(|command| !command.is_hide_set()).collect(),
        };
        for command in commands {
            let defaults = self.of_command(command);
            if defaults.is_empty() && of.is_none() {
                continue;
            }
            text += &format!("\nwringer {}\n", command.get_name());
            for setting in &defaults {
                text += &format!("  {:<32} {}\n", shown(setting), setting.from);
            }
            if defaults.is_empty() {
                text += "  nothing but the defaults that its --help tells\n";
            }
        }
        for name in &self.unknown {
            text += &format!("\n{name} is set, and no option has that name\n");
        }
        Ok(text)
    }
}

/// A default as it would be typed, without secrets.
fn shown(setting: &Setting) -> String {
    let option = format!("--{}", setting.option);
    let is_secret = super::SECRETS.iter().any(|secret| secret.trim_end() == option);
    match (setting.holds, is_secret) {
        (false, _) => format!("no {option}"),
        (true, true) => format!("{option} {}", plan::secret::MASK),
        (true, false) if setting.option == "header" => {
            let lines: Vec<String> =
                setting.values.iter().map(|value| plan::secret::shown_line(value)).collect();
            format!("{option} {}", lines.join(", "))
        }
        (true, false) => format!("{option} {}", setting.values.join(", ")).trim_end().to_owned(),
    }
}

/// An option that was typed, and the default of another, cannot both be meant.
fn excludes(command: &Command, typed: &Arg, default: &Arg) -> bool {
    let conflict = |from: &Arg, to: &Arg| {
        command.get_arg_conflicts_with(from).iter().any(|arg| arg.get_id() == to.get_id())
    };
    let names = [typed, default].map(|arg| arg.get_long().unwrap_or_default());
    let (tells, one) = TELLS_ONE;
    conflict(typed, default)
        || conflict(default, typed)
        || (names[0] == tells && one.contains(&names[1]))
        || EXCLUSIVE.iter().any(|group| names.iter().all(|name| group.contains(name)))
}

fn argument<'a>(command: &'a Command, option: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(option))
}

fn has_anywhere(command: &Command, option: &str) -> bool {
    command.get_subcommands().any(|command| argument(command, option).is_some())
}

/// A default that is understood.
fn setting(
    whole: &Command,
    of: Option<&str>,
    option: &str,
    values: Vec<String>,
    from: String,
) -> Result<Setting, String> {
    let option = option.replace('_', "-");
    if option == "curl" {
        return Err("a command of curl's is typed: give what it says by options".to_owned());
    }
    let mut having: Vec<&Arg> = Vec::new();
    match of {
        Some(name) => {
            let command = whole.find_subcommand(name).ok_or_else(|| {
                format!("there is no command {name}: tables are [{ALL}], [guard] and those of commands")
            })?;
            having.extend(argument(command, &option));
        }
        None => having.extend(whole.get_subcommands().filter_map(|command| argument(command, &option))),
    }
    let Some(arg) = having.first() else {
        let of = of.map_or_else(|| "any command".to_owned(), |name| format!("wringer {name}"));
        return Err(format!("there is no option --{option} of {of}: see its --help"));
    };
    if arg.get_action().takes_values() {
        return Ok(Setting { command: of.map(str::to_owned), option, values, holds: true, from });
    }
    let holds = match values.as_slice() {
        [value] => match value.as_str() {
            "true" | "1" | "yes" => true,
            "false" | "0" | "no" => false,
            other => return Err(format!("--{option} takes no value: give true or false, not '{other}'")),
        },
        _ => return Err(format!("--{option} takes no value: give true or false")),
    };
    Ok(Setting { command: of.map(str::to_owned), option, values: Vec::new(), holds, from })
}

/// A value of a file as it would be typed; a list is several.
fn values(value: &toml::Value) -> Result<Vec<String>, String> {
    let one = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(flag.to_string()),
        toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => {
            Err("give a text, a number, true or false, or a list of these".to_owned())
        }
    };
    match value {
        toml::Value::Array(all) => all.iter().map(one).collect(),
        other => Ok(vec![one(other)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Around, Cli, Command as Typed};

    const FILE: &str = "
        [defaults]
        quiet = true
        timeout = '3s'
        [http]
        users = 20
        duration = '5s'
        header = ['A: b', 'C: d']
        [guard]
        hosts = ['localhost']
        rate = '1k/s'
    ";

    fn settings(variables: &[(&str, &str)]) -> CliSettings {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        CliSettings::of_file("wringer.toml", FILE).unwrap().and_environment(variables).unwrap()
    }

    /// The line with the defaults in it.
    fn line(typed: &str, settings: &CliSettings) -> String {
        let words = std::iter::once("wringer").chain(typed.split(' '));
        let read = Cli::read_with(words, &Around::default(), settings).unwrap();
        let words: Vec<_> = read.words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn defaults_are_as_if_they_had_been_typed_and_yield_to_what_was() {
        let all = settings(&[]);
        for (typed, means) in [
            (
                "http h:1",
                "wringer http --duration=5s --header=A: b --header=C: d --quiet --timeout=3s --users=20 h:1",
            ),
            ("h:1 -c 3 -d 1s -H X:y -q --timeout 1s", "wringer http h:1 -c 3 -d 1s -H X:y -q --timeout 1s"),
            (
                "http h:1 --rate 5 -n 3 -H X:y --timeout 1s -v",
                "wringer http h:1 --rate 5 -n 3 -H X:y --timeout 1s -v",
            ),
            ("h:1 -v", "wringer http --header=A: b --header=C: d --timeout=3s h:1 -v"),
            ("tcp h:1 -m x", "wringer tcp --quiet --timeout=3s h:1 -m x"),
            ("doctor", "wringer doctor"),
            ("plan schema", "wringer plan schema"),
        ] {
            assert_eq!(line(typed, &all), means, "{typed}");
        }
    }

    #[test]
    fn the_environment_is_stronger_than_the_file_and_one_command_than_all() {
        let variables = [
            ("WRINGER_USERS", "7"),
            ("WRINGER_HTTP_DURATION", "9s"),
            ("WRINGER_DURATION", "8s"),
            ("WRINGER_QUIET", "false"),
            ("WRINGER_HEADER", "E: f"),
            ("WRINGER_LOG", "debug"),
            ("WRINGER_SECRET_A", "x"),
            ("WRINGER_USRES", "1"),
            ("OTHER", "1"),
        ];
        let all = settings(&variables);
        let means = "wringer http --duration=9s --header=E: f --timeout=3s --users=7 h:1";
        assert_eq!(line("http h:1", &all), means);
        assert_eq!(all.unknown, ["WRINGER_USRES"]);
        assert_eq!(line("tcp h:1 -m x", &all), "wringer tcp --duration=8s --timeout=3s --users=7 h:1 -m x");
    }

    #[test]
    fn mistakes_in_a_file_are_all_told() {
        let file = "users = 5\n[http]\nuser_s = 1\nquiet = 3\n[htpp]\nusers = 1\n[guard]\nhost = 'a'\n[tcp]\nusers = [[1]]\n";
        let mistakes = CliSettings::of_file("wringer.toml", file).unwrap_err();
        for said in [
            "wringer.toml: users stands outside of a table",
            "[http] user_s: there is no option --user-s of wringer http",
            "[http] quiet: --quiet takes no value: give true or false, not '3'",
            "[htpp] users: there is no command htpp",
            "[guard] host: there is no guard host",
            "[tcp] users: give a text, a number",
        ] {
            assert!(mistakes.iter().any(|mistake| mistake.contains(said)), "{said}: {mistakes:?}");
        }
        assert_eq!(mistakes.len(), 6);
        assert!(CliSettings::of_file("wringer.toml", "a = ").unwrap_err()[0].starts_with("wringer.toml: "));
    }

    #[test]
    fn a_value_that_its_option_does_not_take_is_refused_as_if_typed() {
        let settings = CliSettings::of_file("f", "[http]\nduration = 'soon'\n").unwrap();
        let refused = Cli::read_with(["wringer", "http", "h"], &Around::default(), &settings).unwrap_err();
        assert!(refused.to_string().contains("'soon'"), "{refused}");
        let Typed::Http(args) = Cli::read(["wringer", "http", "h"]).unwrap().command else { panic!() };
        assert!(args.pace.duration.is_none());
    }
}
