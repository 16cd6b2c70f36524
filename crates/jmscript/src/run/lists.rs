//! Methods that lists, arrays, sets and ranges share, without those that call a closure for each element.

use super::Machine;
use super::abrupt::{Run, thrown};
use super::each::takes_two;
use crate::dialect::Dialect;
use crate::method::Method;
use crate::value::{Closure, List, ListKind, Value};
use std::cmp::Ordering;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn collection_method(
        &mut self,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        if let Value::List(list) = of
            && let Some(value) = self.list_change(&list.clone(), of, method, args)?
        {
            return Ok(Some(value));
        }
        if self.dialect == Dialect::JavaScript
            && let Some(value) = self.javascript_list_method(of, method, args)?
        {
            return Ok(Some(value));
        }
        if let Some(value) = self.collection_question(of, method, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.collection_copy(of, method, args)? {
            return Ok(Some(value));
        }
        self.each_method(of, method, args)
    }

    /// Methods that change a list.
    pub(super) fn list_change(
        &mut self,
        list: &Rc<List>,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let is_fixed = list.kind == ListKind::Array;
        Ok(Some(match (method, args) {
            (Method::add | Method::leftShift | Method::push | Method::addLast | Method::offer, [item])
                if !is_fixed
                    && (method != Method::push || self.dialect != Dialect::Groovy)
                    && self.dialect != Dialect::JavaScript =>
            {
                Value::Bool(self.push(of, item.clone())?)
            }
            (Method::add, [at, item]) if !is_fixed => {
                let place =
                    usize::try_from(at.to_long().unwrap_or(-1)).ok().filter(|place| *place <= list.len());
                let Some(place) = place else { return self.out_of_list(at, list.len()) };
                self.check_circle(Rc::as_ptr(list).cast(), item)?;
                self.work(list.len() / 64)?;
                self.take_items(1)?;
                list.change(|items| items.insert(place, item.clone()));
                Value::Null
            }
            (Method::addFirst, [item]) => {
                return self.list_change(list, of, Method::add, &[Value::Int(0), item.clone()]);
            }
            (Method::addAll, [more]) => {
                let more = self.items(more)?;
                let has_more = !more.is_empty();
                for item in more {
                    self.push(of, item)?;
                }
                Value::Bool(has_more)
            }
            _ => return self.list_removal(list, of, method, args),
        }))
    }

    /// Methods that replace elements, or take them away.
    fn list_removal(
        &mut self,
        list: &Rc<List>,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::set | Method::putAt, [at, item]) => {
                let old = list.get(usize::try_from(at.to_long().unwrap_or(-1)).unwrap_or(usize::MAX));
                let Some(old) = old else { return self.out_of_list(at, list.len()) };
                self.set_element(of, at, item.clone())?;
                old
            }
            (Method::get, [at]) if list.kind != ListKind::Set => {
                match list.get(usize::try_from(at.to_long().unwrap_or(-1)).unwrap_or(usize::MAX)) {
                    Some(value) => value,
                    None => return self.out_of_list(at, list.len()),
                }
            }
            (Method::remove | Method::removeAt, [at])
                if matches!(at, Value::Int(_)) && list.kind == ListKind::List =>
            {
                let place =
                    usize::try_from(at.to_long().unwrap_or(-1)).ok().filter(|place| *place < list.len());
                let Some(place) = place else { return self.out_of_list(at, list.len()) };
                self.work(list.len() / 64)?;
                list.change(|items| items.remove(place))
            }
            (Method::remove | Method::removeElement, [item]) => {
                self.work(list.len() / 8)?;
                let place = list.look(|items| items.iter().position(|known| known.equals(item)));
                let gone = place.map(|place| list.change(|items| items.remove(place)));
                Value::Bool(gone.is_some())
            }
            (Method::removeAll | Method::retainAll | Method::removeIf, [what]) => {
                self.keep(list, method, what)?
            }
            (Method::clear, []) => {
                let gone = list.change(std::mem::take);
                drop(gone);
                Value::Null
            }
            // Groovy's lists are stacks from their front.
            (Method::pop, []) if self.dialect == Dialect::Groovy => {
                if list.is_empty() {
                    return thrown("NoSuchElementException", "Cannot pop() an empty List");
                }
                list.change(|items| items.remove(0))
            }
            (Method::push, [item]) if self.dialect == Dialect::Groovy => {
                return self.list_change(list, of, Method::add, &[Value::Int(0), item.clone()]);
            }
            (Method::pop | Method::removeLast, []) => match list.change(Vec::pop) {
                Some(last) => last,
                None if self.dialect == Dialect::JavaScript => Value::Void,
                None => return thrown("NoSuchElementException", "Cannot pop() an empty List"),
            },
            (Method::poll | Method::removeFirst | Method::shift, []) => {
                if list.is_empty() {
                    Value::Null
                } else {
                    list.change(|items| items.remove(0))
                }
            }
            _ => return self.list_order(list, of, method, args),
        }))
    }

    /// Methods that bring elements into another order.
    fn list_order(
        &mut self,
        list: &Rc<List>,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::sort, _) => {
                let by = args.iter().find(|arg| matches!(arg, Value::Closure(_)));
                if matches!(args.first(), Some(Value::Bool(false))) {
                    let sorted = self.sorted(list.to_vec(), by)?;
                    return self.new_list(sorted).map(Some);
                }
                let sorted = self.sorted(list.to_vec(), by)?;
                list.change(|items| *items = sorted);
                of.clone()
            }
            (Method::shuffle, _) => {
                let mixed = self.shuffled(list.to_vec(), args)?;
                list.change(|items| *items = mixed);
                Value::Null
            }
            (Method::swap, [a, b]) => {
                let (a, b) = (a.to_long().unwrap_or(-1) as usize, b.to_long().unwrap_or(-1) as usize);
                if a.max(b) < list.len() {
                    list.change(|items| items.swap(a, b));
                }
                of.clone()
            }
            (Method::unique, _)
                if list.kind != ListKind::Array && !matches!(args.first(), Some(Value::Bool(false))) =>
            {
                let unique = self.unique(list.to_vec(), args.last())?;
                list.change(|items| *items = unique);
                of.clone()
            }
            (Method::reverse, [Value::Bool(true)]) => {
                list.change(|items| items.reverse());
                of.clone()
            }
            (Method::fill, [item]) => {
                list.change(|items| items.fill(item.clone()));
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn out_of_list<T>(&mut self, at: &Value, length: usize) -> Run<T> {
        thrown(
            "IndexOutOfBoundsException",
            format!("Index {} out of bounds for length {length}", at.to_long().unwrap_or(-1)),
        )
    }

    pub(super) fn keep(&mut self, list: &Rc<List>, method: Method, what: &Value) -> Run {
        let before = list.to_vec();
        let mut kept = Vec::with_capacity(before.len());
        let wanted = if let Value::Closure(_) = what { Vec::new() } else { self.items(what)? };
        self.work(before.len() * wanted.len() / 8)?;
        for item in &before {
            let is_in = match what {
                Value::Closure(closure) => self.call_closure(closure, std::slice::from_ref(item))?.is_true(),
                _ => wanted.iter().any(|known| known.equals_loosely(item)),
            };
            if is_in == (method == Method::retainAll) {
                kept.push(item.clone());
            }
        }
        let has_changed = kept.len() != before.len();
        list.change(|items| *items = kept);
        Ok(Value::Bool(has_changed))
    }

    /// Methods that ask something.
    pub(super) fn collection_question(
        &mut self,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let length = match of {
            Value::List(list) => list.len(),
            Value::Range(range) => range.len(),
            _ => 0,
        };
        Ok(Some(match (method, args) {
            (Method::size | Method::length, []) => Value::count(length),
            (Method::isEmpty, []) => Value::Bool(length == 0),
            (Method::getAt | Method::get, [index]) => self.element(of, index)?,
            (Method::contains | Method::includes, [item]) => {
                self.work(length / 8)?;
                Value::Bool(match of {
                    Value::List(list) => {
                        list.look(|items| items.iter().any(|known| known.equals_loosely(item)))
                    }
                    of => self.is_in(item, of)?,
                })
            }
            (Method::containsAll, [wanted]) => {
                let (items, wanted) = (self.items(of)?, self.items(wanted)?);
                self.work(items.len() * wanted.len() / 8)?;
                Value::Bool(wanted.iter().all(|wanted| items.iter().any(|item| item.equals(wanted))))
            }
            (Method::disjoint, [other]) => {
                let (items, other) = (self.items(of)?, self.items(other)?);
                self.work(items.len() * other.len() / 8)?;
                Value::Bool(!items.iter().any(|item| other.iter().any(|known| known.equals(item))))
            }
            (Method::indexOf | Method::lastIndexOf, [item]) => {
                let items = self.items(of)?;
                let is_same = |known: &Value| known.equals_loosely(item);
                let at = if method == Method::indexOf {
                    items.iter().position(is_same)
                } else {
                    items.iter().rposition(is_same)
                };
                let at = at.map_or(-1, |at| at as i32);
                if self.dialect.has_only_doubles() { Value::Double(f64::from(at)) } else { Value::Int(at) }
            }
            (Method::first | Method::head | Method::getFirst, []) => self.end_of(of, 0)?,
            (Method::last | Method::getLast, []) => self.end_of(of, length.wrapping_sub(1))?,
            (Method::peek, []) => self.items(of)?.last().cloned().unwrap_or_default(),
            (Method::getFrom | Method::getTo, []) => match of {
                Value::Range(range) => {
                    range.at(if method == Method::getFrom { 0 } else { range.len().saturating_sub(1) })
                }
                _ => return Ok(None),
            },
            (Method::equals, [other]) => Value::Bool(of.equals_loosely(other)),
            _ => return Ok(None),
        }))
    }

    pub(super) fn end_of(&mut self, of: &Value, at: usize) -> Run {
        let found = match of {
            Value::List(list) => list.get(at),
            Value::Range(range) if at < range.len() => Some(range.at(at)),
            _ => None,
        };
        found.map_or_else(
            || thrown("NoSuchElementException", "Cannot access an element of an empty Iterable"),
            Ok,
        )
    }

    /// Methods that give another list, or something made of the elements, without a closure.
    pub(super) fn collection_copy(
        &mut self,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let number = |at: usize| args.get(at).and_then(Value::to_long);
        let count = |at: usize| usize::try_from(number(at).unwrap_or(0)).unwrap_or(0);
        let changed = match (method, args) {
            (Method::join, _) => return self.join(of, args).map(Some),
            (Method::sum | Method::max | Method::min | Method::average, []) => {
                let items = self.items(of)?;
                return self.folded(items, method).map(Some);
            }
            (Method::reverse, _) => self.items(of)?.into_iter().rev().collect(),
            (Method::take | Method::limit, [_]) => self.items(of)?.into_iter().take(count(0)).collect(),
            (Method::drop | Method::skip, [_]) => self.items(of)?.into_iter().skip(count(0)).collect(),
            (Method::takeRight, [_]) => {
                let items = self.items(of)?;
                items[items.len().saturating_sub(count(0))..].to_vec()
            }
            (Method::dropRight, [_]) => {
                let items = self.items(of)?;
                items[..items.len().saturating_sub(count(0))].to_vec()
            }
            (Method::tail, []) => self.items(of)?.into_iter().skip(1).collect(),
            (Method::init, []) => {
                let mut items = self.items(of)?;
                items.pop();
                items
            }
            (Method::subList, [_, _]) => {
                let items = self.items(of)?;
                match items.get(count(0)..count(1)) {
                    Some(part) => part.to_vec(),
                    None => {
                        return thrown(
                            "IndexOutOfBoundsException",
                            format!("fromIndex: {}, toIndex: {}, size: {}", count(0), count(1), items.len()),
                        );
                    }
                }
            }
            _ => return self.collection_order(of, method, args),
        };
        self.like_set(of, method, changed).map(Some)
    }

    /// Methods that give the elements in another order, or as another kind of collection.
    fn collection_order(&mut self, of: &Value, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let changed = match (method, args) {
            (Method::flatten, []) => {
                let items = self.items(of)?;
                self.flattened(items)?
            }
            (Method::unique | Method::toUnique | Method::distinct, _) => {
                let items = self.items(of)?;
                self.unique(items, args.last())?
            }
            (Method::sort | Method::toSorted | Method::sorted, _) => {
                let items = self.items(of)?;
                self.sorted(items, args.last())?
            }
            (Method::shuffled, _) => {
                let items = self.items(of)?;
                self.shuffled(items, args)?
            }
            (Method::toList | Method::asList | Method::stream | Method::boxed | Method::collect, []) => {
                self.items(of)?
            }
            (Method::toSet, []) => {
                let items = self.items(of)?;
                return self.list_of_kind(ListKind::Set, items).map(Some);
            }
            (Method::toArray, _) => {
                let items = self.items(of)?;
                return self.list_of_kind(ListKind::Array, items).map(Some);
            }
            (Method::asImmutable | Method::asUnmodifiable | Method::asSynchronized | Method::copy, []) => {
                return Ok(Some(of.clone()));
            }
            (Method::iterator | Method::listIterator, []) => return self.iterator(of).map(Some),
            _ => return self.collection_pairs(of, method, args),
        };
        self.like_set(of, method, changed).map(Some)
    }

    /// Methods of two collections, and those that give groups of elements.
    fn collection_pairs(&mut self, of: &Value, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let number = |at: usize| args.get(at).and_then(Value::to_long);
        let count = |at: usize| usize::try_from(number(at).unwrap_or(0)).unwrap_or(0);
        let changed = match (method, args) {
            (Method::plus, [other]) => return self.operate(crate::tree::Binary::Add, of, other).map(Some),
            (Method::minus, [other]) => {
                return self.operate(crate::tree::Binary::Subtract, of, other).map(Some);
            }
            (Method::multiply, [times]) => {
                return self.operate(crate::tree::Binary::Multiply, of, times).map(Some);
            }
            (Method::intersect, [other]) => {
                let (items, other) = (self.items(of)?, self.items(other)?);
                self.work(items.len() * other.len() / 8)?;
                items
                    .into_iter()
                    .filter(|item| other.iter().any(|known| known.equals_loosely(item)))
                    .collect()
            }
            (Method::step, [by] | [by, Value::Closure(_)]) => {
                let by = usize::try_from(by.to_long().unwrap_or(1)).unwrap_or(1).max(1);
                let items: Vec<Value> = self.items(of)?.into_iter().step_by(by).collect();
                if let [_, Value::Closure(_)] = args {
                    return self.each_method(&Value::list(items), Method::each, &args[1..]);
                }
                items
            }
            (Method::collate, [_]) => return self.collated(of, count(0).max(1)).map(Some),
            (Method::transpose, []) => return self.transposed(of).map(Some),
            (Method::indexed, _) => {
                let items = self.items(of)?.into_iter().enumerate();
                let entries = items.map(|(at, item)| (Value::count(at + count(0)), item)).collect();
                return self.new_map(entries).map(Some);
            }
            (Method::withIndex, _) => {
                let items = self.items(of)?.into_iter().enumerate();
                items.map(|(at, item)| Value::list(vec![item, Value::count(at + count(0))])).collect()
            }
            _ => return Ok(None),
        };
        self.like_set(of, method, changed).map(Some)
    }

    /// A set's copy is a set where its order has no meaning, a list's a list.
    pub(super) fn like_set(&mut self, of: &Value, method: Method, items: Vec<Value>) -> Run {
        match of {
            Value::List(list) if list.kind == ListKind::Set && matches!(method, Method::intersect) => {
                self.list_of_kind(ListKind::Set, items)
            }
            Value::List(list)
                if list.kind == ListKind::Array
                    && matches!(method, Method::reverse | Method::sort | Method::take | Method::drop) =>
            {
                self.list_of_kind(ListKind::Array, items)
            }
            _ => self.new_list(items),
        }
    }

    pub(super) fn join(&mut self, of: &Value, args: &[Value]) -> Run {
        let between = match args.first() {
            Some(between) => self.text(between)?,
            None if self.dialect == Dialect::JavaScript => Rc::from(","),
            None => Rc::from(""),
        };
        let mut out = String::new();
        for (at, item) in self.items(of)?.iter().enumerate() {
            out.push_str(if at > 0 { &between } else { "" });
            let is_nothing = self.dialect == Dialect::JavaScript && item.is_null();
            out.push_str(&if is_nothing { Rc::from("") } else { self.text(item)? });
            if out.len() > self.limits.text {
                break;
            }
        }
        self.new_text(out)
    }

    /// The sum, the greatest or the least; null of nothing.
    pub(super) fn folded(&mut self, items: Vec<Value>, method: Method) -> Run {
        let count = items.len();
        let mut items = items.into_iter();
        let Some(mut found) = items.next() else { return Ok(Value::Null) };
        for item in items {
            self.step()?;
            found = match method {
                Method::sum | Method::average => self.operate(crate::tree::Binary::Add, &found, &item)?,
                _ => {
                    let order = self.compared(&item, &found)?;
                    let wanted = if method == Method::max { Ordering::Greater } else { Ordering::Less };
                    if order == Some(wanted) { item } else { found }
                }
            };
        }
        if method == Method::average {
            self.operate(crate::tree::Binary::Divide, &found, &Value::count(count))
        } else {
            Ok(found)
        }
    }

    pub(super) fn flattened(&mut self, items: Vec<Value>) -> Run<Vec<Value>> {
        let mut found = Vec::new();
        let mut rest: Vec<Value> = items.into_iter().rev().collect();
        while let Some(item) = rest.pop() {
            self.step()?;
            if matches!(item, Value::List(_) | Value::Range(_)) {
                let inner = self.items(&item)?;
                rest.extend(inner.into_iter().rev());
            } else {
                found.push(item);
            }
        }
        Ok(found)
    }

    pub(super) fn unique(&mut self, items: Vec<Value>, by: Option<&Value>) -> Run<Vec<Value>> {
        let Some(Value::Closure(by)) = by else { return self.distinct(items) };
        let mut kept: Vec<(Value, Value)> = Vec::new();
        for item in items {
            let key = self.call_closure(by, std::slice::from_ref(&item))?;
            self.work(kept.len() / 8)?;
            if !kept.iter().any(|(known, _)| known.equals_loosely(&key)) {
                kept.push((key, item));
            }
        }
        Ok(kept.into_iter().map(|(_, item)| item).collect())
    }

    /// In order: natural, by a closure's value, or as a closure of two says. A merge that may call scripts and fail.
    pub(super) fn sorted(&mut self, items: Vec<Value>, by: Option<&Value>) -> Run<Vec<Value>> {
        let by = match by {
            Some(Value::Closure(closure)) => Some(closure.clone()),
            _ => None,
        };
        let compares = by.as_ref().is_some_and(|closure| takes_two(closure));
        let mut keyed = Vec::with_capacity(items.len());
        for item in items {
            let key = match &by {
                Some(closure) if !compares => self.call_closure(closure, std::slice::from_ref(&item))?,
                _ => item.clone(),
            };
            keyed.push((key, item));
        }
        let sorted = self.merge_sorted(keyed, by.as_ref().filter(|_| compares))?;
        Ok(sorted.into_iter().map(|(_, item)| item).collect())
    }

    pub(super) fn merge_sorted(
        &mut self,
        mut items: Vec<(Value, Value)>,
        by: Option<&Rc<Closure>>,
    ) -> Run<Vec<(Value, Value)>> {
        if items.len() < 2 {
            return Ok(items);
        }
        let right = items.split_off(items.len() / 2);
        let left = self.merge_sorted(items, by)?;
        let right = self.merge_sorted(right, by)?;
        let mut merged = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            self.step()?;
            let is_after = match by {
                Some(closure) => {
                    self.call_closure(closure, &[a.0.clone(), b.0.clone()])?.to_long().unwrap_or(0) > 0
                }
                None => self.compared(&a.0, &b.0)? == Some(Ordering::Greater),
            };
            merged.extend(if is_after { right.next() } else { left.next() });
        }
        merged.extend(left.chain(right));
        Ok(merged)
    }

    /// Sorts a list that nobody else has yet.
    pub(super) fn sort_in_place(&mut self, of: &Value) -> Run<()> {
        if let Value::List(list) = of {
            let sorted = self.sorted(list.to_vec(), None)?;
            list.change(|items| *items = sorted);
        }
        Ok(())
    }

    pub(super) fn collated(&mut self, of: &Value, size: usize) -> Run {
        let items = self.items(of)?;
        let parts = items.chunks(size).map(|part| Value::list(part.to_vec())).collect();
        self.new_list(parts)
    }

    pub(super) fn transposed(&mut self, of: &Value) -> Run {
        let mut rows = Vec::new();
        for row in self.items(of)? {
            rows.push(self.items(&row)?);
        }
        let width = rows.iter().map(Vec::len).min().unwrap_or(0);
        self.take_items(width * rows.len())?;
        let columns =
            (0..width).map(|at| Value::list(rows.iter().map(|row| row[at].clone()).collect())).collect();
        self.new_list(columns)
    }
}
