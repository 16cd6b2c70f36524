//! Methods of objects, by their kind.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::method::Method;
use crate::value::{Object, Style, Value};
use std::rc::Rc;

impl Machine<'_> {
    /// The text of objects that need more than themselves; `None` for the rest.
    pub(super) fn object_text(&mut self, object: &Rc<Object>) -> Option<Rc<str>> {
        match &**object {
            Object::Date(millis) => {
                Some(Rc::from(crate::time::date_text_in(millis.get(), &self.host.time_zone())))
            }
            Object::Constant(crate::class::Class::ClassItself, name) => {
                Some(Rc::from(format!("class {name}")))
            }
            _ => None,
        }
    }

    pub(super) fn object_method(
        &mut self,
        object: &Rc<Object>,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        if self.stack.is_exhausted() {
            return super::abrupt::too_deep(self.limits.calls);
        }
        match &**object {
            Object::Builder(_) => self.builder_method(of, object, method, args),
            Object::Pattern(pattern) => self.pattern_method(&pattern.clone(), method, args),
            Object::Matcher(matches) => self.matcher_method(of, matches, method, args),
            Object::Random(_) | Object::Chance => self.random_method(object, method, args),
            Object::Uuid(id) => self.uuid_method(*id, method),
            Object::File(path) => self.file_method(&path.clone(), of, method, args),
            Object::Writer(writer) => self.writer_method(writer, of, method, args),
            Object::Reader(lines) => self.reader_method(lines, of, method, args),
            Object::Encoder(..) | Object::Decoder(..) | Object::Digest(..) | Object::Mac(..) => {
                self.coder_method(object, method, args)
            }
            Object::JsonSlurper | Object::JsonBuilder(_) => self.json_method(object, method, args),
            Object::Entry(key, value) => self.entry_method((key, value), method, args),
            Object::Exception(class, message) => Ok(Some(match method {
                Method::getMessage | Method::getLocalizedMessage => {
                    message.clone().map_or(Value::Null, Value::Text)
                }
                Method::getCause => Value::Null,
                Method::printStackTrace => {
                    let text = of.shown(Style::Java);
                    self.host.print(&format!("{text}\n"));
                    Value::Null
                }
                Method::getStackTrace => Value::array(Vec::new()),
                Method::toString => self.new_text(of.shown(Style::Java))?,
                Method::getName => Value::from(class.full_name()),
                _ => return Ok(None),
            })),
            Object::Iterator(items, at) => Ok(Some(match method {
                Method::hasNext => Value::Bool(at.get() < items.borrow().len()),
                Method::next => match items.borrow().get(at.get()) {
                    Some(item) => {
                        at.set(at.get() + 1);
                        item.clone()
                    }
                    None => return thrown("NoSuchElementException", "No more elements"),
                },
                _ => return self.each_method(of, method, args),
            })),
            Object::DecimalFormat(pattern) if method == Method::format => {
                self.decimal_format(&pattern.clone(), args.first().unwrap_or(&Value::Null)).map(Some)
            }
            Object::Constant(class, name) => self.constant_method((*class, name), method, args),
            Object::Pair(..) | Object::Cookie(_) => self.pair_method(object, method, args),
            Object::Arguments(all) => self.own_arguments_method(all, method, args),
            _ => self.date_method(object, of, method, args),
        }
    }

    fn entry_method(
        &mut self,
        (key, value): (&Value, &Value),
        method: Method,
        _args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(match method {
            Method::getKey => Some(key.clone()),
            Method::getValue => Some(value.clone()),
            _ => None,
        })
    }

    fn constant_method(
        &mut self,
        (class, name): (crate::class::Class, &Rc<str>),
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        use crate::class::Class;
        Ok(Some(match (class, method) {
            (Class::ClassItself, Method::getName) => Value::Text(name.clone()),
            (Class::ClassItself, Method::getSimpleName) => {
                Value::from(name.rsplit('.').next().unwrap_or(name))
            }
            (_, Method::name | Method::toString | Method::displayName) => Value::Text(name.clone()),
            (Class::TimeUnit, Method::sleep) => {
                let millis = (unit_nanos(name) / 1_000_000)
                    .saturating_mul(args.first().and_then(Value::to_long).unwrap_or(0));
                self.sleep(millis)?;
                Value::Null
            }
            (Class::TimeUnit, Method::toMillis | Method::toSeconds | Method::toMinutes | Method::toNanos) => {
                let nanos = i128::from(unit_nanos(name))
                    * i128::from(args.first().and_then(Value::to_long).unwrap_or(0));
                let per: i128 = match method {
                    Method::toMillis => 1_000_000,
                    Method::toSeconds => 1_000_000_000,
                    Method::toMinutes => 60_000_000_000,
                    _ => 1,
                };
                Value::Long((nanos / per) as i64)
            }
            (Class::ChronoUnit, Method::between) => self.between(name, args)?,
            _ => return Ok(None),
        }))
    }

    fn json_method(&mut self, object: &Rc<Object>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        match (&**object, method) {
            (Object::JsonSlurper, Method::setType) => Ok(Some(Value::Object(object.clone()))),
            (Object::JsonSlurper, Method::parseText | Method::parse | Method::parseFile) => {
                let text = match &first {
                    Value::Null => {
                        return thrown("IllegalArgumentException", "Text must not be null or empty");
                    }
                    Value::Bytes(bytes) => Rc::from(String::from_utf8_lossy(bytes)),
                    Value::Object(file) if matches!(**file, Object::File(_) | Object::Reader(_)) => {
                        let text = self.invoke(&first, Method::getText, &[])?;
                        self.text(&text)?
                    }
                    other => self.text(other)?,
                };
                self.parse_json(&text).map(Some)
            }
            (Object::JsonBuilder(content), Method::toString) => {
                let json = self.json_text(&content.borrow().clone())?;
                self.new_text(json).map(Some)
            }
            (Object::JsonBuilder(content), Method::toPrettyString) => {
                let json = self.json_text(&content.borrow().clone())?;
                self.new_text(crate::value::json::pretty(&json)).map(Some)
            }
            (Object::JsonBuilder(content), Method::getContent) => Ok(Some(content.borrow().clone())),
            (Object::JsonBuilder(_), Method::call) => {
                self.apply(&Value::Object(object.clone()), args).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn parse_json(&mut self, text: &str) -> Run {
        if text.trim().is_empty() {
            return thrown("IllegalArgumentException", "Text must not be null or empty");
        }
        // Reading makes at most some values per byte.
        self.take(text.len().saturating_mul(8))?;
        self.work(text.len() / 32)?;
        match crate::value::json::parse(text) {
            Ok(value) => Ok(value),
            Err((message, at)) => {
                let (line, column) = crate::lexer::position(text, at);
                let near: String = text[at..].chars().take(40).collect();
                thrown("JsonException", format!("{message}\n\nline {line}, column {column}, at: {near}"))
            }
        }
    }

    /// A value as JSON; closures in texts are called before.
    pub(super) fn json_text(&mut self, value: &Value) -> Run<String> {
        let value = if let Value::Lazy(_) = value { Value::Text(self.text(value)?) } else { value.clone() };
        let json = crate::value::json::to_json(&value, self.style());
        self.take_text(json.len())?;
        self.work(json.len() / 64)?;
        Ok(json)
    }
}

/// Nanoseconds of a unit of time.
pub(super) fn unit_nanos(name: &str) -> i64 {
    match name {
        "NANOSECONDS" | "NANOS" => 1,
        "MICROSECONDS" | "MICROS" => 1_000,
        "MILLISECONDS" | "MILLIS" => 1_000_000,
        "MINUTES" => 60_000_000_000,
        "HOURS" => 3_600_000_000_000,
        "HALF_DAYS" => 43_200_000_000_000,
        "DAYS" => 86_400_000_000_000,
        _ => 1_000_000_000,
    }
}
