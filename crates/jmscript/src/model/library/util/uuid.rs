//! `UUID`.

use crate::coding;
use crate::model::abrupt::thrown;
use crate::model::class::{Class, Kind, gives, row};
use crate::model::library::lang::{bytes::bytes_of, object};
use crate::model::value::{Object, Style, Value};

/// An identity of 128 bits.
struct Uuid(u128);

impl Object for Uuid {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    /// `123e4567-e89b-…`.
    fn write(&self, out: &mut String, _: Style, _: usize) {
        let hex = format!("{:032x}", self.0);
        out.push_str(&[&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"));
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Uuid>().is_some_and(|other| self.0 == other.0)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.util", "UUID")
    .extends(&object::KIND)
    .creates(|_, _, args| {
        let part = |at: usize| u128::from(args.get(at).and_then(Value::to_long).unwrap_or(0).cast_unsigned());
        Ok(Value::object(Uuid(part(0) << 64 | part(1))))
    })
    .statics(&[
        gives(
            row("randomUUID", 0, |m, _, _| {
                let bits = u128::from(m.host.random()) << 64 | u128::from(m.host.random());
                Ok(Value::object(Uuid(versioned(bits, 4))))
            }),
            &KIND,
        ),
        gives(
            row("fromString", 1, |m, _, args| {
                let text = m.text(&args[0])?;
                match u128::from_str_radix(&text.replace('-', ""), 16) {
                    Ok(id) => Ok(Value::object(Uuid(id))),
                    Err(_) => thrown("IllegalArgumentException", format!("Invalid UUID string: {text}")),
                }
            }),
            &KIND,
        ),
        gives(
            row("nameUUIDFromBytes", 1, |m, _, args| {
                let bytes = bytes_of(m, &args[0])?;
                let hash = coding::digest("MD5", &bytes).expect("MD5 is known");
                let bits = hash.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
                Ok(Value::object(Uuid(versioned(bits, 3))))
            }),
            &KIND,
        ),
    ])
    .methods(&[
        row("getMostSignificantBits", 0, |_, of, _| Ok(Value::Long((id(of) >> 64) as u64 as i64))),
        row("getLeastSignificantBits", 0, |_, of, _| Ok(Value::Long(id(of) as u64 as i64))),
    ]);

/// Bits with a version and the variant of RFC 9562.
fn versioned(bits: u128, version: u128) -> u128 {
    bits & !(0xf << 76) & !(0b11 << 62) | version << 76 | 0b10 << 62
}

fn id(of: &Value) -> u128 {
    of.receiver::<Uuid>().0
}
