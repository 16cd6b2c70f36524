//! The place where two texts differ, as JMeter shows it of a text that should be equal to another: both with brackets around what differs, and
//! at most a hundred characters on each side.

/// Characters that are shown before what differs, of it, and behind it.
const MOST: usize = 100;

/// Both texts, one below the other.
pub(super) fn shown(found: &str, wanted: &str) -> String {
    let found: Vec<char> = found.chars().collect();
    let wanted: Vec<char> = wanted.chars().collect();
    let same = found.iter().zip(&wanted).take_while(|(one, other)| one == other).count();
    // The last characters are compared as far as something is left between them and the first ones.
    let most = found.len().min(wanted.len()).saturating_sub(same + 1);
    let backwards = found.iter().rev().zip(wanted.iter().rev());
    let ends = backwards.take(most).take_while(|(one, other)| one == other).count();
    let start = last(&found[..same]);
    let end = first(&found[found.len() - ends..]);
    let mut received = first(&found[same..found.len() - ends]);
    let mut compared = first(&wanted[same..wanted.len() - ends]);
    let width = received.chars().count().max(compared.chars().count());
    for text in [&mut received, &mut compared] {
        let missing = width - text.chars().count();
        text.extend(std::iter::repeat_n(' ', missing));
    }
    format!(
        "\n\n****** received  : {start}[[[{received}]]]{end}\n\n****** comparison: {start}[[[{compared}]]]{end}\n\n"
    )
}

fn first(text: &[char]) -> String {
    match text.len() > MOST {
        true => text[..MOST].iter().chain(&['.'; 3]).collect(),
        false => text.iter().collect(),
    }
}

fn last(text: &[char]) -> String {
    match text.len() > MOST {
        true => ['.'; 3].iter().chain(&text[text.len() - MOST..]).collect(),
        false => text.iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second pair is what JMeter 5.6.3 wrote for a status; the others follow its source.
    #[test]
    fn what_differs_stands_in_brackets() {
        for (found, wanted, one, other) in [
            ("abcdef", "abXdef", "ab[[[c]]]def", "ab[[[X]]]def"),
            ("201", "200", "20[[[1]]]", "20[[[0]]]"),
            ("", "x", "[[[ ]]]", "[[[x]]]"),
            ("aXXb", "aYb", "a[[[XX]]]b", "a[[[Y ]]]b"),
            ("same", "same", "same[[[]]]", "same[[[]]]"),
            ("aa", "aaa", "aa[[[ ]]]", "aa[[[a]]]"),
        ] {
            let expected = format!("\n\n****** received  : {one}\n\n****** comparison: {other}\n\n");
            assert_eq!(shown(found, wanted), expected, "{found} {wanted}");
        }
        let long = "x".repeat(150);
        let text = shown(&format!("{long}a{long}"), &format!("{long}b{long}"));
        let side = "x".repeat(100);
        assert!(text.contains(&format!("...{side}[[[a]]]{side}...")), "{text}");
    }
}
