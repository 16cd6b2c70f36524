//! The numbers of users, which are read as fields: `JMeterContextService.getThreadCounts().activeThreads`.

use crate::model::class::{Kind, row};
use crate::model::host::{Field, HostSample};
use crate::model::library::lang::object;

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.threads", "JMeterContextService.ThreadCounts")
    .extends(&object::KIND)
    .methods(&[
        row("getActiveThreads", 0, |m, _, _| Ok(m.host.get(Field::AllUsers(HostSample::Previous)))),
        row("getStartedThreads", 0, |m, _, _| Ok(m.host.get(Field::UsersBegun))),
        row("getFinishedThreads", 0, |m, _, _| Ok(m.host.get(Field::UsersEnded))),
    ]);
