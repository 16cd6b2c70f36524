//! The URL of a command line, as far as it is the same for several tools.

use plan::{Address, Masked};

/// The address that a URL names.
///
/// # Errors
/// Why it names none; without its secrets.
pub(crate) fn address(url: &str) -> Result<Address, String> {
    Address::parse(url).ok_or_else(|| {
        let masked = Masked::address(url);
        format!("'{masked}' is no URL: give http://HOST or https://HOST")
    })
}

/// A URL with the scheme that is meant where none was typed.
pub(crate) fn with_scheme(typed: &str) -> String {
    if typed.contains("://") { typed.to_owned() } else { format!("http://{typed}") }
}
