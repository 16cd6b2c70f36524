//! Expressions.

use super::exec::default_of;
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown, thrown_bare};
use crate::model::call::Args;
use crate::model::class::Class;
use crate::model::library;
use crate::model::machine::Machine;
use crate::model::meaning::items::{element, items, put, set_element};
use crate::model::meaning::operate::{of_ints, operate};
use crate::model::meaning::{convert, javascript, patterns};
use crate::model::tree::{
    Binary, Call, Capture, Expr, FunctionCall, Property, StaticCall, TreePiece, TreePlace, TreeTarget, Type,
    Unary,
};
use crate::model::value::{
    Callable, Closure, LazyPiece, List, ListKind, Map, MapKind, Range, SharedValue, Value, text,
};
use std::rc::Rc;

impl Machine<'_> {
    /// The value of an expression.
    pub(super) fn eval(&mut self, expr: &Expr) -> Run {
        match expr {
            Expr::Literal(literal) => Ok(Value::from(literal)),
            Expr::Place(place) => self.read(*place),
            Expr::Call(call) => self.call(call),
            Expr::Binary(operator, both) => self.binary(*operator, &both.0, &both.1),
            Expr::Assign(target, operator, value) => self.assignment(target, *operator, value),
            Expr::And(both) => self.and_or(both, true),
            Expr::Or(both) => self.and_or(both, false),
            Expr::Ternary(parts) => {
                let condition = self.condition(&parts.0)?;
                self.eval(if condition { &parts.1 } else { &parts.2 })
            }
            Expr::Elvis(both) => {
                let value = self.eval(&both.0)?;
                if self.is_true(&value)? { Ok(value) } else { self.eval(&both.1) }
            }
            Expr::Property(property) => self.property(property),
            Expr::Index(both, is_safe) => self.index(&both.0, &both.1, *is_safe),
            Expr::Template(pieces) => self.template(pieces),
            Expr::Static(call) => self.static_call(call),
            Expr::Class(class) => Ok(Value::Class(*class)),
            Expr::Constant(class, name) => library::constant(self, *class, name),
            Expr::List(items) => self.list(items),
            Expr::Map(entries) => self.map(entries),
            Expr::Range(both, is_inclusive) => self.range(&both.0, &both.1, *is_inclusive),
            Expr::Spread(of) => self.deeper(of),
            Expr::Unary(operator, of) => self.unary(*operator, of),
            Expr::AssignUnlessTrue(target, value) => self.assignment_unless_true(target, value),
            Expr::Step(target, by, is_before) => self.step_by(target, *by, *is_before),
            Expr::Function(call) => self.function_call(call),
            Expr::Apply(parts) => self.application(&parts.0, &parts.1),
            Expr::New(class, args) => self.creation(*class, args),
            Expr::NewArray(kind, sizes) => self.new_array(kind, sizes),
            Expr::Cast(kind, of, is_as) => self.cast(kind, of, *is_as),
            Expr::InstanceOf(of, kind) => self.instance_of(of, kind),
            Expr::Closure(function) => self.closure(*function),
            Expr::MethodPointer(of, method) => self.method_pointer(of, method),
        }
    }

    /// The value of an expression within another, which may be within many.
    fn deeper(&mut self, expr: &Expr) -> Run {
        self.check_depth()?;
        self.eval(expr)
    }

    #[inline(never)]
    fn assignment_unless_true(&mut self, target: &TreeTarget, value: &Expr) -> Run {
        self.check_depth()?;
        let old = self.target_value(target)?;
        if self.is_true(&old)? {
            return Ok(old);
        }
        let value = self.eval(value)?;
        self.assign(target, value.clone())?;
        Ok(value)
    }

    #[inline(never)]
    fn function_call(&mut self, call: &FunctionCall) -> Run {
        self.check_depth()?;
        let args = self.args(&call.args)?;
        self.line = call.line;
        self.call_named(call, &args)
    }

    #[inline(never)]
    fn application(&mut self, of: &Expr, args: &[Expr]) -> Run {
        let of = self.deeper(of)?;
        let args = self.args(args)?;
        self.apply(&of, &args)
    }

    #[inline(never)]
    fn creation(&mut self, class: Class, args: &[Expr]) -> Run {
        self.check_depth()?;
        let args = self.args(args)?;
        self.create(class, &args)
    }

    #[inline(never)]
    fn cast(&mut self, kind: &Type, of: &Expr, is_as: bool) -> Run {
        let value = self.deeper(of)?;
        convert::cast(self, kind, value, is_as)
    }

    #[inline(never)]
    fn instance_of(&mut self, of: &Expr, kind: &Type) -> Run {
        let value = self.deeper(of)?;
        Ok(Value::Bool(convert::is_of_type(&value, kind)))
    }

    #[inline(never)]
    fn method_pointer(&mut self, of: &Expr, method: &Rc<str>) -> Run {
        let of = self.deeper(of)?;
        Ok(Value::Closure(Rc::new(Closure::new(Callable::Method(of, method.clone()), Rc::from([])))))
    }

    fn binary(&mut self, operator: Binary, left: &Expr, right: &Expr) -> Run {
        let left = self.eval(left)?;
        let right = self.eval(right)?;
        if let (Value::Int(a), Value::Int(b)) = (&left, &right)
            && let Some(value) = of_ints(operator, *a, *b)
        {
            return Ok(value);
        }
        operate(self, operator, &left, &right)
    }

    /// `&&` and `||`; JavaScript's give one of their operands.
    fn and_or(&mut self, both: &(Expr, Expr), is_and: bool) -> Run {
        let first = self.eval(&both.0)?;
        let decides = self.is_true(&first)? != is_and;
        match (decides, self.dialect) {
            (true, Dialect::JavaScript) => Ok(first),
            (true, _) => Ok(Value::Bool(!is_and)),
            (false, Dialect::JavaScript) => self.eval(&both.1),
            (false, _) => self.condition(&both.1).map(Value::Bool),
        }
    }

    pub(super) fn args(&mut self, args: &[Expr]) -> Run<Args> {
        let mut found = Args::new();
        for arg in args {
            if let Expr::Spread(list) = arg {
                let list = self.eval(list)?;
                found.extend(items(self, &list)?);
            } else {
                found.push(self.eval(arg)?);
            }
        }
        Ok(found)
    }

    fn call(&mut self, call: &Call) -> Run {
        self.check_depth()?;
        let of = self.eval(&call.of)?;
        if call.is_safe && of.is_null() {
            return Ok(Value::Null);
        }
        let args = self.args(&call.args)?;
        self.line = call.line;
        self.step()?;
        if !call.is_spread {
            return self.invoke_named(&of, call.method, &call.name, &args);
        }
        let mut found = Vec::new();
        for item in items(self, &of)? {
            found.push(if item.is_null() {
                Value::Null
            } else {
                self.invoke_named(&item, call.method, &call.name, &args)?
            });
        }
        self.new_list(found)
    }

    fn static_call(&mut self, call: &StaticCall) -> Run {
        let args = self.args(&call.args)?;
        self.line = call.line;
        self.step()?;
        self.invoke_static(call.class, call.method, &args)
    }

    // Assignments.

    fn assignment(&mut self, target: &TreeTarget, operator: Option<Binary>, value: &Expr) -> Run {
        let value = match operator {
            None => self.eval(value)?,
            Some(operator) => {
                let old = self.target_value(target)?;
                let value = self.eval(value)?;
                operate(self, operator, &old, &value)?
            }
        };
        self.assign(target, value.clone())?;
        Ok(value)
    }

    pub(super) fn target_value(&mut self, target: &TreeTarget) -> Run {
        match target {
            TreeTarget::Place(place) => self.read(*place),
            TreeTarget::Property(property) => self.property(property),
            TreeTarget::Index(both) => self.index(&both.0, &both.1, false),
        }
    }

    pub(super) fn assign(&mut self, target: &TreeTarget, value: Value) -> Run<()> {
        match target {
            TreeTarget::Place(place) => self.write(*place, value),
            TreeTarget::Property(property) => self.set_property(property, value),
            TreeTarget::Index(both) => {
                let of = self.eval(&both.0)?;
                let index = self.eval(&both.1)?;
                set_element(self, &of, &index, value)
            }
        }
    }

    #[inline(never)]
    fn step_by(&mut self, target: &TreeTarget, by: i8, is_before: bool) -> Run {
        self.check_depth()?;
        let old = self.target_value(target)?;
        let new = match &old {
            Value::Int(value) => Value::Int(value.wrapping_add(i32::from(by))),
            Value::Null => {
                return thrown("NullPointerException", "Cannot invoke method next() on null object");
            }
            Value::Text(text) if self.dialect == Dialect::Groovy => Value::Text(stepped_text(text, by)),
            Value::Char(c) => {
                Value::Char(char::from_u32(u32::from(*c).wrapping_add_signed(i32::from(by))).unwrap_or(*c))
            }
            other => operate(self, Binary::Add, other, &Value::Int(i32::from(by)))?,
        };
        self.assign(target, new.clone())?;
        Ok(if is_before { old } else { new })
    }

    // Properties and elements.

    fn property(&mut self, property: &Property) -> Run {
        let of = self.eval(&property.of)?;
        if of.is_null() && property.is_safe {
            return Ok(Value::Null);
        }
        if property.is_spread {
            let mut found = Vec::new();
            for item in items(self, &of)? {
                found.push(if item.is_null() { Value::Null } else { self.property_of(&item, property)? });
            }
            return self.new_list(found);
        }
        self.property_of(&of, property)
    }

    fn property_of(&mut self, of: &Value, property: &Property) -> Run {
        self.check_depth()?;
        if let Value::List(list) = of
            && list.kind != ListKind::Array
            && self.dialect == Dialect::Groovy
            && &*property.name != "class"
        {
            return self.spread_property(of, property);
        }
        self.property_by(of, &property.name, property.getters)
    }

    /// `list.name` is the property of each element.
    fn spread_property(&mut self, of: &Value, property: &Property) -> Run {
        let mut found = Vec::new();
        for item in items(self, of)? {
            if !item.is_null() {
                self.step()?;
                found.push(self.property_of(&item, property)?);
            }
        }
        self.new_list(found)
    }

    fn set_property(&mut self, property: &Property, value: Value) -> Run<()> {
        let of = self.eval(&property.of)?;
        self.set_property_of(&of, property, value)
    }

    fn set_property_of(&mut self, of: &Value, property: &Property, value: Value) -> Run<()> {
        let name = &property.name;
        let known = match of {
            Value::Map(map) => return put(self, map, Value::Text(name.clone()), value),
            Value::Null => {
                return thrown(
                    "NullPointerException",
                    format!("Cannot set property '{name}' on null object"),
                );
            }
            Value::Object(object) => object.clone().set_property(self, of, name, &value),
            Value::Bound(_) => of.kind().view().set_property.and_then(|set| set(self, name, &value)),
            _ => None,
        };
        match (known, property.setter) {
            (Some(done), _) => done,
            (None, Some(setter)) => self.invoke_method(of, setter, &[value]).map(drop),
            (None, None) => self.missing_property(of, name),
        }
    }

    fn index(&mut self, of: &Expr, index: &Expr, is_safe: bool) -> Run {
        let of = self.eval(of)?;
        if of.is_null() && is_safe {
            return Ok(Value::Null);
        }
        let index = self.eval(index)?;
        element(self, &of, &index)
    }

    // Values that are built.

    #[inline(never)]
    fn list(&mut self, items: &[Expr]) -> Run {
        self.check_depth()?;
        let items = self.args(items)?;
        self.new_list(items.into_vec())
    }

    #[inline(never)]
    fn map(&mut self, entries: &[(Expr, Expr)]) -> Run {
        self.check_depth()?;
        let mut found = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.eval(key)?;
            found.push((key, self.eval(value)?));
        }
        self.take_items(found.len() * 2)?;
        Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, found))))
    }

    #[inline(never)]
    fn range(&mut self, from: &Expr, to: &Expr, is_inclusive: bool) -> Run {
        self.check_depth()?;
        let from = self.eval(from)?;
        let to = self.eval(to)?;
        let single = |value: &Value| {
            value.as_text().and_then(|text| text.chars().next().filter(|_| text::len(text) == 1))
        };
        let is_text = single(&from).is_some() && single(&to).is_some();
        let ends = match (single(&from), single(&to)) {
            (Some(from), Some(to)) => Some((i64::from(u32::from(from)), i64::from(u32::from(to)))),
            _ => from.to_long().zip(to.to_long()),
        };
        let Some((from, to)) = ends else {
            return thrown("IllegalArgumentException", "a range needs two numbers or two characters");
        };
        let is_reverse = from > to;
        let to = match (is_inclusive, is_reverse) {
            (true, _) => to,
            (false, false) => to.saturating_sub(1),
            (false, true) => to.saturating_add(1),
        };
        let is_empty = !is_inclusive && if is_reverse { to > from } else { to < from };
        Ok(Value::Range(Rc::new(Range { from, to, is_reverse, is_text, is_empty })))
    }

    fn template(&mut self, pieces: &[TreePiece]) -> Run {
        if pieces.iter().any(|piece| matches!(piece, TreePiece::Lazy(_))) {
            return self.lazy_template(pieces);
        }
        let mut out = String::new();
        for piece in pieces {
            match piece {
                TreePiece::Text(text) => out.push_str(text),
                TreePiece::Value(value) | TreePiece::Lazy(value) => {
                    let value = self.eval(value)?;
                    let text = self.text(&value)?;
                    out.push_str(&text);
                }
            }
            if out.len() > self.limits.text {
                break;
            }
        }
        self.take_text(out.len())?;
        Ok(if self.dialect == Dialect::Groovy { Value::Template(Rc::from(out)) } else { Value::text(out) })
    }

    fn lazy_template(&mut self, pieces: &[TreePiece]) -> Run {
        let mut found = Vec::with_capacity(pieces.len());
        for piece in pieces {
            found.push(match piece {
                TreePiece::Text(text) => LazyPiece::Text(text.clone()),
                TreePiece::Value(value) => {
                    let value = self.eval(value)?;
                    LazyPiece::Text(self.text(&value)?)
                }
                TreePiece::Lazy(closure) => match self.eval(closure)? {
                    Value::Closure(closure) => LazyPiece::Call(closure),
                    other => LazyPiece::Text(self.text(&other)?),
                },
            });
        }
        Ok(Value::Lazy(Rc::from(found)))
    }

    fn closure(&mut self, function: u16) -> Run {
        let function = self.code.functions[usize::from(function)].clone();
        self.take(64 + function.captures.len() * 32)?;
        let mut captures: Vec<Rc<SharedValue>> = Vec::with_capacity(function.captures.len());
        for capture in &function.captures {
            captures.push(match capture {
                Capture::Local(slot) => self.share(*slot),
                Capture::Captured(at) => self.frame.captures[usize::from(*at)].clone(),
            });
        }
        let function = Callable::Function(function);
        Ok(Value::Closure(Rc::new(Closure::new(function, Rc::from(captures)))))
    }

    #[inline(never)]
    fn new_array(&mut self, kind: &Type, sizes: &[Expr]) -> Run {
        self.check_depth()?;
        let size = match sizes.first() {
            Some(size) => self.eval(size)?.to_long().unwrap_or(-1),
            None => 0,
        };
        let Ok(length) = usize::try_from(size) else {
            return thrown("NegativeArraySizeException", size.to_string());
        };
        if *kind == Type::Byte && sizes.len() == 1 {
            self.take(length)?;
            return Ok(Value::bytes(vec![0; length]));
        }
        self.take_items(length)?;
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(if sizes.len() > 1 {
                self.new_array(kind, &sizes[1..])?
            } else {
                default_of(kind, self.dialect)
            });
        }
        Ok(Value::List(Rc::new(List::new(ListKind::Array, items))))
    }

    #[inline(never)]
    fn unary(&mut self, operator: Unary, of: &Expr) -> Run {
        self.check_depth()?;
        if matches!(operator, Unary::Empty | Unary::Size) {
            return self.question_of_jexl(operator, of);
        }
        let value = self.eval(of)?;
        Ok(match (operator, &value) {
            (Unary::Not, value) => Value::Bool(!self.is_true(value)?),
            (Unary::TypeOf, value) => Value::from(type_of(value)),
            (Unary::Minus, Value::Int(value)) => Value::Int(value.wrapping_neg()),
            (Unary::Minus | Unary::BitNot | Unary::Plus, Value::Null) => {
                return thrown_bare("NullPointerException");
            }
            (Unary::Minus, Value::Double(value)) => Value::Double(-value),
            (Unary::Minus, value) => operate(self, Binary::Subtract, &Value::Int(0), value)?,
            (Unary::BitNot, Value::Int(value)) => Value::Int(!value),
            (Unary::BitNot, Value::Long(value)) => Value::Long(!value),
            (Unary::BitNot, value) if value.as_text().is_some() => {
                let text = self.text(value)?;
                Value::Object(patterns::pattern(self, &text, 0)?)
            }
            (Unary::Plus, value) if self.dialect == Dialect::JavaScript => {
                Value::Double(javascript::number(self, value)?)
            }
            _ => value,
        })
    }

    /// `empty x` and `size x`, for which an unknown name is empty.
    fn question_of_jexl(&mut self, operator: Unary, of: &Expr) -> Run {
        let value = match of {
            Expr::Place(TreePlace::Global(at)) => {
                self.globals.values[usize::from(*at)].clone().unwrap_or(Value::Null)
            }
            of => self.eval(of)?,
        };
        Ok(match operator {
            Unary::Empty => Value::Bool(match &value {
                Value::Int(_) | Value::Long(_) | Value::Double(_) | Value::Bool(_) => false,
                value => !value.is_true(),
            }),
            _ => Value::count(match &value {
                value if value.as_text().is_some() => text::len(&self.text(value)?),
                Value::Map(map) => map.len(),
                Value::Null => 0,
                value => items(self, value)?.len(),
            }),
        })
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Void => "undefined",
        Value::Bool(_) => "boolean",
        Value::Text(_) | Value::Char(_) => "string",
        Value::Closure(_) => "function",
        value if value.is_number() => "number",
        _ => "object",
    }
}

/// The text with its last character stepped, as `"a"++`.
fn stepped_text(text: &str, by: i8) -> Rc<str> {
    let mut chars: Vec<char> = text.chars().collect();
    if let Some(last) = chars.last_mut() {
        *last = char::from_u32(u32::from(*last).wrapping_add_signed(i32::from(by))).unwrap_or(*last);
    }
    Rc::from(chars.into_iter().collect::<String>())
}
