//! Operators, by the rules of each language.

use super::Machine;
use super::abrupt::{Run, thrown, thrown_bare};
use crate::dialect::Dialect;
use crate::number::{Decimal, MOST_DIGITS};
use crate::tree::{Binary, Expr, Type};
use crate::value::{ListKind, Map, MapKind, Object, Value};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use std::cmp::Ordering;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn binary(&mut self, operator: Binary, left: &Expr, right: &Expr) -> Run {
        let left = self.eval(left)?;
        let right = self.eval(right)?;
        if let (Value::Int(a), Value::Int(b)) = (&left, &right)
            && let Some(value) = of_ints(operator, *a, *b)
        {
            return Ok(value);
        }
        self.operate(operator, &left, &right)
    }

    /// The value of an operator.
    pub(super) fn operate(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        Ok(Value::Bool(match operator {
            Binary::Equal => self.are_equal(left, right)?,
            Binary::NotEqual => !self.are_equal(left, right)?,
            Binary::Same => self.are_same(left, right),
            Binary::NotSame => !self.are_same(left, right),
            Binary::Less => self.compared(left, right)?.is_some_and(Ordering::is_lt),
            Binary::LessOrEqual => self.compared(left, right)?.is_some_and(Ordering::is_le),
            Binary::Greater => self.compared(left, right)?.is_some_and(Ordering::is_gt),
            Binary::GreaterOrEqual => self.compared(left, right)?.is_some_and(Ordering::is_ge),
            Binary::Compare => {
                let order = self.compared(left, right)?.map_or(0, |order| order as i32);
                return Ok(Value::Int(order));
            }
            Binary::In => self.is_in(left, right)?,
            Binary::NotIn => !self.is_in(left, right)?,
            Binary::Find if self.dialect == Dialect::Jexl => self.matches_of_jexl(left, right)?,
            Binary::NotMatches => !self.matches_of_jexl(left, right)?,
            Binary::Find => return self.find(left, right),
            Binary::Matches => self.matches(left, right)?,
            Binary::StartsWith => self.text(left)?.starts_with(&*self.text(right)?),
            Binary::EndsWith => self.text(left)?.ends_with(&*self.text(right)?),
            operator => return self.arithmetic(operator, left, right),
        }))
    }

    pub(super) fn arithmetic(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        match self.dialect {
            Dialect::Groovy => self.of_groovy(operator, left, right),
            Dialect::BeanShell => self.of_java(operator, left, right),
            Dialect::JavaScript => self.of_javascript(operator, left, right),
            Dialect::Jexl => self.of_jexl(operator, left, right),
        }
    }

    // Equality and order.

    /// `==`.
    pub(super) fn are_equal(&mut self, left: &Value, right: &Value) -> Run<bool> {
        if matches!(left, Value::Lazy(_)) || matches!(right, Value::Lazy(_)) {
            return Ok(!left.is_null() && !right.is_null() && self.text(left)? == self.text(right)?);
        }
        match self.dialect {
            Dialect::Groovy => Ok(left.equals_loosely(right)),
            Dialect::BeanShell => Ok(same_in_java(left, right)),
            Dialect::JavaScript => self.equal_in_javascript(left, right),
            Dialect::Jexl => self.equal_in_jexl(left, right),
        }
    }

    /// `===`, and `is`.
    pub(super) fn are_same(&mut self, left: &Value, right: &Value) -> bool {
        match self.dialect {
            Dialect::JavaScript => match (left, right) {
                (Value::Null, Value::Void) | (Value::Void, Value::Null) => false,
                (a, b) if a.is_number() && b.is_number() => a.to_double() == b.to_double(),
                (a, b) => a.equals(b),
            },
            _ => identical(left, right),
        }
    }

    /// The order of two values; `None` where a comparison is false either way.
    pub(super) fn compared(&mut self, left: &Value, right: &Value) -> Run<Option<Ordering>> {
        match self.dialect {
            Dialect::Groovy => self.compared_in_groovy(left, right),
            Dialect::BeanShell => {
                if !is_numeric(left) || !is_numeric(right) {
                    return thrown("EvalError", "Operator: inappropriate for objects");
                }
                Ok(left.order(right))
            }
            Dialect::JavaScript => match (left.as_text(), right.as_text()) {
                (Some(_), Some(_)) => Ok(left.order(right)),
                _ => Ok(self.javascript_number(left)?.partial_cmp(&self.javascript_number(right)?)),
            },
            Dialect::Jexl => self.compared_in_jexl(left, right),
        }
    }

    pub(super) fn compared_in_groovy(&mut self, left: &Value, right: &Value) -> Run<Option<Ordering>> {
        if left.is_number() && matches!(right, Value::Float(_) | Value::Double(_))
            || matches!(left, Value::Double(_)) && right.is_number()
        {
            return Ok(left.order(right));
        }
        if let (Value::Lazy(_), _) | (_, Value::Lazy(_)) = (left, right) {
            let (left, right) = (self.text(left)?, self.text(right)?);
            return Ok(Value::Text(left).order(&Value::Text(right)));
        }
        match left.order(right) {
            Some(order) => Ok(Some(order)),
            None => {
                let (a, b) = (self.text(left)?, self.text(right)?);
                let (of, with) = (left.class_name(), right.class_name());
                thrown(
                    "IllegalArgumentException",
                    format!("Cannot compare {of} with value '{a}' and {with} with value '{b}'"),
                )
            }
        }
    }

    /// `a in b`, and what a `case` with a list asks.
    pub(super) fn is_in(&mut self, item: &Value, of: &Value) -> Run<bool> {
        Ok(match of {
            Value::Null => item.is_null(),
            Value::Range(range) if !range.is_text => {
                let is_whole = |number: f64| number.fract() == 0.0;
                item.to_double().is_some_and(is_whole)
                    && item.to_long().is_some_and(|number| range.contains(number))
            }
            Value::Map(map) => map.get(item).is_some_and(|value| value.is_true()),
            Value::Class(class) => self.is_instance(item, *class),
            Value::Text(text) => match item.as_text() {
                Some(item) => **item == **text,
                None => false,
            },
            of => {
                let items = self.items(of)?;
                self.work(items.len() / 4)?;
                items.iter().any(|known| known.equals_loosely(item))
            }
        })
    }

    // Groovy.

    pub(super) fn of_groovy(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        if left.is_number() && right.is_number() {
            return self.of_numbers(operator, left, right);
        }
        match (operator, left, right) {
            (Binary::Add, Value::Text(_), _) => self.joined(left, right),
            (Binary::Add, Value::Template(_) | Value::Lazy(_), _) => match self.joined(left, right)? {
                Value::Text(text) if !matches!(right, Value::Text(_)) => Ok(Value::Template(text)),
                joined => Ok(joined),
            },
            (Binary::Add, left, right)
                if right.as_text().is_some() && !matches!(left, Value::List(_) | Value::Map(_)) =>
            {
                self.joined(left, right)
            }
            (_, Value::Null, _) => {
                let name = operator_name(operator);
                thrown("NullPointerException", format!("Cannot invoke method {name}() on null object"))
            }
            (_, Value::List(_) | Value::Range(_) | Value::Map(_), _) => {
                self.of_collections(operator, left, right)
            }
            (Binary::ShiftLeft, Value::Text(_) | Value::Template(_), _) => {
                let joined = self.joined(left, right)?;
                self.create(crate::class::Class::StringBuilder, &[joined])
            }
            (Binary::Subtract | Binary::Multiply, Value::Text(_) | Value::Template(_), _) => {
                self.of_texts(operator, left, right)
            }
            (_, Value::Object(object), _) => self.of_objects(operator, &object.clone(), left, right),
            (_, Value::Char(_), right) if right.is_number() || matches!(right, Value::Char(_)) => {
                self.of_numbers(operator, left, right)
            }
            (_, left, Value::Char(_)) if left.is_number() => self.of_numbers(operator, left, right),
            (_, Value::Bool(a), Value::Bool(b)) => match operator {
                Binary::BitAnd => Ok(Value::Bool(a & b)),
                Binary::BitOr => Ok(Value::Bool(a | b)),
                Binary::BitXor => Ok(Value::Bool(a ^ b)),
                _ => self.no_operator(operator, left, right),
            },
            (_, left, Value::Null) if left.is_number() => thrown(
                "GroovyRuntimeException",
                format!(
                    "Ambiguous method overloading for method {}#{}.",
                    left.class_name(),
                    operator_name(operator)
                ),
            ),
            _ => self.no_operator(operator, left, right),
        }
    }

    pub(super) fn no_operator(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        let (of, name, with) = (left.class_name(), operator_name(operator), right.class_name());
        let values = self.text(right)?;
        let message = format!(
            "No signature of method: {of}.{name}() is applicable for argument types: ({with}) values: [{values}]"
        );
        thrown("MissingMethodException", message)
    }

    /// Both as one text.
    pub(super) fn joined(&mut self, left: &Value, right: &Value) -> Run {
        let (left, right) = (self.text(left)?, self.text(right)?);
        self.take_text(left.len() + right.len())?;
        let mut out = String::with_capacity(left.len() + right.len());
        out.push_str(&left);
        out.push_str(&right);
        Ok(Value::text(out))
    }

    pub(super) fn of_texts(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        let text = self.text(left)?;
        if operator == Binary::Multiply {
            let Some(times) = right.to_long() else { return self.no_operator(operator, left, right) };
            let Ok(times) = usize::try_from(times) else {
                let message =
                    format!("multiply() should be called with a number of 0 or greater not: {times}");
                return thrown("IllegalArgumentException", message);
            };
            self.take_text(text.len().saturating_mul(times))?;
            return Ok(Value::text(text.repeat(times)));
        }
        if let Value::Object(object) = right
            && let Object::Pattern(pattern) = &**object
        {
            return self.new_text(pattern.regex.replacen(&text, 1, regex::NoExpand("")).into_owned());
        }
        let part = self.text(right)?;
        self.new_text(text.replacen(&*part, "", 1))
    }

    pub(super) fn of_objects(
        &mut self,
        operator: Binary,
        object: &Rc<Object>,
        left: &Value,
        right: &Value,
    ) -> Run {
        match (operator, &**object) {
            (Binary::ShiftLeft, Object::Builder(_) | Object::Writer(_) | Object::File(_)) => {
                self.invoke(left, crate::method::Method::append, std::slice::from_ref(right))?;
                Ok(left.clone())
            }
            (Binary::Add, Object::Builder(_)) => self.joined(left, right),
            (Binary::Add | Binary::Subtract, _) => {
                match self.moved(object, operator == Binary::Subtract, right)? {
                    Some(value) => Ok(value),
                    None => self.no_operator(operator, left, right),
                }
            }
            _ => self.no_operator(operator, left, right),
        }
    }

    pub(super) fn of_collections(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        if let (Value::Map(map), Value::Map(other)) = (left, right)
            && matches!(operator, Binary::Add | Binary::ShiftLeft)
        {
            let target = if operator == Binary::Add {
                Rc::new(Map::new(MapKind::Plain, map.to_vec()))
            } else {
                map.clone()
            };
            self.take_items(target.len() * 2)?;
            for (key, value) in other.to_vec() {
                self.put(&target, key, value)?;
            }
            return Ok(Value::Map(target));
        }
        match operator {
            Binary::ShiftLeft => {
                self.push(left, right.clone())?;
                Ok(left.clone())
            }
            Binary::Add => {
                let mut items = self.items(left)?;
                match right {
                    Value::List(_) | Value::Range(_) => items.extend(self.items(right)?),
                    other => items.push(other.clone()),
                }
                self.like(left, items)
            }
            Binary::Subtract => {
                let mut items = self.items(left)?;
                let gone = if matches!(right, Value::List(_) | Value::Range(_)) {
                    self.items(right)?
                } else {
                    vec![right.clone()]
                };
                self.work(items.len() * gone.len() / 8)?;
                items.retain(|item| !gone.iter().any(|gone| gone.equals_loosely(item)));
                self.like(left, items)
            }
            Binary::Multiply => {
                let items = self.items(left)?;
                let times = usize::try_from(right.to_long().unwrap_or(0)).unwrap_or(0);
                self.take_items(items.len().saturating_mul(times))?;
                let repeated = items.iter().cycle().take(items.len() * times).cloned().collect();
                Ok(Value::list(repeated))
            }
            _ => self.no_operator(operator, left, right),
        }
    }

    /// A list of the kind that another has.
    pub(super) fn like(&mut self, of: &Value, items: Vec<Value>) -> Run {
        match of {
            Value::List(list) if list.kind != ListKind::List => self.list_of_kind(list.kind, items),
            _ => self.new_list(items),
        }
    }

    // Numbers.

    /// An operator of two numbers, of which the wider kind decides.
    pub(super) fn of_numbers(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        if operator == Binary::Power {
            return self.power(left, right);
        }
        if let (Some(a), Some(b)) = (small(left), small(right)) {
            return self.of_whole(operator, (a, b), (left, right));
        }
        let is_floating = |value: &Value| matches!(value, Value::Float(_) | Value::Double(_));
        if is_floating(left) || is_floating(right) {
            return self.of_doubles(operator, left, right);
        }
        let is_decimal = matches!(left, Value::Decimal(_)) || matches!(right, Value::Decimal(_));
        if is_decimal || operator == Binary::Divide && !self.dialect.divides_whole_numbers() {
            return self.of_decimals(operator, left, right);
        }
        self.of_bigs(operator, left, right)
    }

    pub(super) fn of_whole(
        &mut self,
        operator: Binary,
        (a, b): (i64, i64),
        (left, right): (&Value, &Value),
    ) -> Run {
        let is_long = matches!(left, Value::Long(_)) || matches!(right, Value::Long(_));
        let fitted = |value: i64| if is_long { Value::Long(value) } else { Value::Int(value as i32) };
        Ok(match operator {
            Binary::Add => fitted(a.wrapping_add(b)),
            Binary::Subtract => fitted(a.wrapping_sub(b)),
            Binary::Multiply => fitted(a.wrapping_mul(b)),
            Binary::Divide if !self.dialect.divides_whole_numbers() => {
                return self.of_decimals(operator, left, right);
            }
            Binary::Divide | Binary::Remainder if b == 0 => {
                let name = if self.dialect == Dialect::Groovy {
                    "/ by zero"
                } else {
                    "Arithemetic Exception in binary op"
                };
                return thrown(
                    "ArithmeticException",
                    if operator == Binary::Divide || self.dialect != Dialect::Groovy {
                        name
                    } else {
                        "Division by zero"
                    },
                );
            }
            Binary::Divide => fitted(a.wrapping_div(b)),
            Binary::Remainder => fitted(a.wrapping_rem(b)),
            Binary::BitAnd => fitted(a & b),
            Binary::BitOr => fitted(a | b),
            Binary::BitXor => fitted(a ^ b),
            Binary::ShiftLeft if matches!(left, Value::Long(_)) => Value::Long(a.wrapping_shl(b as u32)),
            Binary::ShiftLeft => Value::Int((a as i32).wrapping_shl(b as u32)),
            Binary::ShiftRight if matches!(left, Value::Long(_)) => Value::Long(a.wrapping_shr(b as u32)),
            Binary::ShiftRight => Value::Int((a as i32).wrapping_shr(b as u32)),
            Binary::ShiftRightUnsigned if matches!(left, Value::Long(_)) => {
                Value::Long(a.cast_unsigned().wrapping_shr(b as u32).cast_signed())
            }
            Binary::ShiftRightUnsigned => {
                Value::Int((a as i32).cast_unsigned().wrapping_shr(b as u32).cast_signed())
            }
            _ => return self.no_operator(operator, left, right),
        })
    }

    pub(super) fn of_doubles(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        let (a, b) = (left.to_double().unwrap_or(f64::NAN), right.to_double().unwrap_or(f64::NAN));
        let value = match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Remainder => a % b,
            _ => return self.no_operator(operator, left, right),
        };
        let is_float = matches!(
            (left, right),
            (Value::Float(_), Value::Float(_) | Value::Int(_)) | (Value::Int(_), Value::Float(_))
        );
        Ok(if is_float && self.dialect == Dialect::BeanShell {
            Value::Float(value as f32)
        } else {
            Value::Double(value)
        })
    }

    pub(super) fn of_decimals(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        let (Some(a), Some(b)) = (left.to_decimal(), right.to_decimal()) else {
            return self.of_doubles(operator, left, right);
        };
        let value = match operator {
            Binary::Add => Some(a.plus(&b)),
            Binary::Subtract => Some(a.minus(&b)),
            Binary::Multiply => a.times(&b),
            Binary::Divide => match a.divided_by(&b) {
                Some(quotient) => Some(quotient),
                None => return thrown("ArithmeticException", "Division by zero"),
            },
            Binary::Remainder if self.dialect == Dialect::Groovy => {
                let (class, shown) = (left.class_name(), self.text(left)?);
                return thrown(
                    "UnsupportedOperationException",
                    format!("Cannot use mod() on this number type: {class} with value: {shown}"),
                );
            }
            Binary::Remainder => a.remainder(&b),
            _ => return self.no_operator(operator, left, right),
        };
        self.bounded(value)
    }

    pub(super) fn bounded(&mut self, value: Option<Decimal>) -> Run {
        match value.filter(Decimal::is_bounded) {
            Some(value) => {
                self.work(1 + value.unscaled().bits() as usize / 64)?;
                Ok(Value::Decimal(Rc::new(value)))
            }
            None => thrown("ArithmeticException", format!("numbers have at most {MOST_DIGITS} digits here")),
        }
    }

    pub(super) fn of_bigs(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        let (Some(a), Some(b)) = (left.to_big(), right.to_big()) else {
            return self.no_operator(operator, left, right);
        };
        let is_division = matches!(operator, Binary::Divide | Binary::Remainder);
        if is_division && b.is_zero() {
            return thrown("ArithmeticException", "Division by zero");
        }
        let value = match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Remainder => a % b,
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::ShiftLeft if b.to_u64().is_some_and(|by| by < MOST_DIGITS * 3) => {
                a << b.to_u64().unwrap_or(0)
            }
            Binary::ShiftRight if b.to_u64().is_some() => a >> b.to_u64().unwrap_or(0),
            _ => return self.no_operator(operator, left, right),
        };
        self.big(value)
    }

    /// A whole number of any size that is not absurd.
    pub(super) fn big(&mut self, value: BigInt) -> Run {
        if value.bits() > MOST_DIGITS * 4 {
            return thrown("ArithmeticException", format!("numbers have at most {MOST_DIGITS} digits here"));
        }
        self.work(1 + value.bits() as usize / 64)?;
        Ok(Value::Big(Rc::new(value)))
    }

    pub(super) fn power(&mut self, left: &Value, right: &Value) -> Run {
        let exponent = right.to_long().unwrap_or(0);
        let is_whole = matches!(right, Value::Int(_) | Value::Long(_)) && exponent >= 0;
        let is_exact = matches!(left, Value::Int(_) | Value::Long(_) | Value::Big(_));
        if is_whole && is_exact {
            let base = left.to_big().unwrap_or_default();
            let bits = base.bits().saturating_mul(exponent.unsigned_abs());
            if bits > MOST_DIGITS * 4 && base.bits() > 1 {
                return thrown(
                    "ArithmeticException",
                    format!("numbers have at most {MOST_DIGITS} digits here"),
                );
            }
            let exponent =
                if base.bits() <= 1 { exponent % 2 + 2 * i64::from(exponent > 1) } else { exponent };
            return Ok(Value::whole(base.pow(exponent as u32)));
        }
        if let (Value::Decimal(base), true) = (left, is_whole && exponent < 1_000) {
            let mut product = Some(Decimal::new(1, 0));
            for _ in 0..exponent {
                self.step()?;
                product = product.and_then(|product| product.times(base)).filter(Decimal::is_bounded);
            }
            return self.bounded(product);
        }
        let value = left.to_double().unwrap_or(f64::NAN).powf(right.to_double().unwrap_or(f64::NAN));
        let is_int = value.fract() == 0.0 && value.abs() < 2_147_483_648.0 && is_exact;
        Ok(if is_int { Value::Int(value as i32) } else { Value::Double(value) })
    }

    // BeanShell.

    pub(super) fn of_java(&mut self, operator: Binary, left: &Value, right: &Value) -> Run {
        let is_text = |value: &Value| value.as_text().is_some();
        if operator == Binary::Add && (is_text(left) || is_text(right)) {
            return self.joined(left, right);
        }
        if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
            match operator {
                Binary::BitAnd => return Ok(Value::Bool(a & b)),
                Binary::BitOr => return Ok(Value::Bool(a | b)),
                Binary::BitXor => return Ok(Value::Bool(a ^ b)),
                _ => {}
            }
        }
        if !is_numeric(left) || !is_numeric(right) {
            let what = if left.is_null() || right.is_null() {
                "null or void value in binary operation"
            } else {
                "inappropriate for objects"
            };
            return thrown("EvalError", format!("Operator: '{}' {what}", operator_sign(operator)));
        }
        let plain = |value: &Value| {
            if let Value::Char(c) = value { Value::Int(u32::from(*c) as i32) } else { value.clone() }
        };
        self.of_numbers(operator, &plain(left), &plain(right))
    }

    /// A number converted to a type that must hold it.
    pub(super) fn number_as(&mut self, value: &Value, kind: &Type) -> Run {
        let Some(double) = value.to_double() else { return thrown_bare("ClassCastException") };
        let long = value.to_long().unwrap_or(0);
        // A floating-point number beyond the type is its largest; a whole one loses its upper bits.
        let is_floating = matches!(value, Value::Float(_) | Value::Double(_));
        let int = if is_floating { double as i32 } else { long as i32 };
        Ok(match kind {
            Type::Int => Value::Int(int),
            Type::Short => Value::Int(i32::from(int as i16)),
            Type::Byte => Value::Int(i32::from(int as i8)),
            Type::Long => Value::Long(long),
            Type::Float => Value::Float(double as f32),
            Type::Double => Value::Double(double),
            Type::Char => Value::Char(char::from_u32(u32::from(int as u16)).unwrap_or('\u{fffd}')),
            Type::Decimal => match value.to_decimal() {
                Some(decimal) => Value::Decimal(Rc::new(decimal)),
                None => return thrown("NumberFormatException", "Infinite or NaN"),
            },
            Type::Big => match value.to_big() {
                Some(big) => Value::Big(Rc::new(big)),
                None => return thrown("NumberFormatException", "Infinite or NaN"),
            },
            _ => value.clone(),
        })
    }
}

/// Applies an operator to two ints: the most frequent case, without further checks.
fn of_ints(operator: Binary, a: i32, b: i32) -> Option<Value> {
    Some(match operator {
        Binary::Add => Value::Int(a.wrapping_add(b)),
        Binary::Subtract => Value::Int(a.wrapping_sub(b)),
        Binary::Multiply => Value::Int(a.wrapping_mul(b)),
        Binary::Less => Value::Bool(a < b),
        Binary::LessOrEqual => Value::Bool(a <= b),
        Binary::Greater => Value::Bool(a > b),
        Binary::GreaterOrEqual => Value::Bool(a >= b),
        Binary::Equal => Value::Bool(a == b),
        Binary::NotEqual => Value::Bool(a != b),
        Binary::Remainder if b != 0 => Value::Int(a.wrapping_rem(b)),
        _ => return None,
    })
}

fn small(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(i64::from(*value)),
        Value::Long(value) => Some(*value),
        Value::Char(c) => Some(i64::from(u32::from(*c))),
        _ => None,
    }
}

pub(super) fn is_numeric(value: &Value) -> bool {
    value.is_number() || matches!(value, Value::Char(_))
}

/// `==` of Java: numbers by value, everything else by identity.
fn same_in_java(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (a, b) if is_numeric(a) && is_numeric(b) => a.order(b) == Some(Ordering::Equal),
        (Value::Void, Value::Null) | (Value::Null, Value::Void) => false,
        _ => identical(left, right),
    }
}

/// True if two values are one.
pub(super) fn identical(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) | (Value::Template(a), Value::Template(b)) => Rc::ptr_eq(a, b),
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
        (Value::Map(a), Value::Map(b)) => Rc::ptr_eq(a, b),
        (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
        (a, b) => a.equals(b),
    }
}

fn operator_name(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "plus",
        Binary::Subtract => "minus",
        Binary::Multiply => "multiply",
        Binary::Divide => "div",
        Binary::Remainder => "mod",
        Binary::Power => "power",
        Binary::ShiftLeft => "leftShift",
        Binary::ShiftRight => "rightShift",
        Binary::ShiftRightUnsigned => "rightShiftUnsigned",
        Binary::BitAnd => "and",
        Binary::BitOr => "or",
        Binary::BitXor => "xor",
        _ => "compareTo",
    }
}

pub(super) fn operator_sign(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        _ => "?",
    }
}
