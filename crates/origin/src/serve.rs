//! Accepts connections, a task for each.

use crate::OriginShared;
use crate::connection::Connection;
use crate::http3;
use crate::message::{self, Service};
use crate::worker::Worker;
use net::{Listener, Net, UdpSocket};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use transport::TransportStream;

/// After a failed accept the next one waits this long: descriptors come back when connections close.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves what comes to a listener, and to a socket of datagrams where HTTP/3 is spoken, as worker number `worker` (from 0); does not
/// end by itself.
///
/// With `events`, the head of each request and of each answer is told as [`measure::Event::Head`]; where the queue is
/// full they are lost, because a worker does not wait.
///
/// # Panics
/// If `shared` was built for fewer workers.
pub async fn serve(
    net: Net,
    mut listener: Listener,
    datagrams: Option<UdpSocket>,
    shared: Arc<OriginShared>,
    worker: u32,
    events: Option<SyncSender<measure::Event>>,
) {
    assert!(worker < shared.workers(), "worker {worker} of {}", shared.workers());
    let service = shared.settings.behaviour.messages.as_ref().and_then(Service::new).map(Rc::new);
    if shared.settings.tls.is_some() {
        wire::tls::seed_random();
    }
    let worker = Worker::new(net.clone(), shared, worker, events);
    if let (Some(socket), Some(tls)) = (datagrams, worker.shared.settings.tls.clone()) {
        let net = net.clone();
        let worker = worker.clone();
        net.clone().spawn(async move { http3::serve(net, socket, worker, &tls).await });
    }
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                worker.counts().connections.add(1);
                let stream = match &worker.shared.settings.tls {
                    None => Ok(stream.into()),
                    Some(server) => TransportStream::server(&net, stream, server),
                };
                // What fails here is the same for each connection, and was found when the settings were made.
                match (stream, &service) {
                    (Ok(stream), None) => drop(net.spawn(Connection::new(worker.clone(), stream).run())),
                    (Ok(stream), Some(service)) => {
                        let connection =
                            message::OriginConnection::new(worker.clone(), service.clone(), stream);
                        net.spawn(connection.run());
                    }
                    (Err(_), _) => {}
                }
            }
            // The client was gone before it was accepted; the next one waits already.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => {
                worker.counts().accept_failures.add(1);
                net.sleep(PAUSE).await;
            }
        }
    }
}
