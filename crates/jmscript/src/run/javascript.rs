//! Features that only JavaScript has: its operators, its global functions, and its names for methods of texts and lists.

use super::Machine;
use super::abrupt::Run;
use super::operate::identical;
use crate::method::Method;
use crate::tree::Binary;
use crate::value::{Object, Value, text};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn of_javascript(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        let is_plain =
            |value: &Value| value.is_number() || matches!(value, Value::Bool(_) | Value::Null | Value::Void);
        if operator == Binary::Add && !(is_plain(left) && is_plain(right)) {
            return self.joined(left, right);
        }
        let (a, b) = (self.javascript_number(left)?, self.javascript_number(right)?);
        let bits = |value: f64| {
            if value.is_finite() { value.trunc().rem_euclid(4_294_967_296.0) as u32 as i32 } else { 0 }
        };
        let shift = bits(b) as u32 & 31;
        Ok(Value::Double(match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Remainder => a % b,
            Binary::Power => a.powf(b),
            Binary::BitAnd => f64::from(bits(a) & bits(b)),
            Binary::BitOr => f64::from(bits(a) | bits(b)),
            Binary::BitXor => f64::from(bits(a) ^ bits(b)),
            Binary::ShiftLeft => f64::from(bits(a) << shift),
            Binary::ShiftRight => f64::from(bits(a) >> shift),
            Binary::ShiftRightUnsigned => f64::from(bits(a).cast_unsigned() >> shift),
            _ => return self.no_operator(operator, left, right),
        }))
    }

    /// A value as a number of JavaScript; `NaN` where it is none.
    pub(super) fn javascript_number(&mut self, value: &Value) -> Run<f64> {
        Ok(match value {
            Value::Null => 0.0,
            Value::Void => f64::NAN,
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Object(object) => match &**object {
                Object::Date(millis) => millis.get() as f64,
                _ => f64::NAN,
            },
            value if value.is_number() => value.to_double().unwrap_or(f64::NAN),
            value => {
                let text = self.text(value)?;
                let text = text.trim();
                let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
                match hex {
                    _ if text.is_empty() => 0.0,
                    Some(hex) => u64::from_str_radix(hex, 16).map_or(f64::NAN, |number| number as f64),
                    None => crate::value::text::parse_double(text)
                        .filter(|_| !text.ends_with(['d', 'f', 'D', 'F']))
                        .unwrap_or(f64::NAN),
                }
            }
        })
    }

    pub(super) fn equal_in_javascript(&mut self, left: &Value, right: &Value) -> Run<bool> {
        Ok(match (left, right) {
            (Value::Null | Value::Void, Value::Null | Value::Void) => true,
            (Value::Null | Value::Void, _) | (_, Value::Null | Value::Void) => false,
            (a, b) if a.as_text().is_some() && b.as_text().is_some() => a.as_text() == b.as_text(),
            (
                Value::List(_) | Value::Map(_) | Value::Object(_),
                Value::List(_) | Value::Map(_) | Value::Object(_),
            ) => identical(left, right),
            (a @ (Value::List(_) | Value::Map(_) | Value::Object(_)), b)
            | (b, a @ (Value::List(_) | Value::Map(_) | Value::Object(_))) => {
                let text = Value::Text(self.text(a)?);
                self.javascript_number(&text)? == self.javascript_number(b)? || b.as_text() == text.as_text()
            }
            (a, b) => self.javascript_number(a)? == self.javascript_number(b)?,
        })
    }

    pub(super) fn function_of_javascript(&mut self, name: &str, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or(Value::Void);
        Ok(Some(match name {
            "parseInt" => {
                let text = self.text(&first)?;
                Value::Double(leading_int(&text, args.get(1).and_then(Value::to_long)))
            }
            "parseFloat" => {
                let text = self.text(&first)?;
                Value::Double(leading_float(text.trim()))
            }
            "Number" => Value::Double(if args.is_empty() { 0.0 } else { self.javascript_number(&first)? }),
            "String" => Value::Text(self.text(&first)?),
            "Boolean" => Value::Bool(self.is_true(&first)?),
            "isNaN" => Value::Bool(self.javascript_number(&first)?.is_nan()),
            "isFinite" => Value::Bool(self.javascript_number(&first)?.is_finite()),
            "encodeURIComponent" => {
                let text = self.text(&first)?;
                self.take(text.len() * 3)?;
                self.new_text(
                    super::bytes::url_encoded(&text)
                        .replace('+', "%20")
                        .replace("%21", "!")
                        .replace("%7E", "~")
                        .replace("%28", "(")
                        .replace("%29", ")")
                        .replace("%27", "'"),
                )?
            }
            "decodeURIComponent" => {
                let text = self.text(&first)?;
                let decoded = super::bytes::url_decoded(&text.replace('+', "%2B"));
                self.new_text(decoded.unwrap_or_default())?
            }
            "print" => {
                let text = self.text(&first)?;
                self.host.print(&format!("{text}\n"));
                Value::Void
            }
            _ => return Ok(None),
        }))
    }

    /// A place in a text or list: from the end where it is negative, and never beyond.
    pub(super) fn clamped(&mut self, value: Option<&Value>, length: usize, default: usize) -> Run<usize> {
        let Some(value) = value.filter(|value| !matches!(value, Value::Void)) else { return Ok(default) };
        let number = self.javascript_number(value)?;
        let number = if number.is_nan() { 0.0 } else { number };
        let place = if number < 0.0 { number + length as f64 } else { number };
        Ok(place.clamp(0.0, length as f64) as usize)
    }

    pub(super) fn javascript_text_method(
        &mut self,
        of: &Rc<str>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let length = text::len(of);
        Ok(Some(match method {
            Method::charAt => {
                let at = args.first().and_then(Value::to_long).unwrap_or(0);
                let c =
                    usize::try_from(at).ok().filter(|at| *at < length).and_then(|at| text::char_at(of, at));
                self.new_text(c.map(String::from).unwrap_or_default())?
            }
            Method::charCodeAt => {
                let at = args.first().and_then(Value::to_long).unwrap_or(0);
                let c =
                    usize::try_from(at).ok().filter(|at| *at < length).and_then(|at| text::char_at(of, at));
                Value::Double(c.map_or(f64::NAN, |c| f64::from(u32::from(c))))
            }
            Method::substring | Method::slice | Method::substr => {
                let no_negatives = |value: &Value| Value::Double(value.to_double().unwrap_or(0.0).max(0.0));
                let plain: Vec<Value> = if method == Method::substring {
                    args.iter().map(no_negatives).collect()
                } else {
                    args.to_vec()
                };
                let from = self.clamped(plain.first(), length, 0)?;
                let to = match method {
                    Method::substr => match plain.get(1).and_then(Value::to_long) {
                        Some(count) => (from + usize::try_from(count).unwrap_or(0)).min(length),
                        None => length,
                    },
                    _ => self.clamped(plain.get(1), length, length)?,
                };
                let (from, to) =
                    if from > to && method == Method::substring { (to, from) } else { (from, to.max(from)) };
                self.new_text(text::slice(of, from, to).unwrap_or_default())?
            }
            _ => return self.javascript_text_change(of, method, args),
        }))
    }

    fn javascript_text_change(&mut self, of: &Rc<str>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match method {
            Method::replace => {
                let (Some(from), Some(to)) = (args.first(), args.get(1)) else { return Ok(None) };
                if matches!(from, Value::Object(_)) {
                    return self.text_pattern_method(of, Method::replaceAll, &[from.clone(), to.clone()]);
                }
                let (from, to) = (self.text(from)?, self.text(to)?);
                self.new_text(of.replacen(&*from, &to, 1))?
            }
            Method::split => {
                let Some(by) = args.first() else {
                    return self.new_list(vec![Value::Text(of.clone())]).map(Some);
                };
                if matches!(by, Value::Object(_)) {
                    return self.text_pattern_method(of, Method::split, &[by.clone(), Value::Int(-1)]);
                }
                let by = self.text(by)?;
                self.take(of.len() * 16)?;
                let parts: Vec<Value> = if by.is_empty() {
                    of.chars().map(|c| Value::text(c.to_string())).collect()
                } else {
                    of.split(&*by).map(Value::from).collect()
                };
                self.new_list(parts)?
            }
            Method::search => {
                let Some(Value::Object(object)) = args.first() else { return Ok(None) };
                let Object::Pattern(pattern) = &**object else { return Ok(None) };
                self.work(1 + of.len() / 64)?;
                Value::Double(
                    pattern.regex.find(of).map_or(-1.0, |found| text::unit_of(of, found.start()) as f64),
                )
            }
            Method::concat => self.joined(&Value::Text(of.clone()), args.first().unwrap_or(&Value::Void))?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn javascript_list_method(
        &mut self,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let items = self.items(of)?;
        Ok(Some(match method {
            Method::push => {
                for item in args {
                    self.push(of, item.clone())?;
                }
                Value::Double((items.len() + args.len()) as f64)
            }
            Method::slice => {
                let from = self.clamped(args.first(), items.len(), 0)?;
                let to = self.clamped(args.get(1), items.len(), items.len())?;
                self.new_list(items[from..to.max(from)].to_vec())?
            }
            Method::concat => {
                let mut all = items;
                for more in args {
                    all.extend(if matches!(more, Value::List(_)) {
                        self.items(more)?
                    } else {
                        vec![more.clone()]
                    });
                }
                self.new_list(all)?
            }
            Method::reverse => {
                if let Value::List(list) = of {
                    list.change(|items| items.reverse());
                }
                of.clone()
            }
            _ => return Ok(None),
        }))
    }
}

fn leading_int(found: &str, radix: Option<i64>) -> f64 {
    let found = found.trim();
    let (sign, digits) = match found.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, found.strip_prefix('+').unwrap_or(found)),
    };
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
        .filter(|_| matches!(radix, None | Some(16)));
    let radix =
        if hex.is_some() { 16 } else { u32::try_from(radix.unwrap_or(10)).unwrap_or(10).clamp(2, 36) };
    let digits = hex.unwrap_or(digits);
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return f64::NAN;
    }
    sign * digits[..length]
        .chars()
        .fold(0.0, |sum, c| sum * f64::from(radix) + f64::from(c.to_digit(radix).unwrap_or(0)))
}

fn leading_float(found: &str) -> f64 {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let most = found.find(|c| !is_part(c)).unwrap_or(found.len());
    let fits = (1..=most.min(64)).rev().find_map(|length| found[..length].parse::<f64>().ok());
    fits.unwrap_or(f64::NAN)
}
