//! The program texts of journeys: JMeter's functions and its script languages behind the engine's surface for them
//! (`load::code`). The crates `jmeter` and `jmscript` know the languages, the engine the users; they meet here.
//!
//! Start reading at [`Programs`]; `scripts.rs` runs a script, `host.rs` is what it sees, `functions.rs` what a function does,
//! `follow.rs` what the last answer makes of the next request. A build without scripts (feature `scripts`) refuses them.

mod fill;
mod follow;
mod functions;
#[cfg(feature = "scripts")]
mod host;
mod memory;
#[cfg(not(feature = "scripts"))]
mod no_scripts;
#[cfg(feature = "scripts")]
mod script_memory;
#[cfg(feature = "scripts")]
mod scripts;
mod start;

pub use start::evaluate;

use fill::filled;
use functions::Functions;
use jmeter::Text;
use load::code::{CodeContext, Interpreter, Interpreters, Ran, Refusal};
use memory::{Memory, value_of};
#[cfg(not(feature = "scripts"))]
use no_scripts as scripts;
use plan::{Code, Fills};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads a file that a program names.
pub type ReadFile = Arc<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// Environment of the programs of a plan.
#[derive(Clone)]
pub struct Setting {
    /// Properties, as they are at the start.
    pub properties: BTreeMap<String, String>,
    /// The plan's file name, without its folder.
    pub plan_name: String,
    /// The plan's folder.
    pub folder: String,
    /// Reads files.
    pub files: ReadFile,
}

impl std::fmt::Debug for Setting {
    /// Properties may be secret.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Setting").field("plan_name", &self.plan_name).finish_non_exhaustive()
    }
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            properties: BTreeMap::new(),
            plan_name: String::new(),
            folder: String::new(),
            files: Arc::new(|path| Err(format!("{path}: this plan has no files"))),
        }
    }
}

/// The programs of a run.
pub struct Programs(Arc<ProgramShared>);

/// State shared by all users.
struct ProgramShared {
    setting: Setting,
    properties: Mutex<BTreeMap<String, String>>,
    /// Counters of functions, by the program and its place in it.
    counters: Mutex<HashMap<(String, usize), u64>>,
}

impl Programs {
    /// For a run in this setting.
    pub fn new(setting: Setting) -> Programs {
        let properties = Mutex::new(setting.properties.clone());
        Programs(Arc::new(ProgramShared { setting, properties, counters: Mutex::default() }))
    }
}

impl Interpreters for Programs {
    fn of_worker(&self, _: u32) -> Rc<dyn Interpreter> {
        Rc::new(ProgramWorker {
            shared: self.0.clone(),
            programs: RefCell::default(),
            scripts: Default::default(),
        })
    }
}

impl ProgramShared {
    // Whoever panicked while it held one of these has left the map whole.

    fn properties(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.properties.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters(&self) -> MutexGuard<'_, HashMap<(String, usize), u64>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        (self.setting.files)(path)
    }
}

/// Returns the parts of a program text that do not run, each with its line.
pub fn unsupported(language: &str, text: &str) -> Vec<(u32, String)> {
    match language {
        "jmeter" | "file" | "values" | "follow" | "rewrite" => Vec::new(),
        other => scripts::unsupported(other, text),
    }
}

/// A program, made ready.
struct Program {
    code: Code,
    what: ProgramCall,
}

#[derive(Clone)]
enum ProgramCall {
    /// The path of a file.
    File,
    /// A list of what is known: `variables`, `properties`, or both.
    Values,
    /// A link or form of the last answer.
    Link,
    /// A session of the last answer.
    Session,
    /// A text with JMeter's functions.
    Text(Rc<Text>),
    /// A script.
    Script(scripts::Dialect),
}

/// The programs of one worker.
struct ProgramWorker {
    shared: Arc<ProgramShared>,
    programs: RefCell<Vec<Rc<Program>>>,
    scripts: scripts::WorkerScripts,
}

impl Interpreter for ProgramWorker {
    fn prepare(&self, code: &Code) -> usize {
        let what = match code.language.as_str() {
            "file" => ProgramCall::File,
            "values" => ProgramCall::Values,
            "follow" => ProgramCall::Link,
            "rewrite" => ProgramCall::Session,
            "jmeter" => {
                let parsed = Text::parse(&code.text, &jmeter::function::is_known);
                ProgramCall::Text(Rc::new(parsed.unwrap_or_else(|_| Text::fixed(&code.text))))
            }
            other => ProgramCall::Script(scripts::named(other).unwrap_or(scripts::USUAL)),
        };
        if let (ProgramCall::Script(dialect), Fills::Never) = (&what, code.fills) {
            self.scripts.prepare(*dialect, &code.text);
        }
        let mut programs = self.programs.borrow_mut();
        programs.push(Rc::new(Program { code: code.clone(), what }));
        programs.len() - 1
    }

    fn run(&self, program: usize, context: &mut CodeContext<'_>) -> Ran {
        let Some(program) = self.programs.borrow().get(program).cloned() else { return Ran::default() };
        let mut memory = Memory::take(context.user);
        let ran = match &program.what {
            ProgramCall::File => self.file(&program.code, context, &mut memory),
            ProgramCall::Values => self.values(&program.code, context),
            ProgramCall::Link => follow::link(context, &mut memory),
            ProgramCall::Session => follow::session(&program.code, context, &mut memory),
            ProgramCall::Text(text) => self.text(&program.code, text, context, &mut memory),
            ProgramCall::Script(dialect) => {
                let text = self.filled(&program.code, context, &mut memory);
                scripts::run(self, &program.code, *dialect, &text, context, &mut memory)
            }
        };
        memory.put_back(context.user);
        if let Some(refusal) = ran.failed.as_ref().filter(|_| context.own.is_none()) {
            context.user.lines.push((true, format!("{}: {}", program.code.name, refusal.text)));
        }
        ran
    }
}

impl ProgramWorker {
    /// The text of a program with its values, as often as they are put in.
    fn filled(&self, code: &Code, context: &mut CodeContext<'_>, memory: &mut Memory) -> Rc<str> {
        match code.fills {
            Fills::Never => Rc::from(code.text.as_str()),
            Fills::Each => filled(self, code, context, memory).into(),
            Fills::First => {
                if let Some(known) = memory.texts.get(&code.name) {
                    return known.clone();
                }
                let text: Rc<str> = filled(self, code, context, memory).into();
                memory.texts.insert(code.name.clone(), text.clone());
                text
            }
        }
    }

    fn file(&self, code: &Code, context: &mut CodeContext<'_>, memory: &mut Memory) -> Ran {
        let path = self.filled(code, context, memory);
        match self.shared.read(path.trim()) {
            Ok(bytes) => Ran { value: Some(bytes), failed: None },
            Err(why) => {
                // As JMeter says it of a file that it was to send.
                let class = "Non HTTP response code: java.io.FileNotFoundException".to_owned();
                context.user.broken = Some((class, format!("Non HTTP response message: {why}")));
                Ran::default()
            }
        }
    }

    /// All values of a user, and properties of the run, as a Debug Sampler shows them.
    fn values(&self, code: &Code, context: &mut CodeContext<'_>) -> Ran {
        let mut text = String::new();
        let is_wanted = |what: &str| code.text.split_whitespace().any(|word| word == what);
        let mut list = |title: &str, mut rows: Vec<(String, String)>| {
            rows.sort();
            let lines = rows.into_iter().map(|(name, value)| format!("{name}={value}\n"));
            text.push_str(&format!("{title}:\n{}\n", lines.collect::<String>()));
        };
        if is_wanted("variables") {
            let names = context.variables.names();
            let row = |name: String| {
                let value = functions::variable(context, &name)?;
                Some((name, value_of(Some(value))))
            };
            list("JMeterVariables", names.into_iter().filter_map(row).collect());
        }
        if is_wanted("properties") {
            let properties = self.shared.properties();
            let row = |(name, value): (&String, &String)| (name.clone(), value.clone());
            list("JMeterProperties", properties.iter().map(row).collect());
        }
        Ran { value: Some(text.into_bytes()), failed: None }
    }

    /// A text with functions. As a sample it is the answer; what it is called with then says status, success and message.
    fn text(&self, code: &Code, text: &Text, context: &mut CodeContext<'_>, memory: &mut Memory) -> Ran {
        let mut functions = Functions { worker: self, code, context, memory };
        let computed = jmeter::function::compute(text, &mut functions);
        if let Some(own) = &mut context.own {
            let mut words = context.parameters.splitn(3, ' ');
            let mut word = || words.next().unwrap_or_default().to_owned();
            let status = word();
            let success = word();
            let message = word();
            if !status.is_empty() {
                (own.code, own.message) = (status, message);
                own.success = success.trim().eq_ignore_ascii_case("true");
                own.is_edited = true;
            }
        }
        match computed {
            Ok(text) => Ran { value: Some(text.into_bytes()), failed: None },
            Err(text) => Ran { value: None, failed: Some(Refusal { text, is_assertion: false }) },
        }
    }

    /// The value of a script as a function of an expression.
    fn evaluate(
        &self,
        code: &Code,
        language: &str,
        text: &str,
        context: &mut CodeContext<'_>,
        memory: &mut Memory,
    ) -> Result<String, String> {
        let inner = Code {
            language: language.to_owned(),
            text: text.to_owned(),
            fills: Fills::Never,
            ..code.clone()
        };
        let dialect = scripts::named(language).ok_or_else(|| format!("{language} is no language"))?;
        let ran = scripts::run(self, &inner, dialect, text, context, memory);
        match ran.failed {
            Some(refusal) => Err(refusal.text),
            None => Ok(value_of(ran.value)),
        }
    }
}

/// Interpreters of the program texts of a plan with this setting.
pub fn interpreters(setting: Setting) -> Arc<dyn Interpreters> {
    Arc::new(Programs::new(setting))
}
