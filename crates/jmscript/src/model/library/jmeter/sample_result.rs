//! `prev` and `SampleResult`: a sample, as far as scripts read and set it.

use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, ClassView, Kind, listed, row, rows};
use crate::model::host::{Field, HostSample, Stop};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::tree::Binding;
use crate::model::value::Value;

const MEASURED: &str = "a script cannot change what is measured";
const PARTS: &str = "the parts of a sample and its assertions are not known to scripts";

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.samplers", "SampleResult")
    .extends(&object::KIND)
    .viewed(ClassView {
        text: Some(|m| {
            let label = m.host.get(Field::SampleLabel(HostSample::Previous));
            m.text(&label)
        }),
        ..ClassView::NONE
    })
    .constants(|name| match name {
        "TEXT" => Some(Value::from("text")),
        "BINARY" => Some(Value::from("bin")),
        _ => None,
    })
    .methods(METHODS);

/// A function that reads a field of a sample.
macro_rules! field {
    ($field:expr) => {
        |m, of, _| {
            let field: fn(HostSample) -> Field = $field;
            Ok(m.host.get(field(which(of))))
        }
    };
}

/// A function that sets a field of a sample to a text.
macro_rules! text {
    ($field:expr) => {
        |m, of, args| {
            let field: fn(HostSample) -> Field = $field;
            set_text(m, field(which(of)), args.first().unwrap_or(&Value::Null))
        }
    };
}

/// A function that sets fields of a sample to what stands there.
macro_rules! fixed {
    ($(($field:expr, $value:expr)),*) => {
        |m, of, _| {
            $(m.put_field($field(which(of)), $value)?;)*
            Ok(Value::Null)
        }
    };
}

const METHODS: &[ClassRow] = &[
    row("getResponseDataAsString", 0, field!(Field::Body)),
    row("getResponseData", 0, field!(Field::Bytes)),
    row("getResponseCode", 0, field!(Field::Code)),
    row("getResponseMessage", 0, field!(Field::Message)),
    row("getResponseHeaders", 0, field!(Field::ResponseHeaders)),
    row("getRequestHeaders", 0, field!(Field::RequestHeaders)),
    row("getSamplerData", 0, field!(Field::SamplerData)),
    row("getQueryString", 0, field!(Field::SamplerData)),
    row("getSampleLabel", 0, field!(Field::SampleLabel)),
    row("getUrlAsString", 0, field!(Field::SampleUrl)),
    row("isSuccessful", 0, field!(Field::Success)),
    row("getTime", 0, field!(Field::Elapsed)),
    row("getLatency", 0, field!(Field::Latency)),
    row("getConnectTime", 0, field!(Field::Connect)),
    row("getStartTime", 0, field!(Field::StartTime)),
    row("getTimeStamp", 0, field!(Field::StartTime)),
    row("getEndTime", 0, field!(Field::EndTime)),
    row("getBytesAsLong", 0, field!(Field::ReceivedBytes)),
    row("getBytes", 0, field!(Field::ReceivedBytes)),
    row("getBodySizeAsLong", 0, field!(Field::BodyBytes)),
    row("getBodySize", 0, field!(Field::BodyBytes)),
    row("getSentBytes", 0, field!(Field::SentBytes)),
    row("getContentType", 0, field!(Field::ContentType)),
    row("getDataType", 0, field!(Field::DataType)),
    row("getDataEncodingWithDefault", 0, field!(Field::Encoding)),
    row("getDataEncodingNoDefault", 0, field!(Field::Encoding)),
    row("getDataEncoding", 0, field!(Field::Encoding)),
    row("getErrorCount", 0, field!(Field::ErrorCount)),
    row("getGroupThreads", 0, field!(Field::GroupUsers)),
    row("getAllThreads", 0, field!(Field::AllUsers)),
    row("getThreadName", 0, |m, _, _| Ok(m.host.get(Field::UserName))),
    row("isIgnore", 0, field!(Field::Ignored)),
    row("getFirstAssertionFailureMessage", 0, field!(Field::AssertionMessage)),
    row("isResponseCodeOK", 0, |m, of, _| {
        let code = m.host.get(Field::Code(which(of)));
        let code = m.text(&code)?;
        Ok(Value::Bool(code.starts_with(['1', '2', '3']) && code.len() == 3))
    }),
    row("getURL", 0, |m, of, _| {
        let url = m.host.get(Field::SampleUrl(which(of)));
        if url.is_null() { Ok(url) } else { m.text(&url).map(Value::Text) }
    }),
    row("getMediaType", 0, |m, of, _| {
        let kind = m.host.get(Field::ContentType(which(of)));
        let kind = m.text(&kind)?;
        let media = kind.split(';').next().expect("a split text has a first part");
        m.new_text(media.trim())
    }),
    row("getSampleCount", 0, |_, _, _| Ok(Value::Int(1))),
    row("getParent", 0, |_, _, _| Ok(Value::Null)),
    row("isStopThread", 0, |_, _, _| Ok(Value::Bool(false))),
    row("isStopTest", 0, |_, _, _| Ok(Value::Bool(false))),
    row("sampleStart", 0, |_, _, _| Ok(Value::Null)),
    row("sampleEnd", 0, |_, _, _| Ok(Value::Null)),
    // Changes.
    rows("setResponseData", 1, 2, |m, of, args| {
        let value = match &args[0] {
            value @ (Value::Bytes(_) | Value::Null) => value.clone(),
            other => Value::Text(m.text(other)?),
        };
        m.put_field(Field::Body(which(of)), value)
    }),
    row("setSuccessful", 1, |m, of, args| {
        m.put_field(Field::Success(which(of)), Value::Bool(args[0].is_true()))
    }),
    rows("setIgnore", 0, 1, fixed!((Field::Ignored, Value::Bool(true)))),
    row(
        "setResponseOK",
        0,
        fixed!(
            (Field::Code, Value::from("200")),
            (Field::Message, Value::from("OK")),
            (Field::Success, Value::Bool(true))
        ),
    ),
    row("setResponseCodeOK", 0, fixed!((Field::Code, Value::from("200")))),
    row("setResponseMessageOK", 0, fixed!((Field::Message, Value::from("OK")))),
    row("setStopThread", 1, |m, _, args| Ok(stop(m, &args[0], Stop::User))),
    row("setStopTest", 1, |m, _, args| Ok(stop(m, &args[0], Stop::Test))),
    row("setStopTestNow", 1, |m, _, args| Ok(stop(m, &args[0], Stop::TestNow))),
    row("setResponseCode", 1, text!(Field::Code)),
    row("setResponseMessage", 1, text!(Field::Message)),
    row("setResponseHeaders", 1, text!(Field::ResponseHeaders)),
    row("setRequestHeaders", 1, text!(Field::RequestHeaders)),
    row("setSamplerData", 1, text!(Field::SamplerData)),
    row("setSampleLabel", 1, text!(Field::SampleLabel)),
    row("setDataType", 1, text!(Field::DataType)),
    rows("setDataEncoding", 0, 1, text!(Field::Encoding)),
    row("setEncodingAndType", 1, text!(Field::Encoding)),
    row("setContentType", 1, text!(Field::ContentType)),
    row("setLatency", 1, |m, of, args| {
        m.put_field(Field::Latency(which(of)), Value::Long(args[0].to_long().unwrap_or(0)))
    }),
    row("setConnectTime", 1, |m, of, args| {
        m.put_field(Field::Connect(which(of)), Value::Long(args[0].to_long().unwrap_or(0)))
    }),
    // What does not run here.
    listed("getSubResults", PARTS),
    listed("getAssertionResults", PARTS),
    listed("addSubResult", PARTS),
    listed("addRawSubResult", PARTS),
    listed("storeSubResult", PARTS),
    listed("addAssertionResult", PARTS),
    listed("setBytes", MEASURED),
    listed("setBodySize", MEASURED),
    listed("setStartTime", MEASURED),
    listed("setEndTime", MEASURED),
    listed("setTimeStamp", MEASURED),
];

/// The sample that a script means.
fn which(of: &Value) -> HostSample {
    match of {
        Value::Bound(Binding::SampleResult) => HostSample::Own,
        _ => HostSample::Previous,
    }
}

fn set_text(m: &mut Machine<'_>, field: Field, value: &Value) -> Run {
    let value = if value.is_null() { Value::Null } else { Value::Text(m.text(value)?) };
    m.put_field(field, value)
}

fn stop(m: &mut Machine<'_>, asks: &Value, what: Stop) -> Value {
    if asks.is_true() { m.stop(what) } else { Value::Null }
}
