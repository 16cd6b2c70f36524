//! Resources of a page, as a browser, siege or JMeter would find it in its HTML while it arrives: images, style sheets, icons,
//! scripts and frames; where its `<meta http-equiv=refresh>` leads; and, for JMeter, what a style sheet imports.

use super::lagarto::{self, attribute};
use super::sheet;
use lol_html::{HtmlRewriter, Settings, element, text};
use plan::{Address, Elements, Resources};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// References of one page at most.
const MOST: usize = 10_000;

/// References found in a page, in the order they stand.
#[derive(Debug, Default)]
struct NeedFound {
    needs: Vec<(String, Who)>,
    base: Option<String>,
    refresh: Option<String>,
}

/// Who fetches what an element names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Both,
    Browsers,
    /// A browser runs scripts, and so does not look into `<noscript>`.
    Siege,
}

impl Who {
    fn is(self, elements: Elements) -> bool {
        match elements {
            Elements::Browsers => self != Who::Siege,
            Elements::Sieges => self != Who::Browsers,
            // Its pages are read by rules of their own.
            Elements::Jmeters => self == Who::Both,
        }
    }
}

type Parser = HtmlRewriter<'static, fn(&[u8])>;

/// Reads a page, or a style sheet.
pub(super) struct Needs {
    reader: NeedReader,
    found: Rc<RefCell<NeedFound>>,
}

enum NeedReader {
    Page(Box<Parser>),
    /// Bytes that have come.
    Sheet(Vec<u8>),
    Done,
}

/// Bytes of a style sheet that are looked into at most.
const LONGEST_SHEET: usize = 4 * 1024 * 1024;

/// Elements that name what is fetched at once, by which attribute, and by whom.
const REFERENCES: [(&str, &str, Who); 12] = [
    ("img[src]", "src", Who::Both),
    ("script[src]", "src", Who::Both),
    ("iframe[src]", "src", Who::Browsers),
    ("frame[src]", "src", Who::Browsers),
    ("input[type=image][src]", "src", Who::Browsers),
    ("embed[src]", "src", Who::Browsers),
    ("object[data]", "data", Who::Browsers),
    ("video[poster]", "poster", Who::Browsers),
    ("audio[src]", "src", Who::Browsers),
    ("video[src]", "src", Who::Browsers),
    ("track[src]", "src", Who::Browsers),
    ("body[background]", "background", Who::Both),
];

/// Kinds of content that JMeter reads as pages.
const KINDS: [&str; 4] = ["text/html", "application/xhtml+xml", "application/xml", "text/xml"];

/// Relations of a link whose other end is fetched with the page.
const RELATIONS: [&str; 5] = ["stylesheet", "icon", "apple-touch-icon", "preload", "manifest"];

impl Needs {
    /// Of what an answer holds, by its Content-Type; `None` for what nobody looks into.
    pub fn of(kind: &[u8], elements: Elements) -> Option<Needs> {
        let is = |known: &&str| {
            kind.get(..known.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(known.as_bytes()))
        };
        match elements {
            Elements::Browsers | Elements::Sieges => is(&"text/html").then(Needs::new),
            Elements::Jmeters if is(&"text/css") => Some(Needs::within(NeedReader::Sheet(Vec::new()))),
            Elements::Jmeters => KINDS.iter().any(is).then(Needs::as_jmeter),
        }
    }

    fn within(reader: NeedReader) -> Needs {
        Needs { reader, found: Rc::default() }
    }

    /// A page of which JMeter fetches what its own parser names.
    fn as_jmeter() -> Needs {
        let found = Rc::new(RefCell::new(NeedFound::default()));
        let bases = found.clone();
        let needs = found.clone();
        let settings = Settings::new()
            .append_element_content_handler(element!("base[href]", move |element| {
                bases.borrow_mut().begin(attribute(element, "href"));
                Ok(())
            }))
            .append_element_content_handler(element!("*", move |element| {
                let mut needs = needs.borrow_mut();
                lagarto::of(element).into_iter().for_each(|reference| needs.need(Some(reference), Who::Both));
                Ok(())
            }));
        Needs { reader: NeedReader::Page(Box::new(rewriter(settings))), found }
    }

    fn new() -> Needs {
        let found = Rc::new(RefCell::new(NeedFound::default()));
        let settings = references(&found, None);
        let scripted = found.clone();
        let bases = found.clone();
        let metas = found.clone();
        let mut hidden = String::new();
        let settings = settings
            .append_element_content_handler(text!("noscript", move |chunk| {
                hidden.push_str(chunk.as_str());
                if chunk.last_in_text_node() {
                    read_hidden(&std::mem::take(&mut hidden), &scripted);
                }
                Ok(())
            }))
            .append_element_content_handler(element!("base[href]", move |element| {
                bases.borrow_mut().begin(attribute(element, "href"));
                Ok(())
            }))
            .append_element_content_handler(element!("meta[http-equiv][content]", move |element| {
                let named = attribute(element, "http-equiv").unwrap_or_default();
                if named.eq_ignore_ascii_case("refresh") {
                    let content = attribute(element, "content").unwrap_or_default();
                    let mut found = metas.borrow_mut();
                    found.refresh = found.refresh.take().or_else(|| refresh(&content));
                }
                Ok(())
            }));
        Needs { reader: NeedReader::Page(Box::new(rewriter(settings))), found }
    }

    /// The next bytes of the page.
    pub fn read(&mut self, bytes: &[u8]) {
        let goes_on = match &mut self.reader {
            NeedReader::Page(parser) => parser.write(bytes).is_ok(),
            NeedReader::Sheet(sheet) => {
                sheet.extend_from_slice(bytes);
                sheet.len() <= LONGEST_SHEET
            }
            NeedReader::Done => return,
        };
        if !goes_on {
            self.reader = NeedReader::Done;
        }
    }

    /// Where the page leads by itself, once it is over.
    pub fn refresh(&mut self, page: &Address, elements: Elements) -> Option<Address> {
        self.end();
        let to = self.found.borrow().refresh.clone()?;
        self.base(page, elements)?.join(&to)
    }

    /// The resources of the page that are fetched: each once, in order.
    pub fn wanted(&mut self, page: &Address, which: &Resources) -> Vec<Address> {
        self.end();
        let Some(base) = self.base(page, which.elements) else { return Vec::new() };
        let mut seen = HashSet::from([page.text.clone()]);
        let found = self.found.borrow();
        let fetched = found.needs.iter().filter(|(_, who)| who.is(which.elements));
        let addresses = fetched.filter_map(|(reference, _)| base.join(reference));
        let mut wanted: Vec<Address> = addresses
            .filter(|address| is_wanted(address, page, which) && seen.insert(address.text.clone()))
            .collect();
        if which.reversed {
            wanted.reverse();
        }
        wanted
    }

    fn end(&mut self) {
        match std::mem::replace(&mut self.reader, NeedReader::Done) {
            NeedReader::Page(parser) => {
                // What is left of a broken page holds no whole reference.
                let _ = parser.end();
            }
            NeedReader::Sheet(sheet) => {
                let imports = sheet::imports(&String::from_utf8_lossy(&sheet));
                let mut found = self.found.borrow_mut();
                imports.into_iter().for_each(|reference| found.need(Some(reference), Who::Both));
            }
            NeedReader::Done => {}
        }
    }

    /// The base of references; siege does not know `<base>`.
    fn base(&self, page: &Address, elements: Elements) -> Option<Address> {
        match &self.found.borrow().base {
            Some(base) if elements != Elements::Sieges => page.join(base),
            _ => Some(page.clone()),
        }
    }
}

/// Handlers of all that names what is fetched at once. `who`: nobody else fetches it, whatever the element.
fn references(found: &Rc<RefCell<NeedFound>>, who: Option<Who>) -> Settings<'static, 'static> {
    let mut settings = Settings::new();
    for (selector, named, usual) in REFERENCES {
        let found = found.clone();
        let who = if who.is_some() && usual == Who::Browsers { usual } else { who.unwrap_or(usual) };
        settings = settings.append_element_content_handler(element!(selector, move |element| {
            found.borrow_mut().need(attribute(element, named), who);
            Ok(())
        }));
    }
    let links = found.clone();
    settings.append_element_content_handler(element!("link[rel][href]", move |element| {
        let relations = attribute(element, "rel").unwrap_or_default().to_ascii_lowercase();
        // siege knows this relation only where it stands alone.
        let usual = if relations.trim() == RELATIONS[0] { Who::Both } else { Who::Browsers };
        let who = if usual == Who::Browsers { usual } else { who.unwrap_or(usual) };
        if relations.split_ascii_whitespace().any(|relation| RELATIONS.contains(&relation)) {
            links.borrow_mut().need(attribute(element, "href"), who);
        }
        Ok(())
    }))
}

fn rewriter(settings: Settings<'static, 'static>) -> Parser {
    let discard: fn(&[u8]) = |_| {};
    HtmlRewriter::new(settings, discard)
}

/// Reads what a browser with scripts does not look at. Its frames and the like nobody fetches.
fn read_hidden(text: &str, found: &Rc<RefCell<NeedFound>>) {
    let inner = Rc::new(RefCell::new(NeedFound::default()));
    let mut parser = rewriter(references(&inner, Some(Who::Siege)));
    // What is left of a broken page holds no whole reference.
    let _ = parser.write(text.as_bytes()).and_then(|()| parser.end());
    let needs = std::mem::take(&mut inner.borrow_mut().needs);
    let of_siege = needs.into_iter().filter(|(_, who)| *who == Who::Siege);
    of_siege.for_each(|(reference, who)| found.borrow_mut().need(Some(reference), who));
}

impl NeedFound {
    /// The first base holds.
    fn begin(&mut self, base: Option<String>) {
        self.base = self.base.take().or(base);
    }

    fn need(&mut self, reference: Option<String>, who: Who) {
        let reference = reference.filter(|reference| !reference.trim().is_empty() && self.needs.len() < MOST);
        self.needs.extend(reference.map(|reference| (reference, who)));
    }
}

/// The URL of `5; url=/next`; a page that only loads itself again leads nowhere.
fn refresh(content: &str) -> Option<String> {
    let (_, to) = content.split_once([';', ','])?;
    let (name, url) = to.trim().split_once('=')?;
    let url = url.trim().trim_matches(['"', '\'']);
    (name.trim().eq_ignore_ascii_case("url") && !url.is_empty()).then(|| url.to_owned())
}

fn is_wanted(address: &Address, page: &Address, which: &Resources) -> bool {
    let is_host = |host: &String| host == "*" || host.eq_ignore_ascii_case(&address.host);
    let is_own = which.only.is_empty() && address.host == page.host;
    (is_own || which.only.iter().any(is_host))
        && !which.except.iter().any(|part| address.text.contains(part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<html><head><base href=\"/d/\"><link rel='shortcut ICON' href=i.ico><link rel=next href=no>\
        <link rel=stylesheet href=c.css><meta http-equiv=Refresh content=\"3; URL='next?a=1&amp;b=2'\"></head>\
        <body background=bg.png><!-- <img src=no> --><a href=no>a</a><IMG SRC=\"i.gif?a=1&amp;b=2\"><img src=i.gif?a=1&amp;b=2>\
        <img src=data:image/gif;base64,AAAA><script src=//cdn/s.js></script><script>'<img src=no>'</script>\
        <iframe src='http://ads.other/f'></iframe><img src=''></body>";

    fn wanted(which: &Resources, step: usize) -> Vec<String> {
        let page = Address::parse("http://h/start").unwrap();
        let mut needs = Needs::new();
        PAGE.as_bytes().chunks(step).for_each(|chunk| needs.read(chunk));
        let next = if which.elements == Elements::Browsers { "d/next" } else { "next" };
        let refresh = needs.refresh(&page, which.elements).unwrap();
        assert_eq!(refresh.text, format!("http://h/{next}?a=1&b=2"));
        needs.wanted(&page, which).into_iter().map(|address| address.text).collect()
    }

    #[test]
    fn resources_are_those_a_browser_fetches_each_once() {
        let all = [
            "http://h/d/i.ico",
            "http://h/d/c.css",
            "http://h/d/bg.png",
            "http://h/d/i.gif?a=1&b=2",
            "http://cdn/s.js",
            "http://ads.other/f",
        ];
        for step in [1, 9, 10_000] {
            let every = Resources { only: vec!["*".to_owned()], ..Resources::default() };
            assert_eq!(wanted(&every, step), all);
            assert_eq!(wanted(&Resources::default(), step), all[..4], "the page's own host");
        }
        let only = Resources { only: vec!["CDN".to_owned()], ..Resources::default() };
        assert_eq!(wanted(&only, 100), ["http://cdn/s.js"]);
        let except = vec!["ads.".to_owned(), ".css".to_owned()];
        let only = vec!["*".to_owned()];
        let except = Resources { only, except, reversed: true, ..Resources::default() };
        assert_eq!(wanted(&except, 100), [all[4], all[3], all[2], all[0]]);
    }

    /// Seen of JMeter 5.6.3 in front of such a page.
    #[test]
    fn resources_of_jmeter_are_those_of_its_parser() {
        let page = Address::parse("http://h/").unwrap();
        let jmeter =
            Resources { elements: Elements::Jmeters, only: vec!["*".to_owned()], ..Resources::default() };
        let mut needs = Needs::of(b"text/html;charset=utf-8", Elements::Jmeters).unwrap();
        needs.read(
            br#"<body style="a:url(no.png)"><table background="tb.png"><div style="b: URL( 'sp.png' )"><object codebase="cb" data="da">
            </object><bgsound src="bg.wav"><applet code="Ap.class"></applet><embed src=em.swf><video poster=no src=no></video><audio src=no></audio>
            <link rel=preload href=pre.js><link rel="SHORTCUT ICON" href=sc.ico><link rel="apple-touch-icon" href=no><link rel=manifest href=no>
            <link rel="alternate stylesheet" href=no><noscript><img src=no></noscript><input type=IMAGE src=in.png style="c:url(&quot;ent.png&quot;)">
            <style>@import "no.css"; a { background: url("no") }</style><img src=" trimmed.png "></body>"#,
        );
        let found: Vec<String> =
            needs.wanted(&page, &jmeter).into_iter().map(|address| address.path).collect();
        let named =
            "/tb.png /sp.png /cb /da /bg.wav /Ap.class /em.swf /pre.js /sc.ico /in.png /ent.png /trimmed.png";
        assert_eq!(found.join(" "), named);
        assert!(Needs::of(b"text/css", Elements::Browsers).is_none());
        let mut sheet = Needs::of(b"text/CSS", Elements::Jmeters).unwrap();
        sheet.read(b"@import 'a.css'; b { background: url('no')");
        let imported: Vec<String> =
            sheet.wanted(&page, &jmeter).into_iter().map(|address| address.path).collect();
        assert_eq!(imported, ["/a.css"]);
    }

    /// Seen of siege 4.0.7 in front of such a page.
    #[test]
    fn resources_of_siege_are_fewer_and_relative_to_the_page() {
        let only = vec!["*".to_owned()];
        let siege = Resources { elements: Elements::Sieges, only, ..Resources::default() };
        let all = ["http://h/c.css", "http://h/bg.png", "http://h/i.gif?a=1&b=2", "http://cdn/s.js"];
        for step in [1, 10_000] {
            assert_eq!(wanted(&siege, step), all);
        }
        let page = Address::parse("http://h/a/b").unwrap();
        let mut needs = Needs::new();
        needs.read(b"<noscript><img src=n.png><iframe src=no></noscript><img src=y.png><link rel='alternate stylesheet' href=no>");
        let texts = |which: &Resources, needs: &mut Needs| {
            needs.wanted(&page, which).into_iter().map(|address| address.path).collect::<Vec<_>>()
        };
        assert_eq!(texts(&siege, &mut needs), ["/a/n.png", "/a/y.png"]);
        assert_eq!(texts(&Resources::default(), &mut needs), ["/a/y.png", "/a/no"]);
    }
}
