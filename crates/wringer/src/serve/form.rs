//! The run that the page wishes: the fields of its form, or the text of a plan. A form is turned into the words of a command
//! line, and the reader of command lines says what they mean; so the form knows no rule of its own, and the command that does
//! the same can be shown.

use crate::arguments;
use clap::error::{ContextKind, ContextValue};
use cli::{CacheArgs, Cli, Command, Files, HttpArgs, Target, TcpArgs};
use plan::{Plan, Source, TextError, Written};
use serde::{Deserialize, Serialize};

/// The run that is wished.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// As the form has it.
    Form(Box<ServeForm>),
    /// The text of a plan, as TOML.
    Plan(String),
}

/// The fields of the form, each as it would be typed; what is empty is left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServeForm {
    kind: ServeKind,
    target: String,
    users: String,
    rate: String,
    duration: String,
    fail_if: String,
    expect_status: String,
    expect_text: String,
    origin: String,
    hit_ratio: String,
    framing: String,
    message: String,
}

/// Which command a form stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ServeKind {
    #[default]
    Http,
    Cache,
    Tcp,
}

/// Meaning of a wish.
#[derive(Debug)]
pub struct Meant {
    /// The command that does the same.
    pub door: &'static str,
    /// It with its options, as a shell reads it.
    pub command: String,
    /// Target of the load, in words.
    pub target: Option<String>,
    /// Plan of the run.
    pub plan: Plan,
}

/// A mistake in a wish.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// Its line in the text of the plan, from 1, where that is known.
    pub line: Option<usize>,
    /// The field of the form that it is about.
    pub field: Option<String>,
    /// The mistake, and what would do.
    pub text: String,
}

impl From<String> for Mistake {
    fn from(text: String) -> Mistake {
        Mistake { text, ..Mistake::default() }
    }
}

impl From<TextError> for Mistake {
    fn from(error: TextError) -> Mistake {
        Mistake { line: Some(error.line), text: error.to_string(), ..Mistake::default() }
    }
}

impl Wanted {
    /// Finds out what it means. `seed`: the one of forms, which have none; no file is read, and no name looked up.
    ///
    /// # Errors
    /// Every mistake that is found.
    pub fn meant(&self, seed: u64) -> Result<Meant, Vec<Mistake>> {
        match self {
            Wanted::Form(form) => form.meant(seed),
            Wanted::Plan(text) => of_text(text),
        }
    }
}

fn of_text(text: &str) -> Result<Meant, Vec<Mistake>> {
    let none = |_: &str, _: &str| Err("a plan of the page includes no other".to_owned());
    let source = Source::new("plan.toml".to_owned(), text.to_owned());
    let told = |found: Vec<TextError>| found.into_iter().map(Mistake::from).collect::<Vec<_>>();
    let written = Written::read(source, &[], &none).map_err(told)?;
    if written.plan.load.is_none() {
        return Err(vec!["the plan has no load: nothing would be sent".to_owned().into()]);
    }
    let violated = told(written.check());
    if !violated.is_empty() {
        return Err(violated);
    }
    let plan = written.plan;
    let target = plan.load.as_ref().and_then(|load| load.target.clone());
    Ok(Meant { door: "run", command: "wringer run plan.toml".to_owned(), target, plan })
}

impl ServeForm {
    fn meant(&self, seed: u64) -> Result<Meant, Vec<Mistake>> {
        let refused = |field: &str, text: &str| {
            vec![Mistake { field: Some(field.to_owned()), text: text.to_owned(), ..Mistake::default() }]
        };
        // A word that begins so would be an option.
        if self.target.trim().is_empty() || self.target.starts_with('-') {
            return Err(refused("target", "say what is pressed"));
        }
        let words = self.words();
        let cli = Cli::read(&words).map_err(|said| vec![mistake(&said)])?;
        let repeated = [words, vec!["--seed".to_owned(), seed.to_string()]].concat();
        let (door, plan) = match cli.command {
            Command::Http(args) => ("http", of_http(&args, seed)),
            Command::Cache(args) => ("cache", of_cache(&args, seed)),
            Command::Tcp(args) => ("tcp", of_tcp(&args, seed)),
            _ => return Err(refused("kind", "http, cache or tcp")),
        };
        let plan = plan.map_err(|why| vec![Mistake::from(why)])?;
        let violated: Vec<Mistake> = plan.check().into_iter().map(Mistake::from).collect();
        if !violated.is_empty() {
            return Err(violated);
        }
        let target = Some(plan::secret::without_secrets(&self.target));
        Ok(Meant { door, command: arguments::line(&repeated, &plan), target, plan })
    }

    /// The command line.
    fn words(&self) -> Vec<String> {
        let own: &[(&str, &str)] = match self.kind {
            ServeKind::Http => {
                &[("--expect-status", &self.expect_status), ("--expect-text", &self.expect_text)]
            }
            ServeKind::Cache => &[("--origin", &self.origin), ("--hit-ratio", &self.hit_ratio)],
            ServeKind::Tcp => &[("--framing", &self.framing), ("--message", &self.message)],
        };
        let common = [
            ("--users", &*self.users),
            ("--rate", &*self.rate),
            ("--duration", &*self.duration),
            ("--fail-if", &*self.fail_if),
        ];
        let given = common.iter().chain(own).filter(|(_, value)| !value.is_empty());
        let options = given.flat_map(|(option, value)| [(*option).to_owned(), (*value).to_owned()]);
        ["wringer", self.kind.name(), &self.target].map(str::to_owned).into_iter().chain(options).collect()
    }
}

impl ServeKind {
    fn name(self) -> &'static str {
        match self {
            ServeKind::Http => "http",
            ServeKind::Cache => "cache",
            ServeKind::Tcp => "tcp",
        }
    }
}

fn of_http(args: &HttpArgs, seed: u64) -> Result<Plan, String> {
    args.check()?;
    Ok(args.output.held_to(args.plan(seed, &Files::default())?))
}

fn of_cache(args: &CacheArgs, seed: u64) -> Result<Plan, String> {
    args.check()?;
    match args.target() {
        Target::Proxy(proxy) => Ok(args.output.held_to(args.plan(&proxy, args.origin_address(), seed))),
        Target::Rig { .. } | Target::Command(_) | Target::Demonstration => {
            Err("the page starts no proxy".to_owned())
        }
    }
}

fn of_tcp(args: &TcpArgs, seed: u64) -> Result<Plan, String> {
    Ok(args.output.held_to(args.plan(seed)?))
}

/// Returns the mistake that the reader of command lines tells, without its advice to a shell's user.
fn mistake(said: &clap::Error) -> Mistake {
    let whole = said.to_string();
    let text = whole.split("\n\n").next().expect("a split has a first part");
    let text = text.strip_prefix("error: ").unwrap_or(text).replace('\n', " ");
    let field = match said.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => Some(field(option)),
        _ => None,
    };
    Mistake { line: None, field, text }
}

/// The field of the form that an option stands for, as the reader names it: `--rate <RATE>`, `<URL>`.
fn field(option: &str) -> String {
    match option.split(' ').next().and_then(|word| word.strip_prefix("--")) {
        Some(option) => option.replace('-', "_"),
        None => "target".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(json: &str) -> Result<Meant, Vec<Mistake>> {
        serde_json::from_str::<Wanted>(json).unwrap().meant(7)
    }

    #[test]
    fn a_form_is_the_command_line_that_it_shows() {
        for (form, command) in [
            (
                r#"{"target":"http://127.0.0.1:8000/a b","users":"8","duration":"3s","expect_text":"it's"}"#,
                r"wringer http 'http://127.0.0.1:8000/a b' --users 8 --duration 3s --expect-text 'it'\''s' --seed 7",
            ),
            (
                r#"{"kind":"cache","target":"127.0.0.1:8080","rate":"2k/s","hit_ratio":"80%","origin":"127.0.0.1:9081"}"#,
                "wringer cache 127.0.0.1:8080 --rate 2k/s --origin 127.0.0.1:9081 --hit-ratio 80% --seed 7",
            ),
            (
                r#"{"kind":"tcp","target":"127.0.0.1:7000","message":"ping","fail_if":"p99>5ms,errors>1%"}"#,
                "wringer tcp 127.0.0.1:7000 --fail-if 'p99>5ms,errors>1%' --message ping --seed 7",
            ),
        ] {
            let meant = meant(&format!(r#"{{"form":{form}}}"#)).unwrap();
            assert_eq!(meant.command, command);
            assert_eq!(meant.plan.seed, 7);
            // The text that the page shows means the same.
            let again = serde_json::to_string(&meant.plan.to_text()).unwrap();
            let again = super::tests::meant(&format!(r#"{{"plan":{again}}}"#)).unwrap();
            assert_eq!(again.plan, meant.plan);
        }
        let fails = meant(r#"{"form":{"target":"http://127.0.0.1/","fail_if":"p99>5ms"}}"#).unwrap();
        assert_eq!(fails.plan.load.unwrap().fail_if.len(), 1);
    }

    #[test]
    fn a_mistake_names_its_field_or_its_line() {
        for (form, field, words) in [
            (r#"{"target":""}"#, Some("target"), "say what is pressed"),
            (r#"{"target":"--urls=/etc/passwd"}"#, Some("target"), "say what is pressed"),
            (r#"{"target":"ftp://127.0.0.1/"}"#, Some("target"), "ftp"),
            (r#"{"target":"http://127.0.0.1/","rate":"fast"}"#, Some("rate"), "fast"),
            (r#"{"target":"http://127.0.0.1/","users":"-x"}"#, None, ""),
            (r#"{"target":"http://127.0.0.1/","expect_text":"--json=/tmp/x"}"#, None, ""),
            (r#"{"target":"http://127.0.0.1/","users":"5","rate":"5"}"#, None, "--in-flight"),
            (r#"{"kind":"cache","target":"127.0.0.1:8080","hit_ratio":"2"}"#, Some("hit_ratio"), "2"),
        ] {
            let mistakes = meant(&format!(r#"{{"form":{form}}}"#)).unwrap_err();
            if field.is_some() {
                assert_eq!(mistakes[0].field.as_deref(), field, "{form}: {mistakes:?}");
            }
            assert!(mistakes[0].text.contains(words), "{form}: {mistakes:?}");
            assert!(!mistakes[0].text.contains("--help"), "{mistakes:?}");
        }
        let wrong = meant(r#"{"plan":"version = 1\nseed = 7\nsede = 8\n"}"#).unwrap_err();
        assert_eq!(wrong[0].line, Some(3), "{wrong:?}");
        let empty = r#"{"plan":"version = 1\nseed = 7\n[load]\ntarget = \"127.0.0.1:1\"\nphases = []\n"}"#;
        let empty = meant(empty).unwrap_err();
        assert!(empty.iter().any(|mistake| mistake.line == Some(5)), "{empty:?}");
        let idle = meant(r#"{"plan":"version = 1\nseed = 7\n[origin]\n"}"#).unwrap_err();
        assert!(idle[0].text.contains("no load"), "{idle:?}");
        assert!(serde_json::from_str::<Wanted>(r#"{"form":{"json":"/tmp/x"}}"#).is_err());
    }

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        let meant = meant(r#"{"form":{"target":"http://tom:geheim@127.0.0.1/"}}"#).unwrap();
        assert!(!format!("{} {:?}", meant.command, meant.target).contains("geheim"), "{meant:?}");
    }
}
