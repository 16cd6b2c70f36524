//! Samples, assertions and requests: what scripts read of them and set.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::host::{Field, Sample, Stop};
use crate::method::Method;
use crate::tree::Binding;
use crate::value::{CookieValue, Object, Value};
use std::cell::RefCell;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn sample_method(&mut self, of: Sample, method: Method, args: &[Value]) -> Run<Option<Value>> {
        if let (Some(field), []) = (readable(of, method), args) {
            return Ok(Some(self.host.get(field)));
        }
        if let Some(value) = self.change_sample(of, method, args)? {
            return Ok(Some(value));
        }
        Ok(Some(match method {
            Method::isResponseCodeOK => {
                let code = self.host.get(Field::Code(of));
                let code = self.text(&code)?;
                Value::Bool(code.starts_with(['1', '2', '3']) && code.len() == 3)
            }
            Method::getSubResults | Method::getAssertionResults => Value::array(Vec::new()),
            Method::getURL => {
                let url = self.host.get(Field::SampleUrl(of));
                if url.is_null() { url } else { Value::Text(self.text(&url)?) }
            }
            Method::getSampleCount => Value::Int(1),
            Method::getMediaType => {
                let kind = self.host.get(Field::ContentType(of));
                let kind = self.text(&kind)?;
                self.new_text(kind.split(';').next().unwrap_or_default().trim())?
            }
            Method::getParent => Value::Null,
            Method::isStopThread | Method::isStopTest => Value::Bool(false),
            Method::sampleStart | Method::sampleEnd => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn change_sample(&mut self, of: Sample, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        let field = match method {
            Method::setResponseData => {
                let value = match &first {
                    Value::Bytes(_) | Value::Null => first,
                    other => Value::Text(self.text(other)?),
                };
                return self.put_field(Field::Body(of), value).map(Some);
            }
            Method::setSuccessful => {
                return self.put_field(Field::Success(of), Value::Bool(first.is_true())).map(Some);
            }
            Method::setIgnore => return self.put_field(Field::Ignored(of), Value::Bool(true)).map(Some),
            Method::setResponseOK => {
                self.put_field(Field::Code(of), Value::from("200"))?;
                self.put_field(Field::Message(of), Value::from("OK"))?;
                return self.put_field(Field::Success(of), Value::Bool(true)).map(Some);
            }
            Method::setResponseCodeOK => {
                return self.put_field(Field::Code(of), Value::from("200")).map(Some);
            }
            Method::setResponseMessageOK => {
                return self.put_field(Field::Message(of), Value::from("OK")).map(Some);
            }
            Method::setStopThread | Method::setStopTest | Method::setStopTestNow => {
                let what = match method {
                    Method::setStopThread => Stop::User,
                    Method::setStopTest => Stop::Test,
                    _ => Stop::TestNow,
                };
                return Ok(Some(if first.is_true() { self.stop(what) } else { Value::Null }));
            }
            Method::setResponseCode => Field::Code(of),
            Method::setResponseMessage => Field::Message(of),
            Method::setResponseHeaders => Field::ResponseHeaders(of),
            Method::setRequestHeaders => Field::RequestHeaders(of),
            Method::setSamplerData => Field::SamplerData(of),
            Method::setSampleLabel => Field::SampleLabel(of),
            Method::setDataType => Field::DataType(of),
            Method::setDataEncoding | Method::setEncodingAndType => Field::Encoding(of),
            Method::setContentType => Field::ContentType(of),
            Method::setLatency
            | Method::setConnectTime
            | Method::setBytes
            | Method::setBodySize
            | Method::setStartTime
            | Method::setEndTime
            | Method::setTimeStamp => {
                let field = match method {
                    Method::setLatency => Field::Latency(of),
                    Method::setConnectTime => Field::Connect(of),
                    Method::setBytes => Field::ReceivedBytes(of),
                    Method::setBodySize => Field::BodyBytes(of),
                    Method::setEndTime => Field::EndTime(of),
                    _ => Field::StartTime(of),
                };
                return self.put_field(field, Value::Long(first.to_long().unwrap_or(0))).map(Some);
            }
            _ => return Ok(None),
        };
        let value = if first.is_null() { Value::Null } else { Value::Text(self.text(&first)?) };
        self.put_field(field, value).map(Some)
    }

    pub(super) fn assertion_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (method, args.len()) {
            (Method::isFailure | Method::getFailure, 0) => self.host.get(Field::Failure),
            (Method::isError | Method::getError, 0) => self.host.get(Field::AssertionError),
            (Method::getFailureMessage, 0) => self.host.get(Field::FailureMessage),
            (Method::setFailure, 1) => self.put_field(Field::Failure, Value::Bool(first.is_true()))?,
            (Method::setError, 1) => self.put_field(Field::AssertionError, Value::Bool(first.is_true()))?,
            (Method::setFailureMessage | Method::setResultForFailure, 1) => {
                if method == Method::setResultForFailure {
                    self.put_field(Field::Failure, Value::Bool(true))?;
                }
                let text = if first.is_null() { Value::Null } else { Value::Text(self.text(&first)?) };
                self.put_field(Field::FailureMessage, text)?
            }
            (Method::getName, 0) => self.host.get(Field::Label),
            _ => return Ok(None),
        }))
    }

    // The request.

    pub(super) fn sampler_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        let read = match method {
            Method::getName => Some(Field::SamplerName),
            Method::getPath => Some(Field::SamplerPath),
            Method::getMethod => Some(Field::SamplerMethod),
            Method::getDomain => Some(Field::SamplerDomain),
            Method::getPort => Some(Field::SamplerPort),
            Method::getProtocol => Some(Field::SamplerProtocol),
            Method::getUrl => Some(Field::SamplerUrl),
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
                return self
                    .put_field(Field::SamplerPort, Value::Int(first.to_long().unwrap_or(0) as i32))
                    .map(Some);
            }
            Method::setUseKeepAlive => {
                return self.put_field(Field::SamplerKeepAlive, Value::Bool(first.is_true())).map(Some);
            }
            Method::setFollowRedirects => {
                return self
                    .put_field(Field::SamplerFollowsRedirects, Value::Bool(first.is_true()))
                    .map(Some);
            }
            Method::setPostBodyRaw => return Ok(Some(Value::Null)),
            _ => return self.sampler_parts(method, args),
        };
        let text = self.text(&first)?;
        self.put_field(written, Value::Text(text)).map(Some)
    }

    fn sampler_parts(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args.len()) {
            (Method::getCookieManager, 0) => self.bound(Binding::CookieManager)?,
            (Method::getHeaderManager, 0) => self.bound(Binding::HeaderManager)?,
            (Method::getArguments, 0) => Value::Bound(Binding::Arguments),
            (Method::setArguments | Method::setHeaderManager | Method::setCookieManager, 1) => {
                return thrown(
                    "UnsupportedOperationException",
                    "a manager or list of its own is not given to a request here: change the one that it has",
                );
            }
            (Method::getPostBodyRaw, 0) => {
                let body = self.host.get(Field::SamplerBody);
                Value::Bool(!body.is_null())
            }
            (Method::getQueryString, 0) => {
                let pairs = self.host.arguments();
                let text: Vec<String> = pairs
                    .iter()
                    .map(|(name, value)| format!("{name}={}", super::bytes::url_encoded(value)))
                    .collect();
                self.new_text(text.join("&"))?
            }
            (Method::addArgument | Method::addNonEncodedArgument | Method::addEncodedArgument, 2..) => {
                return self.manager_method(Binding::Arguments, Method::addArgument, args);
            }
            _ => return Ok(None),
        }))
    }

    // Headers, cookies, arguments.

    pub(super) fn pairs_of(&mut self, binding: Binding) -> Vec<Value> {
        let (class, pairs) = match binding {
            Binding::HeaderManager => (Class::Header, self.host.headers()),
            _ => (Class::HttpArgument, self.host.arguments()),
        };
        pairs
            .into_iter()
            .map(|(name, value)| Value::object(Object::Pair(class, name, RefCell::new(value))))
            .collect()
    }

    pub(super) fn cookie_values(&mut self) -> Vec<Value> {
        self.host
            .cookies()
            .into_iter()
            .map(|cookie| Value::object(Object::Cookie(RefCell::new(cookie))))
            .collect()
    }

    pub(super) fn manager_method(
        &mut self,
        binding: Binding,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        match binding {
            Binding::CookieManager => self.cookie_manager(method, args),
            Binding::HeaderManager => self.pair_manager(binding, method, args),
            _ => self.pair_manager(binding, method, args),
        }
    }

    fn pair_manager(&mut self, binding: Binding, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let of_headers = binding == Binding::HeaderManager;
        let mut pairs = if of_headers { self.host.headers() } else { self.host.arguments() };
        let is_named = |known: &str, name: &str| {
            if of_headers { known.eq_ignore_ascii_case(name) } else { known == name }
        };
        match (method, args) {
            (Method::add | Method::addHeader | Method::addArgument | Method::setHeader, _) => {
                let (name, value) = self.pair(args)?;
                if of_headers {
                    pairs.retain(|(known, _)| !is_named(known, &name));
                }
                pairs.push((name, value));
            }
            (Method::removeHeaderNamed | Method::remove | Method::removeArgument, [what]) => match what {
                Value::Int(at) => {
                    let at = usize::try_from(*at).unwrap_or(usize::MAX);
                    if at < pairs.len() {
                        pairs.remove(at);
                    }
                }
                what => {
                    let name = self.pair(std::slice::from_ref(what))?.0;
                    pairs.retain(|(known, _)| !is_named(known, &name));
                }
            },
            (Method::clear | Method::removeAllArguments, []) => pairs.clear(),
            _ => return self.pair_question(binding, pairs, method, args),
        }
        let result = if of_headers { self.host.set_headers(pairs) } else { self.host.set_arguments(pairs) };
        match result {
            Ok(()) => Ok(Some(Value::Null)),
            Err(reason) => thrown("UnsupportedOperationException", reason),
        }
    }

    fn pair_question(
        &mut self,
        binding: Binding,
        pairs: Vec<(Rc<str>, Rc<str>)>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::size | Method::getArgumentCount | Method::getHeaderCount, []) => {
                Value::count(pairs.len())
            }
            (Method::getHeaders | Method::getArguments | Method::iterator, []) => {
                let items = self.pairs_of(binding);
                let list = self.new_list(items)?;
                if method == Method::iterator { self.iterator(&list)? } else { list }
            }
            (Method::get | Method::getHeader | Method::getArgument | Method::getAt, [Value::Int(at)]) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                self.pairs_of(binding).into_iter().nth(at).unwrap_or_default()
            }
            (Method::getFirstHeaderNamed | Method::getHeader, [name]) => {
                let name = self.text(name)?;
                let at = pairs.iter().position(|(known, _)| known.eq_ignore_ascii_case(&name));
                at.and_then(|at| self.pairs_of(binding).into_iter().nth(at)).unwrap_or_default()
            }
            (Method::getArgumentsAsMap, []) => {
                let entries = pairs.into_iter().map(|(name, value)| (Value::Text(name), Value::Text(value)));
                Value::Map(Rc::new(crate::value::Map::new(crate::value::MapKind::Plain, entries)))
            }
            _ => {
                let items = self.pairs_of(binding);
                let list = self.new_list(items)?;
                return self.each_method(&list, method, args);
            }
        }))
    }

    /// A name and a value: of a header object, or of two texts.
    fn pair(&mut self, args: &[Value]) -> Run<(Rc<str>, Rc<str>)> {
        match args {
            [Value::Object(object)] if matches!(**object, Object::Pair(..)) => {
                let Object::Pair(_, name, value) = &**object else { return Ok((Rc::from(""), Rc::from(""))) };
                Ok((name.clone(), value.borrow().clone()))
            }
            [name, value, ..] => Ok((self.text(name)?, self.text(value)?)),
            [name] => Ok((self.text(name)?, Rc::from(""))),
            [] => Ok((Rc::from(""), Rc::from(""))),
        }
    }

    fn cookie_manager(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
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
            (Method::remove | Method::removeCookie, [Value::Int(at)]) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                if at < cookies.len() {
                    cookies.remove(at);
                }
            }
            (Method::clear, []) => cookies.clear(),
            (Method::getCookieCount | Method::size, []) => return Ok(Some(Value::count(cookies.len()))),
            (Method::get | Method::getCookie, [Value::Int(at)]) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                return Ok(Some(self.cookie_values().into_iter().nth(at).unwrap_or_default()));
            }
            (Method::getCookies, []) => {
                let items = self.cookie_values();
                return self.new_list(items).map(Some);
            }
            _ => {
                let items = self.cookie_values();
                let list = self.new_list(items)?;
                return self.each_method(&list, method, args);
            }
        }
        match self.host.set_cookies(cookies) {
            Ok(()) => Ok(Some(Value::Null)),
            Err(reason) => thrown("UnsupportedOperationException", reason),
        }
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
            (Object::Pair(_, name, _), Method::getName) => Value::Text(name.clone()),
            (Object::Pair(_, _, value), Method::getValue) => Value::Text(value.borrow().clone()),
            (Object::Pair(_, _, value), Method::setValue) => {
                value.replace(text);
                Value::Null
            }
            (Object::Pair(..), Method::setAlwaysEncoded | Method::setUseEquals | Method::setMetaData) => {
                Value::Null
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

fn set_cookie(cookie: &RefCell<CookieValue>, change: impl FnOnce(&mut CookieValue)) -> Value {
    change(&mut cookie.borrow_mut());
    Value::Null
}

/// The field that a method without arguments reads.
fn readable(of: Sample, method: Method) -> Option<Field> {
    Some(match method {
        Method::getResponseDataAsString => Field::Body(of),
        Method::getResponseData => Field::Bytes(of),
        Method::getResponseCode => Field::Code(of),
        Method::getResponseMessage => Field::Message(of),
        Method::getResponseHeaders => Field::ResponseHeaders(of),
        Method::getRequestHeaders => Field::RequestHeaders(of),
        Method::getSamplerData | Method::getQueryString => Field::SamplerData(of),
        Method::getSampleLabel => Field::SampleLabel(of),
        Method::getUrlAsString => Field::SampleUrl(of),
        Method::isSuccessful => Field::Success(of),
        Method::getTime => Field::Elapsed(of),
        Method::getLatency => Field::Latency(of),
        Method::getConnectTime => Field::Connect(of),
        Method::getStartTime | Method::getTimeStamp => Field::StartTime(of),
        Method::getEndTime => Field::EndTime(of),
        Method::getBytesAsLong => Field::ReceivedBytes(of),
        Method::getBodySizeAsLong | Method::getBodySize => Field::BodyBytes(of),
        Method::getSentBytes => Field::SentBytes(of),
        Method::getContentType => Field::ContentType(of),
        Method::getDataType => Field::DataType(of),
        Method::getDataEncodingWithDefault | Method::getDataEncodingNoDefault | Method::getDataEncoding => {
            Field::Encoding(of)
        }
        Method::getErrorCount => Field::ErrorCount(of),
        Method::getGroupThreads => Field::GroupUsers(of),
        Method::getAllThreads => Field::AllUsers(of),
        Method::getThreadName => Field::UserName,
        Method::isIgnore => Field::Ignored(of),
        Method::getFirstAssertionFailureMessage => Field::AssertionMessage(of),
        _ => return None,
    })
}
