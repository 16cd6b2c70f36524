//! Numbers as they stand in paths and fields, read and written without allocating.

/// No body is longer than this, whatever a size law or a URL says.
pub const MAX_SIZE: u64 = 1 << 40;

/// Appends a number in decimal.
pub fn write_number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Reads the decimal number that a text begins with; at least one digit, no overflow.
pub fn leading_number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let mut count = 0;
    let value = digits
        .inspect(|_| count += 1)
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    value.filter(|_| count > 0)
}
