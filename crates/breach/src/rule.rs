//! Sections of RFCs.

/// A section of an RFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Number of the RFC.
    pub rfc: u16,
    /// The section.
    pub section: &'static str,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RFC {} section {}", self.rfc, self.section)
    }
}

/// Rules in words: `RFC 9110 section 5.1, RFC 9112 sections 5 and 6.1`.
pub fn rules_text(rules: impl IntoIterator<Item = Rule>) -> String {
    let mut by_rfc: Vec<(u16, Vec<&str>)> = Vec::new();
    for rule in rules {
        match by_rfc.iter_mut().find(|(rfc, _)| *rfc == rule.rfc) {
            Some((_, sections)) => sections.push(rule.section),
            None => by_rfc.push((rule.rfc, vec![rule.section])),
        }
    }
    let of_rfc = |(rfc, sections): &(u16, Vec<&str>)| match &sections[..] {
        [] => format!("RFC {rfc}"),
        [one] => format!("RFC {rfc} section {one}"),
        [first @ .., last] => format!("RFC {rfc} sections {} and {last}", first.join(", ")),
    };
    by_rfc.iter().map(of_rfc).collect::<Vec<_>>().join(", ")
}
