//! MD5Hex Assertions: a program makes the digest of each answer.

use super::Converter;
use crate::element::Element;
use plan::{Body, Code, Step};

/// Fails as JMeter says it. `Parameters` is the digest that is wanted.
const PROGRAM: &str = r"import org.apache.commons.codec.digest.DigestUtils
def bytes = prev.getResponseData()
def wanted = Parameters
def says = null
if (bytes == null || bytes.length == 0) {
  says = 'Response was null'
} else if (wanted.isEmpty()) {
  says = 'MD5Hex to test against is empty'
} else {
  def found = DigestUtils.md5Hex(bytes)
  if (!found.equalsIgnoreCase(wanted)) says = 'Error asserting MD5 sum : got ' + found + ' but should have been ' + wanted
}
if (says != null) {
  AssertionResult.setFailure(true)
  AssertionResult.setFailureMessage(says)
}
";

pub(super) fn md5(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    // The property's name is JMeter's own slip.
    let wanted = c.text(of, of.properties.text("MD5HexAssertion.size"));
    let code = c.code(of, "groovy", PROGRAM, None);
    let code = Code { asserts: true, parameters: Body::from(wanted.raw()), ..code };
    wanted.steps().into_iter().chain([Step::Code(code)]).collect()
}
