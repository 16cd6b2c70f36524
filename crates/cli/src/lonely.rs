//! Options that were typed without the one that they need.
//!
//! clap says so itself, but where that one is excluded by another option of the line: then it lets both needs fall, and the option
//! would have no effect.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// The first option of a line that lacks another one, in a sentence.
pub(super) fn option(command: &Command, matches: &ArgMatches) -> Option<String> {
    if let Some((name, of_command)) = matches.subcommand() {
        return option(command.find_subcommand(name)?, of_command);
    }
    let is_typed = |id: &str| {
        let is_there = matches.try_contains_id(id).unwrap_or(false);
        is_there && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let typed = command.get_arguments().filter(|arg| is_typed(arg.get_id().as_str()));
    let mut lacking = typed.flat_map(|arg| needs(arg).into_iter().map(move |id| (arg, id)));
    let (arg, id) = lacking.find(|(_, id)| !is_typed(id))?;
    let arg = shown(arg);
    Some(match needed(command, &id) {
        Some(other) => format!("{arg} has no effect without {other}: give that, too, or leave {arg} out"),
        None => format!("{arg} has no effect here: leave it out"),
    })
}

/// The options, or groups of them, that an option needs. clap tells them to nobody but those who look for faults.
fn needs(arg: &Arg) -> Vec<String> {
    let text = format!("{arg:?}");
    let Some((_, behind)) = text.rsplit_once(", requires: [") else { return Vec::new() };
    let list = behind.split_once("], r_ifs").map_or("", |(list, _)| list);
    let each = list.split("(IsPresent, \"").skip(1);
    each.filter_map(|part| part.split_once('"')).map(|(id, _)| id.to_owned()).collect()
}

fn shown(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| format!("--{long}"))
}

/// An option, or all of a group, in words.
fn needed(command: &Command, id: &str) -> Option<String> {
    let by_id = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id);
    if let Some(arg) = by_id(id) {
        return Some(shown(arg));
    }
    let group = command.get_groups().find(|group| group.get_id() == id)?;
    let members: Vec<String> = group.get_args().filter_map(|id| by_id(id.as_str())).map(shown).collect();
    (!members.is_empty()).then(|| members.join(" or "))
}

#[cfg(test)]
mod tests {
    use crate::Cli;

    #[test]
    fn an_option_whose_partner_is_excluded_is_refused() {
        for (line, said) in [
            (
                "replay a.rec http://h --real-origin --scale-lifetimes",
                "--scale-lifetimes has no effect without --as-origin",
            ),
            ("replay a.rec http://h --real-origin --renew all", "--renew has no effect without --as-origin"),
            (
                "replay a.rec http://h --real-origin --origin 127.0.0.1:1",
                "--origin has no effect without --as-origin",
            ),
            ("http h --bearer t --digest", "--digest has no effect without --user"),
            (
                "http https://h --keystore k --keystore-password p --key k",
                "--key has no effect without --cert",
            ),
            ("http h --unix-socket p --proxy-user a:b", "--proxy-user has no effect without --proxy"),
            ("capture a.log -n 3 -o a.rec", "--requests has no effect without"),
            ("capture --interface lo -n 3 -o a.rec", "--requests has no effect without --listen"),
            ("capture a.log --port 80 -o a.rec", "--port has no effect without --interface"),
        ] {
            let error = Cli::read(["wringer"].into_iter().chain(line.split(' '))).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
        for line in [
            "replay a.rec --as-origin --renew all",
            "http h --user a:b --digest",
            "http https://h --cert c --key k",
            "capture --interface lo --port 80 -d 3s -o a.rec",
            "cache --rig nginx --from d",
        ] {
            let read = Cli::read(["wringer"].into_iter().chain(line.split(' ')));
            assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
        }
    }
}
