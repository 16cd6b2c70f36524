//! The cookie manager of the sampler.

use super::allowed;
use super::cookie::Cookie;
use crate::model::abrupt::Run;
use crate::model::class::{ClassView, Kind, partly, row};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::element;
use crate::model::value::Value;
use std::cell::RefCell;

const UNKNOWN: &str =
    "the cookies that answers have set are not known to scripts: they may add one or clear all";

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.protocol.http.control", "CookieManager")
    .extends(&object::KIND)
    .lacks(|_| Some(UNKNOWN))
    .viewed(ClassView { items: Some(|m| Ok(cookies(m))), ..ClassView::NONE })
    .methods(&[
        row("add", 1, add),
        row("addCookie", 1, add),
        row("clear", 0, |m, _, _| {
            allowed(m.host.set_cookies(Vec::new()))?;
            Ok(Value::Null)
        }),
        partly(row("getCookieCount", 0, |m, _, _| Ok(Value::count(m.host.cookies().len()))), UNKNOWN),
        partly(row("getCookies", 0, |m, _, _| all(m)), UNKNOWN),
        partly(row("get", 1, get), UNKNOWN),
        partly(row("getCookie", 1, get), UNKNOWN),
        partly(
            row("each", 1, |m, _, args| {
                let all = all(m)?;
                m.invoke(&all, "each", args)
            }),
            UNKNOWN,
        ),
    ]);

fn cookies(m: &mut Machine<'_>) -> Vec<Value> {
    m.host.cookies().into_iter().map(|cookie| Value::object(Cookie(RefCell::new(cookie)))).collect()
}

fn all(m: &mut Machine<'_>) -> Run {
    let cookies = cookies(m);
    m.new_list(cookies)
}

fn get(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let all = all(m)?;
    element(m, &all, &args[0])
}

fn add(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let Some(cookie) = args[0].as_object::<Cookie>() else { return m.no_method(of, "add", args) };
    let new = cookie.0.borrow().clone();
    let mut cookies = m.host.cookies();
    cookies.retain(|known| !(known.name == new.name && known.domain == new.domain && known.path == new.path));
    cookies.push(new);
    allowed(m.host.set_cookies(cookies))?;
    Ok(Value::Null)
}
