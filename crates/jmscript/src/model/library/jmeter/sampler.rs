//! `sampler`: the request that a script stands before. What the plan gives the request is not known here, so a script changes it
//! without reading it.

use super::argument::argument;
use super::arguments::{self, Arguments};
use super::{FIXED, allowed, cookie_manager, header_manager, is_change};
use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, ClassView, Kind, MANY, gives, listed, row, rows};
use crate::model::host::Field;
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::tree::Binding;
use crate::model::value::Value;

const UNKNOWN: &str = "what the plan gives a request is not known to its scripts: they may change it, or ask prev for the last one";

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.protocol.http.sampler", "HTTPSamplerProxy")
    .extends(&object::KIND)
    .viewed(ClassView {
        text: Some(|m| {
            let name = m.host.get(Field::SamplerName);
            m.text(&name)
        }),
        ..ClassView::NONE
    })
    .lacks(|method| is_change(method).then_some(FIXED))
    .methods(METHODS);

const METHODS: &[ClassRow] = &[
    row("getName", 0, |m, _, _| Ok(m.host.get(Field::SamplerName))),
    row("getThreadName", 0, |m, _, _| Ok(m.host.get(Field::UserName))),
    row("getComment", 0, |_, _, _| Ok(Value::from(""))),
    row("setName", 1, |m, _, args| set(m, Field::SamplerName, &args[0])),
    row("setPath", 1, |m, _, args| set(m, Field::SamplerPath, &args[0])),
    row("setMethod", 1, |m, _, args| set(m, Field::SamplerMethod, &args[0])),
    row("setDomain", 1, |m, _, args| set(m, Field::SamplerDomain, &args[0])),
    row("setProtocol", 1, |m, _, args| set(m, Field::SamplerProtocol, &args[0])),
    row("setPort", 1, |m, _, args| {
        m.put_field(Field::SamplerPort, Value::Int(args[0].to_long().unwrap_or(0) as i32))
    }),
    row("setPostBodyRaw", 1, |m, _, args| {
        m.put_field(Field::SamplerBodyIsRaw, Value::Bool(args[0].is_true()))
    }),
    gives(row("getCookieManager", 0, |m, _, _| m.bound(Binding::CookieManager)), &cookie_manager::KIND),
    gives(row("getHeaderManager", 0, |m, _, _| m.bound(Binding::HeaderManager)), &header_manager::KIND),
    gives(row("getArguments", 0, |_, _, _| Ok(Value::Bound(Binding::Arguments))), &arguments::OF_SAMPLER),
    row("setArguments", 1, |m, of, args| match args[0].as_object::<Arguments>() {
        Some(all) => {
            allowed(m.host.clear_arguments())?;
            for argument in all.0.borrow().iter() {
                allowed(m.host.add_argument(argument.clone()))?;
            }
            Ok(Value::Null)
        }
        None => m.no_method(of, "setArguments", args),
    }),
    rows("addArgument", 2, MANY, |m, _, args| add(m, args, true)),
    rows("addEncodedArgument", 2, MANY, |m, _, args| add(m, args, false)),
    rows("addNonEncodedArgument", 2, MANY, |m, _, args| add(m, args, false)),
    listed("getPath", UNKNOWN),
    listed("getUrl", UNKNOWN),
    listed("getMethod", UNKNOWN),
    listed("getDomain", UNKNOWN),
    listed("getPort", UNKNOWN),
    listed("getProtocol", UNKNOWN),
    listed("getQueryString", UNKNOWN),
    listed("getPostBodyRaw", UNKNOWN),
];

fn set(m: &mut Machine<'_>, field: Field, value: &Value) -> Run {
    let text = m.text(value)?;
    m.put_field(field, Value::Text(text))
}

fn add(m: &mut Machine<'_>, args: &[Value], encodes: bool) -> Run {
    let argument = argument(m, args, encodes)?;
    allowed(m.host.add_argument(argument))?;
    Ok(Value::Null)
}
