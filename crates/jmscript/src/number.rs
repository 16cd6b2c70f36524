//! Numbers as Java has them: decimals with a scale (`BigDecimal`), and the texts of decimals and floating-point numbers.

use num_bigint::{BigInt, Sign};
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;

/// Digits that a decimal may have; what would need more is an error instead of work without bound.
pub const MOST_DIGITS: u64 = 2_000;

/// A decimal: `unscaled` × 10^-`scale`. Trailing zeros count, as in Java: 1.50 is printed as it was written.
#[derive(Clone, Debug)]
pub struct Decimal {
    unscaled: BigInt,
    scale: i32,
}

impl Decimal {
    /// `unscaled` × 10^-`scale`.
    pub fn new(unscaled: impl Into<BigInt>, scale: i32) -> Decimal {
        Decimal { unscaled: unscaled.into(), scale }
    }

    /// Digits after the point; negative where zeros before it are not written.
    pub fn scale(&self) -> i32 {
        self.scale
    }

    /// The digits without their point.
    pub fn unscaled(&self) -> &BigInt {
        &self.unscaled
    }

    /// Reads `[sign]digits[.digits][e[sign]digits]`; `None` where it is no number or too long.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = whole.trim_start_matches(['+', '-']);
        let signs = whole.len() - digits.len();
        let all_digits = digits.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        let length = digits.len() + fraction.len();
        if !all_digits
            || signs > 1
            || length == 0
            || length as u64 > MOST_DIGITS
            || exponent.unsigned_abs() > 1_000
        {
            return None;
        }
        let unscaled: BigInt = format!("{digits}{fraction}").parse().ok()?;
        let unscaled = if whole.starts_with('-') { -unscaled } else { unscaled };
        Some(Decimal { unscaled, scale: fraction.len() as i32 - exponent })
    }

    /// The decimal that a floating-point number's shortest text says, as `BigDecimal.valueOf`.
    pub fn from_double(value: f64) -> Option<Decimal> {
        if value.is_finite() { Decimal::parse(&double_text(value)) } else { None }
    }

    /// The nearest floating-point number.
    pub fn to_f64(&self) -> f64 {
        format!("{}e{}", self.unscaled, -i64::from(self.scale)).parse().unwrap_or(f64::NAN)
    }

    /// The part before the point.
    pub fn to_integer(&self) -> BigInt {
        if self.scale <= 0 {
            &self.unscaled * ten_to(-self.scale)
        } else {
            &self.unscaled / ten_to(self.scale)
        }
    }

    fn digits(&self) -> i32 {
        self.unscaled.magnitude().to_string().len() as i32
    }

    /// Both as whole numbers of the finer scale, and that scale.
    fn aligned(&self, other: &Decimal) -> (BigInt, BigInt, i32) {
        let scale = self.scale.max(other.scale);
        let raise = |one: &Decimal| &one.unscaled * ten_to(scale - one.scale);
        (raise(self), raise(other), scale)
    }

    /// The sum, with the finer of both scales.
    pub fn plus(&self, other: &Decimal) -> Decimal {
        let (left, right, scale) = self.aligned(other);
        Decimal { unscaled: left + right, scale }
    }

    /// The difference, with the finer of both scales.
    pub fn minus(&self, other: &Decimal) -> Decimal {
        let (left, right, scale) = self.aligned(other);
        Decimal { unscaled: left - right, scale }
    }

    /// The product, with the sum of both scales; `None` where it has too many digits.
    pub fn times(&self, other: &Decimal) -> Option<Decimal> {
        let product = Decimal {
            unscaled: &self.unscaled * &other.unscaled,
            scale: self.scale.checked_add(other.scale)?,
        };
        product.is_bounded().then_some(product)
    }

    /// Few enough digits, and a scale that can be written out.
    pub fn is_bounded(&self) -> bool {
        self.unscaled.bits() < MOST_DIGITS * 4 && self.scale.unsigned_abs() <= MOST_DIGITS as u32
    }

    /// The remainder, with the sign of the dividend; `None` for a divisor of zero.
    pub fn remainder(&self, other: &Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other);
        (!right.is_zero()).then(|| Decimal { unscaled: left % right, scale })
    }

    /// The quotient as Groovy gives it: exact where that ends, else with at least ten digits after the point, the last
    /// rounded half up. `None` for a divisor of zero.
    pub fn divided_by(&self, other: &Decimal) -> Option<Decimal> {
        if other.unscaled.is_zero() {
            return None;
        }
        let preferred = self.scale - other.scale;
        if let Some(more) = digits_until_exact(&self.unscaled, &other.unscaled) {
            let unscaled = &self.unscaled * ten_to(more) / &other.unscaled;
            return Some(Decimal { unscaled, scale: preferred + more });
        }
        let precision = self.digits().max(other.digits()) + 10;
        let most = self.scale.max(other.scale).max(10);
        // One digit more than wanted tells how many the whole part has.
        let guess = preferred + precision + other.digits() - self.digits() + 1;
        let quotient = self.quotient(other, guess);
        let surplus = quotient.digits() - precision;
        let rounded = if surplus > 0 { self.quotient(other, guess - surplus) } else { quotient };
        Some(if rounded.scale > most { rounded.with_scale(most, Rounding::HalfUp)? } else { rounded })
    }

    /// The quotient with this scale, rounded half up.
    fn quotient(&self, other: &Decimal, scale: i32) -> Decimal {
        let shift = scale - (self.scale - other.scale);
        let left = &self.unscaled * ten_to(shift);
        let right = &other.unscaled * ten_to(-shift);
        Decimal {
            unscaled: divide_rounded(&left, &right, Rounding::HalfUp).expect("it rounds up where it must"),
            scale,
        }
    }

    /// The quotient with this scale, rounded; `None` where that is impossible.
    pub fn divided_to(&self, other: &Decimal, scale: i32, rounding: Rounding) -> Option<Decimal> {
        if other.unscaled.is_zero() || scale.unsigned_abs() > 1_000 {
            return None;
        }
        let shift = scale - (self.scale - other.scale);
        let left = &self.unscaled * ten_to(shift);
        let right = &other.unscaled * ten_to(-shift);
        Some(Decimal { unscaled: divide_rounded(&left, &right, rounding)?, scale })
    }

    /// The same with another scale; `None` where rounding would be needed and may not be, or the scale is absurd.
    pub fn with_scale(&self, scale: i32, rounding: Rounding) -> Option<Decimal> {
        if scale.unsigned_abs() > 1_000 {
            return None;
        }
        let unscaled = if scale >= self.scale {
            &self.unscaled * ten_to(scale - self.scale)
        } else {
            divide_rounded(&self.unscaled, &ten_to(self.scale - scale), rounding)?
        };
        Some(Decimal { unscaled, scale })
    }

    /// Without zeros at the end.
    pub fn stripped(&self) -> Decimal {
        if self.unscaled.is_zero() {
            return Decimal::new(0, 0);
        }
        let digits = self.unscaled.to_string();
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        Decimal { unscaled: &self.unscaled / ten_to(zeros as i32), scale: self.scale - zeros as i32 }
    }

    /// Its text without an exponent, as `toPlainString`.
    pub fn plain_text(&self) -> String {
        let digits = self.unscaled.magnitude().to_string();
        let sign = if self.unscaled.sign() == Sign::Minus { "-" } else { "" };
        if self.scale <= 0 {
            let zeros = if self.unscaled.is_zero() { 0 } else { self.scale.unsigned_abs() as usize };
            return format!("{sign}{digits}{}", "0".repeat(zeros));
        }
        let scale = self.scale as usize;
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        format!("{sign}{whole}.{fraction}")
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.magnitude().to_string();
        let exponent = i64::from(digits.len() as i32 - 1) - i64::from(self.scale);
        if self.scale >= 0 && exponent >= -6 {
            return f.write_str(&self.plain_text());
        }
        let sign = if self.unscaled.sign() == Sign::Minus { "-" } else { "" };
        let point = if digits.len() > 1 { "." } else { "" };
        write!(f, "{sign}{}{point}{}E{exponent:+}", &digits[..1], &digits[1..])
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let (left, right, _) = self.aligned(other);
        left.cmp(&right)
    }
}

/// The ways of Java's `RoundingMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
    /// Towards positive infinity.
    Ceiling,
    /// Towards negative infinity.
    Floor,
    /// To the nearest, halves away from zero.
    HalfUp,
    /// To the nearest, halves towards zero.
    HalfDown,
    /// To the nearest, halves to the even neighbour.
    HalfEven,
    /// An error where digits would be lost.
    Unnecessary,
}

impl Rounding {
    /// The mode by the name of Java's constant, with or without `ROUND_` before it.
    pub fn named(name: &str) -> Option<Rounding> {
        Some(match name.strip_prefix("ROUND_").unwrap_or(name) {
            "UP" => Rounding::Up,
            "DOWN" => Rounding::Down,
            "CEILING" => Rounding::Ceiling,
            "FLOOR" => Rounding::Floor,
            "HALF_UP" => Rounding::HalfUp,
            "HALF_DOWN" => Rounding::HalfDown,
            "HALF_EVEN" => Rounding::HalfEven,
            "UNNECESSARY" => Rounding::Unnecessary,
            _ => return None,
        })
    }
}

fn divide_rounded(left: &BigInt, right: &BigInt, rounding: Rounding) -> Option<BigInt> {
    let quotient = left / right;
    let rest = left % right;
    if rest.is_zero() {
        return Some(quotient);
    }
    let is_negative = left.is_negative() != right.is_negative();
    let half = (rest.abs() * 2_u8).cmp(&right.abs());
    let away = match rounding {
        Rounding::Up => true,
        Rounding::Down => false,
        Rounding::Ceiling => !is_negative,
        Rounding::Floor => is_negative,
        Rounding::HalfUp => half != Ordering::Less,
        Rounding::HalfDown => half == Ordering::Greater,
        Rounding::HalfEven => half == Ordering::Greater || half == Ordering::Equal && quotient.bit(0),
        Rounding::Unnecessary => return None,
    };
    let step = if is_negative { -1 } else { 1 };
    Some(if away { quotient + step } else { quotient })
}

fn ten_to(power: i32) -> BigInt {
    BigInt::from(10).pow(power.max(0).unsigned_abs())
}

/// How many digits more make the quotient a whole number; `None` where none do.
fn digits_until_exact(left: &BigInt, right: &BigInt) -> Option<i32> {
    let mut rest = right.abs() / gcd(left.abs(), right.abs());
    let mut twos = 0;
    let mut fives = 0;
    while !rest.bit(0) {
        rest >>= 1;
        twos += 1;
    }
    let five = BigInt::from(5);
    while (&rest % &five).is_zero() {
        rest /= &five;
        fives += 1;
    }
    rest.is_one().then(|| twos.max(fives))
}

fn gcd(mut a: BigInt, mut b: BigInt) -> BigInt {
    while !b.is_zero() {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// The text of a `double` as Java prints it: `1.0`, `1.0E7`, `NaN`.
pub fn double_text(value: f64) -> String {
    java_text(value, format!("{value:e}"))
}

/// The text of a `float` as Java prints it.
pub fn float_text(value: f32) -> String {
    java_text(f64::from(value), format!("{value:e}"))
}

/// `scientific` is the shortest text that reads back as the same number, with an exponent.
fn java_text(value: f64, scientific: String) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-3..7).contains(&exponent) {
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return format!("{mantissa}{point}E{exponent}");
    }
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let whole = exponent + 1;
    if whole <= 0 {
        return format!("{sign}0.{}{digits}", "0".repeat(whole.unsigned_abs() as usize));
    }
    let whole = whole as usize;
    let padded = format!("{digits:0<whole$}");
    let (before, after) = padded.split_at(whole);
    format!("{sign}{before}.{}", if after.is_empty() { "0" } else { after })
}

/// The text of a number as JavaScript prints it: `1`, `3.5`, `1e+21`.
pub fn script_text(value: f64) -> String {
    if !value.is_finite() {
        return java_text(value, String::new());
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if value == 0.0 {
        return "0".to_owned();
    }
    if (-6..21).contains(&power) { format!("{value}") } else { format!("{mantissa}e{power:+}") }
}

/// A whole number as the smallest of `int`, `long` and big that holds it.
pub fn fit(value: &BigInt) -> Fit {
    match (value.to_i32(), value.to_i64()) {
        (Some(int), _) => Fit::Int(int),
        (None, Some(long)) => Fit::Long(long),
        (None, None) => Fit::Big,
    }
}

/// The kind of whole number that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// 32 bits.
    Int(i32),
    /// 64 bits.
    Long(i64),
    /// More.
    Big,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).expect("a decimal")
    }

    #[test]
    fn quotients() {
        for (left, right, expected) in [
            ("1", "3", "0.3333333333"),
            ("5", "2", "2.5"),
            ("6", "3", "2"),
            ("10.0", "4", "2.5"),
            ("1000", "10", "100"),
            ("2", "3.00", "0.6666666667"),
            ("-1", "8", "-0.125"),
            ("100000000000", "7", "14285714285.7142857143"),
        ] {
            assert_eq!(
                decimal(left).divided_by(&decimal(right)).unwrap().to_string(),
                expected,
                "{left}/{right}"
            );
        }
        assert!(decimal("1").divided_by(&decimal("0.0")).is_none());
    }

    #[test]
    fn texts() {
        for text in ["1.50", "0.3", "-7", "1.5E+3", "1E-7", "0.000001", "0.00", "0E+3"] {
            assert_eq!(decimal(text).to_string(), text);
        }
        for (value, text) in [
            (1e7, "1.0E7"),
            (100.0, "100.0"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(double_text(value), text);
        }
        assert_eq!(float_text(12_345_678.9), "1.2345679E7");
        for (value, text) in [(3e9, "3000000000"), (3.5, "3.5"), (1e21, "1e+21"), (1e-7, "1e-7"), (-0.0, "0")]
        {
            assert_eq!(script_text(value), text);
        }
    }

    #[test]
    fn rounding() {
        for (mode, expected) in [
            ("UP", ["3", "-3"]),
            ("DOWN", ["2", "-2"]),
            ("CEILING", ["3", "-2"]),
            ("FLOOR", ["2", "-3"]),
            ("HALF_UP", ["3", "-3"]),
            ("HALF_DOWN", ["2", "-2"]),
            ("HALF_EVEN", ["2", "-2"]),
        ] {
            let mode = Rounding::named(mode).unwrap();
            let rounded = ["2.5", "-2.5"].map(|text| decimal(text).with_scale(0, mode).unwrap().to_string());
            assert_eq!(rounded, expected, "{mode:?}");
        }
        assert!(decimal("2.5").with_scale(0, Rounding::Unnecessary).is_none());
    }
}
