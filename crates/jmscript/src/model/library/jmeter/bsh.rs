//! `bsh` and `this` of BeanShell.

use super::props;
use crate::model::class::{ClassView, Kind, row};
use crate::model::library::lang::object;
use crate::model::tree::Binding;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("bsh", "This")
    .extends(&object::KIND)
    .viewed(ClassView {
        property: Some(|m, name| match &**name {
            "args" => Some(m.bound(Binding::Args)),
            "shared" => Some(Ok(Value::Bound(Binding::Props))),
            _ => None,
        }),
        set_property: Some(|m, name, value| Some(m.set_own_variable(name, value))),
        ..ClassView::NONE
    })
    .methods(&[row("get", 1, props::get)]);
