//! Expressions.

use super::abrupt::{Run, thrown, thrown_bare};
use super::call::Args;
use super::{Machine, exec};
use crate::class::Class;
use crate::dialect::Dialect;
use crate::method::Method;
use crate::tree::{
    Binary, Binding, Call, Capture, Expr, Piece, Place, Property, StaticCall, Target, Type, Unary,
};
use crate::value::{
    Callable, Closure, LazyPiece, List, ListKind, Map, MapKind, Object, Range, Shared, Value, text,
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
            other => self.rare_expr(other),
        }
    }

    #[inline(never)]
    fn rare_expr(&mut self, expr: &Expr) -> Run {
        if self.stack.is_exhausted() {
            return super::abrupt::too_deep(self.limits.calls);
        }
        match expr {
            Expr::Class(class) => Ok(Value::Class(*class)),
            Expr::Constant(class, name) => self.constant(*class, name),
            Expr::List(items) => self.list(items),
            Expr::Map(entries) => self.map(entries),
            Expr::Range(both, is_inclusive) => self.range(&both.0, &both.1, *is_inclusive),
            Expr::Spread(of) => self.eval(of),
            Expr::Unary(operator, of) => self.unary(*operator, of),
            Expr::AssignUnlessTrue(target, value) => {
                let old = self.target_value(target)?;
                if self.is_true(&old)? {
                    return Ok(old);
                }
                let value = self.eval(value)?;
                self.assign(target, value.clone())?;
                Ok(value)
            }
            Expr::Step(target, by, is_before) => self.step_by(target, *by, *is_before),
            Expr::Function(call) => {
                let args = self.args(&call.args)?;
                self.line = call.line;
                self.call_named(call, &args)
            }
            Expr::Apply(parts) => {
                let of = self.eval(&parts.0)?;
                let args = self.args(&parts.1)?;
                self.apply(&of, &args)
            }
            Expr::New(class, args) => {
                let args = self.args(args)?;
                self.create(*class, &args)
            }
            Expr::NewArray(kind, sizes) => self.new_array(kind, sizes),
            Expr::Cast(kind, of, is_as) => {
                let value = self.eval(of)?;
                self.cast(kind, value, *is_as)
            }
            Expr::InstanceOf(of, kind) => {
                let value = self.eval(of)?;
                Ok(Value::Bool(self.is_of_type(&value, kind)))
            }
            Expr::Closure(function) => self.closure(*function),
            Expr::MethodPointer(of, method) => {
                let of = self.eval(of)?;
                let function = Callable::Method(of, *method);
                Ok(Value::Closure(Rc::new(Closure { function, captures: Rc::from([]), given: Vec::new() })))
            }
            _ => Ok(Value::Null),
        }
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
                found.extend(self.items(&list)?);
            } else {
                found.push(self.eval(arg)?);
            }
        }
        Ok(found)
    }

    fn call(&mut self, call: &Call) -> Run {
        if self.stack.is_exhausted() {
            return super::abrupt::too_deep(self.limits.calls);
        }
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
        for item in self.items(&of)? {
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

    fn assignment(&mut self, target: &Target, operator: Option<Binary>, value: &Expr) -> Run {
        let value = match operator {
            None => self.eval(value)?,
            Some(operator) => {
                let old = self.target_value(target)?;
                let value = self.eval(value)?;
                self.operate(operator, &old, &value)?
            }
        };
        self.assign(target, value.clone())?;
        Ok(value)
    }

    pub(super) fn target_value(&mut self, target: &Target) -> Run {
        match target {
            Target::Place(place) => self.read(*place),
            Target::Property(property) => self.property(property),
            Target::Index(both) => self.index(&both.0, &both.1, false),
        }
    }

    pub(super) fn assign(&mut self, target: &Target, value: Value) -> Run<()> {
        match target {
            Target::Place(place) => self.write(*place, value),
            Target::Property(property) => self.set_property(property, value),
            Target::Index(both) => {
                let of = self.eval(&both.0)?;
                let index = self.eval(&both.1)?;
                self.set_element(&of, &index, value)
            }
        }
    }

    fn step_by(&mut self, target: &Target, by: i8, is_before: bool) -> Run {
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
            other => self.operate(Binary::Add, other, &Value::Int(i32::from(by)))?,
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
            for item in self.items(&of)? {
                found.push(if item.is_null() { Value::Null } else { self.property_of(&item, property)? });
            }
            return self.new_list(found);
        }
        self.property_of(&of, property)
    }

    fn property_of(&mut self, of: &Value, property: &Property) -> Run {
        if self.stack.is_exhausted() {
            return super::abrupt::too_deep(self.limits.calls);
        }
        let name = &property.name;
        match of {
            Value::Map(map) if self.dialect.has_collections() => self.key(map, &Value::Text(name.clone())),
            Value::Null => {
                thrown("NullPointerException", format!("Cannot get property '{name}' on null object"))
            }
            Value::Bound(Binding::Variables) => self.variable_named(name),
            Value::Bound(Binding::Bsh) if &**name == "args" => self.read(Place::Bound(Binding::Args)),
            Value::Bound(Binding::Bsh) if &**name == "shared" => self.read(Place::Bound(Binding::Props)),
            Value::Bound(Binding::Vars) => self.missing_property(of, name),
            Value::Bound(Binding::Props) if self.dialect == Dialect::Groovy => {
                Ok(self.host.property(name).unwrap_or_default())
            }
            Value::List(list)
                if list.kind != ListKind::Array && self.dialect == Dialect::Groovy && &**name != "class" =>
            {
                self.spread_property(of, property)
            }
            _ if matches!(&**name, "length") => match self.length(of) {
                Some(length) => Ok(self.number_of(length)),
                None => self.missing_property(of, name),
            },
            _ => match property.getter {
                Some(getter) => self.invoke_getter(of, getter, name),
                None if &**name == "key" || &**name == "value" => self.invoke_getter(
                    of,
                    if &**name == "key" { Method::getKey } else { Method::getValue },
                    name,
                ),
                None => self.missing_property(of, name),
            },
        }
    }

    /// The property of a delegate that a name alone means.
    pub(super) fn element_named(&mut self, of: &Value, name: &Rc<str>) -> Run {
        if let Value::Map(map) = of {
            return self.key(map, &Value::Text(name.clone()));
        }
        let mut chars = name.chars();
        let first = chars.next().map_or_else(String::new, |first| first.to_uppercase().collect());
        match Method::named(&format!("get{first}{}", chars.as_str())) {
            Some(getter) => self.invoke_getter(of, getter, name),
            None => self.missing_property(of, name),
        }
    }

    /// A length as numbers are in this language.
    pub(super) fn number_of(&self, length: usize) -> Value {
        if self.dialect.has_only_doubles() { Value::Double(length as f64) } else { Value::count(length) }
    }

    pub(super) fn length(&self, of: &Value) -> Option<usize> {
        Some(match of {
            Value::List(list) if list.kind == ListKind::Array || self.dialect == Dialect::JavaScript => {
                list.len()
            }
            Value::Bytes(bytes) => bytes.len(),
            Value::Text(found) if self.dialect == Dialect::JavaScript => text::len(found),
            _ => return None,
        })
    }

    /// `list.name` is the property of each element.
    fn spread_property(&mut self, of: &Value, property: &Property) -> Run {
        let mut found = Vec::new();
        for item in self.items(of)? {
            if !item.is_null() {
                self.step()?;
                found.push(self.property_of(&item, property)?);
            }
        }
        self.new_list(found)
    }

    pub(super) fn missing_property<T>(&mut self, of: &Value, name: &str) -> Run<T> {
        let class = of.class_name();
        match self.dialect {
            Dialect::BeanShell => thrown("EvalError", format!("No such field: {name} of {class}")),
            Dialect::Jexl => thrown("JexlException", format!("unsolvable property '{name}'")),
            _ => thrown("MissingPropertyException", format!("No such property: {name} for class: {class}")),
        }
    }

    fn variable_named(&mut self, name: &str) -> Run {
        match self.code.globals.iter().position(|global| &**global == name) {
            Some(at) => self.read(Place::Global(at as u16)),
            None if name == "variables" => Ok(Value::Bound(Binding::Variables)),
            None => self.missing_property(&Value::Bound(Binding::Variables), name),
        }
    }

    fn set_property(&mut self, property: &Property, value: Value) -> Run<()> {
        let of = self.eval(&property.of)?;
        let name = &property.name;
        match (&of, property.setter) {
            (Value::Map(map), _) => self.put(map, Value::Text(name.clone()), value),
            (Value::Null, _) => {
                thrown("NullPointerException", format!("Cannot set property '{name}' on null object"))
            }
            (Value::Bound(Binding::Variables | Binding::Bsh), _) => self.set_variable_named(name, value),
            (Value::Bound(Binding::Props), None) => {
                self.host.set_property(name, value);
                Ok(())
            }
            (_, Some(setter)) => self.invoke(&of, setter, &[value]).map(drop),
            (_, None) => self.missing_property(&of, name),
        }
    }

    fn set_variable_named(&mut self, name: &str, value: Value) -> Run<()> {
        match self.code.globals.iter().position(|global| &**global == name) {
            Some(at) => self.write(Place::Global(at as u16), value),
            // Nobody reads it: a name that is read is known.
            None => Ok(()),
        }
    }

    fn index(&mut self, of: &Expr, index: &Expr, is_safe: bool) -> Run {
        let of = self.eval(of)?;
        if of.is_null() && is_safe {
            return Ok(Value::Null);
        }
        let index = self.eval(index)?;
        self.element(&of, &index)
    }

    // Values that are built.

    fn list(&mut self, items: &[Expr]) -> Run {
        let items = self.args(items)?;
        self.new_list(items.into_vec())
    }

    fn map(&mut self, entries: &[(Expr, Expr)]) -> Run {
        let mut found = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.eval(key)?;
            found.push((key, self.eval(value)?));
        }
        self.take_items(found.len() * 2)?;
        Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, found))))
    }

    fn range(&mut self, from: &Expr, to: &Expr, is_inclusive: bool) -> Run {
        let (from, to) = (self.eval(from)?, self.eval(to)?);
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

    fn template(&mut self, pieces: &[Piece]) -> Run {
        if pieces.iter().any(|piece| matches!(piece, Piece::Lazy(_))) {
            return self.lazy_template(pieces);
        }
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(value) | Piece::Lazy(value) => {
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

    fn lazy_template(&mut self, pieces: &[Piece]) -> Run {
        let mut found = Vec::with_capacity(pieces.len());
        for piece in pieces {
            found.push(match piece {
                Piece::Text(text) => LazyPiece::Text(text.clone()),
                Piece::Value(value) => {
                    let value = self.eval(value)?;
                    LazyPiece::Text(self.text(&value)?)
                }
                Piece::Lazy(closure) => match self.eval(closure)? {
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
        let mut captures: Vec<Rc<Shared>> = Vec::with_capacity(function.captures.len());
        for capture in &function.captures {
            captures.push(match capture {
                Capture::Local(slot) => self.share(*slot),
                Capture::Captured(at) => self.captures[usize::from(*at)].clone(),
            });
        }
        let function = Callable::Function(function);
        Ok(Value::Closure(Rc::new(Closure { function, captures: Rc::from(captures), given: Vec::new() })))
    }

    fn new_array(&mut self, kind: &Type, sizes: &[Expr]) -> Run {
        let size = match sizes.first() {
            Some(size) => self.eval(size)?.to_long().unwrap_or(-1),
            None => 0,
        };
        let Ok(length) = usize::try_from(size) else {
            return thrown("NegativeArraySizeException", size.to_string());
        };
        if *kind == Type::Byte && sizes.len() == 1 {
            self.take(length)?;
            return Ok(Value::Bytes(Rc::from(vec![0; length])));
        }
        self.take_items(length)?;
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(if sizes.len() > 1 {
                self.new_array(kind, &sizes[1..])?
            } else {
                exec::default_of(kind, self.dialect)
            });
        }
        Ok(Value::List(Rc::new(List::new(ListKind::Array, items))))
    }

    fn unary(&mut self, operator: Unary, of: &Expr) -> Run {
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
            (Unary::Minus, value) => self.operate(Binary::Subtract, &Value::Int(0), value)?,
            (Unary::BitNot, Value::Int(value)) => Value::Int(!value),
            (Unary::BitNot, Value::Long(value)) => Value::Long(!value),
            (Unary::BitNot, value) if value.as_text().is_some() => {
                let text = self.text(value)?;
                Value::object(Object::Pattern(self.pattern(&text, 0)?))
            }
            (Unary::Plus, value) if self.dialect == Dialect::JavaScript => {
                Value::Double(self.javascript_number(value)?)
            }
            _ => value,
        })
    }

    /// `empty x` and `size x`, for which an unknown name is empty.
    fn question_of_jexl(&mut self, operator: Unary, of: &Expr) -> Run {
        let value = match of {
            Expr::Place(Place::Global(at)) => {
                self.globals.values[usize::from(*at)].clone().unwrap_or_default()
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
                value => self.items(value)?.len(),
            }),
        })
    }

    /// True if a value is of a class or one that extends it.
    pub(super) fn is_of_type(&mut self, value: &Value, kind: &Type) -> bool {
        match kind {
            Type::Any => !value.is_null(),
            Type::Class(class) => self.is_instance(value, *class),
            Type::Bool => matches!(value, Value::Bool(_)),
            Type::Int | Type::Short | Type::Byte => matches!(value, Value::Int(_)),
            Type::Long => matches!(value, Value::Long(_)),
            Type::Float => matches!(value, Value::Float(_)),
            Type::Double => matches!(value, Value::Double(_)),
            Type::Char => matches!(value, Value::Char(_)),
            Type::Text => matches!(value, Value::Text(_)),
            Type::Decimal => matches!(value, Value::Decimal(_)),
            Type::Big => matches!(value, Value::Big(_)),
            Type::List => {
                matches!(value, Value::Range(_))
                    || matches!(value, Value::List(list) if list.kind == ListKind::List)
            }
            Type::Set => matches!(value, Value::List(list) if list.kind == ListKind::Set),
            Type::Map => matches!(value, Value::Map(_)),
            Type::Array(_) => {
                matches!(value, Value::Bytes(_))
                    || matches!(value, Value::List(list) if list.kind == ListKind::Array)
            }
        }
    }

    /// True if a value is of a class.
    pub(super) fn is_instance(&mut self, value: &Value, class: Class) -> bool {
        match (value, class) {
            (Value::Null | Value::Void, _) => false,
            (_, Class::Object) => true,
            (value, Class::Number) => value.is_number(),
            (value, Class::CharSequence) => {
                matches!(value, Value::Text(_) | Value::Template(_) | Value::Lazy(_))
            }
            (value, Class::GString) => matches!(value, Value::Template(_) | Value::Lazy(_)),
            (Value::List(_) | Value::Range(_), Class::Iterable | Class::Collection) => true,
            (Value::Closure(_), Class::Closure) => true,
            (Value::Object(object), Class::Thrown(wanted)) => {
                matches!(&**object, Object::Exception(class, _) if class.is_a(wanted))
            }
            (value, class) => {
                let kind = crate::tree::Type::of_class(class);
                match kind {
                    Type::Class(class) => value.class_name() == class.full_name(),
                    kind => self.is_of_type(value, &kind),
                }
            }
        }
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
