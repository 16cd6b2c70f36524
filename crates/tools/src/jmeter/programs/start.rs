//! Program text that is run once, before users come: functions of user defined variables, and of what else is computed at the start.

use super::{Programs, Setting};
use load::code::{CodeContext, CodeUser, Interpreters, Variables};
use plan::Code;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Variables as they are before the run.
struct ProgramKnown<'a>(&'a mut BTreeMap<String, String>);

impl Variables for ProgramKnown<'_> {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name).map(|value| value.clone().into_bytes())
    }

    fn set(&mut self, name: &str, value: Option<&[u8]>) {
        match value {
            Some(value) => drop(self.0.insert(name.to_owned(), String::from_utf8_lossy(value).into_owned())),
            None => drop(self.0.remove(name)),
        }
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// Runs program text once, with variables as they are at the start: its value as text, empty where it has none.
///
/// # Errors
/// The text cannot run, has failed, or sets properties, which the run would not know.
pub fn evaluate(
    setting: &Setting,
    language: &str,
    text: &str,
    variables: &mut BTreeMap<String, String>,
) -> Result<String, String> {
    let programs = Programs::new(setting.clone());
    let interpreter = programs.of_worker(0);
    let code = Code { language: language.to_owned(), text: text.to_owned(), ..Code::default() };
    let program = interpreter.prepare(&code);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let mut context = CodeContext {
        variables: &mut ProgramKnown(variables),
        user: &mut CodeUser::outside(),
        own: None,
        parameters: "",
        unix_us: u64::try_from(since).unwrap_or(u64::MAX),
    };
    let ran = interpreter.run(program, &mut context);
    if let Some(refusal) = ran.failed {
        return Err(refusal.text);
    }
    if *programs.0.properties() != setting.properties {
        return Err("it sets properties before the run begins: give them with -J".to_owned());
    }
    Ok(String::from_utf8_lossy(ran.value.as_deref().unwrap_or(&[])).into_owned())
}
