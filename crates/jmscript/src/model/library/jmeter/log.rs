//! `log`.

use crate::dialect::Dialect;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, MANY, row, rows};
use crate::model::host::Level;
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{ListKind, Value};

pub(crate) static KIND: Kind = Kind::new("org.slf4j", "Logger").extends(&object::KIND).methods(&[
    rows("trace", 1, MANY, |m, of, args| log(m, of, "trace", args, Level::Trace)),
    rows("debug", 1, MANY, |m, of, args| log(m, of, "debug", args, Level::Debug)),
    rows("info", 1, MANY, |m, of, args| log(m, of, "info", args, Level::Info)),
    rows("warn", 1, MANY, |m, of, args| log(m, of, "warn", args, Level::Warn)),
    rows("error", 1, MANY, |m, of, args| log(m, of, "error", args, Level::Error)),
    rows("fatalError", 1, MANY, |m, of, args| log(m, of, "fatalError", args, Level::Error)),
    row("isInfoEnabled", 0, |_, _, _| Ok(Value::Bool(true))),
    row("isWarnEnabled", 0, |_, _, _| Ok(Value::Bool(true))),
    row("isErrorEnabled", 0, |_, _, _| Ok(Value::Bool(true))),
    row("isDebugEnabled", 0, |_, _, _| Ok(Value::Bool(false))),
    row("isTraceEnabled", 0, |_, _, _| Ok(Value::Bool(false))),
    row("getName", 0, |_, _, _| Ok(Value::from("org.apache.jmeter"))),
]);

fn log(m: &mut Machine<'_>, of: &Value, name: &str, args: &[Value], level: Level) -> Run {
    let (first, rest) = args.split_first().expect("rows of the log take a message");
    // In Groovy a message is a text.
    if m.dialect == Dialect::Groovy
        && rest.is_empty()
        && (first.is_number() || matches!(first, Value::List(_) | Value::Map(_) | Value::Bool(_)))
    {
        return m.no_method(of, name, args);
    }
    let mut line = m.text(first)?.to_string();
    let spread: Vec<Value>;
    let values = match rest {
        [Value::List(list)] if list.kind == ListKind::Array => {
            spread = list.to_vec();
            &spread[..]
        }
        rest => rest,
    };
    for value in values {
        let text = m.text(value)?;
        match line.find("{}") {
            Some(at) => line.replace_range(at..at + 2, &text),
            // An exception that has no place in the text.
            None => line = format!("{line} {text}"),
        }
    }
    m.take_text(line.len())?;
    m.host.log(level, &line);
    Ok(Value::Null)
}
