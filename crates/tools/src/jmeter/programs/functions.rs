//! JMeter's functions, computed for a user while it walks.

use super::ProgramWorker;
use super::memory::{Memory, value_of};
use jmeter::function::{Context, Fact};
use jmeter::placeholder_name;
use load::code::CodeContext;
use plan::Code;

/// The user that functions are computed for.
pub(super) struct Functions<'a, 's> {
    pub worker: &'a ProgramWorker,
    pub code: &'a Code,
    pub context: &'a mut CodeContext<'s>,
    pub memory: &'a mut Memory,
}

/// A variable of the user. One that was never set has its own placeholder for a value, as texts then show it.
pub(super) fn variable(context: &CodeContext<'_>, name: &str) -> Option<Vec<u8>> {
    let value = context.variables.get(&placeholder_name(name))?;
    let is_unset =
        value.strip_prefix(b"${").and_then(|rest| rest.strip_suffix(b"}")) == Some(name.as_bytes());
    (!is_unset).then_some(value)
}

/// Sets a variable of the user, or takes it away.
pub(super) fn set_variable(context: &mut CodeContext<'_>, name: &str, value: Option<&[u8]>) {
    let unset = format!("${{{name}}}").into_bytes();
    context.variables.set(&placeholder_name(name), Some(value.unwrap_or(&unset)));
}

impl Context for Functions<'_, '_> {
    fn variable(&self, name: &str) -> Option<String> {
        variable(self.context, name).map(|value| value_of(Some(value)))
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        set_variable(self.context, name, Some(value.as_bytes()));
    }

    fn property(&self, name: &str) -> Option<String> {
        self.worker.shared.properties().get(name).cloned()
    }

    fn set_property(&mut self, name: &str, value: &str) {
        self.worker.shared.properties().insert(name.to_owned(), value.to_owned());
    }

    fn random(&mut self) -> u64 {
        self.memory.random(self.context.user)
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.context.unix_us / 1000).unwrap_or(i64::MAX)
    }

    fn count(&mut self, nth: usize, of_user: bool) -> u64 {
        let key = (format!("{}\n{}", self.code.name, self.code.text), nth);
        let mut shared;
        let counters = match of_user {
            true => &mut self.memory.counters,
            false => {
                shared = self.worker.shared.counters();
                &mut *shared
            }
        };
        let count = counters.entry(key).or_default();
        *count += 1;
        *count
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.worker.shared.read(path).ok()
    }

    fn row(&mut self, file: &str, go_on: bool) -> usize {
        let row = self.memory.rows.entry(file.to_owned()).or_default();
        *row += usize::from(go_on);
        *row
    }

    fn fact(&self, fact: Fact) -> String {
        let place = &self.context.user.place;
        match fact {
            Fact::ThreadNumber => (place.user + 1).to_string(),
            Fact::ThreadName => format!("{}{}", place.user_name, place.user + 1),
            Fact::GroupName => place.group_name.to_string(),
            Fact::SamplerName => self.code.request.clone(),
            Fact::PlanName => self.worker.shared.setting.plan_name.clone(),
            Fact::MachineName => session::host_name(),
            Fact::MachineAddress => "127.0.0.1".to_owned(),
            Fact::LastBody => {
                let last = self.context.user.last.as_ref();
                value_of(last.and_then(|last| last.body.clone()))
            }
        }
    }

    fn log(&mut self, line: &str) {
        self.context.user.lines.push((false, line.to_owned()));
    }

    fn script(&mut self, language: &str, text: &str) -> Result<String, String> {
        self.worker.evaluate(self.code, language, text, self.context, self.memory)
    }
}
