//! A client that asks one thing after another.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

pub struct Answer {
    pub status: u16,
    pub fields: HashMap<String, String>,
    pub body: Vec<u8>,
}

pub fn ask(address: SocketAddr, head: &str) -> Answer {
    let mut client = Client::connect(address);
    let answer = client.ask(head);
    client.close();
    answer
}

pub struct Client {
    pub connection: BufReader<TcpStream>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let connection = TcpStream::connect(address).expect("the rig listens");
        connection.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        Client { connection: BufReader::new(connection) }
    }

    /// Sends a request of complete lines; the empty line is added.
    pub fn ask(&mut self, head: &str) -> Answer {
        self.connection.get_mut().write_all(format!("{head}\r\n").as_bytes()).expect("the rig reads");
        let (first, fields) = read_head(&mut self.connection).expect("the rig answers");
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        let body = read_body(&mut self.connection, &fields).expect("a body");
        Answer { status, fields, body }
    }

    /// Ends the connection and waits until the proxy has ended it as well. httpd sends an answer's last byte before it
    /// puts the object into its cache, and does so before it looks at the connection again: whoever asks anew without
    /// waiting may cause a second fetch.
    pub fn close(mut self) {
        // A proxy that closed first may have reset the connection: then it is done too.
        let _ = self.connection.get_ref().shutdown(Shutdown::Write);
        match io::copy(&mut self.connection, &mut io::sink()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                panic!("the proxy keeps the connection")
            }
            _ => {}
        }
    }
}

/// The first line, and the fields by their names in lower case. `None` at the end of the connection.
pub fn read_head(input: &mut impl BufRead) -> Option<(String, HashMap<String, String>)> {
    let mut lines = input.lines().map_while(Result::ok);
    let first = lines.next()?;
    let fields = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_string()))
        })
        .collect();
    Some((first, fields))
}

pub fn read_body(input: &mut impl BufRead, fields: &HashMap<String, String>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if let Some(length) = fields.get("content-length") {
        body.resize(length.parse().expect("a number"), 0);
        input.read_exact(&mut body)?;
    } else if fields.contains_key("transfer-encoding") {
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).expect("a chunk size");
            let start = body.len();
            body.resize(start + size, 0);
            input.read_exact(&mut body[start..])?;
            input.read_line(&mut line)?;
            if size == 0 {
                break;
            }
        }
    } else {
        input.read_to_end(&mut body)?;
    }
    Ok(body)
}
