//! Values that scripts compute with. They are cheap to copy: texts, lists and maps are shared, as references are in Java.

mod bytes;
pub(crate) mod json;
mod map;
mod object;
mod print;
pub(crate) mod text;

pub use bytes::Bytes;
pub use map::{Map, MapKind};
pub use object::{Argument, CookieValue, Object};
pub use print::Style;
pub(crate) use print::hash_code;

use crate::model::class::Class;
use crate::model::tree::{Binding, Function, Literal};
use crate::number::Decimal;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// A value of a script.
#[derive(Clone, Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// BeanShell's `void`, JavaScript's `undefined`.
    Void,
    /// `boolean`.
    Bool(bool),
    /// `int`, and the smaller ones.
    Int(i32),
    /// `long`.
    Long(i64),
    /// `BigInteger`.
    Big(Rc<BigInt>),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `BigDecimal`.
    Decimal(Rc<Decimal>),
    /// `char`.
    Char(char),
    /// `String`.
    Text(Rc<str>),
    /// A `GString` whose values have been printed.
    Template(Rc<str>),
    /// A `GString` with closures, which are called when it is printed.
    Lazy(Rc<[LazyPiece]>),
    /// `byte[]`.
    Bytes(Rc<Bytes>),
    /// A list, an array or a set.
    List(Rc<List>),
    /// A map.
    Map(Rc<Map>),
    /// A range of whole numbers.
    Range(Rc<Range>),
    /// A closure.
    Closure(Rc<Closure>),
    /// A class.
    Class(Class),
    /// A part of the outside world.
    Bound(Binding),
    /// Anything else.
    Object(Rc<dyn Object>),
}

/// A piece of a [`Value::Lazy`].
#[derive(Clone, Debug)]
pub enum LazyPiece {
    /// Text.
    Text(Rc<str>),
    /// Closure that is called for its text.
    Call(Rc<Closure>),
}

/// The kinds of what is a list to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Grows.
    List,
    /// Has a fixed length.
    Array,
    /// Holds each value once, in the order of their coming.
    Set,
}

/// A list that may be changed by all who share it.
pub struct List {
    /// Its kind.
    pub kind: ListKind,
    items: RefCell<Vec<Value>>,
}

/// Whole numbers from one to another, in either direction; both belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub from: i64,
    /// The last; one before the first, in the range's direction, where it is empty.
    pub to: i64,
    /// Counts down.
    pub is_reverse: bool,
    /// Of characters.
    pub is_text: bool,
    /// Nothing belongs to it.
    pub is_empty: bool,
}

/// A variable that closures share.
#[derive(Debug, Default)]
pub struct SharedValue(RefCell<Value>);

/// A closure: what it does, and the variables around it.
pub struct Closure {
    /// Code that it runs.
    pub(crate) function: Callable,
    /// Variables that it has captured.
    pub(crate) captures: Rc<[Rc<SharedValue>]>,
    /// Arguments given in advance by `curry`.
    pub(crate) given: Vec<Value>,
    /// Whose methods and properties its names mean.
    pub(crate) delegate: RefCell<Delegate>,
}

/// Whose methods and properties the names in a closure mean, beside those of what is around it.
#[derive(Clone, Default)]
pub(crate) struct Delegate {
    /// The object; null for none of its own.
    pub value: Value,
    /// It comes before what is around the closure.
    pub is_first: bool,
}

/// Code that a closure runs when it is called.
#[derive(Clone)]
pub(crate) enum Callable {
    /// Code of the script.
    Function(Rc<Function>),
    /// A method of an object, `list.&add`.
    Method(Value, Rc<str>),
}

impl SharedValue {
    /// A new variable.
    pub fn new(value: Value) -> SharedValue {
        SharedValue(RefCell::new(value))
    }

    /// Its value.
    pub fn get(&self) -> Value {
        self.0.borrow().clone()
    }

    /// Gives it a value; the former one.
    pub fn set(&self, value: Value) -> Value {
        self.0.replace(value)
    }
}

impl Closure {
    /// A closure that nobody has given anything yet.
    pub(crate) fn new(function: Callable, captures: Rc<[Rc<SharedValue>]>) -> Closure {
        Closure { function, captures, given: Vec::new(), delegate: RefCell::default() }
    }

    /// Parameters that are still to be given.
    pub(crate) fn parameters(&self) -> usize {
        match &self.function {
            Callable::Function(function) => function.parameters.len().saturating_sub(self.given.len()),
            Callable::Method(..) => 1,
        }
    }
}

impl Range {
    /// Values in it.
    pub fn len(self) -> usize {
        if self.is_empty { 0 } else { self.from.abs_diff(self.to).saturating_add(1) as usize }
    }

    /// True if it has none.
    pub fn is_empty(self) -> bool {
        self.is_empty
    }

    /// The value at a place.
    pub fn at(self, at: usize) -> Value {
        let number = if self.is_reverse { self.from - at as i64 } else { self.from + at as i64 };
        if self.is_text {
            return Value::text(char::from_u32(number as u32).unwrap_or('?').to_string());
        }
        i32::try_from(number).map_or(Value::Long(number), Value::Int)
    }

    /// True if a number belongs to it.
    pub fn contains(self, number: i64) -> bool {
        !self.is_empty && (self.from.min(self.to)..=self.from.max(self.to)).contains(&number)
    }
}

impl List {
    /// A list of these.
    pub fn new(kind: ListKind, items: Vec<Value>) -> List {
        List { kind, items: RefCell::new(items) }
    }

    /// Its length.
    pub fn len(&self) -> usize {
        self.items.borrow().len()
    }

    /// True if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a place.
    pub fn get(&self, at: usize) -> Option<Value> {
        self.items.borrow().get(at).cloned()
    }

    /// A copy of its elements.
    pub fn to_vec(&self) -> Vec<Value> {
        self.items.borrow().clone()
    }

    /// Changes its elements. The change must not run a script.
    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Value>) -> T) -> T {
        change(&mut self.items.borrow_mut())
    }

    /// Looks at its elements. The look must not change a value.
    pub fn look<T>(&self, look: impl FnOnce(&[Value]) -> T) -> T {
        look(&self.items.borrow())
    }
}

thread_local! {
    /// Elements of lists and maps that are gone, whose own elements are still to go: dropped in turn rather than in depth.
    static DYING: RefCell<Vec<Vec<Value>>> = const { RefCell::new(Vec::new()) };
    static IS_DROPPING: Cell<bool> = const { Cell::new(false) };
}

/// Drops values that may hold each other to any depth.
pub(crate) fn drop_flat(values: Vec<Value>) {
    let is_plain = |value: &Value| {
        !matches!(value, Value::List(_) | Value::Map(_) | Value::Object(_) | Value::Closure(_))
    };
    if values.iter().all(is_plain) {
        return;
    }
    if IS_DROPPING.replace(true) {
        DYING.with(|dying| dying.borrow_mut().push(values));
        return;
    }
    drop(values);
    while let Some(next) = DYING.with(|dying| dying.borrow_mut().pop()) {
        drop(next);
    }
    IS_DROPPING.set(false);
}

impl Drop for List {
    fn drop(&mut self) {
        drop_flat(std::mem::take(self.items.get_mut()));
    }
}

impl From<&Literal> for Value {
    fn from(literal: &Literal) -> Value {
        match literal {
            Literal::Null => Value::Null,
            Literal::Void => Value::Void,
            Literal::Bool(value) => Value::Bool(*value),
            Literal::Int(value) => Value::Int(*value),
            Literal::Long(value) => Value::Long(*value),
            Literal::Big(value) => Value::Big(value.clone()),
            Literal::Float(value) => Value::Float(*value),
            Literal::Double(value) => Value::Double(*value),
            Literal::Decimal(value) => Value::Decimal(value.clone()),
            Literal::Char(value) => Value::Char(*value),
            Literal::Text(value) => Value::Text(value.clone()),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(Rc::from(text))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Rc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A list of these.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(ListKind::List, items)))
    }

    /// An array of these.
    pub fn array(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(ListKind::Array, items)))
    }

    /// An object.
    pub(crate) fn object(object: impl Object) -> Value {
        Value::Object(Rc::new(object))
    }

    /// The object of a type that it is; `None` where it is none.
    pub(crate) fn as_object<T: Object>(&self) -> Option<&T> {
        match self {
            Value::Object(object) => object.downcast(),
            _ => None,
        }
    }

    /// The receiver of a method of a type's class, which is never another.
    pub(crate) fn receiver<T: Object>(&self) -> &T {
        self.as_object().expect("methods of a class are called on its own objects")
    }

    /// A length or count as an `int`.
    pub(crate) fn count(count: usize) -> Value {
        Value::Int(i32::try_from(count).unwrap_or(i32::MAX))
    }

    /// The smallest kind of whole number that holds it.
    pub(crate) fn whole(value: BigInt) -> Value {
        match crate::number::fit(&value) {
            crate::number::Fit::Int(int) => Value::Int(int),
            crate::number::Fit::Long(long) => Value::Long(long),
            crate::number::Fit::Big => Value::Big(Rc::new(value)),
        }
    }

    /// The text of a text, without a copy.
    pub fn as_text(&self) -> Option<&Rc<str>> {
        match self {
            Value::Text(text) | Value::Template(text) => Some(text),
            _ => None,
        }
    }

    /// True if it is `null` or nothing at all.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null | Value::Void)
    }

    /// True if it is a number.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Value::Int(_)
                | Value::Long(_)
                | Value::Big(_)
                | Value::Float(_)
                | Value::Double(_)
                | Value::Decimal(_)
        )
    }

    /// A whole number of 64 bits: what a `Number.longValue()` gives. `None` for what is no number.
    pub fn to_long(&self) -> Option<i64> {
        Some(match self {
            Value::Int(value) => i64::from(*value),
            Value::Long(value) => *value,
            Value::Big(value) => wrapped(value),
            Value::Float(value) => *value as i64,
            Value::Double(value) => *value as i64,
            Value::Decimal(value) => wrapped(&value.to_integer()),
            Value::Char(value) => i64::from(u32::from(*value)),
            _ => return None,
        })
    }

    /// A floating-point number. `None` for what is no number.
    pub fn to_double(&self) -> Option<f64> {
        Some(match self {
            Value::Int(value) => f64::from(*value),
            Value::Long(value) => *value as f64,
            Value::Big(value) => value.to_f64().unwrap_or(f64::NAN),
            Value::Float(value) => f64::from(*value),
            Value::Double(value) => *value,
            Value::Decimal(value) => value.to_f64(),
            Value::Char(value) => f64::from(u32::from(*value)),
            _ => return None,
        })
    }

    /// A decimal. `None` for what is no finite number.
    pub(crate) fn to_decimal(&self) -> Option<Decimal> {
        Some(match self {
            Value::Int(value) => Decimal::new(*value, 0),
            Value::Long(value) => Decimal::new(*value, 0),
            Value::Big(value) => Decimal::new((**value).clone(), 0),
            Value::Float(value) => Decimal::from_double(f64::from(*value))?,
            Value::Double(value) => Decimal::from_double(*value)?,
            Value::Decimal(value) => (**value).clone(),
            Value::Char(value) => Decimal::new(u32::from(*value), 0),
            _ => return None,
        })
    }

    /// A whole number of any size. `None` for what is no finite number.
    pub(crate) fn to_big(&self) -> Option<BigInt> {
        match self {
            Value::Big(value) => Some((**value).clone()),
            Value::Int(_) | Value::Long(_) | Value::Char(_) => self.to_long().map(BigInt::from),
            _ => self.to_decimal().map(|decimal| decimal.to_integer()),
        }
    }

    /// An array of bytes.
    pub fn bytes(bytes: impl Into<Rc<[u8]>>) -> Value {
        Value::Bytes(Rc::new(Bytes::new(bytes)))
    }

    /// True if it counts as true in a condition, where anything may be one: zero, null and what is empty is false.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Value::Null | Value::Void => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Long(value) => *value != 0,
            Value::Big(value) => !value.is_zero(),
            Value::Float(value) => *value != 0.0,
            Value::Double(value) => *value != 0.0 && !value.is_nan(),
            Value::Decimal(value) => !value.unscaled().is_zero(),
            Value::Char(value) => *value != '\0',
            Value::Text(text) | Value::Template(text) => !text.is_empty(),
            Value::Bytes(bytes) => !bytes.is_empty(),
            Value::List(list) => !list.is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::Range(range) => !range.is_empty,
            Value::Object(object) => object.is_true(),
            Value::Lazy(_) | Value::Closure(_) | Value::Class(_) | Value::Bound(_) => true,
        }
    }
}

/// The lowest 64 bits.
fn wrapped(value: &BigInt) -> i64 {
    value.to_i64().unwrap_or_else(|| {
        let low = value.iter_u64_digits().next().unwrap_or(0).cast_signed();
        if value.sign() == num_bigint::Sign::Minus { low.wrapping_neg() } else { low }
    })
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.class_name(), self.shown(Style::Groovy))
    }
}

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("closure")
    }
}
