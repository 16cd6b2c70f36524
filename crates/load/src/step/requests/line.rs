//! The requests of a list one by one. Most lines of a long list differ in their paths alone and share what was prepared for the
//! first of them, so that a line takes a worker eight bytes, and its URL stands in the plan, which all workers share.

use super::Prepared;
use crate::channel::{Destination, OpenBody, RequestContent};
use crate::request::http::RequestMessage;
use crate::request::{Filling, HttpRequest, Values};
use measure::event::method_name;
use plan::data::Moment;
use plan::{Address, Request, RequestList};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::time::Duration;
use wire::http2::FieldList;

/// A request of a list.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    prepared: &'a Prepared,
    /// Its place in the step's list.
    pub index: usize,
    /// Its path, where that is not the one that was prepared.
    path: Option<&'a str>,
}

impl Deref for Line<'_> {
    type Target = Prepared;

    fn deref(&self) -> &Prepared {
        self.prepared
    }
}

impl<'a> Line<'a> {
    /// Returns the request prepared for it, and for those like it.
    pub fn prepared(self) -> &'a Prepared {
        self.prepared
    }

    /// Its URL, taken apart.
    pub fn address(self) -> Cow<'a, Address> {
        let prepared = &self.prepared.address;
        self.path.map_or(Cow::Borrowed(prepared), |path| Cow::Owned(prepared.with_path(path)))
    }

    /// Its URL.
    pub fn url(self) -> Cow<'a, str> {
        match self.address() {
            Cow::Borrowed(address) => address.text.as_str().into(),
            Cow::Owned(address) => address.text.into(),
        }
    }

    /// Its method and its URL as records hold them; made once, unless several lines share what was prepared.
    pub fn told(self) -> (Cow<'static, str>, Arc<str>) {
        let told = || (method_name(&self.method), self.url().into());
        match self.path {
            Some(_) => told(),
            None => self.prepared.told.get_or_init(told).clone(),
        }
    }

    /// Method and URL.
    pub fn title(self) -> String {
        format!("{} {}", self.method, self.url())
    }

    /// Appends the bytes to send. `last`: the connection ends with it.
    #[inline]
    pub fn write(self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        match (self.path, &self.prepared.path) {
            (Some(path), Some(at)) => self.prepared.message.write_with_path(last, path, at, to),
            _ => self.prepared.message.write(last, filling, to),
        }
    }

    /// Its bytes, where they are as they were prepared.
    #[inline]
    pub fn bytes(self) -> Option<&'a [u8]> {
        if self.path.is_some() { None } else { self.prepared.message.bytes() }
    }

    /// Where to find what HTTP/2 compresses to the same bytes each time: a fixed head without a body. `None`: it is written anew.
    pub fn head_key(self) -> Option<usize> {
        let message = &self.prepared.message;
        let is_same = self.path.is_none() && message.is_one_block();
        is_same.then(|| std::ptr::from_ref(self.prepared).addr())
    }

    /// True if its head is sent first and its body behind it, as [`Line::begin`] gives them.
    #[inline]
    pub fn is_parted(self) -> bool {
        self.prepared.message.is_parted()
    }

    /// How long it waits for 100 (Continue) between the two.
    pub fn waits(self) -> Option<Duration> {
        self.prepared.message.waits()
    }

    /// Appends its head and returns its body. `last`: the connection ends with it.
    ///
    /// # Errors
    /// Those of opening a file that the body stands in.
    pub fn begin(self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) -> io::Result<OpenBody> {
        self.prepared.message.begin(last, filling, to)
    }

    /// Adds its fields for HTTP/2, and its body.
    ///
    /// # Errors
    /// Those of opening a file that the body stands in.
    pub fn list(
        self,
        filling: &Filling<'_>,
        to: &mut FieldList,
        body: &mut RequestContent,
    ) -> io::Result<()> {
        self.prepared.message.list(self.path, filling, to, body)
    }

    /// As [`Self::list`], with the values that its user keeps.
    pub fn list_with(
        self,
        at: &Moment,
        worker: u32,
        values: &mut Values,
        to: &mut FieldList,
        body: &mut RequestContent,
    ) -> io::Result<()> {
        let Values { slots, draws, .. } = values;
        let draws = draws.deal(at.number, self.prepared.message.decks(), worker);
        self.list(&Filling { at, draws, slots }, to, body)
    }

    /// As [`Self::begin`], with the values that its user keeps.
    ///
    /// # Errors
    /// Those of opening a file that the body stands in.
    pub fn begin_with(
        self,
        last: bool,
        at: &Moment,
        worker: u32,
        values: &mut Values,
        to: &mut Vec<u8>,
    ) -> io::Result<OpenBody> {
        let Values { slots, draws, .. } = values;
        let draws = draws.deal(at.number, self.prepared.message.decks(), worker);
        self.begin(last, &Filling { at, draws, slots }, to)
    }

    /// The request as a value, for a session that edits it; `None` for what a script wrote. As for [`Line::write_with`].
    pub fn fill(self, at: &Moment, worker: u32, values: &mut Values) -> Option<HttpRequest> {
        let Values { slots, draws, .. } = values;
        let draws = draws.deal(at.number, self.prepared.message.decks(), worker);
        self.prepared.message.fill(&Filling { at, draws, slots })
    }

    /// Appends the bytes of a request, with what its user keeps. What it is dealt is dealt once.
    pub fn write_with(self, last: bool, at: &Moment, worker: u32, values: &mut Values, to: &mut Vec<u8>) {
        let Values { slots, draws, .. } = values;
        let draws = draws.deal(at.number, self.prepared.message.decks(), worker);
        self.write(last, &Filling { at, draws, slots }, to);
    }
}

/// All lines of a list.
#[derive(Default)]
pub(super) struct RequestLines {
    listed: RequestList,
    places: Vec<RequestPlace>,
    prepared: Vec<Prepared>,
}

/// Where to find a line.
struct RequestPlace {
    /// In the step's list.
    index: u32,
    /// Among what was prepared.
    prepared: u32,
}

impl RequestLines {
    /// Prepares the lines of a list; what cannot be is left out.
    pub fn new(
        listed: &RequestList,
        mut prepare: impl FnMut(usize, &Request) -> Option<Prepared>,
    ) -> RequestLines {
        let mut places = Vec::with_capacity(listed.len());
        let mut prepared = Vec::<Prepared>::new();
        let mut alike = HashMap::new();
        for (index, line) in listed.iter().enumerate() {
            let key = (line.kind, origin(line.url));
            let known = alike.get(&key).copied().filter(|at: &u32| {
                let before = &prepared[*at as usize];
                before.path.is_some() && before.address.path_of(line.url).is_some()
            });
            let at = known.or_else(|| {
                let at = prepared.len() as u32;
                prepared.push(prepare(index, &line.whole())?);
                alike.insert(key, at);
                Some(at)
            });
            places.extend(at.map(|at| RequestPlace { index: index as u32, prepared: at }));
        }
        RequestLines { listed: listed.clone(), places, prepared }
    }

    /// One alone.
    pub fn one(prepared: Prepared) -> RequestLines {
        RequestLines {
            places: vec![RequestPlace { index: 0, prepared: 0 }],
            prepared: vec![prepared],
            ..RequestLines::default()
        }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn at(&self, nth: usize) -> Line<'_> {
        let place = &self.places[nth];
        let prepared = &self.prepared[place.prepared as usize];
        let index = place.index as usize;
        let is_first = prepared.index == index;
        let url = if is_first { None } else { self.listed.get(index).map(|line| line.url) };
        Line { prepared, index, path: url.and_then(|url| prepared.address.path_of(url)) }
    }

    /// Where they go; one for those that share what was prepared.
    pub fn destinations(&self) -> impl Iterator<Item = Destination<'_>> {
        self.prepared.iter().map(Prepared::destination)
    }

    /// The weights of all lines, in their order.
    pub fn weights(&self) -> impl Iterator<Item = u32> {
        let line = |place: &RequestPlace| self.listed.get(place.index as usize);
        self.places.iter().map(move |place| line(place).map_or(1, |line| line.like.weight))
    }
}

/// Where the path of a request stands in its bytes, if it is the same bytes each time and its URL says what is asked for.
/// `forward`: a proxy is asked for the whole URL.
pub(super) fn path_place(
    request: &Request,
    address: &Address,
    message: &RequestMessage,
    forward: bool,
) -> Option<Range<usize>> {
    let follows = request.target.is_none() && !request.raw && message.is_fixed();
    let before = if forward { address.text.len() - address.path.len() } else { 0 };
    let begin = request.method.len() + " ".len() + before;
    follows.then(|| begin..begin + address.path.len())
}

/// The beginning of a URL up to its path.
fn origin(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |at| at + 3);
    url[authority..].find('/').map_or(url, |at| &url[..authority + at])
}

impl Prepared {
    /// It, where it stands for no other line.
    pub fn alone(&self) -> Line<'_> {
        Line { prepared: self, index: self.index, path: None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{requests_over as requests, step};
    use super::*;
    use crate::step::Placing;
    use plan::ExpectBody;

    /// The bytes of the nth line, also as the last on its connection.
    fn written(requests: &super::super::Requests, number: u64) -> (String, Vec<u8>) {
        let line = requests.at(Placing { number, user: 0, of: 1, turn: number });
        let mut bytes = Vec::new();
        let mut values = Values::default();
        for last in [false, true] {
            line.write_with(last, &Moment::default(), 0, &mut values, &mut bytes);
        }
        (line.url().into_owned(), bytes)
    }

    #[test]
    fn lines_share_what_was_prepared_and_are_sent_as_if_each_stood_alone() {
        let post =
            Request { method: "POST".to_owned(), body: "x".into(), ..Request::get("http://h/form?a=b") };
        let urls = [
            "http://h",
            "http://h/1",
            "http://h:81/2",
            "http://h/../3",
            "http://h/a%20b?c",
            "http://h/é",
            "http://h/",
        ];
        let mut all: Vec<Request> = urls.map(Request::get).into();
        all.extend([post.clone(), Request { url: "http://h/other".to_owned(), ..post }]);
        for form in [plan::RequestForm::Reverse, plan::RequestForm::Forward] {
            let http =
                plan::Http { h1: plan::Http1 { form, ..plan::Http1::default() }, ..plan::Http::default() };
            let together = requests(&step(all.clone(), ExpectBody::Complete), &http);
            for (number, request) in (0..).zip(&all) {
                let alone = requests(&step(vec![request.clone()], ExpectBody::Complete), &http);
                assert_eq!(written(&together, number), written(&alone, 0), "{request:?}");
            }
        }
    }

    #[test]
    fn a_line_of_a_long_list_takes_a_worker_eight_bytes() {
        let url = |number: usize| format!("http://{}/{number}", ["a", "b"][number % 2]);
        let list: Vec<Request> = (0..10_000).map(|number| Request::get(&url(number))).collect();
        let http = plan::Http::default();
        let prepared = requests(&step(list.clone(), ExpectBody::Complete), &http);
        assert_eq!((prepared.lines.len(), prepared.lines.prepared.len()), (10_000, 2));
        assert_eq!((size_of::<RequestPlace>(), prepared.weights.capacity()), (8, 0));
        // First answers are remembered for each line.
        let compared = requests(&step(list, ExpectBody::Same), &http);
        assert_eq!(compared.lines.prepared.len(), 10_000);
    }
}
