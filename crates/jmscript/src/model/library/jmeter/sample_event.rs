//! `sampleEvent`, what listeners get.

use super::sample_result;
use crate::model::class::{Kind, gives, row};
use crate::model::library::lang::object;
use crate::model::tree::Binding;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.samplers", "SampleEvent")
    .extends(&object::KIND)
    .methods(&[gives(row("getResult", 0, |_, _, _| Ok(Value::Bound(Binding::Prev))), &sample_result::KIND)]);
