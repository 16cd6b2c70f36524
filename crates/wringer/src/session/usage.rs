//! How many workers there are, and what time it is.

/// The number of workers: as asked for, or one for each core.
pub fn threads(asked: Option<u16>) -> u32 {
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    asked.map_or_else(cores, u32::from)
}

/// Seconds since 1970.
pub fn unix_seconds() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
