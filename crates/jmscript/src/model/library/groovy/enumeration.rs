//! Enums of a script's own, and their constants.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::{capitalized, lang::object};
use crate::model::machine::Machine;
use crate::model::meaning::items::items;
use crate::model::value::{Map, Object, Style, Value};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// An enum.
struct Enumeration {
    name: Rc<str>,
    constants: Vec<Value>,
    statics: Rc<Map>,
}

/// A constant of an enum.
struct Constant {
    name: Rc<str>,
    ordinal: usize,
    fields: RefCell<BTreeMap<Rc<str>, Value>>,
    /// Those of the enum, which also tell its constants from another one's.
    methods: Rc<Map>,
}

impl Object for Enumeration {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str("class ");
        out.push_str(&self.name);
    }

    fn items(&self, _: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        Ok(self.constants.clone())
    }

    fn property(&self, _: &mut Machine<'_>, _: &Value, name: &Rc<str>) -> Option<Run> {
        self.constant(name).map(Ok)
    }

    fn call(&self, m: &mut Machine<'_>, this: &Value, name: &Rc<str>, args: &[Value]) -> Option<Run> {
        let Value::Closure(method) = self.statics.get(&Value::Text(name.clone()))? else {
            return None;
        };
        Some(m.call_with_delegate(&method, this, args))
    }
}

impl Enumeration {
    fn constant(&self, name: &str) -> Option<Value> {
        let is_named = |value: &&Value| value.as_object::<Constant>().is_some_and(|one| &*one.name == name);
        self.constants.iter().find(is_named).cloned()
    }
}

impl Constant {
    fn method(&self, name: &str) -> Option<Value> {
        self.methods.get(&Value::from(name))
    }

    /// The field of a name, or of the method that reads it.
    fn field(&self, name: &str) -> Option<Value> {
        let fields = self.fields.borrow();
        let read = || fields.iter().find(|(field, _)| name.strip_prefix("get") == Some(&capitalized(field)));
        fields.get(name).cloned().or_else(|| read().map(|(_, value)| value.clone()))
    }
}

impl Object for Constant {
    fn class(&self) -> Class {
        Class::Known(&CONSTANT)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&self.name);
    }

    fn text(&self, m: &mut Machine<'_>, this: &Value) -> Option<Run<Rc<str>>> {
        let method = self.method("toString")?;
        let text = call(m, &method, this, &[]);
        Some(text.and_then(|text| m.text(&text)))
    }

    fn order(&self, other: &dyn Object) -> Option<Ordering> {
        let other = other.downcast::<Constant>().filter(|other| Rc::ptr_eq(&self.methods, &other.methods))?;
        Some(self.ordinal.cmp(&other.ordinal))
    }

    fn property(&self, m: &mut Machine<'_>, this: &Value, name: &Rc<str>) -> Option<Run> {
        if let Some(getter) = self.method(&format!("get{}", capitalized(name))) {
            return Some(call(m, &getter, this, &[]));
        }
        self.field(name).map(Ok)
    }

    fn set_property(&self, _: &mut Machine<'_>, _: &Value, name: &Rc<str>, value: &Value) -> Option<Run<()>> {
        let mut fields = self.fields.borrow_mut();
        fields.get_mut(name).map(|field| *field = value.clone()).map(Ok)
    }

    fn call(&self, m: &mut Machine<'_>, this: &Value, name: &Rc<str>, args: &[Value]) -> Option<Run> {
        match self.method(name) {
            Some(method) => Some(call(m, &method, this, args)),
            None => self.field(name).filter(|_| args.is_empty()).map(Ok),
        }
    }
}

pub(crate) static KIND: Kind =
    Kind::new("", "Enumeration").extends(&object::KIND).creates(create).methods(&[
        row("values", 0, |m, of, _| {
            let constants = of.receiver::<Enumeration>().constants.clone();
            m.new_list(constants)
        }),
        row("valueOf", 1, |m, of, args| {
            let name = m.text(&args[0])?;
            let of: &Enumeration = of.receiver();
            match of.constant(&name) {
                Some(constant) => Ok(constant),
                None => thrown("IllegalArgumentException", format!("No enum constant {}.{name}", of.name)),
            }
        }),
        row("getSimpleName", 0, |_, of, _| Ok(Value::Text(of.receiver::<Enumeration>().name.clone()))),
        row("getName", 0, |_, of, _| Ok(Value::Text(of.receiver::<Enumeration>().name.clone()))),
    ]);

pub(crate) static CONSTANT: Kind = Kind::new("", "Enumeration.Constant").extends(&object::KIND).methods(&[
    row("name", 0, |_, of, _| Ok(Value::Text(of.receiver::<Constant>().name.clone()))),
    row("ordinal", 0, |_, of, _| Ok(Value::count(of.receiver::<Constant>().ordinal))),
    rows("compareTo", 1, 1, |m, of, args| {
        let constant: &Constant = of.receiver();
        match args[0].as_object::<Constant>().filter(|other| Rc::ptr_eq(&constant.methods, &other.methods)) {
            Some(other) => Ok(Value::Int(constant.ordinal as i32 - other.ordinal as i32)),
            None => m.no_method(of, "compareTo", args),
        }
    }),
]);

/// A method on a constant: names alone mean its fields and methods.
fn call(m: &mut Machine<'_>, method: &Value, this: &Value, args: &[Value]) -> Run {
    let Value::Closure(closure) = method else { unreachable!("methods of enums are closures") };
    let args: Vec<Value> = std::iter::once(this).chain(args).cloned().collect();
    m.call_with_delegate(closure, this, &args)
}

/// Name, constants with their arguments, fields, constructor, methods and static methods, as `parse::enumeration` gives them.
fn create(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    let [name, constants, fields, constructor, Value::Map(methods), Value::Map(statics)] = args else {
        return m.no_method(&Value::Class(Class::Known(kind)), "<init>", args);
    };
    let fields = items(m, fields)?;
    let mut made = Vec::new();
    for (ordinal, constant) in items(m, constants)?.iter().enumerate() {
        let parts = items(m, constant)?;
        let name = m.text(&parts[0])?;
        m.take_items(fields.len() + 4)?;
        let empty = fields.iter().filter_map(Value::as_text).map(|field| (Rc::from(&**field), Value::Null));
        let value = Value::object(Constant {
            name,
            ordinal,
            fields: RefCell::new(empty.collect()),
            methods: methods.clone(),
        });
        if !constructor.is_null() {
            call(m, constructor, &value, &parts[1..])?;
        } else if parts.len() > 1 {
            return m.no_method(&value, "<init>", &parts[1..]);
        }
        made.push(value);
    }
    let name = m.text(name)?;
    Ok(Value::object(Enumeration { name, constants: made, statics: statics.clone() }))
}
