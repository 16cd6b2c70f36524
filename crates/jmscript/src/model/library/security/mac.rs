//! `Mac` and the keys that it is given.

use crate::coding;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, gives, row, rows};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// `SecretKeySpec`.
pub(crate) struct Secret(pub Rc<[u8]>);

impl Object for Secret {
    fn class(&self) -> Class {
        Class::Known(&SECRET)
    }
}

/// An algorithm, the key, and what it was given.
struct Mac {
    algorithm: Rc<str>,
    key: RefCell<Rc<[u8]>>,
    data: RefCell<Vec<u8>>,
}

impl Object for Mac {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static SECRET: Kind = Kind::new("javax.crypto.spec", "SecretKeySpec")
    .extends(&object::KIND)
    .creates(|m, kind, args| match args {
        [key, _] => Ok(Value::object(Secret(bytes_of(m, key)?))),
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    })
    .methods(&[row("getEncoded", 0, |_, of, _| Ok(Value::bytes(of.receiver::<Secret>().0.clone())))]);

pub(crate) static KIND: Kind = Kind::new("javax.crypto", "Mac")
    .extends(&object::KIND)
    .statics(&[gives(
        row("getInstance", 1, |m, _, args| {
            let algorithm = m.text(&args[0])?;
            Ok(Value::object(Mac { algorithm, key: RefCell::new(Rc::from([])), data: RefCell::default() }))
        }),
        &KIND,
    )])
    .methods(&[
        row("init", 1, |m, of, args| match args[0].as_object::<Secret>() {
            Some(secret) => {
                of.receiver::<Mac>().key.replace(secret.0.clone());
                Ok(Value::Null)
            }
            None => m.no_method(of, "init", args),
        }),
        row("update", 1, |m, of, args| {
            add(m, of, &args[0])?;
            Ok(Value::Null)
        }),
        rows("doFinal", 0, 1, |m, of, args| {
            if let Some(last) = args.first() {
                add(m, of, last)?;
            }
            finish(m, of.receiver())
        }),
        row("getAlgorithm", 0, |_, of, _| Ok(Value::Text(of.receiver::<Mac>().algorithm.clone()))),
    ]);

fn add(m: &mut Machine<'_>, of: &Value, more: &Value) -> Run<()> {
    let bytes = bytes_of(m, more)?;
    m.take(bytes.len())?;
    of.receiver::<Mac>().data.borrow_mut().extend_from_slice(&bytes);
    Ok(())
}

fn finish(m: &mut Machine<'_>, mac: &Mac) -> Run {
    let data = mac.data.take();
    m.work(data.len() / 32)?;
    match coding::hmac(&mac.algorithm, &mac.key.borrow(), &data) {
        Some(found) => new_bytes(m, found),
        None => thrown("NoSuchAlgorithmException", format!("Algorithm {} not available", mac.algorithm)),
    }
}
