//! `bsh` and `this` of BeanShell.

use super::props;
use crate::model::class::{Kind, View, row};
use crate::model::library::lang::object;
use crate::model::tree::Binding;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("bsh", "This")
    .extends(&object::KIND)
    .viewed(View {
        property: Some(|m, name| match &**name {
            "args" => Some(m.bound(Binding::Args)),
            "shared" => Some(Ok(Value::Bound(Binding::Props))),
            _ => None,
        }),
        set_property: Some(|m, name, value| Some(m.set_own_variable(name, value))),
        ..View::NONE
    })
    .methods(&[row("get", 1, props::get)]);
