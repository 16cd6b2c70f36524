//! The record layer of a complete handshake (RFC 8446 section 5, RFC 5246 section 6.2): opens records in place, seals
//! pieces into records, and deals with the few messages that may still come: alerts, tickets, key updates.
//!
//! The ciphers are rustls's, and so are the keys; here are only headers, sequence numbers and the order of things.

use super::error::{Error, ErrorKind};
use super::session::Opened;
use rustls::client::ClientConnectionData;
use rustls::crypto::cipher::{
    InboundOpaqueMessage, MessageDecrypter, MessageEncrypter, OutboundChunks, OutboundPlainMessage,
};
use rustls::kernel::KernelConnection;
use rustls::server::ServerConnectionData;
use rustls::{
    AlertDescription, ConnectionTrafficSecrets, ContentType, ExtractedSecrets, ProtocolVersion,
    SupportedCipherSuite,
};
use std::ops::Range;

/// Bytes of a record's header.
pub(super) const HEADER: usize = 5;
/// Plaintext of one record at most.
const RECORD_MAX: usize = 16_384;
/// Ciphertext of one record at most, with what TLS 1.2 allows for padding.
const CIPHERTEXT_MAX: usize = RECORD_MAX + 2048;
/// Bytes of a handshake message after the handshake; tickets are far smaller.
const MESSAGE_MAX: usize = 64 * 1024;
/// Numbers of handshake messages (RFC 8446 section 4).
const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;
const HELLO_REQUEST: u8 = 0;

/// The keys of both directions, and what rustls keeps of the connection.
pub(super) struct Traffic {
    kernel: Kernel,
    /// True if tickets are of any use.
    resumes: bool,
    suite: SupportedCipherSuite,
    sealer: Box<dyn MessageEncrypter>,
    sealed: u64,
    /// Records that one key may seal; TLS 1.3 then changes it.
    seal_limit: u64,
    opener: Box<dyn MessageDecrypter>,
    opened: u64,
    /// The beginning of a handshake message whose rest is in another record.
    message: Vec<u8>,
    closed: bool,
}

/// State that rustls keeps of a connection whose keys it gave away.
pub(super) enum Kernel {
    Client(KernelConnection<ClientConnectionData>),
    Server(KernelConnection<ServerConnectionData>),
}

/// Content of a record.
enum RecordContent {
    Data(Range<usize>),
    Handshake(Range<usize>),
    Alert(Range<usize>),
}

/// Bytes of the record that begins here, header included; `None` while its header is not complete.
///
/// # Errors
/// The bytes are no header of TLS.
pub(super) fn record_length(bytes: &[u8]) -> Result<Option<usize>, ErrorKind> {
    let plausible = bytes.first().is_none_or(|kind| (20..=24).contains(kind))
        && bytes.get(1).is_none_or(|major| *major == 3);
    if !plausible {
        return Err(ErrorKind::NotTls);
    }
    let Some(header) = bytes.get(..HEADER) else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
    if length > CIPHERTEXT_MAX {
        return Err(ErrorKind::Broken);
    }
    Ok(Some(HEADER + length))
}

/// The record that begins here, if it is there as a whole.
pub(super) fn whole_record(bytes: &[u8]) -> Result<Option<usize>, ErrorKind> {
    Ok(record_length(bytes)?.filter(|length| bytes.len() >= *length))
}

impl Traffic {
    pub(super) fn new(kernel: Kernel, secrets: ExtractedSecrets, resumes: bool) -> Traffic {
        let suite = match &kernel {
            Kernel::Client(kernel) => kernel.negotiated_cipher_suite(),
            Kernel::Server(kernel) => kernel.negotiated_cipher_suite(),
        };
        let (sealed, tx) = secrets.tx;
        let (opened, rx) = secrets.rx;
        let seal_limit = match suite {
            SupportedCipherSuite::Tls13(suite) => suite.common.confidentiality_limit,
            SupportedCipherSuite::Tls12(_) => u64::MAX,
        };
        Traffic {
            sealer: warmed_up(sealer(suite, tx), sealed),
            opener: opener(suite, rx),
            kernel,
            resumes,
            suite,
            sealed,
            seal_limit,
            opened,
            message: Vec::new(),
            closed: false,
        }
    }

    fn is_tls13(&self) -> bool {
        matches!(self.suite, SupportedCipherSuite::Tls13(_))
    }

    /// Opens the whole records at the front of the input; see [`Session::open`](super::Session::open).
    pub(super) fn open(&mut self, input: &mut [u8], out: &mut Vec<u8>) -> Result<Opened, Error> {
        let mut opened = Opened::default();
        while !self.closed && opened.failed.is_none() {
            match self.open_next(input, &mut opened, out) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if opened.plain.is_empty() => return Err(error),
                Err(error) => opened.failed = Some(error),
            }
        }
        opened.closed = self.closed;
        Ok(opened)
    }

    /// Opens the next record; false if it is not there as a whole.
    fn open_next(&mut self, input: &mut [u8], opened: &mut Opened, out: &mut Vec<u8>) -> Result<bool, Error> {
        let at = opened.consumed;
        let Some(length) = self.next_record(&input[at..], out)? else { return Ok(false) };
        match self.open_record(input, at..at + length) {
            Ok(RecordContent::Data(data)) => opened.gather(input, data),
            Ok(RecordContent::Handshake(message)) => self.handshake(&input[message], out)?,
            Ok(RecordContent::Alert(alert)) => self.alert(&input[alert])?,
            Err(error) => return Err(self.fail(AlertDescription::BadRecordMac, &error.to_string(), out)),
        }
        opened.consumed = at + length;
        Ok(true)
    }

    fn next_record(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, Error> {
        whole_record(bytes)
            .map_err(|_| self.fail(AlertDescription::RecordOverflow, "what came is no TLS record", out))
    }

    fn open_record(&mut self, input: &mut [u8], at: Range<usize>) -> Result<RecordContent, rustls::Error> {
        let base = input.as_ptr().addr();
        let record = &mut input[at];
        let kind = ContentType::from(record[0]);
        let version = ProtocolVersion::from(u16::from_be_bytes([record[1], record[2]]));
        let message = InboundOpaqueMessage::new(kind, version, &mut record[HEADER..]);
        let plain = self.opener.decrypt(message, self.opened)?;
        self.opened += 1;
        // The plaintext lies within the record.
        let from = plain.payload.as_ptr().addr() - base;
        let range = from..from + plain.payload.len();
        match plain.typ {
            ContentType::ApplicationData => Ok(RecordContent::Data(range)),
            ContentType::Handshake => Ok(RecordContent::Handshake(range)),
            ContentType::Alert => Ok(RecordContent::Alert(range)),
            other => Err(rustls::Error::General(format!("a record of type {other:?} after the handshake"))),
        }
    }

    fn alert(&mut self, alert: &[u8]) -> Result<(), Error> {
        let &[level, description] = alert else { return Err(Error::broken("an alert of a wrong length")) };
        match AlertDescription::from(description) {
            AlertDescription::CloseNotify => self.closed = true,
            AlertDescription::UserCanceled => {}
            // Warnings of TLS 1.2 end nothing; TLS 1.3 has none but those above.
            _ if level == 1 && !self.is_tls13() => {}
            other => {
                return Err(Error::new(
                    ErrorKind::Alert(description),
                    false,
                    format!("the peer sent the alert {other:?}"),
                ));
            }
        }
        Ok(())
    }

    /// Takes a part of the handshake messages that may come at any time.
    fn handshake(&mut self, part: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.message.extend_from_slice(part);
        let mut messages = std::mem::take(&mut self.message);
        let mut rest = messages.as_slice();
        while let [kind, a, b, c, after @ ..] = rest {
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            if length > MESSAGE_MAX {
                return Err(self.fail(AlertDescription::DecodeError, "too long a handshake message", out));
            }
            let Some((body, after)) = after.split_at_checked(length) else { break };
            self.message_after(*kind, body, out)?;
            rest = after;
        }
        let left = messages.len() - rest.len();
        messages.drain(..left);
        self.message = messages;
        Ok(())
    }

    fn message_after(&mut self, kind: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let tls13 = self.is_tls13();
        match (kind, &mut self.kernel) {
            (NEW_SESSION_TICKET, Kernel::Client(kernel)) if self.resumes => kernel
                .handle_new_session_ticket(body)
                .map_err(|error| self.fail(AlertDescription::DecodeError, &error.to_string(), out)),
            (NEW_SESSION_TICKET, Kernel::Client(_)) => Ok(()),
            (KEY_UPDATE, _) if tls13 => self.key_update(body, out),
            // Renegotiation is not taken up, which RFC 5246 section 7.4.1.1 allows.
            (HELLO_REQUEST, Kernel::Client(_)) if !tls13 => Ok(()),
            _ => Err(self.fail(
                AlertDescription::UnexpectedMessage,
                &format!("handshake message {kind} after the handshake"),
                out,
            )),
        }
    }

    /// RFC 8446 section 4.6.3.
    fn key_update(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let next = match &mut self.kernel {
            Kernel::Client(kernel) => kernel.update_rx_secret(),
            Kernel::Server(kernel) => kernel.update_rx_secret(),
        };
        let (opened, secrets) = next.map_err(|error| Error::of(&error, false))?;
        (self.opened, self.opener) = (opened, opener(self.suite, secrets));
        match body {
            [0] => Ok(()),
            [1] => self.change_key(out),
            _ => Err(self.fail(AlertDescription::IllegalParameter, "a key update that is none", out)),
        }
    }

    /// Tells the peer that this end changes its key, and changes it.
    fn change_key(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.seal_record(ContentType::Handshake, OutboundChunks::Single(&[KEY_UPDATE, 0, 0, 1, 0]), out)?;
        let next = match &mut self.kernel {
            Kernel::Client(kernel) => kernel.update_tx_secret(),
            Kernel::Server(kernel) => kernel.update_tx_secret(),
        };
        let (sealed, secrets) = next.map_err(|error| Error::of(&error, false))?;
        (self.sealed, self.sealer) = (sealed, sealer(self.suite, secrets));
        Ok(())
    }

    /// Seals pieces as if they were one, in as few records as it takes.
    pub(super) fn seal(&mut self, pieces: &[&[u8]], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut rest = OutboundChunks::new(pieces);
        while !rest.is_empty() {
            if self.sealed >= self.seal_limit {
                self.change_key(out)?;
            }
            let (record, after) = rest.split_at(RECORD_MAX);
            self.seal_record(ContentType::ApplicationData, record, out)?;
            rest = after;
        }
        Ok(())
    }

    fn seal_record(
        &mut self,
        typ: ContentType,
        payload: OutboundChunks<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let plain = OutboundPlainMessage { typ, version: ProtocolVersion::TLSv1_2, payload };
        let sealed = self.sealer.encrypt(plain, self.sealed).map_err(|error| Error::of(&error, false))?;
        self.sealed += 1;
        out.extend_from_slice(&sealed.encode());
        Ok(())
    }

    /// Tells the peer that nothing more will be sent (RFC 8446 section 6.1).
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        // It fails for lack of room only, and an alert has two bytes.
        let _ = self.seal_record(ContentType::Alert, OutboundChunks::Single(&[1, 0]), out);
    }

    /// Tells the peer why the connection is over.
    fn fail(&mut self, alert: AlertDescription, detail: &str, out: &mut Vec<u8>) -> Error {
        let _ = self.seal_record(ContentType::Alert, OutboundChunks::Single(&[2, u8::from(alert)]), out);
        Error::broken(detail)
    }
}

/// AWS-LC takes the first nonce that a key sees for that of record 0 and insists that the following ones count up from it;
/// so a key that is to begin elsewhere is shown record 0, which is then thrown away.
fn warmed_up(mut sealer: Box<dyn MessageEncrypter>, sealed: u64) -> Box<dyn MessageEncrypter> {
    if sealed > 0 {
        let nothing = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_2,
            payload: OutboundChunks::Single(&[]),
        };
        // Whether it worked shows with the first record that counts.
        let _ = sealer.encrypt(nothing, 0);
    }
    sealer
}

fn sealer(suite: SupportedCipherSuite, secrets: ConnectionTrafficSecrets) -> Box<dyn MessageEncrypter> {
    use ConnectionTrafficSecrets as S;
    match (suite, secrets) {
        (
            SupportedCipherSuite::Tls13(suite),
            S::Aes128Gcm { key, iv } | S::Aes256Gcm { key, iv } | S::Chacha20Poly1305 { key, iv },
        ) => suite.aead_alg.encrypter(key, iv),
        // The first four bytes are the salt, the others where the explicit nonces start (RFC 5288 section 3).
        (SupportedCipherSuite::Tls12(suite), S::Aes128Gcm { key, iv } | S::Aes256Gcm { key, iv }) => {
            suite.aead_alg.encrypter(key, &iv.as_ref()[..4], &iv.as_ref()[4..])
        }
        (SupportedCipherSuite::Tls12(suite), S::Chacha20Poly1305 { key, iv }) => {
            suite.aead_alg.encrypter(key, iv.as_ref(), &[])
        }
        _ => unreachable!("rustls has no other ciphers"),
    }
}

fn opener(suite: SupportedCipherSuite, secrets: ConnectionTrafficSecrets) -> Box<dyn MessageDecrypter> {
    use ConnectionTrafficSecrets as S;
    match (suite, secrets) {
        (
            SupportedCipherSuite::Tls13(suite),
            S::Aes128Gcm { key, iv } | S::Aes256Gcm { key, iv } | S::Chacha20Poly1305 { key, iv },
        ) => suite.aead_alg.decrypter(key, iv),
        (SupportedCipherSuite::Tls12(suite), S::Aes128Gcm { key, iv } | S::Aes256Gcm { key, iv }) => {
            suite.aead_alg.decrypter(key, &iv.as_ref()[..4])
        }
        (SupportedCipherSuite::Tls12(suite), S::Chacha20Poly1305 { key, iv }) => {
            suite.aead_alg.decrypter(key, iv.as_ref())
        }
        _ => unreachable!("rustls has no other ciphers"),
    }
}
