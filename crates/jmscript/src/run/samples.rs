//! Samples and assertions: what scripts read of them and set.

use super::Machine;
use super::abrupt::Run;
use crate::host::{Field, Sample, Stop};
use crate::method::Method;
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn sample_method(&mut self, of: Sample, method: Method, args: &[Value]) -> Run<Option<Value>> {
        if let (Some(field), []) = (readable(of, method), args) {
            return Ok(Some(self.host.get(field)));
        }
        if let Some(value) = self.change_sample(of, method, args)? {
            return Ok(Some(value));
        }
        Ok(Some(match method {
            Method::isResponseCodeOK => {
                let code = self.host.get(Field::Code(of));
                let code = self.text(&code)?;
                Value::Bool(code.starts_with(['1', '2', '3']) && code.len() == 3)
            }
            Method::getURL => {
                let url = self.host.get(Field::SampleUrl(of));
                if url.is_null() { url } else { Value::Text(self.text(&url)?) }
            }
            Method::getSampleCount => Value::Int(1),
            Method::getMediaType => {
                let kind = self.host.get(Field::ContentType(of));
                let kind = self.text(&kind)?;
                self.new_text(kind.split(';').next().unwrap_or_default().trim())?
            }
            Method::getParent => Value::Null,
            Method::isStopThread | Method::isStopTest => Value::Bool(false),
            Method::sampleStart | Method::sampleEnd => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn change_sample(&mut self, of: Sample, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        let field = match method {
            Method::setResponseData => {
                let value = match &first {
                    Value::Bytes(_) | Value::Null => first,
                    other => Value::Text(self.text(other)?),
                };
                return self.put_field(Field::Body(of), value).map(Some);
            }
            Method::setSuccessful => {
                return self.put_field(Field::Success(of), Value::Bool(first.is_true())).map(Some);
            }
            Method::setIgnore => return self.put_field(Field::Ignored(of), Value::Bool(true)).map(Some),
            Method::setResponseOK => {
                self.put_field(Field::Code(of), Value::from("200"))?;
                self.put_field(Field::Message(of), Value::from("OK"))?;
                return self.put_field(Field::Success(of), Value::Bool(true)).map(Some);
            }
            Method::setResponseCodeOK => {
                return self.put_field(Field::Code(of), Value::from("200")).map(Some);
            }
            Method::setResponseMessageOK => {
                return self.put_field(Field::Message(of), Value::from("OK")).map(Some);
            }
            Method::setStopThread | Method::setStopTest | Method::setStopTestNow => {
                let what = match method {
                    Method::setStopThread => Stop::User,
                    Method::setStopTest => Stop::Test,
                    _ => Stop::TestNow,
                };
                return Ok(Some(if first.is_true() { self.stop(what) } else { Value::Null }));
            }
            Method::setResponseCode => Field::Code(of),
            Method::setResponseMessage => Field::Message(of),
            Method::setResponseHeaders => Field::ResponseHeaders(of),
            Method::setRequestHeaders => Field::RequestHeaders(of),
            Method::setSamplerData => Field::SamplerData(of),
            Method::setSampleLabel => Field::SampleLabel(of),
            Method::setDataType => Field::DataType(of),
            Method::setDataEncoding | Method::setEncodingAndType => Field::Encoding(of),
            Method::setContentType => Field::ContentType(of),
            Method::setLatency | Method::setConnectTime => {
                let field =
                    if method == Method::setLatency { Field::Latency(of) } else { Field::Connect(of) };
                return self.put_field(field, Value::Long(first.to_long().unwrap_or(0))).map(Some);
            }
            _ => return Ok(None),
        };
        let value = if first.is_null() { Value::Null } else { Value::Text(self.text(&first)?) };
        self.put_field(field, value).map(Some)
    }

    pub(super) fn assertion_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (method, args.len()) {
            (Method::isFailure | Method::getFailure, 0) => self.host.get(Field::Failure),
            (Method::isError | Method::getError, 0) => self.host.get(Field::AssertionError),
            (Method::getFailureMessage, 0) => self.host.get(Field::FailureMessage),
            (Method::setFailure, 1) => self.put_field(Field::Failure, Value::Bool(first.is_true()))?,
            (Method::setError, 1) => self.put_field(Field::AssertionError, Value::Bool(first.is_true()))?,
            (Method::setFailureMessage | Method::setResultForFailure, 1) => {
                if method == Method::setResultForFailure {
                    self.put_field(Field::Failure, Value::Bool(true))?;
                }
                let text = if first.is_null() { Value::Null } else { Value::Text(self.text(&first)?) };
                self.put_field(Field::FailureMessage, text)?
            }
            (Method::getName, 0) => self.host.get(Field::Label),
            _ => return Ok(None),
        }))
    }
}

/// The field that a method without arguments reads.
fn readable(of: Sample, method: Method) -> Option<Field> {
    Some(match method {
        Method::getResponseDataAsString => Field::Body(of),
        Method::getResponseData => Field::Bytes(of),
        Method::getResponseCode => Field::Code(of),
        Method::getResponseMessage => Field::Message(of),
        Method::getResponseHeaders => Field::ResponseHeaders(of),
        Method::getRequestHeaders => Field::RequestHeaders(of),
        Method::getSamplerData | Method::getQueryString => Field::SamplerData(of),
        Method::getSampleLabel => Field::SampleLabel(of),
        Method::getUrlAsString => Field::SampleUrl(of),
        Method::isSuccessful => Field::Success(of),
        Method::getTime => Field::Elapsed(of),
        Method::getLatency => Field::Latency(of),
        Method::getConnectTime => Field::Connect(of),
        Method::getStartTime | Method::getTimeStamp => Field::StartTime(of),
        Method::getEndTime => Field::EndTime(of),
        Method::getBytesAsLong => Field::ReceivedBytes(of),
        Method::getBodySizeAsLong | Method::getBodySize => Field::BodyBytes(of),
        Method::getSentBytes => Field::SentBytes(of),
        Method::getContentType => Field::ContentType(of),
        Method::getDataType => Field::DataType(of),
        Method::getDataEncodingWithDefault | Method::getDataEncodingNoDefault | Method::getDataEncoding => {
            Field::Encoding(of)
        }
        Method::getErrorCount => Field::ErrorCount(of),
        Method::getGroupThreads => Field::GroupUsers(of),
        Method::getAllThreads => Field::AllUsers(of),
        Method::getThreadName => Field::UserName,
        Method::isIgnore => Field::Ignored(of),
        Method::getFirstAssertionFailureMessage => Field::AssertionMessage(of),
        _ => return None,
    })
}
