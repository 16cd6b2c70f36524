//! `Cipher`, and what it is begun with beside a key.

use super::mac::Secret;
use crate::ciphers::{self, BLOCK, Mode, Sealing};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, gives, row, rows};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::object;
use crate::model::library::util::random::chance_bytes;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// `IvParameterSpec` or `GCMParameterSpec`.
struct Iv {
    kind: &'static Kind,
    bytes: Rc<[u8]>,
}

impl Object for Iv {
    fn class(&self) -> Class {
        Class::Known(self.kind)
    }
}

/// A transformation, what it was begun with, and what it was given since.
struct Cipher {
    transformation: Rc<str>,
    mode: Mode,
    begun: RefCell<Option<Begun>>,
    data: RefCell<Vec<u8>>,
    beside: RefCell<Vec<u8>>,
    /// With this key and vector a text was encrypted already.
    is_used: Cell<bool>,
}

/// Direction, key and vector of a cipher.
#[derive(Clone)]
struct Begun {
    encrypts: bool,
    key: Rc<[u8]>,
    iv: Rc<[u8]>,
}

impl Object for Cipher {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

const ENCRYPT: i32 = 1;
const DECRYPT: i32 = 2;

pub(crate) static IV: Kind = Kind::new("javax.crypto.spec", "IvParameterSpec")
    .extends(&object::KIND)
    .creates(|m, kind, args| match args {
        [bytes] => Ok(Value::object(Iv { kind, bytes: bytes_of(m, bytes)? })),
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    })
    .methods(&[row("getIV", 0, |_, of, _| Ok(Value::bytes(of.receiver::<Iv>().bytes.clone())))]);

pub(crate) static GCM: Kind = Kind::new("javax.crypto.spec", "GCMParameterSpec")
    .extends(&object::KIND)
    .creates(|m, kind, args| match args {
        [bits, bytes] if bits.to_long() == Some(128) => {
            Ok(Value::object(Iv { kind, bytes: bytes_of(m, bytes)? }))
        }
        [_, _] => thrown("IllegalArgumentException", "tags have 128 bits here"),
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    })
    .methods(&[
        row("getIV", 0, |_, of, _| Ok(Value::bytes(of.receiver::<Iv>().bytes.clone()))),
        row("getTLen", 0, |_, _, _| Ok(Value::Int(128))),
    ]);

pub(crate) static KIND: Kind = Kind::new("javax.crypto", "Cipher")
    .extends(&object::KIND)
    .constants(|name| {
        Some(Value::Int(match name {
            "ENCRYPT_MODE" => ENCRYPT,
            "DECRYPT_MODE" => DECRYPT,
            _ => return None,
        }))
    })
    .statics(&[gives(rows("getInstance", 1, 2, get_instance), &KIND)])
    .methods(&[
        rows("init", 2, 4, init),
        rows("update", 1, 3, |m, of, args| {
            let bytes = part(m, args)?;
            m.take(bytes.len())?;
            of.receiver::<Cipher>().data.borrow_mut().extend_from_slice(&bytes);
            // All of it comes with the end.
            new_bytes(m, Vec::new())
        }),
        rows("updateAAD", 1, 3, |m, of, args| {
            let bytes = part(m, args)?;
            m.take(bytes.len())?;
            of.receiver::<Cipher>().beside.borrow_mut().extend_from_slice(&bytes);
            Ok(Value::Null)
        }),
        rows("doFinal", 0, 3, |m, of, args| {
            let more = if args.is_empty() { Rc::from([]) } else { part(m, args)? };
            finish(m, of.receiver(), &more)
        }),
        row("getIV", 0, |_, of, _| {
            let begun = of.receiver::<Cipher>().begun.borrow().clone();
            Ok(begun.filter(|begun| !begun.iv.is_empty()).map_or(Value::Null, |begun| Value::bytes(begun.iv)))
        }),
        row("getBlockSize", 0, |_, _, _| Ok(Value::count(BLOCK))),
        row("getAlgorithm", 0, |_, of, _| Ok(Value::Text(of.receiver::<Cipher>().transformation.clone()))),
    ]);

fn get_instance(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let transformation = m.text(&args[0])?;
    match Mode::of(&transformation) {
        Some(mode) => Ok(Value::object(Cipher {
            transformation,
            mode,
            begun: RefCell::default(),
            data: RefCell::default(),
            beside: RefCell::default(),
            is_used: Cell::new(false),
        })),
        None => thrown(
            "NoSuchAlgorithmException",
            format!("Cannot find any provider supporting {transformation}"),
        ),
    }
}

/// `bytes`, or `bytes, from, count`.
fn part(m: &mut Machine<'_>, args: &[Value]) -> Run<Rc<[u8]>> {
    let bytes = bytes_of(m, &args[0])?;
    let [_, from, count] = args else { return Ok(bytes) };
    let place = |value: &Value| value.to_long().and_then(|at| usize::try_from(at).ok());
    let part =
        place(from).zip(place(count)).and_then(|(from, count)| bytes.get(from..from.checked_add(count)?));
    match part {
        Some(part) => Ok(Rc::from(part)),
        None => thrown("IllegalArgumentException", "Bad arguments"),
    }
}

fn init(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let cipher: &Cipher = of.receiver();
    let mode = args[0].to_long();
    let is_known = mode == Some(ENCRYPT.into()) || mode == Some(DECRYPT.into());
    let Some(secret) = args[1].as_object::<Secret>().filter(|_| is_known) else {
        return m.no_method(of, "init", args);
    };
    let encrypts = mode == Some(ENCRYPT.into());
    let key = secret.0.clone();
    if ![16, 24, 32].contains(&key.len()) {
        return thrown("InvalidKeyException", format!("Invalid AES key length: {} bytes", key.len()));
    }
    let given = args.get(2).and_then(|spec| spec.as_object::<Iv>());
    let wanted = match cipher.mode {
        Mode::Cbc { .. } => BLOCK,
        Mode::Gcm => 12,
        Mode::Ecb { .. } => 0,
    };
    let iv = match given {
        Some(_) if wanted == 0 => {
            return thrown("InvalidAlgorithmParameterException", "ECB mode cannot use IV");
        }
        Some(given) if wanted == BLOCK && given.bytes.len() != BLOCK => {
            return thrown("InvalidAlgorithmParameterException", "Wrong IV length: must be 16 bytes long");
        }
        Some(given) => given.bytes.clone(),
        None if encrypts => Rc::from(chance_bytes(m, wanted)),
        None if wanted == 0 => Rc::from([]),
        None => return thrown("InvalidKeyException", "Parameters missing"),
    };
    cipher.begun.replace(Some(Begun { encrypts, key, iv }));
    cipher.data.take();
    cipher.beside.take();
    cipher.is_used.set(false);
    Ok(Value::Null)
}

fn finish(m: &mut Machine<'_>, cipher: &Cipher, more: &[u8]) -> Run {
    let Some(Begun { encrypts, key, iv }) = cipher.begun.borrow().clone() else {
        return thrown("IllegalStateException", "Cipher not initialized");
    };
    let mut data = cipher.data.take();
    data.extend_from_slice(more);
    m.work(data.len() / 16)?;
    m.take(data.len() + 2 * BLOCK)?;
    let beside = cipher.beside.take();
    let sealing = Sealing { mode: cipher.mode, key: &key, iv: &iv, beside: &beside };
    if encrypts {
        if cipher.mode == Mode::Gcm && cipher.is_used.replace(true) {
            return thrown("IllegalStateException", "Cannot reuse iv for GCM encryption");
        }
        return match ciphers::encrypt(sealing, &data) {
            Some(sealed) => new_bytes(m, sealed),
            None => refused(cipher.mode, encrypts),
        };
    }
    if cipher.mode != Mode::Gcm && !data.len().is_multiple_of(BLOCK) {
        return refused_length(cipher.mode.pads());
    }
    match ciphers::decrypt(sealing, &data) {
        Some(text) => new_bytes(m, text),
        None => refused(cipher.mode, encrypts),
    }
}

fn refused_length(pads: bool) -> Run {
    let with = if pads { " when decrypting with padded cipher" } else { "" };
    thrown("IllegalBlockSizeException", format!("Input length must be multiple of 16{with}"))
}

fn refused(mode: Mode, encrypts: bool) -> Run {
    match mode {
        Mode::Gcm if encrypts => {
            thrown("InvalidAlgorithmParameterException", "an initial vector has 12 or 16 bytes here")
        }
        Mode::Gcm => thrown("AEADBadTagException", "Tag mismatch!"),
        Mode::Cbc { .. } | Mode::Ecb { .. } if encrypts => {
            thrown("IllegalBlockSizeException", "Input length not multiple of 16 bytes")
        }
        Mode::Cbc { .. } | Mode::Ecb { .. } => thrown(
            "BadPaddingException",
            "Given final block not properly padded. Such issues can arise if a bad key is used during decryption.",
        ),
    }
}
