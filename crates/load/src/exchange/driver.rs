//! Which loop a request goes through: over a connection of its user's own, or as a stream of one that is shared. Decided here alone.

use super::types::{Client, Context, Due, HttpExchanges, ShortQueue};
use super::{own, shared};

/// Sends what is due, over the version of HTTP that the plan has, until every request has ended in one way.
pub(crate) async fn run<C: HttpExchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: ShortQueue<Due<C::Item>>,
) {
    let is_tcp = due.front().is_some_and(|due| exchanges.is_tcp(&due.item));
    match context.worker.channels.http().streams().filter(|_| !is_tcp) {
        None => own::run(context, client, exchanges, due).await,
        // On the heap, so that users of HTTP/1 need no room for it.
        Some(_) => Box::pin(shared::run(context, client, exchanges, due)).await,
    }
}
