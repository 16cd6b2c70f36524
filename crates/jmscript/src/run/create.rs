//! `new`.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::number::Decimal;
use crate::tree::Type;
use crate::value::{CookieValue, ListKind, Map, MapKind, Object, Value};
use num_bigint::{BigInt, Sign};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn create(&mut self, class: Class, args: &[Value]) -> Run {
        self.step()?;
        self.take(64)?;
        match class {
            Class::String => self.new_string(args),
            Class::ArrayList | Class::LinkedList | Class::Vector | Class::Stack | Class::JsArray => {
                let items = match args {
                    [of] if !of.is_number() => self.items(of)?,
                    _ => Vec::new(),
                };
                self.new_list(items)
            }
            Class::HashSet | Class::LinkedHashSet | Class::TreeSet => {
                let items = match args {
                    [of] if !of.is_number() => self.items(of)?,
                    _ => Vec::new(),
                };
                let set = self.list_of_kind(ListKind::Set, items)?;
                if class == Class::TreeSet {
                    self.sort_in_place(&set)?;
                }
                Ok(set)
            }
            Class::HashMap
            | Class::LinkedHashMap
            | Class::TreeMap
            | Class::Hashtable
            | Class::ConcurrentHashMap
            | Class::Properties => self.new_map_of(class, args),
            Class::StringBuilder | Class::StringBuffer => {
                let text = match args {
                    [of] if !of.is_number() => self.text(of)?,
                    _ => Rc::from(""),
                };
                Ok(Value::object(Object::Builder(RefCell::new(text.to_string()))))
            }
            Class::Random | Class::SecureRandom => {
                Ok(Value::object(match args.first().and_then(Value::to_long) {
                    Some(seed) if class == Class::Random => {
                        Object::Random(Cell::new(super::chance::seeded(seed)))
                    }
                    _ => Object::Chance,
                }))
            }
            Class::BigDecimal
            | Class::BigInteger
            | Class::Integer
            | Class::Long
            | Class::Double
            | Class::Float
            | Class::Boolean => self.new_number(class, args),
            Class::Thrown(exception) => {
                let message = match args.first() {
                    Some(message) if !message.is_null() => Some(self.text(message)?),
                    _ => None,
                };
                Ok(Value::object(Object::Exception(exception, message)))
            }
            other => self.new_object(other, args),
        }
    }

    fn new_string(&mut self, args: &[Value]) -> Run {
        match args {
            [] => Ok(Value::text("")),
            [Value::Bytes(bytes), rest @ ..] => {
                let charset = match rest.first() {
                    Some(charset) => self.text(charset)?,
                    None => Rc::from("UTF-8"),
                };
                self.new_text(super::bytes::decoded(bytes, &charset))
            }
            [Value::List(list), ..] => {
                let items = list.to_vec();
                let mut out = String::new();
                for item in &items {
                    out.push_str(&self.text(item)?);
                }
                self.new_text(out)
            }
            // A text of its own, even where it says the same.
            [of, ..] => {
                let text = self.text(of)?;
                self.new_text(text.to_string())
            }
        }
    }

    fn new_map_of(&mut self, class: Class, args: &[Value]) -> Run {
        let map =
            Rc::new(Map::new(if class == Class::TreeMap { MapKind::Sorted } else { MapKind::Plain }, []));
        if let [of] = args
            && !of.is_number()
        {
            self.invoke(&Value::Map(map.clone()), crate::method::Method::putAll, std::slice::from_ref(of))?;
        }
        Ok(Value::Map(map))
    }

    fn new_number(&mut self, class: Class, args: &[Value]) -> Run {
        match (class, args) {
            (Class::BigInteger, [sign, Value::Bytes(bytes)]) => {
                let sign = if sign.to_long() == Some(-1) { Sign::Minus } else { Sign::Plus };
                self.big(BigInt::from_bytes_be(sign, bytes))
            }
            (Class::BigInteger, [text, radix]) => {
                let text = self.text(text)?;
                let radix = radix
                    .to_long()
                    .and_then(|radix| u32::try_from(radix).ok())
                    .filter(|radix| (2..=36).contains(radix))
                    .unwrap_or(10);
                match BigInt::parse_bytes(text.get(..2_000).unwrap_or(&text).as_bytes(), radix) {
                    Some(value) => self.big(value),
                    None => thrown("NumberFormatException", format!("For input string: \"{text}\"")),
                }
            }
            (Class::BigDecimal, [Value::Double(number)]) => {
                // All digits of the binary fraction, as Java has it.
                match Decimal::parse(&format!("{number:.60}")) {
                    Some(decimal) => Ok(Value::Decimal(Rc::new(decimal.stripped()))),
                    None => thrown("NumberFormatException", "Infinite or NaN"),
                }
            }
            (_, [value, ..]) if value.is_number() => self.number_as(value, &Type::of_class(class)),
            (Class::Boolean, [value]) => Ok(Value::Bool(self.text(value)?.eq_ignore_ascii_case("true"))),
            (_, [value, ..]) => {
                let text = self.text(value)?;
                self.parse_number(&text, &Type::of_class(class))
            }
            (_, []) => self.no_method(&Value::Class(class), "<init>", args),
        }
    }

    fn new_object(&mut self, class: Class, args: &[Value]) -> Run {
        let first = args.first().cloned().unwrap_or_default();
        let object = match class {
            Class::Date => match args {
                [] => Object::Date(Cell::new(self.host.now())),
                [of] if of.is_number() => Object::Date(Cell::new(of.to_long().unwrap_or(0))),
                _ => return thrown("IllegalArgumentException", "a date needs milliseconds here"),
            },
            Class::SimpleDateFormat => {
                let pattern = if args.is_empty() { Rc::from("M/d/yy, h:mm a") } else { self.text(&first)? };
                let probe = crate::time::moment(0, &jiff::tz::TimeZone::UTC);
                if let Some(Err(reason)) =
                    probe.map(|moment| crate::time::format(&moment, &pattern, crate::time::Letters::Simple))
                {
                    return thrown("IllegalArgumentException", reason);
                }
                return Ok(self.date_format(pattern));
            }
            Class::DecimalFormat => return Ok(super::format::decimal_format(self.text(&first)?)),
            Class::GregorianCalendar => {
                Object::Calendar(Cell::new(self.host.now()), RefCell::new(self.host.time_zone()))
            }
            Class::Locale => Object::Constant(Class::Locale, self.text(&first)?),
            Class::JsonSlurper | Class::JsonSlurperClassic => Object::JsonSlurper,
            Class::JsonBuilder => Object::JsonBuilder(RefCell::new(first)),
            Class::SecretKeySpec => Object::Secret(self.bytes_of(&first)?),
            Class::Uuid => Object::Uuid(
                u128::from(first.to_long().unwrap_or(0).cast_unsigned()) << 64
                    | u128::from(args.get(1).and_then(Value::to_long).unwrap_or(0).cast_unsigned()),
            ),
            Class::File => match args {
                [folder, name] => {
                    Object::File(Rc::from(format!("{}/{}", self.text(folder)?, self.text(name)?)))
                }
                _ => Object::File(self.text(&first)?),
            },
            Class::FileWriter | Class::FileOutputStream => {
                return self.writer(&first, args.get(1).is_some_and(Value::is_true));
            }
            Class::BufferedWriter | Class::PrintWriter | Class::OutputStreamWriter | Class::PrintStream => {
                return self.writer(&first, false);
            }
            Class::FileReader | Class::BufferedReader => return self.reader(&first),
            Class::Header | Class::Argument | Class::HttpArgument => {
                let value = match args.get(1) {
                    Some(value) => self.text(value)?,
                    None => Rc::from(""),
                };
                Object::Pair(class, self.text(&first)?, RefCell::new(value), Cell::new(true))
            }
            Class::Arguments if args.is_empty() => Object::Arguments(RefCell::default()),
            Class::Cookie => self.new_cookie(args)?,
            Class::Object => Object::Plain,
            _ => return self.no_method(&Value::Class(class), "<init>", args),
        };
        Ok(Value::object(object))
    }

    /// `new Cookie(name, value, domain, path, secure, expires)`.
    fn new_cookie(&mut self, args: &[Value]) -> Run<Object> {
        let mut texts: [Rc<str>; 4] = std::array::from_fn(|_| Rc::from(""));
        for (text, arg) in texts.iter_mut().zip(args) {
            *text = self.text(arg)?;
        }
        let [name, value, domain, path] = texts;
        let is_secure = args.get(4).is_some_and(Value::is_true);
        let expires = args.get(5).and_then(Value::to_long).unwrap_or(0);
        Ok(Object::Cookie(RefCell::new(CookieValue { name, value, domain, path, is_secure, expires })))
    }
}
