//! Methods and constants of classes.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::host::Field;
use crate::method::Method;
use crate::tree::{Binding, Type};
use crate::value::{ListKind, Map, MapKind, Object, Value};
use jiff::tz::TimeZone;
use std::rc::Rc;

impl Machine<'_> {
    /// Calls a method of a class.
    pub(super) fn invoke_static(&mut self, class: Class, method: Method, args: &[Value]) -> Run {
        let found = match class {
            Class::Math => return self.math(method, args),
            Class::Integer
            | Class::Long
            | Class::Double
            | Class::Float
            | Class::Short
            | Class::Byte
            | Class::Boolean
            | Class::BigDecimal
            | Class::BigInteger => self.number_class(class, method, args)?,
            Class::Character => self.character_class(method, args)?,
            Class::String | Class::CharSequence => self.text_class(method, args)?,
            Class::System | Class::Thread => self.system_class(class, method, args)?,
            Class::Collections | Class::Arrays | Class::List | Class::Set | Class::Map | Class::Objects => {
                self.collection_class(class, method, args)?
            }
            Class::ThreadLocalRandom | Class::SecureRandom | Class::Uuid | Class::RandomStringUtils => {
                self.chance_class(class, method, args)?
            }
            Class::Base64
            | Class::CodecBase64
            | Class::Hex
            | Class::DigestUtils
            | Class::MessageDigest
            | Class::Mac
            | Class::UrlEncoder
            | Class::UrlDecoder => self.bytes_class(class, method, args)?,
            Class::Pattern => self.pattern_class(method, args)?,
            Class::JsonOutput | Class::Json => self.json_class(method, args)?,
            Class::StringUtils => self.text_utilities(method, args)?,
            Class::JMeterUtils | Class::JMeterContextService | Class::FileServer => {
                self.jmeter_class(class, method, args)?
            }
            Class::Charset => match method {
                Method::forName => Some(Value::object(Object::Constant(
                    Class::Charset,
                    self.text(args.first().unwrap_or(&Value::Null))?,
                ))),
                Method::defaultCharset => {
                    Some(Value::object(Object::Constant(Class::Charset, Rc::from("UTF-8"))))
                }
                _ => None,
            },
            Class::JsArray => {
                (method == Method::isArray).then(|| Value::Bool(matches!(args.first(), Some(Value::List(_)))))
            }
            class => self.time_class(class, method, args)?,
        };
        match found {
            Some(value) => Ok(value),
            None => self.class_method(class, method, args),
        }
    }

    /// Methods of a class as an object: its names, and its static methods.
    pub(super) fn class_method(&mut self, class: Class, method: Method, args: &[Value]) -> Run {
        Ok(match (method, args) {
            (Method::getName, []) => self.new_text(class.full_name())?,
            (Method::getSimpleName, []) => Value::from(class.simple_name()),
            (Method::toString, []) => self.new_text(format!("class {}", class.full_name()))?,
            (Method::getClass, []) => Value::Class(Class::ClassItself),
            (Method::equals | Method::is, [other]) => Value::Bool(Value::Class(class).equals(other)),
            (Method::isInstance, [value]) => Value::Bool(self.is_instance(value, class)),
            (Method::isCase, [value]) => Value::Bool(self.is_instance(value, class)),
            (Method::cast, [value]) => self.cast(&Type::of_class(class), value.clone(), false)?,
            (Method::newInstance, args) => self.create(class, args)?,
            _ => return self.no_method(&Value::Class(class), method.name(), args),
        })
    }

    /// A constant of a class.
    pub(super) fn constant(&mut self, class: Class, name: &Rc<str>) -> Run {
        if let Some(value) = Self::number_constant(class, name) {
            return Ok(value);
        }
        let named = |class: Class| Ok(Value::object(Object::Constant(class, name.clone())));
        match (class, &**name) {
            (Class::Calendar | Class::GregorianCalendar, name) => match super::dates::calendar_constant(name)
            {
                Some(number) => Ok(Value::Int(number)),
                None => self.missing_property(&Value::Class(class), name),
            },
            (Class::File, "separator" | "separatorChar") => Ok(Value::from("/")),
            (Class::File, "pathSeparator") => Ok(Value::from(":")),
            (Class::Pattern, flag) => match pattern_flag(flag) {
                Some(flag) => Ok(Value::Int(flag)),
                None => self.missing_property(&Value::Class(class), name),
            },
            (Class::ZoneOffset, "UTC") => Ok(Value::object(Object::Zone(TimeZone::UTC))),
            (Class::StandardCharsets, charset) => {
                Ok(Value::object(Object::Constant(Class::Charset, Rc::from(charset.replace('_', "-")))))
            }
            (Class::DateTimeFormatter, iso) if iso.starts_with("ISO_") => {
                Ok(Value::object(Object::Formatter(name.clone(), None)))
            }
            (Class::ChronoUnit | Class::TimeUnit | Class::RoundingMode | Class::Locale, _) => named(class),
            (Class::SampleResult, "TEXT") => Ok(Value::from("text")),
            (Class::SampleResult, "BINARY") => Ok(Value::from("bin")),
            (Class::LocalTime, "MIDNIGHT") => {
                Ok(Value::object(Object::LocalTime(jiff::civil::Time::midnight())))
            }
            (Class::Instant, "EPOCH") => Ok(Value::object(Object::Instant(jiff::Timestamp::UNIX_EPOCH))),
            (Class::Math, "E" | "PI") => Ok(Value::Double(std::f64::consts::PI)),
            // `Integer.name`, `Foo.simpleName`, and properties that are methods without arguments.
            (_, "simpleName") => Ok(Value::from(class.simple_name())),
            (_, "name" | "canonicalName") => self.new_text(class.full_name()),
            _ => match getter_of(name) {
                Some(getter) => self.invoke_static(class, getter, &[]),
                None => self.missing_property(&Value::Class(class), name),
            },
        }
    }

    fn text_class(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::valueOf | Method::copyValueOf, [Value::List(list)]) => {
                let chars = list.to_vec();
                let mut out = String::new();
                for c in &chars {
                    out.push_str(&self.text(c)?);
                }
                self.new_text(out)?
            }
            (Method::valueOf, [value]) => Value::Text(self.text(value)?),
            (Method::format, _) => {
                let text = self.format(args)?;
                self.new_text(text)?
            }
            (Method::join, [between, parts @ ..]) => {
                let parts = match parts {
                    [one @ (Value::List(_) | Value::Range(_))] => self.items(one)?,
                    parts => parts.to_vec(),
                };
                let list = self.new_list(parts)?;
                self.collection_method(&list, Method::join, std::slice::from_ref(between))?
                    .unwrap_or_default()
            }
            (Method::fromCharCode, codes) => {
                let text: String =
                    codes.iter().filter_map(|code| char::from_u32(code.to_long()? as u32)).collect();
                self.new_text(text)?
            }
            _ => return Ok(None),
        }))
    }

    fn system_class(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (class, method) {
            (Class::System, Method::currentTimeMillis) => Value::Long(self.host.now()),
            (Class::System, Method::nanoTime) => Value::Long(self.host.nanos()),
            (Class::System, Method::lineSeparator) => Value::from("\n"),
            (Class::System, Method::getProperty) => match &*self.text(&first)? {
                "line.separator" => Value::from("\n"),
                "file.separator" => Value::from("/"),
                "user.dir" => self.host.get(Field::Folder),
                name => {
                    let known = self.host.property(name).filter(|value| value.as_text().is_some());
                    known.unwrap_or_else(|| args.get(1).cloned().unwrap_or_default())
                }
            },
            (Class::System, Method::arraycopy) => return self.array_copy(args).map(Some),
            (Class::Thread, Method::sleep) => {
                self.sleep(first.to_long().unwrap_or(0))?;
                Value::Null
            }
            (Class::Thread, Method::currentThread) => Value::Bound(Binding::Thread),
            _ => return Ok(None),
        }))
    }

    fn array_copy(&mut self, args: &[Value]) -> Run {
        let [Value::List(from), at, Value::List(to), place, count] = args else {
            return thrown("ClassCastException", "arraycopy needs two arrays");
        };
        let [at, place, count] = [at, place, count].map(|number| {
            number.to_long().and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX)
        });
        let items = from.to_vec();
        let part = at.checked_add(count).and_then(|end| items.get(at..end));
        let Some(part) = part.filter(|_| place.checked_add(count).is_some_and(|end| end <= to.len())) else {
            return thrown(
                "ArrayIndexOutOfBoundsException",
                "arraycopy: last source or destination index out of bounds",
            );
        };
        for (offset, item) in part.iter().enumerate() {
            self.set_element(&args[2], &Value::count(place + offset), item.clone())?;
        }
        Ok(Value::Null)
    }

    fn collection_class(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (class, method) {
            (Class::Arrays, Method::asList) | (Class::List, Method::of | Method::copyOf) => {
                let items = match args {
                    [one @ Value::List(_)] => self.items(one)?,
                    args => args.to_vec(),
                };
                self.new_list(items)?
            }
            (Class::Set, Method::of) => self.list_of_kind(ListKind::Set, args.to_vec())?,
            (Class::Map, Method::of) => {
                let map = Rc::new(Map::new(MapKind::Plain, []));
                for pair in args.chunks(2) {
                    self.put(&map, pair[0].clone(), pair.get(1).cloned().unwrap_or_default())?;
                }
                Value::Map(map)
            }
            (Class::Arrays, Method::toString) => {
                let items = self.items(&first)?;
                Value::Text(self.text(&Value::list(items))?)
            }
            (Class::Arrays | Class::Collections, Method::sort) => {
                let rest = args.get(1..).unwrap_or_default();
                self.invoke(&first, Method::sort, rest)?;
                Value::Null
            }
            (Class::Arrays, Method::copyOfRange) => {
                let range = [args.get(1), args.get(2)].map(|at| at.cloned().unwrap_or_default());
                self.invoke(&first, Method::subList, &range)?
            }
            (Class::Arrays, Method::equals) => {
                Value::Bool(first.equals_loosely(args.get(1).unwrap_or(&Value::Null)))
            }
            (Class::Arrays, Method::stream) => first,
            (Class::Collections, Method::shuffle | Method::reverse | Method::swap) => {
                let rest: Vec<Value> = if method == Method::reverse {
                    vec![Value::Bool(true)]
                } else {
                    args.get(1..).unwrap_or_default().to_vec()
                };
                self.invoke(&first, method, &rest)?;
                Value::Null
            }
            (Class::Collections, Method::max | Method::min) => {
                self.invoke(&first, method, args.get(1..).unwrap_or_default())?
            }
            _ => return self.collections(class, method, args),
        }))
    }

    fn collections(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (class, method) {
            (Class::Collections, Method::emptyList) => Value::list(Vec::new()),
            (Class::Collections, Method::emptyMap) => Value::Map(Rc::new(Map::new(MapKind::Plain, []))),
            (Class::Collections, Method::singletonList) => self.new_list(vec![first])?,
            (Class::Collections, Method::unmodifiableList | Method::synchronizedList) => first,
            (Class::Collections, Method::addAll) => {
                for item in args.get(1..).unwrap_or_default() {
                    self.push(&first, item.clone())?;
                }
                Value::Bool(true)
            }
            (Class::Collections, Method::nCopies) => {
                let count = usize::try_from(first.to_long().unwrap_or(0)).unwrap_or(0);
                self.take_items(count)?;
                Value::list(vec![args.get(1).cloned().unwrap_or_default(); count])
            }
            (Class::Collections, Method::frequency) => {
                let wanted = args.get(1).cloned().unwrap_or_default();
                Value::count(self.items(&first)?.iter().filter(|item| item.equals(&wanted)).count())
            }
            (Class::Objects, Method::equals) => {
                Value::Bool(first.equals_loosely(args.get(1).unwrap_or(&Value::Null)))
            }
            (Class::Objects, Method::isNull) => Value::Bool(first.is_null()),
            (Class::Objects, Method::nonNull) => Value::Bool(!first.is_null()),
            (Class::Objects, Method::toString) => Value::Text(self.text(&first)?),
            _ => return Ok(None),
        }))
    }

    fn pattern_class(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match method {
            Method::compile => {
                let text = self.text(&first)?;
                let flags = args.get(1).and_then(Value::to_long).unwrap_or(0);
                Value::object(Object::Pattern(self.pattern(&text, flags)?))
            }
            Method::matches => Value::Bool(self.matches(args.get(1).unwrap_or(&Value::Null), &first)?),
            Method::quote => {
                let text = self.text(&first)?;
                self.new_text(format!("\\Q{text}\\E"))?
            }
            _ => return Ok(None),
        }))
    }

    fn json_class(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match method {
            Method::toJson | Method::stringify => {
                let json = self.json_text(&first)?;
                self.new_text(json)?
            }
            Method::prettyPrint => {
                let json = self.text(&first)?;
                self.work(json.len() / 16)?;
                self.new_text(crate::value::json::pretty(&json))?
            }
            Method::parse => {
                let text = self.text(&first)?;
                self.parse_json(&text)?
            }
            _ => return Ok(None),
        }))
    }

    /// `StringUtils` of commons-lang: like the texts' own methods, but null is let through.
    fn text_utilities(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        let text = if first.is_null() { Rc::from("") } else { self.text(&first)? };
        Ok(Some(match method {
            Method::isEmpty => Value::Bool(text.is_empty()),
            Method::isNotEmpty => Value::Bool(!text.is_empty()),
            Method::isBlank => Value::Bool(text.trim().is_empty()),
            Method::isNotBlank => Value::Bool(!text.trim().is_empty()),
            Method::isNumeric => Value::Bool(!text.is_empty() && text.chars().all(char::is_numeric)),
            Method::isAlpha => Value::Bool(!text.is_empty() && text.chars().all(char::is_alphabetic)),
            Method::isAlphanumeric => {
                Value::Bool(!text.is_empty() && text.chars().all(char::is_alphanumeric))
            }
            Method::leftPad => {
                return self.text_method(&text, Method::padLeft, args.get(1..).unwrap_or_default());
            }
            Method::rightPad => {
                return self.text_method(&text, Method::padRight, args.get(1..).unwrap_or_default());
            }
            Method::substringBetween if args.len() == 3 => {
                return self.text_method(&text, Method::takeBetween, args.get(1..).unwrap_or_default());
            }
            Method::equals => Value::Bool(first.equals_loosely(args.get(1).unwrap_or(&Value::Null))),
            Method::join => {
                let between = args.get(1).cloned().unwrap_or_else(|| Value::from(""));
                self.invoke(&first, Method::join, &[between])?
            }
            _ if first.is_null() => Value::Null,
            method => return self.text_method(&text, method, args.get(1..).unwrap_or_default()),
        }))
    }

    fn jmeter_class(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (class, method) {
            (Class::JMeterUtils, Method::getProperty | Method::setProperty | Method::getPropDefault) => {
                self.invoke(&Value::Bound(Binding::Props), method, args)?
            }
            (Class::JMeterUtils, Method::getJMeterProperties) => Value::Bound(Binding::Props),
            (Class::JMeterUtils, Method::getJMeterVersion) => Value::from("5.6.3"),
            (Class::JMeterContextService, Method::getContext) => Value::Bound(Binding::Ctx),
            (Class::FileServer, Method::getFileServer) => Value::Bound(Binding::FileServer),
            _ => return Ok(None),
        }))
    }
}

fn getter_of(name: &str) -> Option<Method> {
    let mut chars = name.chars();
    let first = chars.next()?;
    Method::named(&format!("get{}{}", first.to_uppercase(), chars.as_str()))
}

fn pattern_flag(name: &str) -> Option<i32> {
    Some(match name {
        "CASE_INSENSITIVE" => 2,
        "COMMENTS" => 4,
        "MULTILINE" => 8,
        "LITERAL" => 16,
        "DOTALL" => 32,
        "UNICODE_CASE" | "UNICODE_CHARACTER_CLASS" | "UNIX_LINES" => 0,
        _ => return None,
    })
}
