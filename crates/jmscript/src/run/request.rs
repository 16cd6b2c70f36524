//! The request that a script stands before: its parts that can be changed, its parameters, header fields and cookies.
//!
//! Values that the plan gives the request are not known here, so a script changes it without reading it (`parse::available`
//! lists whoever would read).

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::host::{Field, Refused};
use crate::method::Method;
use crate::tree::Binding;
use crate::value::{Argument, CookieValue, Object, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn sampler_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        let read = match method {
            Method::getName => Some(Field::SamplerName),
            Method::getThreadName => Some(Field::UserName),
            Method::getComment => return Ok(Some(Value::from(""))),
            _ => None,
        };
        if let (Some(field), []) = (read, args) {
            return Ok(Some(self.host.get(field)));
        }
        let written = match method {
            Method::setName => Field::SamplerName,
            Method::setPath => Field::SamplerPath,
            Method::setMethod => Field::SamplerMethod,
            Method::setDomain => Field::SamplerDomain,
            Method::setProtocol => Field::SamplerProtocol,
            Method::setPort => {
                let port = Value::Int(first.to_long().unwrap_or(0) as i32);
                return self.put_field(Field::SamplerPort, port).map(Some);
            }
            Method::setPostBodyRaw => {
                let raw = Value::Bool(first.is_true());
                return self.put_field(Field::SamplerBodyIsRaw, raw).map(Some);
            }
            _ => return self.sampler_parts(method, args),
        };
        let text = self.text(&first)?;
        self.put_field(written, Value::Text(text)).map(Some)
    }

    fn sampler_parts(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::getCookieManager, []) => self.bound(Binding::CookieManager)?,
            (Method::getHeaderManager, []) => self.bound(Binding::HeaderManager)?,
            (Method::getArguments, []) => Value::Bound(Binding::Arguments),
            (Method::setArguments, [Value::Object(object)]) => {
                let Object::Arguments(all) = &**object else { return Ok(None) };
                let all = all.borrow().clone();
                allowed(self.host.clear_arguments())?;
                for argument in all {
                    allowed(self.host.add_argument(argument))?;
                }
                Value::Null
            }
            (
                Method::addArgument | Method::addEncodedArgument | Method::addNonEncodedArgument,
                [_, _, ..],
            ) => {
                let argument = self.argument(args, method)?;
                allowed(self.host.add_argument(argument))?;
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    /// The parameters of the request.
    pub(super) fn arguments_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        match (method, args) {
            (Method::addArgument | Method::add, [_, ..]) => {
                let argument = self.argument(args, Method::addArgument)?;
                allowed(self.host.add_argument(argument))?;
            }
            (Method::clear | Method::removeAllArguments, []) => allowed(self.host.clear_arguments())?,
            _ => {
                let all = self.host.arguments();
                return self.arguments_question(&all, method, args);
            }
        }
        Ok(Some(Value::Null))
    }

    /// `new Arguments()`, a list of the script's own.
    pub(super) fn own_arguments_method(
        &mut self,
        all: &RefCell<Vec<Argument>>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        match (method, args) {
            (Method::addArgument | Method::add, [_, ..]) => {
                let argument = self.argument(args, Method::addArgument)?;
                self.take_items(1)?;
                all.borrow_mut().push(argument);
            }
            (Method::clear | Method::removeAllArguments, []) => all.borrow_mut().clear(),
            _ => {
                let all = all.borrow().clone();
                return self.arguments_question(&all, method, args);
            }
        }
        Ok(Some(Value::Null))
    }

    fn arguments_question(&mut self, all: &[Argument], method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::size | Method::getArgumentCount, []) => Value::count(all.len()),
            (Method::get | Method::getArgument | Method::getAt, [Value::Int(at)]) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                all.get(at).map(of_argument).unwrap_or_default()
            }
            (Method::getArgumentsAsMap, []) => {
                let entry = |one: &Argument| (Value::Text(one.name.clone()), Value::Text(one.value.clone()));
                let entries: Vec<_> = all.iter().map(entry).collect();
                Value::Map(Rc::new(crate::value::Map::new(crate::value::MapKind::Plain, entries)))
            }
            _ => {
                let list = self.new_list(all.iter().map(of_argument).collect())?;
                match method {
                    Method::getArguments => list,
                    Method::iterator => self.iterator(&list)?,
                    _ => return self.each_method(&list, method, args),
                }
            }
        }))
    }

    /// A parameter: of an object, or of a name and a value.
    fn argument(&mut self, args: &[Value], method: Method) -> Run<Argument> {
        if let [Value::Object(object)] = args
            && let Object::Pair(_, name, value, encodes) = &**object
        {
            return Ok(Argument {
                name: name.clone(),
                value: value.borrow().clone(),
                encodes: encodes.get(),
            });
        }
        let (name, value) = self.pair(args)?;
        Ok(Argument { name, value, encodes: method == Method::addArgument })
    }

    /// Returns the items that a loop over the parameters sees.
    pub(super) fn argument_values(&mut self) -> Vec<Value> {
        self.host.arguments().iter().map(of_argument).collect()
    }

    pub(super) fn cookie_values(&mut self) -> Vec<Value> {
        let cookies = self.host.cookies().into_iter();
        cookies.map(|cookie| Value::object(Object::Cookie(RefCell::new(cookie)))).collect()
    }

    pub(super) fn header_manager(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        match method {
            Method::add | Method::addHeader => {
                let (name, value) = self.pair(args)?;
                allowed(self.host.add_header(&name, &value))?;
            }
            Method::removeHeaderNamed => {
                let (name, _) = self.pair(args)?;
                allowed(self.host.remove_header(&name))?;
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::Null))
    }

    /// A name and a value: of a header object, or of two texts.
    fn pair(&mut self, args: &[Value]) -> Run<(Rc<str>, Rc<str>)> {
        match args {
            [Value::Object(object)] if matches!(**object, Object::Pair(..)) => {
                let Object::Pair(_, name, value, _) = &**object else {
                    return Ok((Rc::from(""), Rc::from("")));
                };
                Ok((name.clone(), value.borrow().clone()))
            }
            [name, value, ..] => Ok((self.text(name)?, self.text(value)?)),
            [name] => Ok((self.text(name)?, Rc::from(""))),
            [] => Ok((Rc::from(""), Rc::from(""))),
        }
    }

    pub(super) fn cookie_manager(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let mut cookies = self.host.cookies();
        match (method, args) {
            (Method::add | Method::addCookie, [Value::Object(object)]) => {
                let Object::Cookie(cookie) = &**object else { return Ok(None) };
                let new = cookie.borrow().clone();
                cookies.retain(|known| {
                    !(known.name == new.name && known.domain == new.domain && known.path == new.path)
                });
                cookies.push(new);
            }
            (Method::clear, []) => cookies.clear(),
            _ => {
                let items = self.cookie_values();
                let list = self.new_list(items)?;
                return match method {
                    Method::getCookieCount => Ok(Some(Value::count(cookies.len()))),
                    Method::getCookies => Ok(Some(list)),
                    Method::getCookie => self.each_method(&list, Method::get, args),
                    _ => self.each_method(&list, method, args),
                };
            }
        }
        allowed(self.host.set_cookies(cookies))?;
        Ok(Some(Value::Null))
    }

    /// Methods of a header, an argument or a cookie.
    pub(super) fn pair_method(
        &mut self,
        object: &Rc<Object>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let text = match args.first() {
            Some(value) => self.text(value)?,
            None => Rc::from(""),
        };
        Ok(Some(match (&**object, method) {
            (Object::Pair(_, name, ..), Method::getName) => Value::Text(name.clone()),
            (Object::Pair(_, _, value, _), Method::getValue) => Value::Text(value.borrow().clone()),
            (Object::Pair(_, _, value, _), Method::setValue) => {
                value.replace(text);
                Value::Null
            }
            (Object::Pair(.., encodes), Method::setAlwaysEncoded) => {
                encodes.set(&*text == "true");
                Value::Null
            }
            // What stands between a name and its value: always the equals sign here, as it is unless a script says else.
            (Object::Pair(..), Method::setUseEquals) if &*text == "true" => Value::Null,
            (Object::Pair(..), Method::setMetaData) if matches!(&*text, "=" | "") => Value::Null,
            (Object::Pair(..), Method::setUseEquals | Method::setMetaData) => {
                return thrown(
                    "UnsupportedOperationException",
                    "a name and its value have an equals sign between them",
                );
            }
            (Object::Cookie(cookie), Method::getName) => Value::Text(cookie.borrow().name.clone()),
            (Object::Cookie(cookie), Method::getValue) => Value::Text(cookie.borrow().value.clone()),
            (Object::Cookie(cookie), Method::getDomain) => Value::Text(cookie.borrow().domain.clone()),
            (Object::Cookie(cookie), Method::getPath) => Value::Text(cookie.borrow().path.clone()),
            (Object::Cookie(cookie), Method::setValue) => set_cookie(cookie, |cookie| cookie.value = text),
            (Object::Cookie(cookie), Method::setName) => set_cookie(cookie, |cookie| cookie.name = text),
            (Object::Cookie(cookie), Method::setDomain) => set_cookie(cookie, |cookie| cookie.domain = text),
            (Object::Cookie(cookie), Method::setPath) => set_cookie(cookie, |cookie| cookie.path = text),
            (Object::Cookie(cookie), Method::setSecure) => {
                set_cookie(cookie, |cookie| cookie.is_secure = &*text == "true")
            }
            (Object::Cookie(cookie), Method::setExpires) => {
                let expires = args.first().and_then(Value::to_long).unwrap_or(0);
                set_cookie(cookie, |cookie| cookie.expires = expires)
            }
            _ => return Ok(None),
        }))
    }
}

/// Turns a refusal of the outside world into an exception.
fn allowed(result: Result<(), Refused>) -> Run<()> {
    match result {
        Ok(()) => Ok(()),
        Err(reason) => thrown("UnsupportedOperationException", reason),
    }
}

fn of_argument(of: &Argument) -> Value {
    let value = RefCell::new(of.value.clone());
    Value::object(Object::Pair(Class::HttpArgument, of.name.clone(), value, Cell::new(of.encodes)))
}

fn set_cookie(cookie: &RefCell<CookieValue>, change: impl FnOnce(&mut CookieValue)) -> Value {
    change(&mut cookie.borrow_mut());
    Value::Null
}
