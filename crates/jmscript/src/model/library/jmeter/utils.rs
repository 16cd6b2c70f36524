//! `JMeterUtils`.

use super::props;
use crate::model::class::{Kind, gives, row, rows};
use crate::model::library::lang::object;
use crate::model::tree::Binding;
use crate::model::value::Value;

const PROPS: Value = Value::Bound(Binding::Props);

pub(crate) static KIND: Kind =
    Kind::new("org.apache.jmeter.util", "JMeterUtils").extends(&object::KIND).statics(&[
        rows("getProperty", 1, 2, |m, _, args| m.invoke(&PROPS, "getProperty", args)),
        row("setProperty", 2, |m, _, args| m.invoke(&PROPS, "setProperty", args)),
        row("getPropDefault", 2, |m, _, args| m.invoke(&PROPS, "getPropDefault", args)),
        gives(row("getJMeterProperties", 0, |_, _, _| Ok(Value::Bound(Binding::Props))), &props::KIND),
        row("getJMeterVersion", 0, |_, _, _| Ok(Value::from("5.6.3"))),
    ]);
