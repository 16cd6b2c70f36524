//! The thread group.

use super::{FIXED, is_change};
use crate::model::class::{Kind, row};
use crate::model::host::Field;
use crate::model::library::lang::object;

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.threads", "ThreadGroup")
    .extends(&object::KIND)
    .lacks(|method| is_change(method).then_some(FIXED))
    .methods(&[
        row("getName", 0, |m, _, _| Ok(m.host.get(Field::GroupName))),
        row("getNumThreads", 0, |m, _, _| Ok(m.host.get(Field::UsersPlanned))),
        row("getNumberOfThreads", 0, |m, _, _| Ok(m.host.get(Field::UserCount))),
    ]);
