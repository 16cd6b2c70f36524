//! `System`.

use super::object;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Kind, row, rows};
use crate::model::host::Field;
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, set_element};
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.lang", "System").extends(&object::KIND).statics(&[
    row("currentTimeMillis", 0, |m, _, _| Ok(Value::Long(m.host.now()))),
    row("nanoTime", 0, |m, _, _| Ok(Value::Long(m.host.nanos()))),
    row("lineSeparator", 0, |_, _, _| Ok(Value::from("\n"))),
    rows("getProperty", 1, 2, property),
    row("arraycopy", 5, array_copy),
]);

fn property(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    Ok(match &*m.text(&args[0])? {
        "line.separator" => Value::from("\n"),
        "file.separator" => Value::from("/"),
        "user.dir" => m.host.get(Field::Folder),
        name => {
            let known = m.host.property(name).filter(|value| value.as_text().is_some());
            known.unwrap_or_else(|| args.get(1).cloned().unwrap_or(Value::Null))
        }
    })
}

fn array_copy(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let length = |array: &Value| match array {
        Value::List(list) => Some(list.len()),
        Value::Bytes(bytes) => Some(bytes.len()),
        _ => None,
    };
    let [from, at, to, place, count] = args else {
        unreachable!("arraycopy has five arguments");
    };
    let Some(room) = length(to).filter(|_| length(from).is_some()) else {
        return thrown("ArrayStoreException", "arraycopy: source type or destination type is not an array");
    };
    let [at, place, count] = [at, place, count]
        .map(|number| number.to_long().and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX));
    let items = items(m, from)?;
    let part = at.checked_add(count).and_then(|end| items.get(at..end));
    let Some(part) = part.filter(|_| place.checked_add(count).is_some_and(|end| end <= room)) else {
        return thrown(
            "ArrayIndexOutOfBoundsException",
            "arraycopy: last source or destination index out of bounds",
        );
    };
    for (offset, item) in part.iter().enumerate() {
        set_element(m, &args[2], &Value::count(place + offset), item.clone())?;
    }
    Ok(Value::Null)
}
