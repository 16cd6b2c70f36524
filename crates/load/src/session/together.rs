//! Several futures of one task at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Goes on with all of them until each has ended. Whatever one of them waits for wakes the task, so each is polled then;
/// they are few.
pub(crate) async fn all<F: Future<Output = ()>>(futures: Vec<F>) {
    let mut waiting: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    poll_fn(|context| {
        waiting.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if waiting.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
