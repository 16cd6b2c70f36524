//! What a page needs, as a browser would find it in its HTML while it arrives: images, style sheets, icons, scripts and
//! frames; and where its `<meta http-equiv=refresh>` leads.

use lol_html::html_content::Element;
use lol_html::{HtmlRewriter, Settings, element};
use plan::{Address, Resources};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// References of one page at most.
const MOST: usize = 10_000;

/// What was found in a page, in the order it stands.
#[derive(Debug, Default)]
struct Found {
    needs: Vec<String>,
    base: Option<String>,
    refresh: Option<String>,
}

type Parser = HtmlRewriter<'static, fn(&[u8])>;

/// Reads a page.
pub(super) struct Needs {
    parser: Option<Parser>,
    found: Rc<RefCell<Found>>,
}

/// Elements that name what is fetched at once, and by which attribute.
const REFERENCES: [(&str, &str); 12] = [
    ("img[src]", "src"),
    ("script[src]", "src"),
    ("iframe[src]", "src"),
    ("frame[src]", "src"),
    ("input[type=image][src]", "src"),
    ("embed[src]", "src"),
    ("object[data]", "data"),
    ("video[poster]", "poster"),
    ("audio[src]", "src"),
    ("video[src]", "src"),
    ("track[src]", "src"),
    ("body[background]", "background"),
];

/// Relations of a link whose other end is fetched with the page.
const RELATIONS: [&str; 5] = ["stylesheet", "icon", "apple-touch-icon", "preload", "manifest"];

impl Needs {
    pub fn new() -> Needs {
        let found = Rc::new(RefCell::new(Found::default()));
        let mut settings = Settings::new();
        for (selector, attribute) in REFERENCES {
            let found = found.clone();
            settings = settings.append_element_content_handler(element!(selector, move |element| {
                found.borrow_mut().need(attribute_of(element, attribute));
                Ok(())
            }));
        }
        let (links, bases, metas) = (found.clone(), found.clone(), found.clone());
        let settings = settings
            .append_element_content_handler(element!("link[rel][href]", move |element| {
                let relations = attribute_of(element, "rel").unwrap_or_default().to_ascii_lowercase();
                if relations.split_ascii_whitespace().any(|relation| RELATIONS.contains(&relation)) {
                    links.borrow_mut().need(attribute_of(element, "href"));
                }
                Ok(())
            }))
            .append_element_content_handler(element!("base[href]", move |element| {
                let mut found = bases.borrow_mut();
                found.base = found.base.take().or(attribute_of(element, "href"));
                Ok(())
            }))
            .append_element_content_handler(element!("meta[http-equiv][content]", move |element| {
                let named = attribute_of(element, "http-equiv").unwrap_or_default();
                if named.eq_ignore_ascii_case("refresh") {
                    let content = attribute_of(element, "content").unwrap_or_default();
                    let mut found = metas.borrow_mut();
                    found.refresh = found.refresh.take().or_else(|| refresh(&content));
                }
                Ok(())
            }));
        let discard: fn(&[u8]) = |_| {};
        Needs { parser: Some(HtmlRewriter::new(settings, discard)), found }
    }

    /// The next bytes of the page.
    pub fn read(&mut self, bytes: &[u8]) {
        if let Some(parser) = &mut self.parser
            && parser.write(bytes).is_err()
        {
            self.parser = None;
        }
    }

    /// Where the page leads by itself, once it is over.
    pub fn refresh(&mut self, page: &Address) -> Option<Address> {
        self.end();
        let to = self.found.borrow().refresh.clone()?;
        self.base(page)?.join(&to)
    }

    /// What is fetched of all that the page needs: each once, in order.
    pub fn wanted(&mut self, page: &Address, which: &Resources) -> Vec<Address> {
        self.end();
        let Some(base) = self.base(page) else { return Vec::new() };
        let mut seen = HashSet::from([page.text.clone()]);
        let found = self.found.borrow();
        let addresses = found.needs.iter().filter_map(|reference| base.join(reference));
        let mut wanted: Vec<Address> = addresses
            .filter(|address| is_wanted(address, page, which) && seen.insert(address.text.clone()))
            .collect();
        if which.reversed {
            wanted.reverse();
        }
        wanted
    }

    fn end(&mut self) {
        if let Some(parser) = self.parser.take() {
            // What is left of a broken page holds no whole reference.
            let _ = parser.end();
        }
    }

    fn base(&self, page: &Address) -> Option<Address> {
        match &self.found.borrow().base {
            Some(base) => page.join(base),
            None => Some(page.clone()),
        }
    }
}

impl Found {
    fn need(&mut self, reference: Option<String>) {
        if self.needs.len() < MOST {
            self.needs.extend(reference.filter(|reference| !reference.trim().is_empty()));
        }
    }
}

/// An attribute's value with its character references resolved.
fn attribute_of(element: &Element<'_, '_>, name: &str) -> Option<String> {
    let value = element.get_attribute(name)?;
    Some(html_escape::decode_html_entities(&value).into_owned())
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
        assert_eq!(needs.refresh(&page).unwrap().text, "http://h/d/next?a=1&b=2");
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
}
