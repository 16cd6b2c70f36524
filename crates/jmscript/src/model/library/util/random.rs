//! `Random`, `SecureRandom` and `ThreadLocalRandom`: Java's own generator where a script gives a seed, else the host's chance.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassRow, Kind, gives, row, rows};
use crate::model::library::lang::bytes::new_bytes;
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::cell::Cell;

/// Multiplier and mask of Java's linear congruential generator.
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

/// The state that `new Random(seed)` begins with.
fn seeded(seed: i64) -> u64 {
    (seed.cast_unsigned() ^ MULTIPLIER) & MASK
}

/// The next bits of Java's generator.
fn next(state: &Cell<u64>, bits: u32) -> i32 {
    let new = state.get().wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
    state.set(new);
    (new >> (48 - bits)) as i32
}

/// A generator with a state, or the host's chance.
struct Generator {
    kind: &'static Kind,
    state: Option<Cell<u64>>,
}

impl Object for Generator {
    fn class(&self) -> Class {
        Class::Known(self.kind)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.util", "Random")
    .extends(&object::KIND)
    .creates(|_, _, args| {
        let state = args.first().and_then(Value::to_long).map(|seed| Cell::new(seeded(seed)));
        Ok(Value::object(Generator { kind: &KIND, state }))
    })
    .methods(METHODS);

pub(crate) static SECURE: Kind = Kind::new("java.security", "SecureRandom")
    .extends(&KIND)
    .creates(|_, _, _| Ok(Value::object(Generator { kind: &SECURE, state: None })))
    .methods(&[row("generateSeed", 1, |m, of, args| {
        let count = args[0].to_long().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        m.take(count)?;
        let drawn = random_bytes(m, of, count);
        new_bytes(m, drawn)
    })])
    .statics(&[
        gives(rows("getInstance", 1, 2, |_, _, _| Ok(chance(&SECURE))), &SECURE),
        gives(row("getInstanceStrong", 0, |_, _, _| Ok(chance(&SECURE))), &SECURE),
    ]);

pub(crate) static THREAD_LOCAL: Kind = Kind::new("java.util.concurrent", "ThreadLocalRandom")
    .extends(&KIND)
    .statics(&[gives(row("current", 0, |_, _, _| Ok(chance(&THREAD_LOCAL))), &THREAD_LOCAL)]);

fn chance(kind: &'static Kind) -> Value {
    Value::object(Generator { kind, state: None })
}

const METHODS: &[ClassRow] = &[
    row("nextInt", 0, |m, of, _| Ok(Value::Int(int(m, state(of))))),
    row("nextInt", 1, |m, of, args| match i32::try_from(args[0].to_long().unwrap_or(0)) {
        Ok(bound) if bound > 0 => Ok(Value::Int(below(m, state(of), bound))),
        _ => thrown("IllegalArgumentException", "bound must be positive"),
    }),
    row("nextInt", 2, |m, of, args| Ok(Value::Int(between(m, of, args)? as i32))),
    row("nextLong", 0, |m, of, _| Ok(Value::Long(long(m, state(of))))),
    row("nextLong", 1, |m, of, args| {
        let drawn = long(m, state(of));
        let bound = args[0].to_long().filter(|bound| *bound > 0);
        Ok(Value::Long(bound.map_or(drawn, |bound| drawn.rem_euclid(bound))))
    }),
    row("nextLong", 2, |m, of, args| Ok(Value::Long(between(m, of, args)?))),
    rows("nextDouble", 0, 1, |m, of, _| Ok(Value::Double(double(m, state(of))))),
    row("nextDouble", 2, |m, of, args| {
        let from = args[0].to_double().unwrap_or(0.0);
        let to = args[1].to_double().unwrap_or(1.0);
        Ok(Value::Double(from + double(m, state(of)) * (to - from)))
    }),
    row("nextBytes", 1, |m, of, args| match &args[0] {
        Value::Bytes(bytes) => {
            m.work(bytes.len() / 4)?;
            let drawn = random_bytes(m, of, bytes.len());
            bytes.change(|bytes| bytes.copy_from_slice(&drawn));
            Ok(Value::Null)
        }
        _ => m.no_method(of, "nextBytes", args),
    }),
    row("nextFloat", 0, |m, of, _| Ok(Value::Float(double(m, state(of)) as f32))),
    row("nextBoolean", 0, |m, of, _| {
        Ok(Value::Bool(match state(of) {
            Some(state) => next(state, 1) != 0,
            None => m.host.random() & 1 == 1,
        }))
    }),
    row("nextGaussian", 0, |m, of, _| Ok(Value::Double(gaussian(m, state(of))))),
    row("setSeed", 1, |_, of, args| {
        if let Some(state) = state(of) {
            state.set(seeded(args[0].to_long().unwrap_or(0)));
        }
        Ok(Value::Null)
    }),
];

fn state(of: &Value) -> Option<&Cell<u64>> {
    of.receiver::<Generator>().state.as_ref()
}

fn int(m: &mut Machine<'_>, state: Option<&Cell<u64>>) -> i32 {
    state.map_or_else(|| m.host.random() as i32, |state| next(state, 32))
}

/// So many bytes of the host's chance.
pub(crate) fn chance_bytes(m: &mut Machine<'_>, count: usize) -> Vec<u8> {
    random_bytes(m, &chance(&SECURE), count)
}

/// Four bytes of each number, the lowest first, as `nextBytes` takes them.
fn random_bytes(m: &mut Machine<'_>, of: &Value, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count + 3);
    while bytes.len() < count {
        bytes.extend(int(m, state(of)).to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

fn long(m: &mut Machine<'_>, state: Option<&Cell<u64>>) -> i64 {
    match state {
        Some(state) => (i64::from(next(state, 32)) << 32).wrapping_add(i64::from(next(state, 32))),
        None => m.host.random().cast_signed(),
    }
}

/// A whole number from 0 below a bound, as `nextInt(bound)` draws it.
fn below(m: &mut Machine<'_>, state: Option<&Cell<u64>>, bound: i32) -> i32 {
    debug_assert!(bound > 0, "a bound that is checked before");
    let Some(state) = state else { return (m.host.random() % u64::from(bound.unsigned_abs())) as i32 };
    if bound & (bound - 1) == 0 {
        return ((i64::from(bound) * i64::from(next(state, 31))) >> 31) as i32;
    }
    loop {
        let bits = next(state, 31);
        let value = bits % bound;
        if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
            return value;
        }
    }
}

fn between(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run<i64> {
    let from = args[0].to_long().unwrap_or(0);
    let to = args[1].to_long().unwrap_or(0);
    if from >= to {
        return thrown("IllegalArgumentException", "bound must be greater than origin");
    }
    let drawn = long(m, state(of)).cast_unsigned() % from.abs_diff(to);
    Ok(from.wrapping_add(drawn.cast_signed()))
}

/// From 0 below 1.
pub(crate) fn double(m: &mut Machine<'_>, state: Option<&Cell<u64>>) -> f64 {
    let bits = match state {
        Some(state) => (i64::from(next(state, 26)) << 27) + i64::from(next(state, 27)),
        None => (m.host.random() >> 11).cast_signed(),
    };
    bits as f64 / (1_u64 << 53) as f64
}

fn gaussian(m: &mut Machine<'_>, state: Option<&Cell<u64>>) -> f64 {
    loop {
        let a = 2.0 * double(m, state) - 1.0;
        let b = 2.0 * double(m, state) - 1.0;
        let square = a * a + b * b;
        if square < 1.0 && square != 0.0 {
            return a * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// Mixed as `Collections.shuffle` does; by a generator of the script's, or by chance.
pub(crate) fn shuffled(m: &mut Machine<'_>, mut items: Vec<Value>, by: Option<&Value>) -> Run<Vec<Value>> {
    m.work(items.len())?;
    let state = by.and_then(|by| by.as_object::<Generator>()).and_then(|generator| generator.state.as_ref());
    for at in (1..items.len()).rev() {
        let other = below(m, state, at as i32 + 1) as usize;
        items.swap(at, other);
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_of_java() {
        let state = Cell::new(seeded(42));
        assert_eq!(next(&state, 32), -1_170_105_035);
        assert_eq!(next(&state, 32), 234_785_527);
    }
}
