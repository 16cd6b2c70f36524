//! A script's view of its user, of the last sample, and of the run.

use super::ProgramWorker;
use super::functions::{set_variable, variable};
use super::memory::Memory;
use jmscript::host::{Field, HostSample as Which, Level, Presence, Refused, Stop};
use jmscript::{Argument, Binding, CookieValue, Host, Value};
use load::code::{CodeContext, Parameter, Sample};
use plan::{Code, Flow};
use std::rc::Rc;
use std::time::Duration;

/// The context of one run of a script, as its host.
pub(super) struct HostSeen<'a, 's> {
    worker: &'a ProgramWorker,
    code: &'a Code,
    context: &'a mut CodeContext<'s>,
    memory: &'a mut Memory,
    failure: bool,
    failure_message: String,
}

impl<'a, 's> HostSeen<'a, 's> {
    pub fn new(
        worker: &'a ProgramWorker,
        code: &'a Code,
        context: &'a mut CodeContext<'s>,
        memory: &'a mut Memory,
    ) -> HostSeen<'a, 's> {
        HostSeen { worker, code, context, memory, failure: false, failure_message: String::new() }
    }

    /// Hands the message of a failed assertion to the sample.
    pub fn conclude(self) {
        let said = (self.failure && self.code.asserts).then_some(self.failure_message);
        if let (Some(said), Some(last)) = (said, &mut self.context.user.last) {
            last.assertion = Some(said);
        }
    }

    /// A sample: the one that the script makes, or the last one.
    fn sample(&self, which: Which) -> Option<&Sample> {
        match (which, &self.context.own) {
            (Which::Own, Some(own)) => Some(own),
            _ => self.context.user.last.as_ref(),
        }
    }

    fn sample_mut(&mut self, which: Which) -> Option<&mut Sample> {
        match (which, &mut self.context.own) {
            (Which::Own, Some(own)) => Some(own),
            _ => self.context.user.last.as_mut(),
        }
    }

    /// The last name of its path in the plan.
    fn label(&self) -> Value {
        match self.code.sample.as_str() {
            "" => Value::from(self.code.name.rsplit('/').next().expect("a split has a first part")),
            sample => Value::from(sample),
        }
    }

    fn of_sample(&self, field: Field, which: Which) -> Value {
        let Some(sample) = self.sample(which) else { return Value::Null };
        let long = |number: u64| Value::Long(i64::try_from(number).unwrap_or(i64::MAX));
        let time = |time: Duration| long(time.as_millis() as u64);
        let text = |text: &str| Value::from(text);
        match field {
            Field::Body(_) => match &sample.body {
                None => Value::Null,
                Some(body) => text(&String::from_utf8_lossy(body)),
            },
            Field::Bytes(_) => Value::bytes(sample.body.as_deref().unwrap_or_default()),
            Field::Code(_) => text(&sample.code),
            Field::Message(_) => text(&sample.message),
            Field::ResponseHeaders(_) => text(&sample.head.replace("\r\n", "\n")),
            Field::RequestHeaders(_) => text(&sample.request_head),
            Field::SamplerData(_) => text(&format!(
                "{} {}\n\n{}",
                sample.method,
                sample.url,
                String::from_utf8_lossy(&sample.request_body)
            )),
            Field::SampleLabel(_) => text(&sample.label),
            Field::SampleUrl(_) if sample.url.is_empty() => Value::Null,
            Field::SampleUrl(_) => text(&sample.url),
            Field::Success(_) => Value::Bool(sample.success),
            Field::Elapsed(_) => time(sample.times.elapsed),
            Field::Latency(_) => time(sample.times.latency),
            Field::Connect(_) => time(sample.times.connect),
            Field::StartTime(_) => long(sample.began_ms),
            Field::EndTime(_) => long(sample.began_ms + sample.times.elapsed.as_millis() as u64),
            Field::ReceivedBytes(_) => long(sample.bytes.1),
            Field::BodyBytes(_) => long(sample.body.as_ref().map_or(0, |body| body.len() as u64)),
            Field::SentBytes(_) => long(sample.bytes.0),
            Field::ContentType(_) => text(&field_of(&sample.head, "content-type")),
            Field::DataType(_) => text("text"),
            Field::Encoding(_) => text("UTF-8"),
            Field::ErrorCount(_) => Value::Int(i32::from(!sample.success)),
            Field::Ignored(_) => Value::Bool(sample.ignored),
            Field::AssertionMessage(_) => {
                sample.failed.first().map_or(Value::Null, |(_, message)| text(message))
            }
            _ => Value::Null,
        }
    }
}

fn number(count: u64) -> Value {
    Value::Int(i32::try_from(count).unwrap_or(i32::MAX))
}

/// Where a user goes on by an action of JMeter's `TestLogicalAction`; `None`: as if nothing had been asked.
fn action(name: &str) -> Option<Flow> {
    match name {
        "START_NEXT_ITERATION_OF_THREAD" => Some(Flow::NextIteration),
        "START_NEXT_ITERATION_OF_CURRENT_LOOP" => Some(Flow::NextRound),
        "BREAK_CURRENT_LOOP" => Some(Flow::BreakLoop),
        _ => None,
    }
}

/// The value of a field in a head.
fn field_of(head: &str, name: &str) -> String {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let found = fields.find(|(known, _)| known.trim().eq_ignore_ascii_case(name));
    found.map_or_else(String::new, |(_, value)| value.trim().to_owned())
}

/// The sample that a field is of.
fn which(field: Field) -> Option<Which> {
    Some(match field {
        Field::Body(of)
        | Field::Bytes(of)
        | Field::Code(of)
        | Field::Message(of)
        | Field::ResponseHeaders(of)
        | Field::RequestHeaders(of)
        | Field::SamplerData(of)
        | Field::SampleLabel(of)
        | Field::SampleUrl(of)
        | Field::Success(of)
        | Field::Elapsed(of)
        | Field::Latency(of)
        | Field::Connect(of)
        | Field::StartTime(of)
        | Field::EndTime(of)
        | Field::ReceivedBytes(of)
        | Field::BodyBytes(of)
        | Field::SentBytes(of)
        | Field::ContentType(of)
        | Field::DataType(of)
        | Field::Encoding(of)
        | Field::ErrorCount(of)
        | Field::Ignored(of)
        | Field::AssertionMessage(of) => of,
        _ => return None,
    })
}

/// As a Set-Cookie field says it (RFC 6265 section 4.1).
fn set_cookie(cookie: &CookieValue) -> String {
    let mut text = format!("{}={}", cookie.name, cookie.value);
    if !cookie.domain.is_empty() {
        text += &format!("; Domain={}", cookie.domain);
    }
    if !cookie.path.is_empty() {
        text += &format!("; Path={}", cookie.path);
    }
    if cookie.is_secure { text + "; Secure" } else { text }
}

fn text_of(value: &Value) -> String {
    value.as_text().map_or_else(String::new, |text| text.to_string())
}

impl Host for HostSeen<'_, '_> {
    fn presence(&self, binding: Binding) -> Presence {
        match binding {
            Binding::Prev if self.context.user.last.is_none() => Presence::Null,
            Binding::SampleResult if self.context.own.is_none() && !self.code.asserts => Presence::Absent,
            Binding::AssertionResult | Binding::Failure | Binding::FailureMessage if !self.code.asserts => {
                Presence::Absent
            }
            _ => Presence::Here,
        }
    }

    fn variable(&mut self, name: &str) -> Option<Value> {
        if let Some(object) = self.memory.scripts.objects.get(name) {
            return Some(object.clone());
        }
        variable(self.context, name).map(|value| Value::from(String::from_utf8_lossy(&value).as_ref()))
    }

    fn set_variable(&mut self, name: &str, value: Value) {
        self.memory.scripts.objects.remove(name);
        match value.as_text() {
            Some(text) => set_variable(self.context, name, Some(text.as_bytes())),
            None => {
                set_variable(self.context, name, None);
                if !value.is_null() {
                    self.memory.scripts.objects.insert(Rc::from(name), value);
                }
            }
        }
    }

    fn remove_variable(&mut self, name: &str) -> Option<Value> {
        let value = self.variable(name);
        self.set_variable(name, Value::Null);
        value
    }

    fn variables(&self) -> Vec<Rc<str>> {
        let known = self.context.variables.names().into_iter();
        let set = known.filter(|name| variable(self.context, name).is_some()).map(Rc::from);
        let mut names: Vec<Rc<str>> = set.chain(self.memory.scripts.objects.keys().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn property(&mut self, name: &str) -> Option<Value> {
        if let Some(object) = self.worker.scripts.objects.borrow().get(name) {
            return Some(object.clone());
        }
        self.worker.shared.properties().get(name).map(|text| Value::from(text.as_str()))
    }

    fn set_property(&mut self, name: &str, value: Value) {
        let mut objects = self.worker.scripts.objects.borrow_mut();
        objects.remove(name);
        match value.as_text() {
            Some(text) => {
                self.worker.shared.properties().insert(name.to_owned(), text.to_string());
            }
            None => {
                objects.insert(Rc::from(name), value);
            }
        }
    }

    fn remove_property(&mut self, name: &str) -> Option<Value> {
        let before = self.property(name);
        self.worker.scripts.objects.borrow_mut().remove(name);
        self.worker.shared.properties().remove(name);
        before
    }

    fn properties(&self) -> Vec<Rc<str>> {
        let objects = self.worker.scripts.objects.borrow();
        let texts: Vec<Rc<str>> =
            self.worker.shared.properties().keys().map(|name| Rc::from(name.as_str())).collect();
        texts.into_iter().chain(objects.keys().cloned()).collect()
    }

    fn log(&mut self, level: Level, line: &str) {
        if !matches!(level, Level::Trace | Level::Debug) {
            let serious = matches!(level, Level::Warn | Level::Error);
            self.context.user.lines.push((serious, line.to_owned()));
        }
    }

    fn print(&mut self, text: &str) {
        self.context.user.lines.push((false, text.trim_end().to_owned()));
    }

    fn get(&mut self, field: Field) -> Value {
        if let Some(of) = which(field) {
            return self.of_sample(field, of);
        }
        let place = &self.context.user.place;
        let last = self.context.user.last.as_ref();
        let edit = &self.context.user.edit;
        let of_last = |text: fn(&Sample) -> &str| last.map_or(Value::Null, |last| Value::from(text(last)));
        match field {
            Field::GroupUsers(_) | Field::UserCount => number(place.users),
            Field::AllUsers(_) => number(place.all_users),
            Field::UsersPlanned => number(place.users_planned),
            Field::AllUsersPlanned => number(place.all_users_planned),
            Field::UsersBegun => number(place.users_begun),
            Field::UsersEnded => number(place.users_begun.saturating_sub(place.all_users)),
            Field::Failure => Value::Bool(self.failure),
            Field::AssertionError => Value::Bool(last.is_some_and(|last| last.assertion_error)),
            Field::FailureMessage => Value::from(self.failure_message.as_str()),
            Field::SamplerName => match (&edit.label, self.code.request.as_str()) {
                (Some(label), _) => Value::from(label.as_str()),
                (None, "") => of_last(|last| &last.label),
                (None, name) => Value::from(name),
            },
            Field::UserNumber => number(place.user),
            Field::UserName => Value::from(format!("{}{}", place.user_name, place.user + 1).as_str()),
            Field::GroupName => Value::from(&*place.group_name),
            Field::Iteration => number(place.iteration),
            Field::Parameters => Value::from(self.context.parameters),
            Field::Label => self.label(),
            Field::FileName => Value::from(""),
            Field::Folder => Value::from(self.worker.shared.setting.folder.as_str()),
            _ => Value::Null,
        }
    }

    fn set(&mut self, field: Field, value: Value) -> Result<(), Refused> {
        let text = text_of(&value);
        match field {
            Field::Failure => self.failure = matches!(value, Value::Bool(true)),
            Field::FailureMessage => self.failure_message = text,
            Field::AssertionError => self.failure |= matches!(value, Value::Bool(true)),
            Field::NextIteration => {
                let next = matches!(value, Value::Bool(true)).then_some(Flow::NextIteration);
                self.context.user.flow = self.context.user.flow.or(next);
            }
            Field::GoesOn => self.context.user.flow = self.context.user.flow.or(action(&text)),
            Field::SamplerName => self.context.user.edit.label = Some(text),
            Field::SamplerPath => self.context.user.edit.path = Some(text),
            Field::SamplerMethod => self.context.user.edit.method = Some(text),
            Field::SamplerDomain => self.context.user.edit.host = Some(text),
            Field::SamplerProtocol => self.context.user.edit.scheme = Some(text),
            Field::SamplerPort => {
                self.context.user.edit.port = value.to_long().and_then(|port| port.try_into().ok());
            }
            Field::SamplerBodyIsRaw => {
                self.context.user.edit.parameters.raw = matches!(value, Value::Bool(true));
            }
            field => return self.set_of_sample(field, value, text),
        }
        Ok(())
    }

    fn add_header(&mut self, name: &str, value: &str) -> Result<(), Refused> {
        self.context.user.edit.fields.push((name.to_owned(), Some(value.to_owned())));
        Ok(())
    }

    fn remove_header(&mut self, name: &str) -> Result<(), Refused> {
        self.context.user.edit.fields.push((name.to_owned(), None));
        Ok(())
    }

    /// Those that scripts have set since the last request; what answers have set is not seen.
    fn cookies(&mut self) -> Vec<CookieValue> {
        self.memory.scripts.cookies.clone()
    }

    fn set_cookies(&mut self, cookies: Vec<CookieValue>) -> Result<(), Refused> {
        let edit = &mut self.context.user.edit;
        edit.clears_cookies |= cookies.is_empty();
        edit.cookies = cookies.iter().map(set_cookie).collect();
        self.memory.scripts.cookies = cookies;
        Ok(())
    }

    fn arguments(&mut self) -> Vec<Argument> {
        let added = self.context.user.edit.parameters.added.iter();
        let argument = |one: &Parameter| Argument {
            name: Rc::from(one.name.as_str()),
            value: Rc::from(one.value.as_str()),
            encodes: one.encodes,
        };
        added.map(argument).collect()
    }

    fn add_argument(&mut self, argument: Argument) -> Result<(), Refused> {
        let Argument { name, value, encodes } = argument;
        let parameter = Parameter { name: name.to_string(), value: value.to_string(), encodes };
        self.context.user.edit.parameters.added.push(parameter);
        Ok(())
    }

    fn clear_arguments(&mut self) -> Result<(), Refused> {
        let parameters = &mut self.context.user.edit.parameters;
        parameters.added.clear();
        parameters.replaces = true;
        Ok(())
    }

    fn stop(&mut self, what: Stop) {
        self.context.user.flow = Some(match what {
            Stop::User => Flow::StopUser,
            Stop::Test => Flow::StopRun,
            Stop::TestNow => Flow::StopNow,
        });
    }

    fn pause(&mut self, millis: u64) {
        self.context.user.pause += Duration::from_millis(millis);
    }

    fn now(&mut self) -> i64 {
        i64::try_from(self.context.unix_us / 1000).unwrap_or(i64::MAX)
    }

    fn nanos(&mut self) -> i64 {
        i64::try_from(self.context.unix_us.saturating_mul(1000)).unwrap_or(i64::MAX)
    }

    fn random(&mut self) -> u64 {
        self.memory.random(self.context.user)
    }

    fn time_zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::system()
    }

    fn read_file(&mut self, path: &str) -> Result<Rc<[u8]>, Refused> {
        self.worker.shared.read(path).map(Rc::from).map_err(Rc::from)
    }

    fn write_file(&mut self, path: &str, _: &[u8], _: bool) -> Result<(), Refused> {
        Err(Rc::from(format!("{path} is not written: a plan writes no files")))
    }

    fn has_file(&mut self, path: &str) -> bool {
        self.worker.shared.read(path).is_ok()
    }
}

impl HostSeen<'_, '_> {
    fn set_of_sample(&mut self, field: Field, value: Value, text: String) -> Result<(), Refused> {
        let refused = || Rc::from(format!("{field:?} cannot be set here"));
        let sample = which(field).and_then(|of| self.sample_mut(of)).ok_or_else(refused)?;
        let milliseconds =
            || Duration::from_millis(value.to_long().and_then(|ms| ms.try_into().ok()).unwrap_or(0));
        match field {
            Field::Body(_) => {
                sample.body = Some(match &value {
                    Value::Bytes(bytes) => bytes.get().to_vec(),
                    _ => text.into_bytes(),
                });
            }
            Field::Code(_) => (sample.code, sample.is_edited) = (text, true),
            Field::Message(_) => (sample.message, sample.is_edited) = (text, true),
            Field::Success(_) => sample.success = matches!(value, Value::Bool(true)),
            Field::SampleLabel(_) => sample.label = text,
            Field::Ignored(_) => sample.ignored = true,
            Field::ResponseHeaders(_) => sample.head = text,
            Field::RequestHeaders(_) => sample.request_head = text,
            Field::SamplerData(_) => sample.request_body = text.into_bytes(),
            Field::Latency(_) => sample.times.latency = milliseconds(),
            Field::Connect(_) => sample.times.connect = milliseconds(),
            // What is told of a sample does not depend on these.
            Field::DataType(_) | Field::Encoding(_) | Field::ContentType(_) => {}
            _ => return Err(refused()),
        }
        Ok(())
    }
}
