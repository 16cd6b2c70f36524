//! Elements put in order, folded, joined, mixed: what collections, maps and arrays have in common.

use super::items::{distinct, items, list_of_kind};
use super::operate::{compared, operate};
use crate::dialect::Dialect;
use crate::model::abrupt::Run;
use crate::model::machine::Machine;
use crate::model::tree::Binary;
use crate::model::value::{Closure, ListKind, Value};
use std::cmp::Ordering;
use std::rc::Rc;

/// A key, and the value that it stands for.
type Keyed = (Value, Value);

/// In order: natural, by a closure's value, or as a closure of two says.
pub(crate) fn sorted(m: &mut Machine<'_>, items: Vec<Value>, by: Option<&Value>) -> Run<Vec<Value>> {
    let by = match by {
        Some(Value::Closure(closure)) => Some(closure.clone()),
        _ => None,
    };
    let compares = by.as_ref().is_some_and(|closure| closure.parameters() == 2);
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        let key = match &by {
            Some(closure) if !compares => m.call_closure(closure, std::slice::from_ref(&item))?,
            _ => item.clone(),
        };
        keyed.push((key, item));
    }
    let sorted = merge_sorted(m, keyed, by.as_ref().filter(|_| compares))?;
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

/// A merge that may call scripts and fail.
fn merge_sorted(m: &mut Machine<'_>, mut items: Vec<Keyed>, by: Option<&Rc<Closure>>) -> Run<Vec<Keyed>> {
    if items.len() < 2 {
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    let left = merge_sorted(m, items, by)?;
    let right = merge_sorted(m, right, by)?;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        m.step()?;
        let is_after = match by {
            Some(closure) => m.call_closure(closure, &[a.0.clone(), b.0.clone()])?.to_long().unwrap_or(0) > 0,
            None => compared(m, &a.0, &b.0)? == Some(Ordering::Greater),
        };
        merged.extend(if is_after { right.next() } else { left.next() });
    }
    merged.extend(left.chain(right));
    Ok(merged)
}

/// Sorts a list that nobody else has yet.
pub(crate) fn sort_in_place(m: &mut Machine<'_>, of: &Value) -> Run<()> {
    if let Value::List(list) = of {
        let sorted = sorted(m, list.to_vec(), None)?;
        list.change(|items| *items = sorted);
    }
    Ok(())
}

/// The greatest or the least; null of none.
pub(crate) fn extreme(m: &mut Machine<'_>, values: Vec<Value>, wanted: Ordering) -> Run {
    let mut values = values.into_iter();
    let Some(mut found) = values.next() else { return Ok(Value::Null) };
    for value in values {
        m.step()?;
        if compared(m, &value, &found)? == Some(wanted) {
            found = value;
        }
    }
    Ok(found)
}

/// The sum; null of none.
pub(crate) fn sum(m: &mut Machine<'_>, values: Vec<Value>) -> Run {
    let mut values = values.into_iter();
    let Some(mut found) = values.next() else { return Ok(Value::Null) };
    for value in values {
        m.step()?;
        found = operate(m, Binary::Add, &found, &value)?;
    }
    Ok(found)
}

/// The sum by the number of values; null of none.
pub(crate) fn average(m: &mut Machine<'_>, values: Vec<Value>) -> Run {
    if values.is_empty() {
        return Ok(Value::Null);
    }
    let count = Value::count(values.len());
    let sum = sum(m, values)?;
    operate(m, Binary::Divide, &sum, &count)
}

/// Elements of lists within lists.
pub(crate) fn flattened(m: &mut Machine<'_>, values: Vec<Value>) -> Run<Vec<Value>> {
    let mut found = Vec::new();
    let mut rest: Vec<Value> = values.into_iter().rev().collect();
    while let Some(item) = rest.pop() {
        m.step()?;
        if matches!(item, Value::List(_) | Value::Range(_)) {
            let inner = items(m, &item)?;
            rest.extend(inner.into_iter().rev());
        } else {
            found.push(item);
        }
    }
    Ok(found)
}

/// Each value once, or each value of a closure.
pub(crate) fn unique(m: &mut Machine<'_>, values: Vec<Value>, by: Option<&Value>) -> Run<Vec<Value>> {
    let Some(Value::Closure(by)) = by else { return distinct(m, values) };
    let mut kept: Vec<Keyed> = Vec::new();
    for item in values {
        let key = m.call_closure(by, std::slice::from_ref(&item))?;
        m.work(kept.len() / 8)?;
        if !kept.iter().any(|(known, _)| known.equals_loosely(&key)) {
            kept.push((key, item));
        }
    }
    Ok(kept.into_iter().map(|(_, item)| item).collect())
}

/// One text of all, with another between them.
pub(crate) fn join(m: &mut Machine<'_>, values: &[Value], between: Option<&Value>) -> Run {
    let between = match between {
        Some(between) => m.text(between)?,
        None if m.dialect == Dialect::JavaScript => Rc::from(","),
        None => Rc::from(""),
    };
    let mut out = String::new();
    for (at, item) in values.iter().enumerate() {
        out.push_str(if at > 0 { &between } else { "" });
        if m.dialect != Dialect::JavaScript || !item.is_null() {
            out.push_str(&m.text(item)?);
        }
        if out.len() > m.limits.text {
            break;
        }
    }
    m.new_text(out)
}

/// A list of these; an array where they come of one.
pub(crate) fn like_array(m: &mut Machine<'_>, of: &Value, items: Vec<Value>) -> Run {
    match of {
        Value::List(list) if list.kind == ListKind::Array => list_of_kind(m, ListKind::Array, items),
        _ => m.new_list(items),
    }
}
