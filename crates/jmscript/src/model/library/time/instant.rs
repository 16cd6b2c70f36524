//! `Instant`.

use super::temporal::{self, Temporal};
use crate::model::class::{Kind, rows};
use crate::model::value::Value;
use jiff::Timestamp;

pub(crate) static KIND: Kind = Kind::new("java.time", "Instant")
    .extends(&temporal::KIND)
    .constants(|name| (name == "EPOCH").then(|| Value::object(Temporal::Instant(Timestamp::UNIX_EPOCH))))
    .statics(&[rows("parse", 1, 1, |m, _, args| {
        temporal::parse(m, args, |_| None, |text| text.parse().ok().map(Temporal::Instant))
    })]);
