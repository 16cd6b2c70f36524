//! HTTP samplers of which JMeter can make no URL: nothing is sent, and their samples fail.

use super::http::Sampler;
use super::{Converter, sampler};
use crate::element::Element;
use plan::Step;

/// Why no URL can be made of a sampler, as Java says it; `None` where one can, or where that is seen only as it is sent.
pub(super) fn malformed(c: &mut Converter<'_>, from: &Sampler<'_>) -> Option<String> {
    let path = from.text("HTTPSampler.path").trim().to_lowercase();
    if ["http://", "https://"].iter().any(|scheme| path.starts_with(scheme)) {
        return None;
    }
    let host = c.text(from.element, from.text("HTTPSampler.domain")).constant()?;
    host.contains('/').then(|| "Illegal character found in host: '/'".to_owned())
}

/// A sample that fails so. It has neither a label nor a URL, as in JMeter.
pub(super) fn steps(c: &mut Converter<'_>, of: &Element, why: &str, after: Vec<Step>) -> Vec<Step> {
    c.different(
        of,
        format!("no URL can be made of it ({why}): nothing is sent and its samples fail, as in JMeter"),
    );
    let said = why.replace('\\', "\\\\").replace('\'', "\\'");
    let program = format!(
        "SampleResult.setSampleLabel('')\nSampleResult.setSuccessful(false)\n\
         SampleResult.setResponseCode('Non HTTP response code: java.net.MalformedURLException')\n\
         SampleResult.setResponseMessage('Non HTTP response message: {said}')\n"
    );
    let code = c.code(of, "groovy", &program, None);
    sampler::sampled(c, of, vec![Step::Code(code)], after)
}
