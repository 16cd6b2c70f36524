//! JMeter's command line.

use std::path::PathBuf;

/// Arguments as typed after `jmeter`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// `-n`: without a window.
    pub without_window: bool,
    /// `-t`
    pub plan: PathBuf,
    /// `-g`: results that a report is made of, instead of a run.
    pub report_only: Option<PathBuf>,
    /// `-l`
    pub results: Option<PathBuf>,
    /// `-j`
    pub log: Option<PathBuf>,
    /// `-e`
    pub report: bool,
    /// `-o`
    pub folder: Option<PathBuf>,
    /// `-f`
    pub force: bool,
    /// `-J`, `-G` with a value and `-D`, in the order of the command line.
    pub properties: Vec<String>,
    /// `-p`, then `-q`, then `-G` with a file.
    pub property_files: Vec<PathBuf>,
    /// `-r` or `-R`: machines that were to run the plan.
    pub remote: Option<String>,
    /// Options that change nothing here.
    pub ignored: Vec<String>,
    /// `--skip-unsupported`: runs what can run.
    pub skip_unsupported: bool,
    /// `--show-plan`
    pub show_plan: bool,
    /// `--seed`: random values follow from it.
    pub seed: Option<u64>,
}

/// Text shown instead of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// `-h`
    Help,
    /// `-v`
    Version,
    /// Why the command line cannot be meant.
    Mistake(String),
}

/// Options with a value, by their short and long names.
const VALUED: [(&str, &str); 21] = [
    ("-t", "--testfile"),
    ("-l", "--logfile"),
    ("-j", "--jmeterlogfile"),
    ("-o", "--reportoutputfolder"),
    ("-p", "--propfile"),
    ("-q", "--addprop"),
    ("-J", "--jmeterproperty"),
    ("-G", "--globalproperty"),
    ("-D", "--systemproperty"),
    ("-S", "--systemPropertyFile"),
    ("-R", "--remotestart"),
    ("-g", "--reportonly"),
    ("-L", "--loglevel"),
    ("-i", "--jmeterlogconf"),
    ("-d", "--homedir"),
    ("-H", "--proxyHost"),
    ("-P", "--proxyPort"),
    ("-N", "--nonProxyHosts"),
    ("-u", "--username"),
    ("-a", "--password"),
    (SEED, SEED),
];

/// This door's own: JMeter has no seed for all of a plan.
const SEED: &str = "--seed";

/// Reads a command line.
///
/// # Errors
/// The text to show instead.
pub fn parse(words: &[String]) -> Result<Arguments, Instead> {
    let mut arguments = Arguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if flag(word, &mut arguments)? {
            continue;
        }
        let (option, attached) = valued(word).ok_or_else(|| {
            Instead::Mistake(format!(
                "{word} is no option of jmeter that is known here; -h lists those that are"
            ))
        })?;
        let value = match attached {
            Some(value) => value.to_owned(),
            None => words.next().cloned().ok_or_else(|| Instead::Mistake(format!("{word} needs a value")))?,
        };
        take(option, value, &mut arguments)?;
    }
    if arguments.report_only.is_some() {
        return match arguments.plan.as_os_str().is_empty() && arguments.results.is_none() {
            true => Ok(arguments),
            false => Err(Instead::Mistake(
                "-g makes a report of results that are there and runs nothing: give it without -t and -l"
                    .to_owned(),
            )),
        };
    }
    if arguments.plan.as_os_str().is_empty() {
        return Err(Instead::Mistake("give a plan: jmeter -n -t PLAN.jmx -l RESULTS.jtl".to_owned()));
    }
    if arguments.report && arguments.results.is_none() {
        return Err(Instead::Mistake("-e needs -l, the results that the report is made of".to_owned()));
    }
    Ok(arguments)
}

fn flag(word: &str, arguments: &mut Arguments) -> Result<bool, Instead> {
    match word {
        "-n" | "--nongui" => arguments.without_window = true,
        "-e" | "--reportatendofloadtests" => arguments.report = true,
        "-f" | "--forceDeleteResultFile" => arguments.force = true,
        "-r" | "--runremote" => arguments.remote = Some("those of the property remote_hosts".to_owned()),
        "--skip-unsupported" => arguments.skip_unsupported = true,
        "--show-plan" => arguments.show_plan = true,
        "-X" | "--remoteexit" => arguments.ignored.push(word.to_owned()),
        "-h" | "-?" | "--help" => return Err(Instead::Help),
        "-v" | "--version" => return Err(Instead::Version),
        "-s" | "--server" => {
            return Err(Instead::Mistake("-s: this program is no server for remote hosts".to_owned()));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The option that a word is, and the value that stands in the same word.
fn valued(word: &str) -> Option<(&'static str, Option<&str>)> {
    VALUED.iter().find_map(|(short, long)| {
        if word == *short || word == *long {
            return Some((*short, None));
        }
        let attached = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        let attached = attached.or_else(|| word.strip_prefix(short).filter(|_| !word.starts_with("--")));
        attached.map(|value| (*short, Some(value)))
    })
}

fn take(option: &str, value: String, arguments: &mut Arguments) -> Result<(), Instead> {
    match option {
        "-t" => arguments.plan = value.into(),
        "-l" => arguments.results = Some(value.into()),
        "-j" => arguments.log = Some(value.into()),
        "-o" => arguments.folder = Some(value.into()),
        "-p" => arguments.property_files.insert(0, value.into()),
        "-q" | "-S" => arguments.property_files.push(value.into()),
        "-G" if !value.contains('=') => arguments.property_files.push(value.into()),
        "-J" | "-G" | "-D" => arguments.properties.push(value),
        "-R" => arguments.remote = Some(value),
        "-H" => arguments.properties.push(format!("http.proxyHost={value}")),
        "-P" => arguments.properties.push(format!("http.proxyPort={value}")),
        "-N" => arguments.properties.push(format!("http.nonProxyHosts={value}")),
        "-u" => arguments.properties.push(format!("http.proxyUser={value}")),
        "-a" => arguments.properties.push(format!("http.proxyPass={value}")),
        "-g" => arguments.report_only = Some(value.into()),
        SEED => {
            let wrong = |_| Instead::Mistake(format!("--seed '{value}' is no number: give 0 to 2^64-1"));
            arguments.seed = Some(value.parse().map_err(wrong)?);
        }
        other => arguments.ignored.push(other.to_owned()),
    }
    Ok(())
}

/// Returns the text that `-h` prints.
pub fn help() -> String {
    "\
Usage: wringer jmeter -n -t PLAN.jmx [-l RESULTS.jtl] [OPTION...]
       wringer jmeter -g RESULTS.jtl [-o DIR] [-f]

Runs a plan of JMeter's with wringer's engine.

  -n, --nongui               without a window: there is none, so it changes nothing
  -t, --testfile FILE        the plan; LAST is the one that ran last
  -l, --logfile FILE         results (JTL), appended to where the file exists
  -f                         empties the results file and the report's folder first
  -e                         writes a report at the end; needs -l
  -o, --reportoutputfolder DIR
                             the report's folder: statistics.json and index.html
  -g, --reportonly FILE      makes the report of results that are there already (CSV or XML), and runs nothing
  -j, --jmeterlogfile FILE   notices and notes
  -J, -G, -D NAME=VALUE      a property
  -q, -p FILE                properties of a file
  -H HOST, -P PORT           requests go through this proxy, those of samplers without one of their own
  -u NAME, -a PASSWORD       for the proxy
  -N HOSTS                   hosts that are reached without it, with * and |
  -r, -R HOSTS               not run on other machines: a notice, and the plan runs here
  -v, -h                     the version, this help
      --skip-unsupported     leaves out what cannot run, instead of refusing the plan
      --seed N               random values follow from it: the same seed gives the same ones
      --show-plan            prints the plan as wringer understands it, and runs nothing

The exit code is 0 when the run has ended, however its samples ended, and 1 where it could not begin.
"
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, Instead> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_seed_is_a_number() {
        assert_eq!(read("-n -t a.jmx --seed 7").unwrap().seed, Some(7));
        assert_eq!(read("-n -t a.jmx --seed=8").unwrap().seed, Some(8));
        assert_eq!(read("-n -t a.jmx").unwrap().seed, None);
        let Err(Instead::Mistake(why)) = read("-n -t a.jmx --seed x") else { panic!("it is no number") };
        assert!(why.contains("--seed 'x'"), "{why}");
    }

    #[test]
    fn command_lines_of_the_manual() {
        let read_one = read("-n -t a.jmx -l r.jtl -e -o out -Jhost=h -J port=1 -Gx=y -q more.properties -p first.properties -Rh1,h2 -j log").unwrap();
        assert_eq!(read_one.plan, PathBuf::from("a.jmx"));
        assert_eq!(read_one.properties, ["host=h", "port=1", "x=y"]);
        assert_eq!(
            read_one.property_files,
            [PathBuf::from("first.properties"), PathBuf::from("more.properties")]
        );
        assert_eq!(read_one.remote.as_deref(), Some("h1,h2"));
        assert!(read_one.report && read_one.without_window && !read_one.force);
        assert_eq!(read("--testfile=b.jmx").unwrap().plan, PathBuf::from("b.jmx"));
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        let said = |line: &str| match read(line) {
            Err(Instead::Mistake(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(said("-n").contains("give a plan"));
        assert!(said("-n -t").contains("-t needs a value"));
        assert!(said("-t a -z").contains("-z is no option"));
        assert!(said("-t a -e").contains("-e needs -l"));
        assert!(said("-g r.jtl -t a").contains("without -t"));
        assert_eq!(read("-g r.jtl -o d").unwrap().report_only, Some(PathBuf::from("r.jtl")));
        assert_eq!((read("-h"), read("-v")), (Err(Instead::Help), Err(Instead::Version)));
    }
}
