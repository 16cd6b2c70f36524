//! Methods of numbers, and of `Math` and the number classes.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::method::Method;
use crate::number::{Decimal, Rounding};
use crate::tree::{Binary, Type};
use crate::value::{Object, Value, text};
use num_bigint::BigInt;
use num_traits::Signed;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn number_method(&mut self, of: &Value, method: Method, args: &[Value]) -> Run<Option<Value>> {
        if let Value::Bool(value) = of {
            return Ok(match (method, args) {
                (Method::booleanValue | Method::toBoolean, []) => Some(Value::Bool(*value)),
                _ => None,
            });
        }
        if let Some(value) = self.number_conversion(of, method, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.number_arithmetic(of, method, args)? {
            return Ok(Some(value));
        }
        match (of, method) {
            (Value::Decimal(decimal), _) => self.decimal_method(&decimal.clone(), method, args),
            (_, Method::times | Method::upto | Method::downto | Method::step) => {
                self.counted(of, method, args).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn number_conversion(&mut self, of: &Value, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let kind = match method {
            Method::intValue | Method::toInteger | Method::intValueExact => Type::Int,
            Method::longValue | Method::toLong => Type::Long,
            Method::doubleValue | Method::toDouble => Type::Double,
            Method::floatValue | Method::toFloat => Type::Float,
            Method::shortValue => Type::Short,
            Method::byteValue => Type::Byte,
            Method::toBigDecimal => Type::Decimal,
            Method::toBigInteger => Type::Big,
            Method::toString if args.len() == 1 => {
                let radix = args[0].to_long().unwrap_or(10);
                return self.new_text(in_radix(&of.to_big().unwrap_or_default(), radix)).map(Some);
            }
            Method::toFixed => {
                let digits = args.first().and_then(Value::to_long).unwrap_or(0);
                return self.new_text(fixed(of.to_double().unwrap_or(f64::NAN), digits)).map(Some);
            }
            Method::isNaN => return Ok(Some(Value::Bool(of.to_double().is_some_and(f64::is_nan)))),
            Method::isInfinite => return Ok(Some(Value::Bool(of.to_double().is_some_and(f64::is_infinite)))),
            _ => return Ok(None),
        };
        self.number_as(of, &kind).map(Some)
    }

    fn number_arithmetic(&mut self, of: &Value, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let operator = match (method, of) {
            (Method::plus | Method::add, _) => Binary::Add,
            (Method::minus | Method::subtract, _) => Binary::Subtract,
            (Method::multiply, _) => Binary::Multiply,
            (Method::div, _) => Binary::Divide,
            (Method::divide, Value::Decimal(_)) if args.len() == 1 => Binary::Divide,
            (Method::mod_, _) => Binary::Remainder,
            (Method::power, _) => Binary::Power,
            (Method::intdiv, _) | (Method::divide, Value::Big(_)) => {
                return self.whole_quotient(of, args).map(Some);
            }
            (Method::abs, _) => {
                let is_negative = of.order(&Value::Int(0)) == Some(std::cmp::Ordering::Less);
                return if is_negative {
                    self.of_numbers(Binary::Subtract, &Value::Int(0), of).map(Some)
                } else {
                    Ok(Some(of.clone()))
                };
            }
            (Method::negate, _) => return self.of_numbers(Binary::Subtract, &Value::Int(0), of).map(Some),
            (Method::next | Method::previous, _) => {
                let by = Value::Int(if method == Method::next { 1 } else { -1 });
                return self.of_numbers(Binary::Add, of, &by).map(Some);
            }
            (Method::round | Method::trunc, Value::Float(_) | Value::Double(_)) => {
                return self.rounded(of, method, args).map(Some);
            }
            (Method::pow, Value::Big(_)) => Binary::Power,
            (Method::signum, _) => {
                let order = of.order(&Value::Int(0)).map_or(0, |order| order as i32);
                return Ok(Some(Value::Int(order)));
            }
            (Method::bitLength, _) => {
                return Ok(Some(Value::Int(of.to_big().unwrap_or_default().bits() as i32)));
            }
            (Method::max | Method::min, _) if args.len() == 1 => {
                return self.invoke_static(Class::Math, method, &[of.clone(), args[0].clone()]).map(Some);
            }
            _ => return Ok(None),
        };
        let Some(other) = args.first() else { return Ok(None) };
        self.operate(operator, of, other).map(Some)
    }

    fn whole_quotient(&mut self, of: &Value, args: &[Value]) -> Run {
        let other = args.first().cloned().unwrap_or_default();
        match (of.to_big(), other.to_big()) {
            (Some(_), Some(b)) if b == BigInt::ZERO => thrown("ArithmeticException", "/ by zero"),
            (Some(a), Some(b)) if matches!(of, Value::Big(_)) => self.big(a / b),
            (Some(a), Some(b)) => Ok(Value::whole(a / b)),
            _ => thrown("IllegalArgumentException", "intdiv needs two numbers"),
        }
    }

    fn rounded(&mut self, of: &Value, method: Method, args: &[Value]) -> Run {
        let number = of.to_double().unwrap_or(f64::NAN);
        let Some(digits) = args.first().and_then(Value::to_long) else {
            return Ok(if method == Method::round {
                Value::Long((number + 0.5).floor() as i64)
            } else {
                Value::Double(number.trunc())
            });
        };
        let scale = 10_f64.powi(digits.clamp(-300, 300) as i32);
        let scaled = number * scale;
        let rounded = if method == Method::round { (scaled + 0.5).floor() } else { scaled.trunc() };
        Ok(Value::Double(rounded / scale))
    }

    fn decimal_method(&mut self, of: &Rc<Decimal>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let number = |at: usize| args.get(at).and_then(Value::to_long).unwrap_or(0) as i32;
        let rounding = args.iter().find_map(rounding_of);
        let result = match (method, args.len()) {
            (Method::setScale, _) => of.with_scale(number(0), rounding.unwrap_or(Rounding::Unnecessary)),
            (Method::round, 1) if rounding.is_none() => of.with_scale(number(0), Rounding::HalfUp),
            (Method::round, 0) => of.with_scale(0, Rounding::HalfUp),
            (Method::trunc, _) => of.with_scale(number(0), Rounding::Down),
            (Method::divide, 2..) => {
                let other = args[0].to_decimal().unwrap_or_else(|| Decimal::new(0, 0));
                let scale = if args.len() > 2 { number(1) } else { of.scale() };
                of.divided_to(&other, scale, rounding.unwrap_or(Rounding::HalfUp))
            }
            (Method::remainder, 1) => {
                of.remainder(&args[0].to_decimal().unwrap_or_else(|| Decimal::new(0, 0)))
            }
            (Method::stripTrailingZeros, 0) => Some(of.stripped()),
            (Method::pow, 1) => {
                return self.operate(Binary::Power, &Value::Decimal(of.clone()), &args[0]).map(Some);
            }
            (Method::scale, 0) => return Ok(Some(Value::Int(of.scale()))),
            (Method::unscaledValue, 0) => return Ok(Some(Value::Big(Rc::new(of.unscaled().clone())))),
            (Method::toPlainString, 0) => return self.new_text(of.plain_text()).map(Some),
            _ => return Ok(None),
        };
        match result {
            Some(value) => Ok(Some(Value::Decimal(Rc::new(value)))),
            None => thrown("ArithmeticException", "Rounding necessary"),
        }
    }

    /// `3.times { }`, `1.upto(3) { }`, `1.step(10, 3) { }`.
    fn counted(&mut self, of: &Value, method: Method, args: &[Value]) -> Run {
        let Some(Value::Closure(closure)) = args.last() else {
            return self.no_method(of, method.name(), args);
        };
        let from = of.to_long().unwrap_or(0);
        let limit = args.first().and_then(Value::to_long).unwrap_or(0);
        let (mut at, end, by) = match method {
            Method::times => (0, from.saturating_sub(1), 1),
            Method::upto => (from, limit, 1),
            Method::downto => (from, limit, -1),
            _ => {
                let by = args.get(1).and_then(Value::to_long).unwrap_or(1);
                (from, if by > 0 { limit.saturating_sub(1) } else { limit.saturating_add(1) }, by)
            }
        };
        if by == 0 {
            return thrown("GroovyRuntimeException", "Infinite loop in step()");
        }
        while if by > 0 { at <= end } else { at >= end } {
            self.call_closure(closure, &[i32::try_from(at).map_or(Value::Long(at), Value::Int)])?;
            let Some(next) = at.checked_add(by) else { break };
            at = next;
        }
        Ok(Value::Null)
    }

    // Classes.

    /// `Integer.parseInt` and its like.
    pub(super) fn number_class(
        &mut self,
        class: Class,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let kind = Type::of_class(class);
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match method {
            Method::parseInt
            | Method::parseLong
            | Method::parseDouble
            | Method::parseFloat
            | Method::valueOf
            | Method::decode
                if matches!(
                    kind,
                    Type::Int
                        | Type::Long
                        | Type::Double
                        | Type::Float
                        | Type::Short
                        | Type::Byte
                        | Type::Decimal
                        | Type::Big
                ) =>
            {
                self.parsed(&kind, &first, args.get(1))?
            }
            Method::parseBoolean | Method::valueOf if class == Class::Boolean => match &first {
                Value::Bool(_) => first,
                other => Value::Bool(!other.is_null() && self.text(other)?.eq_ignore_ascii_case("true")),
            },
            Method::toString if args.len() == 2 => {
                self.new_text(in_radix(&first.to_big().unwrap_or_default(), args[1].to_long().unwrap_or(10)))?
            }
            Method::toString if args.len() == 1 => Value::Text(self.text(&first)?),
            Method::toHexString | Method::toBinaryString | Method::toOctalString => {
                let bits = if class == Class::Long {
                    first.to_long().unwrap_or(0).cast_unsigned()
                } else {
                    u64::from(first.to_long().unwrap_or(0) as u32)
                };
                self.new_text(match method {
                    Method::toHexString => format!("{bits:x}"),
                    Method::toBinaryString => format!("{bits:b}"),
                    _ => format!("{bits:o}"),
                })?
            }
            Method::compare if args.len() == 2 => {
                Value::Int(first.order(&args[1]).map_or(0, |order| order as i32))
            }
            Method::max | Method::min | Method::sum | Method::signum | Method::abs => {
                return self.math(method, args).map(Some);
            }
            Method::isNaN | Method::isInfinite => return self.number_method(&first, method, &[]),
            _ => return Ok(None),
        }))
    }

    fn parsed(&mut self, kind: &Type, value: &Value, radix: Option<&Value>) -> Run {
        if value.is_null() {
            return match kind {
                Type::Double | Type::Float | Type::Decimal | Type::Big => {
                    super::abrupt::thrown_bare("NullPointerException")
                }
                _ => thrown("NumberFormatException", "null"),
            };
        }
        if value.is_number() {
            return self.number_as(value, kind);
        }
        let found = self.text(value)?;
        match radix.and_then(Value::to_long) {
            Some(radix) => {
                let number = u32::try_from(radix)
                    .ok()
                    .filter(|radix| (2..=36).contains(radix))
                    .and_then(|radix| text::parse_long(&found, radix));
                match number {
                    Some(number) => self.number_as(&Value::Long(number), kind),
                    None => thrown("NumberFormatException", format!("For input string: \"{found}\"")),
                }
            }
            None => self.parse_number(&found, kind),
        }
    }

    pub(super) fn character_class(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let Some(c) = args.first().and_then(|first| match first {
            Value::Char(c) => Some(*c),
            Value::Int(code) => char::from_u32(*code as u32),
            other => other.as_text().and_then(|text| text.chars().next()),
        }) else {
            return Ok(None);
        };
        match method {
            Method::toString | Method::valueOf => {
                Ok(Some(if method == Method::toString { Value::text(c.to_string()) } else { Value::Char(c) }))
            }
            Method::getNumericValue => Ok(Some(Value::Int(c.to_digit(36).map_or(-1, |digit| digit as i32)))),
            _ => self.char_method(c, method, &[]),
        }
    }

    /// `Math`.
    pub(super) fn math(&mut self, method: Method, args: &[Value]) -> Run {
        let number = |at: usize| args.get(at).and_then(Value::to_double).unwrap_or(f64::NAN);
        if args.is_empty() && method != Method::random {
            return self.no_method(&Value::Class(Class::Math), method.name(), args);
        }
        let (a, b) = (number(0), number(1));
        let javascript = self.dialect.has_only_doubles();
        let value = match method {
            Method::random => self.chance_double()?,
            Method::round if !javascript => {
                let rounded = (a + 0.5).floor();
                return Ok(if matches!(args[0], Value::Float(_)) {
                    Value::Int(rounded as i32)
                } else {
                    Value::Long(rounded as i64)
                });
            }
            Method::round => (a + 0.5).floor(),
            Method::floor => a.floor(),
            Method::ceil => a.ceil(),
            Method::rint => a.round_ties_even(),
            Method::sqrt => a.sqrt(),
            Method::cbrt => a.cbrt(),
            Method::exp => a.exp(),
            Method::log => a.ln(),
            Method::log10 => a.log10(),
            Method::pow => a.powf(b),
            Method::sin => a.sin(),
            Method::cos => a.cos(),
            Method::tan => a.tan(),
            Method::atan => a.atan(),
            Method::atan2 => a.atan2(b),
            Method::asin => a.asin(),
            Method::acos => a.acos(),
            Method::hypot => a.hypot(b),
            Method::toRadians => a.to_radians(),
            Method::toDegrees => a.to_degrees(),
            Method::abs => {
                return self.number_arithmetic(&args[0], Method::abs, &[]).map(Option::unwrap_or_default);
            }
            Method::max | Method::min | Method::sum => return self.folded(args.to_vec(), method),
            Method::signum => a.signum(),
            Method::floorMod | Method::floorDiv => return self.floored(method, args),
            Method::addExact | Method::subtractExact | Method::multiplyExact | Method::toIntExact => {
                return self.exact(method, args);
            }
            _ => return self.no_method(&Value::Class(Class::Math), method.name(), args),
        };
        Ok(Value::Double(value))
    }

    fn floored(&mut self, method: Method, args: &[Value]) -> Run {
        let (a, b) = (
            args.first().and_then(Value::to_long).unwrap_or(0),
            args.get(1).and_then(Value::to_long).unwrap_or(0),
        );
        if b == 0 {
            return thrown("ArithmeticException", "/ by zero");
        }
        let rest = a.wrapping_rem(b);
        let is_between = rest != 0 && (rest < 0) != (b < 0);
        let value = match method {
            Method::floorMod => {
                if is_between {
                    rest + b
                } else {
                    rest
                }
            }
            _ => a.wrapping_div(b) - i64::from(is_between),
        };
        let is_int = args.iter().all(|arg| matches!(arg, Value::Int(_)));
        Ok(if is_int { Value::Int(value as i32) } else { Value::Long(value) })
    }

    fn exact(&mut self, method: Method, args: &[Value]) -> Run {
        let (a, b) = (
            args.first().and_then(Value::to_long).unwrap_or(0),
            args.get(1).and_then(Value::to_long).unwrap_or(0),
        );
        let is_int = method == Method::toIntExact || args.iter().all(|arg| matches!(arg, Value::Int(_)));
        let value = match method {
            Method::addExact => a.checked_add(b),
            Method::subtractExact => a.checked_sub(b),
            Method::multiplyExact => a.checked_mul(b),
            _ => Some(a),
        };
        match value {
            Some(value) if is_int => match i32::try_from(value) {
                Ok(int) => Ok(Value::Int(int)),
                Err(_) => thrown("ArithmeticException", "integer overflow"),
            },
            Some(value) => Ok(Value::Long(value)),
            None => thrown("ArithmeticException", "long overflow"),
        }
    }

    /// Constants of the number classes.
    pub(super) fn number_constant(class: Class, name: &str) -> Option<Value> {
        Some(match (class, name) {
            (Class::Integer, "MAX_VALUE") => Value::Int(i32::MAX),
            (Class::Integer, "MIN_VALUE") => Value::Int(i32::MIN),
            (Class::Long, "MAX_VALUE") => Value::Long(i64::MAX),
            (Class::Long, "MIN_VALUE") => Value::Long(i64::MIN),
            (Class::Double, "MAX_VALUE") => Value::Double(f64::MAX),
            (Class::Double, "NaN") => Value::Double(f64::NAN),
            (Class::Double, "POSITIVE_INFINITY") => Value::Double(f64::INFINITY),
            (Class::Math, "PI") => Value::Double(std::f64::consts::PI),
            (Class::Math, "E") => Value::Double(std::f64::consts::E),
            (Class::Boolean, "TRUE") => Value::Bool(true),
            (Class::Boolean, "FALSE") => Value::Bool(false),
            (Class::BigDecimal, "ZERO" | "ONE" | "TEN") => {
                Value::Decimal(Rc::new(Decimal::new(small_number(name), 0)))
            }
            (Class::BigInteger, "ZERO" | "ONE" | "TEN") => {
                Value::Big(Rc::new(BigInt::from(small_number(name))))
            }
            (Class::BigDecimal, name) if name.starts_with("ROUND_") => {
                Value::object(Object::Constant(Class::RoundingMode, Rc::from(&name[6..])))
            }
            _ => return None,
        })
    }
}

fn small_number(name: &str) -> i32 {
    match name {
        "ONE" => 1,
        "TEN" => 10,
        _ => 0,
    }
}

/// A constant of `RoundingMode`.
fn rounding_of(value: &Value) -> Option<Rounding> {
    match value {
        Value::Object(object) => match &**object {
            Object::Constant(Class::RoundingMode, name) => Rounding::named(name),
            _ => None,
        },
        _ => None,
    }
}

fn in_radix(value: &BigInt, radix: i64) -> String {
    let radix = u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
    let digits = value.magnitude().to_str_radix(radix);
    if value.is_negative() { format!("-{digits}") } else { digits }
}

/// JavaScript's `toFixed`.
fn fixed(value: f64, digits: i64) -> String {
    let digits = digits.clamp(0, 100) as usize;
    let exact =
        Decimal::from_double(value).and_then(|decimal| decimal.with_scale(digits as i32, Rounding::HalfUp));
    exact.map_or_else(|| format!("{value}"), |decimal| decimal.plain_text())
}
