//! Tools that an assistant may call: what each takes, the command line that it becomes, and what is made of its output.

use super::Ran;
use serde_json::{Map, Value, json};

/// An argument of a tool.
struct Argument {
    name: &'static str,
    /// The option that it becomes; empty: it stands by itself, behind the options.
    option: &'static str,
    kind: ToolKind,
    needed: bool,
    about: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolKind {
    Text,
    Url,
    Count,
    Texts,
}

const fn text(name: &'static str, option: &'static str, about: &'static str) -> Argument {
    Argument { name, option, kind: ToolKind::Text, needed: false, about }
}

const fn needed(name: &'static str, kind: ToolKind, about: &'static str) -> Argument {
    Argument { name, option: "", kind, needed: true, about }
}

const USERS: Argument = Argument {
    name: "users",
    option: "--users",
    kind: ToolKind::Count,
    needed: false,
    about: "users that wait for each answer before they send again",
};
const REQUIRE: Argument = Argument {
    name: "require",
    option: "--require",
    kind: ToolKind::Texts,
    needed: false,
    about: "conditions that must hold, such as p99<50ms or errors<1%",
};

/// A tool that may be called.
struct Callable {
    name: &'static str,
    about: &'static str,
    /// Words that its command line begins with.
    words: &'static [&'static str],
    arguments: &'static [Argument],
}

const TOOLS: &[Callable] = &[
    Callable {
        name: "run",
        about: "Send requests to a URL and report rates, latencies, failures and a verdict. Ten seconds unless told otherwise.",
        words: &["http", "-q", "--json=-"],
        arguments: &[
            needed("url", ToolKind::Url, "an http:// or https:// URL"),
            USERS,
            text("rate", "--rate", "requests due whatever the target does, such as 500/s"),
            text("duration", "--duration", "such as 10s or 1m"),
            Argument {
                name: "requests",
                option: "--requests",
                kind: ToolKind::Count,
                needed: false,
                about: "ends after so many",
            },
            text("method", "--method", "such as POST"),
            Argument {
                name: "headers",
                option: "--header",
                kind: ToolKind::Texts,
                needed: false,
                about: "fields, each NAME: VALUE; VALUE may be env:NAME or file:PATH",
            },
            text("body", "--data", "of each request"),
            REQUIRE,
        ],
    },
    Callable {
        name: "compare",
        about: "Compare two URLs by legs in turn, and say whether the second is slower, with confidence.",
        words: &["compare", "--json=-"],
        arguments: &[
            needed("a", ToolKind::Url, "an http:// or https:// URL"),
            needed("b", ToolKind::Url, "another"),
            USERS,
            Argument {
                name: "pairs",
                option: "--pairs",
                kind: ToolKind::Count,
                needed: false,
                about: "legs of each side",
            },
        ],
    },
    Callable {
        name: "report",
        about: "Show a run that was kept.",
        words: &["report"],
        arguments: &[
            text("as", "--as", "layout: text, short, summary, json, junit; text unless told otherwise"),
            needed("run", ToolKind::Text, "its number, or latest"),
        ],
    },
    Callable {
        name: "explain",
        about: "Explain the name of a fault, a failure, a breach of HTTP or an error code.",
        words: &["explain"],
        arguments: &[needed("name", ToolKind::Text, "such as h1_field_name")],
    },
];

/// All, as `tools/list` tells them.
pub fn list() -> Value {
    TOOLS.iter().map(Callable::told).collect()
}

impl Callable {
    fn told(&self) -> Value {
        let property = |argument: &Argument| {
            let mut schema = match argument.kind {
                ToolKind::Text | ToolKind::Url => json!({ "type": "string" }),
                ToolKind::Count => json!({ "type": "integer", "minimum": 1 }),
                ToolKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            };
            schema["description"] = argument.about.into();
            (argument.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = self.arguments.iter().map(property).collect();
        let required: Vec<&str> =
            self.arguments.iter().filter(|one| one.needed).map(|one| one.name).collect();
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            },
        })
    }
}

/// The command line of a call.
///
/// # Errors
/// A sentence that says what cannot be meant.
pub fn command(name: &str, given: &Value, guarded: bool) -> Result<Vec<String>, String> {
    let names = || TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| format!("there is no tool {name:?}: {}", names()))?;
    let given = given.as_object().ok_or("arguments are an object")?;
    if let Some(unknown) = given.keys().find(|key| tool.arguments.iter().all(|one| one.name != **key)) {
        return Err(format!("{name} takes no argument {unknown:?}"));
    }
    let mut words: Vec<String> = tool.words.iter().map(|word| (*word).to_owned()).collect();
    let mut behind = Vec::new();
    for argument in tool.arguments {
        let Some(value) = given.get(argument.name) else {
            if argument.needed {
                return Err(format!("{name} needs the argument {:?}", argument.name));
            }
            continue;
        };
        for value in argument.values(value, guarded)? {
            if argument.option.is_empty() {
                behind.push(value);
            } else {
                words.push(format!("{}={value}", argument.option));
            }
        }
    }
    if tool.name == "run" && !given.contains_key("duration") && !given.contains_key("requests") {
        words.push("--duration=10s".to_owned());
    }
    // Nothing that an assistant says is an option; a URL cannot be one.
    if tool.arguments.iter().all(|argument| argument.kind != ToolKind::Url) {
        words.push("--".to_owned());
    }
    words.append(&mut behind);
    Ok(words)
}

impl Argument {
    fn values(&self, value: &Value, guarded: bool) -> Result<Vec<String>, String> {
        let wrong = |wanted: &str| format!("{} is {wanted}", self.name);
        match self.kind {
            ToolKind::Text => Ok(vec![value.as_str().ok_or_else(|| wrong("a text"))?.to_owned()]),
            ToolKind::Count => {
                let count = value.as_u64().filter(|count| *count > 0);
                Ok(vec![count.ok_or_else(|| wrong("a whole number above 0"))?.to_string()])
            }
            ToolKind::Texts => {
                let all = value.as_array().ok_or_else(|| wrong("a list of texts"))?;
                let texts = all.iter().map(|one| one.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or_else(|| wrong("a list of texts"))
            }
            ToolKind::Url => {
                let url = value.as_str().ok_or_else(|| wrong("a URL"))?;
                self.allowed(url, guarded)?;
                Ok(vec![url.to_owned()])
            }
        }
    }

    fn allowed(&self, url: &str, guarded: bool) -> Result<(), String> {
        let parsed =
            url::Url::parse(url).map_err(|error| format!("{}: {url:?} is no URL: {error}", self.name))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(format!("{}: {url:?} begins with neither http:// nor https://", self.name));
        }
        let is_here = match parsed.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if guarded || is_here {
            return Ok(());
        }
        Err(format!(
            "{}: {url:?} is not this machine, and no guards say that it may be pressed: ask your user to put [guard] with hosts into wringer.toml",
            self.name
        ))
    }
}

/// Parts of a run's report that would fill an assistant's memory; `report` as json has them.
const LEFT_OUT: [&str; 4] = ["timeline", "plan", "phases", "workers"];

/// Answer to a call that ended.
pub fn result(name: &str, words: &[String], ran: &Ran) -> Value {
    let mut report: Value = serde_json::from_str(&ran.out).unwrap_or(Value::Null);
    if name == "run"
        && let Some(report) = report.as_object_mut()
    {
        LEFT_OUT.iter().for_each(|part| drop(report.remove(*part)));
    }
    let out = if report.is_object() { report.to_string() } else { ran.out.clone() };
    let content: Vec<Value> = [out.trim(), ran.said.trim()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({ "type": "text", "text": text }))
        .collect();
    // A condition that was violated is an answer, too.
    let is_error = !matches!(ran.exit, Some(0 | 3));
    json!({
        "content": content,
        "structuredContent": { "exit": ran.exit, "command": words, "report": report },
        "isError": is_error,
    })
}
