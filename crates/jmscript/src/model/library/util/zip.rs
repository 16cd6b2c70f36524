//! `java.util.zip`: streams that compress and decompress, and `Deflater` and `Inflater` themselves. What is compressed says the same
//! as Java's; another encoder may have written it with other bytes.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::io::bytes::{self, INPUT_STREAM, OUTPUT_STREAM};
use crate::model::library::io::packing::{Packing, PackingFormat, pack, unpack};
use crate::model::library::lang::bytes::bytes_of;
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::cell::{Cell, RefCell};

/// `Deflater` or `Inflater`: what it was given, and what of its outcome was taken.
struct ZipWorker {
    kind: &'static Kind,
    packing: Cell<Packing>,
    input: RefCell<Vec<u8>>,
    /// No more input comes.
    is_last: Cell<bool>,
    /// The whole outcome, once it was asked for.
    outcome: RefCell<Option<Vec<u8>>>,
    taken: Cell<usize>,
    consumed: Cell<usize>,
}

impl Object for ZipWorker {
    fn class(&self) -> Class {
        Class::Known(self.kind)
    }
}

pub(crate) static GZIP_OUTPUT: Kind = Kind::new("java.util.zip", "GZIPOutputStream")
    .extends(&OUTPUT_STREAM)
    .creates(|m, kind, args| match args {
        [to, ..] => bytes::packed(m, kind, to, Packing::usual(PackingFormat::Gzip)),
        [] => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    });

pub(crate) static DEFLATER_OUTPUT: Kind = Kind::new("java.util.zip", "DeflaterOutputStream")
    .extends(&OUTPUT_STREAM)
    .creates(|m, kind, args| match args {
        [to, ..] => {
            let by = args.get(1).and_then(|by| by.as_object::<ZipWorker>());
            bytes::packed(m, kind, to, by.map_or(Packing::usual(PackingFormat::Zlib), |by| by.packing.get()))
        }
        [] => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    });

pub(crate) static GZIP_INPUT: Kind = Kind::new("java.util.zip", "GZIPInputStream")
    .extends(&INPUT_STREAM)
    .creates(|m, kind, args| match args {
        [of, ..] => bytes::unpacked(m, kind, of, Packing::usual(PackingFormat::Gzip)),
        [] => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    });

pub(crate) static INFLATER_INPUT: Kind = Kind::new("java.util.zip", "InflaterInputStream")
    .extends(&INPUT_STREAM)
    .creates(|m, kind, args| match args {
        [of, ..] => {
            let by = args.get(1).and_then(|by| by.as_object::<ZipWorker>());
            bytes::unpacked(
                m,
                kind,
                of,
                by.map_or(Packing::usual(PackingFormat::Zlib), |by| by.packing.get()),
            )
        }
        [] => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    });

pub(crate) static DEFLATER: Kind = Kind::new("java.util.zip", "Deflater")
    .extends(&object::KIND)
    .constants(|name| {
        Some(Value::Int(match name {
            "DEFAULT_COMPRESSION" => -1,
            "NO_COMPRESSION" | "DEFAULT_STRATEGY" | "NO_FLUSH" => 0,
            "BEST_SPEED" => 1,
            "DEFLATED" => 8,
            "BEST_COMPRESSION" => 9,
            _ => return None,
        }))
    })
    .creates(|_, kind, args| {
        let is_raw = args.get(1).is_some_and(Value::is_true);
        let packing = Packing { level: level(args.first()), ..Packing::usual(zlib_or_raw(is_raw)) };
        Ok(worker(kind, packing))
    })
    .methods(&[
        row("setInput", 1, set_input),
        row("setLevel", 1, |_, of, args| {
            let packing = &of.receiver::<ZipWorker>().packing;
            packing.set(Packing { level: level(args.first()), ..packing.get() });
            Ok(Value::Null)
        }),
        row("finish", 0, |_, of, _| {
            of.receiver::<ZipWorker>().is_last.set(true);
            Ok(Value::Null)
        }),
        rows("deflate", 1, 3, |m, of, args| work(m, of, args, pack)),
        row("finished", 0, finished),
        row("needsInput", 0, |_, of, _| {
            Ok(Value::Bool(of.receiver::<ZipWorker>().input.borrow().is_empty()))
        }),
        row("getTotalIn", 0, |_, of, _| Ok(Value::count(of.receiver::<ZipWorker>().consumed.get()))),
        row("getTotalOut", 0, |_, of, _| Ok(Value::count(of.receiver::<ZipWorker>().taken.get()))),
        row("reset", 0, reset),
        row("end", 0, reset),
    ]);

pub(crate) static INFLATER: Kind = Kind::new("java.util.zip", "Inflater")
    .extends(&object::KIND)
    .creates(|_, kind, args| {
        let is_raw = args.first().is_some_and(Value::is_true);
        Ok(worker(kind, Packing::usual(zlib_or_raw(is_raw))))
    })
    .methods(&[
        row("setInput", 1, |m, of, args| {
            of.receiver::<ZipWorker>().is_last.set(true);
            set_input(m, of, args)
        }),
        rows("inflate", 1, 3, |m, of, args| work(m, of, args, unpack)),
        row("finished", 0, finished),
        row("needsInput", 0, |_, of, _| {
            Ok(Value::Bool(of.receiver::<ZipWorker>().input.borrow().is_empty()))
        }),
        row("getTotalOut", 0, |_, of, _| Ok(Value::count(of.receiver::<ZipWorker>().taken.get()))),
        row("reset", 0, reset),
        row("end", 0, reset),
    ]);

fn zlib_or_raw(is_raw: bool) -> PackingFormat {
    if is_raw { PackingFormat::Raw } else { PackingFormat::Zlib }
}

/// A level by Java's number: -1 is the usual one.
fn level(number: Option<&Value>) -> u32 {
    let number = number.and_then(Value::to_long).and_then(|level| u32::try_from(level).ok());
    number.filter(|level| *level <= 9).unwrap_or(6)
}

fn worker(kind: &'static Kind, packing: Packing) -> Value {
    Value::object(ZipWorker {
        kind,
        packing: Cell::new(packing),
        input: RefCell::default(),
        is_last: Cell::new(false),
        outcome: RefCell::default(),
        taken: Cell::new(0),
        consumed: Cell::new(0),
    })
}

fn set_input(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let bytes = bytes_of(m, &args[0])?;
    m.take(bytes.len())?;
    let worker: &ZipWorker = of.receiver();
    worker.input.borrow_mut().extend_from_slice(&bytes);
    worker.consumed.set(worker.consumed.get() + bytes.len());
    Ok(Value::Null)
}

fn reset(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let worker: &ZipWorker = of.receiver();
    worker.input.take();
    worker.outcome.take();
    worker.is_last.set(false);
    worker.taken.set(0);
    worker.consumed.set(0);
    Ok(Value::Null)
}

fn finished(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let worker: &ZipWorker = of.receiver();
    let is_taken = |outcome: &Vec<u8>| worker.taken.get() >= outcome.len();
    Ok(Value::Bool(worker.outcome.borrow().as_ref().is_some_and(is_taken)))
}

/// Fills an array, or a part of one, with the next bytes of the outcome; how many these are.
fn work(
    m: &mut Machine<'_>,
    of: &Value,
    args: &[Value],
    make: fn(&mut Machine<'_>, &[u8], Packing) -> Run<Vec<u8>>,
) -> Run {
    let worker: &ZipWorker = of.receiver();
    let Value::Bytes(to) = &args[0] else { return m.no_method(of, "deflate", args) };
    if !worker.is_last.get() {
        // Nothing is given out before the input has ended.
        return Ok(Value::Int(0));
    }
    if worker.outcome.borrow().is_none() {
        let made = make(m, &worker.input.take(), worker.packing.get())?;
        worker.outcome.replace(Some(made));
    }
    let place = |value: Option<&Value>, otherwise: usize| {
        value.and_then(Value::to_long).map_or(otherwise, |at| usize::try_from(at).unwrap_or(usize::MAX))
    };
    let from = place(args.get(1), 0);
    let most = place(args.get(2), to.len());
    if from.checked_add(most).is_none_or(|end| end > to.len()) {
        return thrown("ArrayIndexOutOfBoundsException", "the part is not within the array");
    }
    let outcome = worker.outcome.borrow();
    let rest = &outcome.as_ref().expect("it was made")[worker.taken.get()..];
    let count = rest.len().min(most);
    m.work(1 + count / 64)?;
    to.change(|to| to[from..from + count].copy_from_slice(&rest[..count]));
    worker.taken.set(worker.taken.get() + count);
    Ok(Value::count(count))
}
