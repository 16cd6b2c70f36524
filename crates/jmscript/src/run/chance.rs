//! Chance: Java's own generator where a script gives a seed, else the host's.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::method::Method;
use crate::value::{Object, Value, uuid_text};
use std::cell::Cell;
use std::rc::Rc;

/// Multiplier and mask of Java's linear congruential generator.
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

/// The state that `new Random(seed)` begins with.
pub(super) fn seeded(seed: i64) -> u64 {
    (seed.cast_unsigned() ^ MULTIPLIER) & MASK
}

/// The next bits of Java's generator.
fn next(state: &Cell<u64>, bits: u32) -> i32 {
    let new = state.get().wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
    state.set(new);
    (new >> (48 - bits)) as i32
}

impl Machine<'_> {
    fn chance_int(&mut self, state: Option<&Cell<u64>>) -> i32 {
        state.map_or_else(|| self.host.random() as i32, |state| next(state, 32))
    }

    fn chance_long(&mut self, state: Option<&Cell<u64>>) -> i64 {
        match state {
            Some(state) => (i64::from(next(state, 32)) << 32).wrapping_add(i64::from(next(state, 32))),
            None => self.host.random().cast_signed(),
        }
    }

    /// A whole number from 0 below a bound, as `nextInt(bound)` draws it.
    fn chance_below(&mut self, state: Option<&Cell<u64>>, bound: i32) -> i32 {
        let Some(state) = state else {
            return (self.host.random() % bound.unsigned_abs().max(1) as u64) as i32;
        };
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

    /// From 0 below 1.
    pub(super) fn chance_double(&mut self) -> Run<f64> {
        Ok(self.double_of(None))
    }

    fn double_of(&mut self, state: Option<&Cell<u64>>) -> f64 {
        let bits = match state {
            Some(state) => (i64::from(next(state, 26)) << 27) + i64::from(next(state, 27)),
            None => (self.host.random() >> 11).cast_signed(),
        };
        bits as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn random_method(
        &mut self,
        object: &Rc<Object>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let state = if let Object::Random(state) = &**object { Some(state) } else { None };
        let number = |at: usize| args.get(at).and_then(Value::to_long);
        Ok(Some(match (method, args.len()) {
            (Method::nextInt, 0) => Value::Int(self.chance_int(state)),
            (Method::nextInt, 1) => {
                let bound = number(0).unwrap_or(0);
                match i32::try_from(bound) {
                    Ok(bound) if bound > 0 => Value::Int(self.chance_below(state, bound)),
                    _ => return thrown("IllegalArgumentException", "bound must be positive"),
                }
            }
            (Method::nextInt | Method::nextLong, 2) => {
                let (from, to) = (number(0).unwrap_or(0), number(1).unwrap_or(0));
                if from >= to {
                    return thrown("IllegalArgumentException", "bound must be greater than origin");
                }
                let value = from.wrapping_add(
                    (self.chance_long(state).cast_unsigned() % from.abs_diff(to)).cast_signed(),
                );
                if method == Method::nextInt { Value::Int(value as i32) } else { Value::Long(value) }
            }
            (Method::nextLong, 1) if number(0).is_some_and(|bound| bound > 0) => {
                Value::Long(self.chance_long(state).rem_euclid(number(0).unwrap_or(1)))
            }
            (Method::nextLong, _) => Value::Long(self.chance_long(state)),
            (Method::nextDouble, 2) => {
                let (from, to) = (args[0].to_double().unwrap_or(0.0), args[1].to_double().unwrap_or(1.0));
                Value::Double(from + self.double_of(state) * (to - from))
            }
            (Method::nextDouble, _) => Value::Double(self.double_of(state)),
            (Method::nextFloat, _) => Value::Float(self.double_of(state) as f32),
            (Method::nextBoolean, _) => Value::Bool(match state {
                Some(state) => next(state, 1) != 0,
                None => self.host.random() & 1 == 1,
            }),
            (Method::nextGaussian, _) => Value::Double(self.gaussian(state)),
            (Method::setSeed, 1) => {
                if let Some(state) = state {
                    state.set(seeded(number(0).unwrap_or(0)));
                }
                Value::Null
            }
            (Method::current, 0) => Value::Object(object.clone()),
            _ => return Ok(None),
        }))
    }

    fn gaussian(&mut self, state: Option<&Cell<u64>>) -> f64 {
        loop {
            let (a, b) = (2.0 * self.double_of(state) - 1.0, 2.0 * self.double_of(state) - 1.0);
            let square = a * a + b * b;
            if square < 1.0 && square != 0.0 {
                return a * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// A random identity of version 4.
    fn random_uuid(&mut self) -> u128 {
        let bits = u128::from(self.host.random()) << 64 | u128::from(self.host.random());
        bits & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62
    }

    pub(super) fn chance_class(
        &mut self,
        class: Class,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (class, method) {
            (Class::ThreadLocalRandom, Method::current)
            | (Class::SecureRandom, Method::getInstance | Method::getInstanceStrong) => {
                Value::object(Object::Chance)
            }
            (Class::Uuid, Method::randomUUID) => Value::object(Object::Uuid(self.random_uuid())),
            (Class::Uuid, Method::fromString) => {
                let text = self.text(args.first().unwrap_or(&Value::Null))?;
                match u128::from_str_radix(&text.replace('-', ""), 16) {
                    Ok(id) => Value::object(Object::Uuid(id)),
                    Err(_) => {
                        return thrown("IllegalArgumentException", format!("Invalid UUID string: {text}"));
                    }
                }
            }
            (Class::Uuid, Method::nameUUIDFromBytes) => {
                let bytes = self.bytes_of(args.first().unwrap_or(&Value::Null))?;
                let hash = super::bytes::digest("MD5", &bytes).unwrap_or_default();
                let bits = hash.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
                Value::object(Object::Uuid(bits & !(0xf << 76) & !(0b11 << 62) | 3 << 76 | 0b10 << 62))
            }
            (
                Class::RandomStringUtils,
                Method::randomAlphanumeric
                | Method::randomAlphabetic
                | Method::randomNumeric
                | Method::random,
            ) => {
                let signs = match method {
                    Method::randomAlphabetic => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                    Method::randomNumeric => "0123456789",
                    _ => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
                };
                let count = args
                    .first()
                    .and_then(Value::to_long)
                    .and_then(|count| usize::try_from(count).ok())
                    .unwrap_or(0);
                self.take_text(count)?;
                let mut out = String::with_capacity(count);
                for _ in 0..count {
                    let at = (self.host.random() % signs.len() as u64) as usize;
                    out.push_str(&signs[at..=at]);
                }
                Value::text(out)
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn uuid_method(&mut self, id: u128, method: Method) -> Run<Option<Value>> {
        Ok(Some(match method {
            Method::toString => self.new_text(uuid_text(id))?,
            Method::getMostSignificantBits => Value::Long((id >> 64) as u64 as i64),
            Method::getLeastSignificantBits => Value::Long(id as u64 as i64),
            _ => return Ok(None),
        }))
    }

    /// Mixed as `Collections.shuffle` does; a second argument is the generator.
    pub(super) fn shuffled(&mut self, mut items: Vec<Value>, args: &[Value]) -> Run<Vec<Value>> {
        self.work(items.len())?;
        let generator = match args.last() {
            Some(Value::Object(object)) => Some(object.clone()),
            _ => None,
        };
        for at in (1..items.len()).rev() {
            let state = generator
                .as_ref()
                .and_then(|object| if let Object::Random(state) = &**object { Some(state) } else { None });
            let other = self.chance_below(state, at as i32 + 1) as usize;
            items.swap(at, other);
        }
        Ok(items)
    }
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
