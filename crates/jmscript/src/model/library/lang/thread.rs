//! `Thread`, which is a user here.

use super::object;
use crate::model::abrupt::Run;
use crate::model::class::{ClassView, Kind, gives, row, rows};
use crate::model::host::{Field, Stop};
use crate::model::library::jmeter::thread_group;
use crate::model::machine::Machine;
use crate::model::tree::Binding;
use crate::model::value::Value;
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.lang", "Thread")
    .extends(&object::KIND)
    .viewed(ClassView {
        text: Some(|m| {
            let name = m.host.get(Field::UserName);
            Ok(Rc::from(format!("Thread[{},5,main]", m.text(&name)?)))
        }),
        ..ClassView::NONE
    })
    .statics(&[
        rows("sleep", 1, 2, sleep),
        gives(row("currentThread", 0, |_, _, _| Ok(Value::Bound(Binding::Thread))), &KIND),
    ])
    .methods(&[
        row("getThreadName", 0, |m, _, _| Ok(m.host.get(Field::UserName))),
        row("getName", 0, |m, _, _| Ok(m.host.get(Field::UserName))),
        row("getThreadNum", 0, |m, _, _| Ok(m.host.get(Field::UserNumber))),
        gives(
            row("getThreadGroup", 0, |_, _, _| Ok(Value::Bound(Binding::ThreadGroup))),
            &thread_group::KIND,
        ),
        row("sleep", 1, sleep),
        row("stop", 0, |m, _, _| Ok(m.stop(Stop::User))),
        row("interrupt", 0, |m, _, _| Ok(m.stop(Stop::User))),
    ]);

fn sleep(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    m.sleep(args[0].to_long().unwrap_or(0))?;
    Ok(Value::Null)
}
