//! `FileServer`, which knows the plan's folder.

use crate::model::class::{Kind, gives, row};
use crate::model::host::Field;
use crate::model::library::lang::object;
use crate::model::tree::Binding;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.services", "FileServer")
    .extends(&object::KIND)
    .statics(&[gives(row("getFileServer", 0, |_, _, _| Ok(Value::Bound(Binding::FileServer))), &KIND)])
    .methods(&[
        row("getBaseDir", 0, |m, _, _| Ok(m.host.get(Field::Folder))),
        gives(row("getFileServer", 0, |_, _, _| Ok(Value::Bound(Binding::FileServer))), &KIND),
    ]);
