//! Bodies: bytes that are there, followed by nothing, by the rest of a stream, or by a break.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::StatusCode;
use hyper::body::{Body as HyperBody, Bytes, Frame, Incoming, SizeHint};
use hyper::header::CONTENT_LENGTH;

/// A body on its way to a client or to the origin.
pub(super) struct Body {
    ready: Bytes,
    rest: DemoRest,
}

enum DemoRest {
    Nothing,
    Stream(Incoming),
    /// The body ends before its end, as that of the origin did.
    Cut(Flush),
}

/// hyper drops what it has not written yet when a body breaks; one turn in between lets it write.
enum Flush {
    Due,
    Done,
}

/// Outcome of reading a body to its end.
pub(super) enum Collected {
    Whole(Bytes),
    /// Too large to be kept: what was read, and the rest.
    Large(Body),
    /// Broken: what was read, and the break.
    Cut(Body),
}

impl Body {
    pub(super) fn empty() -> Body {
        Body::from(Bytes::new())
    }

    /// Reads until the end or until there is more than `limit_bytes`.
    pub(super) async fn collect(mut self, limit_bytes: u64) -> Collected {
        let announced = self.size_hint().exact();
        if announced.is_some_and(|length| length > limit_bytes) {
            return Collected::Large(self);
        }
        let mut read = Vec::with_capacity(announced.unwrap_or(0) as usize);
        loop {
            match self.frame().await {
                None => return Collected::Whole(Bytes::from(read)),
                Some(Err(_)) => {
                    return Collected::Cut(Body {
                        ready: Bytes::from(read),
                        rest: DemoRest::Cut(Flush::Due),
                    });
                }
                // Trailers end here: a cache may drop them (RFC 9110 section 6.5.1).
                Some(Ok(frame)) => read.extend_from_slice(&frame.into_data().unwrap_or_default()),
            }
            if read.len() as u64 > limit_bytes {
                return Collected::Large(Body { ready: Bytes::from(read), rest: self.rest });
            }
        }
    }
}

/// True if a client can tell where the answer to its GET ends while the connection stays open.
pub(super) fn ends_by_itself(response: &Response<Body>) -> bool {
    let is_bodiless = matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    is_bodiless
        || response.headers().contains_key(CONTENT_LENGTH)
        || response.body().size_hint().exact().is_some()
}

impl From<Bytes> for Body {
    fn from(ready: Bytes) -> Body {
        Body { ready, rest: DemoRest::Nothing }
    }
}

impl From<Incoming> for Body {
    fn from(stream: Incoming) -> Body {
        Body { ready: Bytes::new(), rest: DemoRest::Stream(stream) }
    }
}

impl HyperBody for Body {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if !self.ready.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.ready)))));
        }
        match &mut self.rest {
            DemoRest::Nothing => Poll::Ready(None),
            DemoRest::Stream(stream) => {
                let frame = ready!(Pin::new(stream).poll_frame(context));
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            DemoRest::Cut(flush @ Flush::Due) => {
                *flush = Flush::Done;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            DemoRest::Cut(Flush::Done) => {
                self.rest = DemoRest::Nothing;
                Poll::Ready(Some(Err("the origin's body broke off".into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let is_over = match &self.rest {
            DemoRest::Nothing => true,
            DemoRest::Stream(stream) => stream.is_end_stream(),
            DemoRest::Cut(_) => false,
        };
        is_over && self.ready.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let ready = self.ready.len() as u64;
        let exact = match &self.rest {
            DemoRest::Nothing => Some(ready),
            DemoRest::Stream(stream) => stream.size_hint().exact().map(|rest| ready + rest),
            DemoRest::Cut(_) => None,
        };
        exact.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
