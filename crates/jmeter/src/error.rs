//! Why a file is no JMeter plan.

/// Why a file cannot be read as a JMeter plan at all. What is readable but cannot be run is a
/// [`Finding`](crate::Finding) instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no well-formed XML.
    #[error("line {line}: {why}: mend the XML, or save the plan again with JMeter")]
    Xml {
        /// Counted from 1.
        line: usize,
        /// The reader's words.
        why: String,
    },
    /// A document type, with which entities could be declared that unfold to gigabytes or name files.
    #[error("line {0}: a document type (<!DOCTYPE …>) is not read: remove it, JMeter writes none")]
    DocumentType(usize),
    /// It is larger than any plan.
    #[error("the plan is larger than {0}: split it with Include Controllers")]
    TooLarge(&'static str),
    /// The encoding that the file names.
    #[error("the encoding '{0}' is not known: save the plan as UTF-8")]
    Encoding(String),
    /// Some other XML.
    #[error("a plan of JMeter begins with <jmeterTestPlan>, this file with <{0}>")]
    OtherRoot(String),
    /// Nothing in it can be run.
    #[error("there is no enabled Test Plan element in it")]
    NoTestPlan,
    /// A reference that leads nowhere, or not back.
    #[error("line {line}: the reference '{path}' leads to no element before it")]
    Reference {
        /// Counted from 1.
        line: usize,
        /// As XStream writes it.
        path: String,
    },
}
