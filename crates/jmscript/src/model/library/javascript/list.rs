//! Methods of lists that are JavaScript's own, or mean something else there.

use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, MANY, row, rows};
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, push};
use crate::model::meaning::javascript;
use crate::model::value::Value;

pub(crate) const METHODS: &[ClassRow] = &[
    rows("push", 0, MANY, |m, of, args| {
        let before = items(m, of)?.len();
        for item in args {
            push(m, of, item.clone())?;
        }
        Ok(Value::Double((before + args.len()) as f64))
    }),
    rows("slice", 0, 2, |m, of, args| {
        let items = items(m, of)?;
        let from = javascript::clamped(m, args.first(), items.len(), 0)?;
        let to = javascript::clamped(m, args.get(1), items.len(), items.len())?;
        m.new_list(items[from..to.max(from)].to_vec())
    }),
    rows("concat", 0, MANY, concat),
    row("reverse", 0, |_, of, _| {
        if let Value::List(list) = of {
            list.change(|items| items.reverse());
        }
        Ok(of.clone())
    }),
];

fn concat(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let mut all = items(m, of)?;
    for more in args {
        match more {
            Value::List(_) => all.extend(items(m, more)?),
            one => all.push(one.clone()),
        }
    }
    m.new_list(all)
}
