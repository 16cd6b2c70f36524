//! Times of which there may be none: 0 in memory, null in what is written.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a time that is 0 where nothing was timed, which no time is, as null then.
///
/// # Errors
/// Those of what it is written to.
pub fn unless_zero<N: Copy + Default + PartialEq + Serialize, S: Serializer>(
    time: &N,
    to: S,
) -> Result<S::Ok, S::Error> {
    Some(*time).filter(|time| *time != N::default()).serialize(to)
}

/// Reads what [`unless_zero`] writes.
///
/// # Errors
/// It is no number.
pub fn zero_if_null<'de, N: Default + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<N, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_else(N::default))
}
