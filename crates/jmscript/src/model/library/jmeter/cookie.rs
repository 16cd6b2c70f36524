//! `Cookie`.

use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, row};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{CookieValue, Object, Style, Value};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// A cookie.
pub(crate) struct Cookie(pub RefCell<CookieValue>);

impl Object for Cookie {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        let cookie = self.0.borrow();
        write!(out, "{}={}", cookie.name, cookie.value).expect("a String takes all");
    }
}

/// A function that reads a text.
macro_rules! read {
    ($field:ident) => {
        |_, of, _| Ok(Value::Text(cookie(of).borrow().$field.clone()))
    };
}

/// A function that sets a text.
macro_rules! set {
    ($field:ident) => {
        |m, of, args| {
            let text = m.text(&args[0])?;
            cookie(of).borrow_mut().$field = text;
            Ok(Value::Null)
        }
    };
}

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.protocol.http.control", "Cookie")
    .extends(&object::KIND)
    .creates(create)
    .methods(&[
        row("getName", 0, read!(name)),
        row("getValue", 0, read!(value)),
        row("getDomain", 0, read!(domain)),
        row("getPath", 0, read!(path)),
        row("setName", 1, set!(name)),
        row("setValue", 1, set!(value)),
        row("setDomain", 1, set!(domain)),
        row("setPath", 1, set!(path)),
        row("getSecure", 0, |_, of, _| Ok(Value::Bool(cookie(of).borrow().is_secure))),
        row("getExpires", 0, |_, of, _| Ok(Value::Long(cookie(of).borrow().expires))),
        row("setSecure", 1, |m, of, args| {
            let is_secure = &*m.text(&args[0])? == "true";
            cookie(of).borrow_mut().is_secure = is_secure;
            Ok(Value::Null)
        }),
        row("setExpires", 1, |_, of, args| {
            cookie(of).borrow_mut().expires = args[0].to_long().unwrap_or(0);
            Ok(Value::Null)
        }),
    ]);

fn cookie(of: &Value) -> &RefCell<CookieValue> {
    &of.receiver::<Cookie>().0
}

/// `new Cookie(name, value, domain, path, secure, expires)`.
fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    let mut texts: [Rc<str>; 4] = std::array::from_fn(|_| Rc::from(""));
    for (text, arg) in texts.iter_mut().zip(args) {
        *text = m.text(arg)?;
    }
    let [name, value, domain, path] = texts;
    let is_secure = args.get(4).is_some_and(Value::is_true);
    let expires = args.get(5).and_then(Value::to_long).unwrap_or(0);
    Ok(Value::object(Cookie(RefCell::new(CookieValue { name, value, domain, path, is_secure, expires }))))
}
