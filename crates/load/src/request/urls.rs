//! Lists of URLs: which one comes next, what a fetched one leads to, and which are known already.

use plan::draw::Draw;
use plan::{Address, Http, UrlOrder, UrlStep, url_hash};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;

/// References of a page that are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub links: bool,
    /// Of resources that the page embeds.
    pub embedded: bool,
}

impl Wanted {
    pub fn any(self) -> bool {
        self.links || self.embedded
    }
}

/// Appends the request for a URL, in the lines and order of jtest (spec section 6), with the port in Host.
pub(crate) fn compose(
    address: &Address,
    out: &mut Vec<u8>,
    http: &Http,
    proxied: bool,
    reload: bool,
    last: bool,
) {
    out.extend_from_slice(b"GET ");
    out.extend_from_slice(if proxied { address.text.as_bytes() } else { address.path.as_bytes() });
    out.extend_from_slice(b" HTTP/1.0\r\n");
    if !proxied {
        out.extend_from_slice(b"Host: ");
        out.extend_from_slice(address.authority.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    if reload {
        out.extend_from_slice(b"Pragma: no-cache\r\n");
    }
    if !last {
        out.extend_from_slice(if proxied { b"Proxy-Connection" } else { b"Connection" });
        out.extend_from_slice(b": Keep-Alive\r\n");
    }
    for field in &http.fields {
        out.extend_from_slice(field.name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(field.value.text().as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// The URLs of a step: those of its list and those they lead to.
pub(crate) struct UrlQueue {
    step: UrlStep,
    seed: u64,
    list: Vec<Address>,
    /// URLs that wait to be fetched, under [`UrlOrder::Once`].
    queue: RefCell<VecDeque<Address>>,
    seen: RefCell<HashSet<u64>>,
    /// Hashes of what was fetched in this run.
    fetched: RefCell<Vec<u64>>,
    dropped: Cell<u64>,
    /// True if `https://` URLs can be fetched.
    https: bool,
    addresses: RefCell<HashMap<(String, u16), SocketAddr>>,
}

impl UrlQueue {
    /// Lines that are no URL have been left out, and told of, by the door.
    pub fn new(step: &UrlStep, seed: u64, https: bool) -> UrlQueue {
        let list: Vec<Address> = step
            .urls
            .iter()
            .filter_map(|url| Address::parse(url))
            .filter(|address| https || !address.secure)
            .collect();
        let queue = UrlQueue {
            seed,
            https,
            queue: RefCell::default(),
            seen: RefCell::new(step.known.iter().copied().collect()),
            fetched: RefCell::default(),
            dropped: Cell::new(0),
            addresses: RefCell::default(),
            step: UrlStep { known: Vec::new(), urls: Vec::new(), ..step.clone() },
            list: Vec::new(),
        };
        if step.order == UrlOrder::Once {
            list.into_iter().for_each(|address| queue.enqueue(address));
            return queue;
        }
        UrlQueue { list, ..queue }
    }

    /// The URL of request `number`.
    pub fn next(&self, number: u64) -> Option<Address> {
        let next = match self.step.order {
            UrlOrder::Once => self.queue.borrow_mut().pop_front(),
            _ if self.list.is_empty() => None,
            UrlOrder::Loop => Some(self.list[(number % self.list.len() as u64) as usize].clone()),
            UrlOrder::Random => {
                let at = Draw::new(self.seed, number).below(self.list.len() as u64);
                Some(self.list[at as usize].clone())
            }
        }?;
        if self.step.once_each {
            self.fetched.borrow_mut().push(url_hash(&next.text));
        }
        Some(next)
    }

    /// True if request `number` asks the proxy to fetch anew.
    pub fn reloads(&self, number: u64) -> bool {
        Draw::new(self.seed ^ 0x4E, number).chance(self.step.reload)
    }

    /// Adds a URL that was found, if it is wanted and new.
    pub fn push(&self, address: Address) {
        let elsewhere = self.step.only_host.as_ref().is_some_and(|host| *host != address.host);
        if elsewhere || !self.speaks(&address) || self.step.order != UrlOrder::Once {
            return;
        }
        let limit = if self.step.queue == 0 { u32::MAX } else { self.step.queue };
        if self.waiting() >= limit {
            self.dropped.set(self.dropped.get() + 1);
            return;
        }
        self.enqueue(address);
    }

    /// True if a URL can be fetched.
    pub fn speaks(&self, address: &Address) -> bool {
        self.https || !address.secure
    }

    fn enqueue(&self, address: Address) {
        if !self.step.once_each || self.seen.borrow_mut().insert(url_hash(&address.text)) {
            self.queue.borrow_mut().push_back(address);
        }
    }

    /// URLs that wait.
    pub fn waiting(&self) -> u32 {
        u32::try_from(self.queue.borrow().len()).unwrap_or(u32::MAX)
    }

    /// True if nothing is left at this moment, once so many have been taken.
    pub fn exhausted_after(&self, taken: u32) -> bool {
        match self.step.order {
            UrlOrder::Once => self.waiting() <= taken,
            UrlOrder::Loop | UrlOrder::Random => self.list.is_empty(),
        }
    }

    /// Hashes of what was fetched.
    pub fn fetched(&self) -> impl Iterator<Item = u64> {
        self.fetched.take().into_iter()
    }

    /// Number of were dropped since last asked.
    pub fn take_dropped(&self) -> u64 {
        self.dropped.take()
    }

    /// Which references of a page are wanted: links, and what it embeds.
    pub fn wanted(&self) -> Wanted {
        Wanted { links: self.step.links, embedded: self.step.embedded }
    }

    /// True if redirections are followed.
    pub fn follows_redirects(&self) -> bool {
        self.step.redirects
    }

    /// The address of a host, where it is known.
    pub fn resolved(&self, host: &str, port: u16) -> Option<SocketAddr> {
        self.addresses.borrow().get(&(host.to_owned(), port)).copied()
    }

    /// Remembers the address of a host.
    pub fn resolve(&self, host: &str, port: u16, address: SocketAddr) {
        self.addresses.borrow_mut().insert((host.to_owned(), port), address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(urls: &[&str], order: UrlOrder) -> UrlStep {
        let urls = urls.iter().map(|url| (*url).to_owned()).collect();
        UrlStep { urls, order, once_each: true, ..UrlStep::default() }
    }

    fn request(url: &str, proxied: bool) -> String {
        let mut out = Vec::new();
        let accept = plan::Field::new("Accept", "*/*");
        let http = Http { fields: vec![accept], ..Http::default() };
        compose(&Address::parse(url).unwrap(), &mut out, &http, proxied, true, false);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn requests_have_the_lines_of_the_original() {
        assert_eq!(
            request("http://example.com:81/a?b#c", true),
            "GET http://example.com:81/a?b HTTP/1.0\r\nPragma: no-cache\r\nProxy-Connection: Keep-Alive\r\nAccept: */*\r\n\r\n"
        );
        assert_eq!(
            request("http://example.com:81/a?b#c", false),
            "GET /a?b HTTP/1.0\r\nHost: example.com:81\r\nPragma: no-cache\r\nConnection: Keep-Alive\r\nAccept: */*\r\n\r\n"
        );
    }

    #[test]
    fn a_list_is_walked_once_and_knows_what_it_has_seen() {
        let queue =
            UrlQueue::new(&step(&["http://h/1", "http://h/1#x", "http://h/2"], UrlOrder::Once), 1, false);
        let mut paths = Vec::new();
        while let Some(address) = queue.next(0) {
            if paths.is_empty() {
                queue.push(address.join("3").unwrap());
                queue.push(address.join("/2").unwrap());
            }
            paths.push(address.path);
        }
        assert_eq!(paths, ["/1", "/2", "/3"]);
        assert_eq!(queue.fetched().count(), 3);
    }

    #[test]
    fn loops_follow_the_request_number_and_random_covers_the_list() {
        let urls = ["http://h/0", "http://h/1", "http://h/2"];
        let queue = UrlQueue::new(&step(&urls, UrlOrder::Loop), 1, false);
        let paths: Vec<String> = [4, 0, 2].iter().map(|number| queue.next(*number).unwrap().path).collect();
        assert_eq!(paths, ["/1", "/0", "/2"]);
        let queue = UrlQueue::new(&step(&urls, UrlOrder::Random), 1, false);
        let seen: HashSet<String> = (0..60).map(|number| queue.next(number).unwrap().path).collect();
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn other_hosts_other_schemes_and_too_many_are_left_out() {
        let only =
            UrlStep { only_host: Some("h".to_owned()), queue: 1, ..step(&["http://h/1"], UrlOrder::Once) };
        let queue = UrlQueue::new(&only, 1, false);
        let page = queue.next(0).unwrap();
        queue.push(page.join("http://other/").unwrap());
        queue.push(page.join("2").unwrap());
        queue.push(page.join("3").unwrap());
        assert_eq!((queue.waiting(), queue.take_dropped()), (1, 1));
        for reference in ["ftp://h/x", "mailto:a@b", "javascript:1"] {
            assert!(page.join(reference).is_none(), "{reference}");
        }
    }

    #[test]
    fn https_is_left_out_where_it_cannot_be_spoken() {
        for (https, expected) in [(false, 1), (true, 2)] {
            let queue = UrlQueue::new(&step(&["https://h/1", "http://h/1"], UrlOrder::Once), 1, https);
            assert_eq!(queue.waiting(), expected);
            let page = Address::parse("http://h/").unwrap();
            let secure = page.join("https://h/2").unwrap();
            assert_eq!((secure.secure, secure.port, queue.speaks(&secure)), (true, 443, https));
            queue.push(secure);
            assert_eq!(queue.waiting(), expected + u32::from(https));
        }
    }
}
