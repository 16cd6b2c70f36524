//! `ctx`: where in the run the script stands.

use super::{FIXED, engine, is_change, props, sample_result, sampler, thread_counts, thread_group, vars};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{ClassRow, Kind, gives, row, rows};
use crate::model::host::{Field, HostSample};
use crate::model::library::constant::{self, Constant};
use crate::model::library::lang::{object, thread};
use crate::model::machine::Machine;
use crate::model::tree::Binding;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.threads", "JMeterContext")
    .extends(&object::KIND)
    .lacks(|method| is_change(method).then_some(FIXED))
    .methods(METHODS);

pub(crate) static SERVICE: Kind =
    Kind::new("org.apache.jmeter.threads", "JMeterContextService").extends(&object::KIND).statics(&[
        gives(row("getContext", 0, |_, _, _| Ok(Value::Bound(Binding::Ctx))), &KIND),
        row("getNumberOfThreads", 0, |m, _, _| Ok(m.host.get(Field::AllUsers(HostSample::Previous)))),
        row("getTotalThreads", 0, |m, _, _| Ok(m.host.get(Field::AllUsersPlanned))),
        gives(
            row("getThreadCounts", 0, |_, _, _| Ok(Value::Bound(Binding::ThreadCounts))),
            &thread_counts::KIND,
        ),
        row("getTestStartTime", 0, |m, _, _| {
            let start = m.host.property("TESTSTART.MS");
            Ok(Value::Long(start.and_then(|start| start.as_text()?.parse().ok()).unwrap_or(0)))
        }),
    ]);

/// Where a user goes on, by the names of JMeter's enumeration.
pub(crate) static ACTION: Kind = Kind::new("org.apache.jmeter.threads", "JMeterContext.TestLogicalAction")
    .extends(&constant::KIND)
    .constants(|name| ACTIONS.contains(&name).then(|| Constant::value(&ACTION, name)));

const ACTIONS: [&str; 4] = [
    "CONTINUE",
    "START_NEXT_ITERATION_OF_THREAD",
    "START_NEXT_ITERATION_OF_CURRENT_LOOP",
    "BREAK_CURRENT_LOOP",
];

const METHODS: &[ClassRow] = &[
    gives(row("getVariables", 0, |_, _, _| Ok(Value::Bound(Binding::Vars))), &vars::KIND),
    gives(row("getProperties", 0, |_, _, _| Ok(Value::Bound(Binding::Props))), &props::KIND),
    gives(row("getPreviousResult", 0, |m, _, _| m.bound(Binding::Prev)), &sample_result::KIND),
    gives(row("getCurrentSampler", 0, sampler), &sampler::KIND),
    gives(row("getPreviousSampler", 0, sampler), &sampler::KIND),
    row("getThreadNum", 0, |m, _, _| Ok(m.host.get(Field::UserNumber))),
    gives(row("getThread", 0, |_, _, _| Ok(Value::Bound(Binding::Thread))), &thread::KIND),
    gives(row("getThreadGroup", 0, |_, _, _| Ok(Value::Bound(Binding::ThreadGroup))), &thread_group::KIND),
    gives(row("getEngine", 0, |_, _, _| Ok(Value::Bound(Binding::Engine))), &engine::KIND),
    row("isSamplingStarted", 0, |_, _, _| Ok(Value::Bool(true))),
    row("isRecording", 0, |_, _, _| Ok(Value::Bool(false))),
    row("setStartNextThreadLoop", 1, |m, _, args| {
        m.put_field(Field::NextIteration, Value::Bool(args[0].is_true()))
    }),
    row("setTestLogicalAction", 1, set_action),
    rows("setRestartNextLoop", 0, 1, |m, _, _| m.put_field(Field::NextIteration, Value::Bool(true))),
];

fn sampler(m: &mut Machine<'_>, _: &Value, _: &[Value]) -> Run {
    m.bound(Binding::Sampler)
}

fn set_action(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    match Constant::name_of(&args[0], &ACTION) {
        Some(name) => m.put_field(Field::GoesOn, Value::Text(name.clone())),
        None => {
            thrown("IllegalArgumentException", "setTestLogicalAction takes a JMeterContext.TestLogicalAction")
        }
    }
}
