//! Small words of an exchange, and how they are packed into a number: method, version, what a cache made of it, who asked.

use serde::{Deserialize, Serialize};

/// Makes an enum of words whose numbers are their places, with names for people.
macro_rules! word_list {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $word:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            #[default]
            $($(#[$doc])* $word,)+
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$word,)+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $($name::$word => $text,)+ }
            }

            /// The word of a number; one that is unknown to this build is the first.
            pub fn of(number: u32) -> $name {
                $name::ALL.get(number as usize).copied().unwrap_or_default()
            }
        }
    };
}

pub(crate) use word_list;

word_list! {
    /// Method of a request.
    Method {
        /// GET.
        Get = "GET",
        /// HEAD.
        Head = "HEAD",
        /// POST.
        Post = "POST",
        /// PUT.
        Put = "PUT",
        /// DELETE.
        Delete = "DELETE",
        /// OPTIONS.
        Options = "OPTIONS",
        /// PATCH.
        Patch = "PATCH",
        /// PURGE, as caches have it.
        Purge = "PURGE",
        /// CONNECT, which names no object.
        Connect = "CONNECT",
        /// TRACE.
        Trace = "TRACE",
        /// Any other.
        Other = "other",
    }
}

impl Method {
    /// Reads a method; `None` where it is no token (RFC 9110 section 5.6.2).
    pub fn read(text: &[u8]) -> Option<Method> {
        let known = match text {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"DELETE" => Method::Delete,
            b"OPTIONS" => Method::Options,
            b"PATCH" => Method::Patch,
            b"PURGE" => Method::Purge,
            b"CONNECT" => Method::Connect,
            b"TRACE" => Method::Trace,
            other if is_method(other) => Method::Other,
            _ => return None,
        };
        Some(known)
    }
}

/// True of what a method may look like: a token of letters in practice, `M-SEARCH` and `ICP_QUERY` among them.
fn is_method(text: &[u8]) -> bool {
    (1..=32).contains(&text.len())
        && text[0].is_ascii_alphabetic()
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

word_list! {
    /// The account that a cache gave of an exchange.
    Cache {
        /// It gave none.
        Untold = "untold",
        /// Answered from the cache.
        Hit = "hit",
        /// Answered from the cache after the server behind said that it still holds.
        Revalidated = "revalidated",
        /// Fetched anew because what was stored had expired.
        Expired = "expired",
        /// Fetched.
        Miss = "miss",
        /// Answered with what had expired.
        Stale = "stale",
        /// Fetched because the client wanted it so.
        Reload = "reload",
        /// The cache kept out of it.
        Bypass = "bypass",
        /// It made an answer of its own, an error or a redirection.
        Error = "error",
    }
}

impl Cache {
    /// True if the answer came from the cache, and nobody was asked for it.
    pub const fn is_hit(self) -> bool {
        matches!(self, Cache::Hit | Cache::Stale)
    }
}

word_list! {
    /// Version of HTTP that the client spoke.
    Version {
        /// Not told.
        Untold = "untold",
        /// HTTP/0.9 or 1.0.
        Http10 = "1.0",
        /// HTTP/1.1.
        Http11 = "1.1",
        /// HTTP/2.
        Http2 = "2",
        /// HTTP/3.
        Http3 = "3",
    }
}

impl Version {
    /// Reads `HTTP/1.1`, `h2`, `2.0` and the like.
    pub fn read(text: &[u8]) -> Version {
        let digits = text.iter().position(u8::is_ascii_digit).map_or(&b""[..], |at| &text[at..]);
        match digits {
            b"1.1" => Version::Http11,
            [b'1', ..] | [b'0', ..] => Version::Http10,
            [b'2', ..] => Version::Http2,
            [b'3', ..] => Version::Http3,
            _ => Version::Untold,
        }
    }
}

word_list! {
    /// Condition that a request carried.
    Condition {
        /// None that is told.
        None = "none",
        /// If-None-Match.
        Tag = "if-none-match",
        /// If-Modified-Since.
        Date = "if-modified-since",
        /// Both.
        Both = "both",
    }
}

word_list! {
    /// The best content coding that a request accepted.
    Coding {
        /// Not told.
        Untold = "untold",
        /// None.
        Identity = "identity",
        /// gzip or deflate.
        Gzip = "gzip",
        /// br.
        Brotli = "br",
        /// zstd.
        Zstd = "zstd",
    }
}

impl Coding {
    /// Reads Accept-Encoding; `-` and an empty one accept none.
    pub fn read(text: &[u8]) -> Coding {
        let has = |name: &[u8]| memchr::memmem::find(text, name).is_some();
        match () {
            () if has(b"zstd") => Coding::Zstd,
            () if has(b"br") => Coding::Brotli,
            () if has(b"gzip") || has(b"deflate") => Coding::Gzip,
            () => Coding::Identity,
        }
    }
}

word_list! {
    /// Who asked, as far as User-Agent says.
    Agent {
        /// Not told.
        Untold = "untold",
        /// A browser on a desk.
        Desktop = "desktop",
        /// A browser in a hand.
        Mobile = "mobile",
        /// A crawler.
        Bot = "bot",
        /// A program: curl, a library, a monitor.
        Tool = "tool",
        /// Anything else.
        Other = "other",
    }
}

/// Words in User-Agent, by their first byte, and what they tell.
fn agents_from(first: u8) -> &'static [(&'static str, Agent)] {
    match first {
        b'b' => &[("bot", Agent::Bot)],
        b'B' => &[("Bot", Agent::Bot)],
        b's' => &[("spider", Agent::Bot), ("slurp", Agent::Bot)],
        b'S' => &[("Spider", Agent::Bot), ("Slurp", Agent::Bot)],
        b'c' => &[("crawl", Agent::Bot), ("curl", Agent::Tool)],
        b'C' => &[("Crawl", Agent::Bot)],
        b'f' => &[("feed", Agent::Bot)],
        b'F' => &[("Feed", Agent::Bot)],
        b'W' => &[("Wget", Agent::Tool)],
        b'p' => &[("python", Agent::Tool)],
        b'J' => &[("Java/", Agent::Tool)],
        b'G' => &[("Go-http", Agent::Tool)],
        b'o' => &[("okhttp", Agent::Tool)],
        b'A' => &[("Apache-HttpClient", Agent::Tool), ("Android", Agent::Mobile)],
        b'a' => &[("axios", Agent::Tool)],
        b'l' => &[("libwww", Agent::Tool)],
        b'M' => &[("Mobile", Agent::Mobile)],
        b'i' => &[("iPhone", Agent::Mobile)],
        _ => &[],
    }
}

impl Agent {
    /// Reads User-Agent, once from its beginning to its end: of what it names bots count first, then tools.
    pub fn read(text: &[u8]) -> Agent {
        if text.is_empty() || text == b"-" {
            return Agent::Untold;
        }
        let mut is_tool = false;
        let mut is_mobile = false;
        for (at, first) in text.iter().enumerate() {
            let found = agents_from(*first).iter().find(|(name, _)| text[at..].starts_with(name.as_bytes()));
            match found {
                Some((_, Agent::Bot)) => return Agent::Bot,
                Some((_, Agent::Tool)) => is_tool = true,
                Some((_, Agent::Mobile)) => is_mobile = true,
                Some((_, Agent::Untold | Agent::Desktop | Agent::Other)) | None => {}
            }
        }
        match () {
            () if is_tool => Agent::Tool,
            () if is_mobile => Agent::Mobile,
            () if text.starts_with(b"Mozilla/") || text.starts_with(b"Opera/") => Agent::Desktop,
            () => Agent::Other,
        }
    }
}

word_list! {
    /// Kind of an object's content.
    Media {
        /// Not told.
        Untold = "untold",
        /// Pages.
        Html = "html",
        /// Style sheets.
        Css = "css",
        /// Scripts.
        Script = "script",
        /// JSON and XML.
        Data = "data",
        /// Images.
        Image = "image",
        /// Pieces and files of video.
        Video = "video",
        /// Sound.
        Audio = "audio",
        /// Fonts.
        Font = "font",
        /// Lists of pieces of a stream.
        Playlist = "playlist",
        /// Plain text.
        Text = "text",
        /// Archives, programs, anything binary.
        Binary = "binary",
    }
}

impl Media {
    /// Reads Content-Type.
    pub fn of_type(text: &[u8]) -> Media {
        let end = text.iter().position(|byte| matches!(byte, b';' | b' ' | b',')).unwrap_or(text.len());
        let name = text[..end].to_ascii_lowercase();
        let has = |part: &[u8]| memchr::memmem::find(&name, part).is_some();
        match () {
            () if name.is_empty() || name == b"-" => Media::Untold,
            () if has(b"mpegurl") || has(b"dash+xml") => Media::Playlist,
            () if has(b"html") => Media::Html,
            () if has(b"css") => Media::Css,
            () if has(b"javascript") || has(b"ecmascript") => Media::Script,
            () if name.starts_with(b"image/") => Media::Image,
            () if name.starts_with(b"video/") => Media::Video,
            () if name.starts_with(b"audio/") => Media::Audio,
            () if has(b"font") => Media::Font,
            () if has(b"json") || has(b"xml") => Media::Data,
            () if name.starts_with(b"text/") => Media::Text,
            () => Media::Binary,
        }
    }

    /// Guesses from the last part of a path; pages are what has no ending.
    pub fn of_path(path: &[u8]) -> Media {
        let end = memchr::memchr2(b'?', b'#', path).unwrap_or(path.len());
        let name = memchr::memrchr(b'/', &path[..end]).map_or(&path[..end], |slash| &path[slash + 1..end]);
        let Some(dot) = memchr::memrchr(b'.', name) else { return Media::Html };
        let mut ending = [0; LONGEST_ENDING];
        let text = &name[dot + 1..];
        if text.len() > ending.len() {
            return Media::Binary;
        }
        ending[..text.len()].copy_from_slice(text);
        let ending = u64::from_le_bytes(ending.map(|byte| byte.to_ascii_lowercase()));
        ENDINGS.iter().find(|(known, _)| *known == ending).map_or(Media::Binary, |(_, media)| *media)
    }
}

/// The longest ending of a name that is compared.
const LONGEST_ENDING: usize = size_of::<u64>();

/// An ending as a number, so that one comparison tells it from another.
const fn ending(text: &str) -> u64 {
    let mut bytes = [0; LONGEST_ENDING];
    let (begin, _) = bytes.split_at_mut(text.len());
    begin.copy_from_slice(text.as_bytes());
    u64::from_le_bytes(bytes)
}

/// Kinds of content by the endings of their names.
const ENDINGS: [(u64, Media); 47] = [
    (ending("html"), Media::Html),
    (ending("htm"), Media::Html),
    (ending("php"), Media::Html),
    (ending("asp"), Media::Html),
    (ending("aspx"), Media::Html),
    (ending("jsp"), Media::Html),
    (ending(""), Media::Html),
    (ending("css"), Media::Css),
    (ending("js"), Media::Script),
    (ending("mjs"), Media::Script),
    (ending("json"), Media::Data),
    (ending("xml"), Media::Data),
    (ending("rss"), Media::Data),
    (ending("atom"), Media::Data),
    (ending("png"), Media::Image),
    (ending("jpg"), Media::Image),
    (ending("jpeg"), Media::Image),
    (ending("gif"), Media::Image),
    (ending("svg"), Media::Image),
    (ending("webp"), Media::Image),
    (ending("avif"), Media::Image),
    (ending("ico"), Media::Image),
    (ending("bmp"), Media::Image),
    (ending("mp4"), Media::Video),
    (ending("ts"), Media::Video),
    (ending("m4s"), Media::Video),
    (ending("webm"), Media::Video),
    (ending("mkv"), Media::Video),
    (ending("flv"), Media::Video),
    (ending("mov"), Media::Video),
    (ending("m4v"), Media::Video),
    (ending("mp3"), Media::Audio),
    (ending("aac"), Media::Audio),
    (ending("ogg"), Media::Audio),
    (ending("wav"), Media::Audio),
    (ending("m4a"), Media::Audio),
    (ending("flac"), Media::Audio),
    (ending("woff"), Media::Font),
    (ending("woff2"), Media::Font),
    (ending("ttf"), Media::Font),
    (ending("otf"), Media::Font),
    (ending("eot"), Media::Font),
    (ending("m3u8"), Media::Playlist),
    (ending("mpd"), Media::Playlist),
    (ending("txt"), Media::Text),
    (ending("csv"), Media::Text),
    (ending("md"), Media::Text),
];

word_list! {
    /// Who may store an object.
    Storage {
        /// Any cache.
        Shared = "shared",
        /// Only its user.
        Private = "private",
        /// Nobody.
        NoStore = "no-store",
    }
}

/// The small facts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Kind {
    /// Method.
    pub method: Method,
    /// The cache's account.
    pub cache: Cache,
    /// Version of HTTP.
    pub version: Version,
    /// Condition that the request carried.
    pub condition: Condition,
    /// The best coding that it accepted.
    pub coding: Coding,
    /// Who asked.
    pub agent: Agent,
    /// The client went away before the end.
    pub aborted: bool,
    /// The client wanted it fetched anew.
    pub reload: bool,
}

impl Kind {
    /// Packs it into a number.
    pub fn pack(self) -> u32 {
        self.method as u32
            | (self.cache as u32) << 4
            | (self.version as u32) << 8
            | (self.condition as u32) << 11
            | (self.coding as u32) << 13
            | (self.agent as u32) << 16
            | u32::from(self.aborted) << 19
            | u32::from(self.reload) << 20
    }

    /// Unpacks a number.
    pub fn unpack(number: u32) -> Kind {
        Kind {
            method: Method::of(number & 15),
            cache: Cache::of(number >> 4 & 15),
            version: Version::of(number >> 8 & 7),
            condition: Condition::of(number >> 11 & 3),
            coding: Coding::of(number >> 13 & 7),
            agent: Agent::of(number >> 16 & 7),
            aborted: number >> 19 & 1 == 1,
            reload: number >> 20 & 1 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_told_by_what_counts_most() {
        for (text, agent) in [
            ("", Agent::Untold),
            ("-", Agent::Untold),
            ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0", Agent::Desktop),
            ("Mozilla/5.0 (Linux; Android 14) Mobile Safari/537.36", Agent::Mobile),
            ("curl/8.5.0", Agent::Tool),
            // A crawler that says what it runs on, whichever stands first.
            ("Mozilla/5.0 (iPhone; CPU) (compatible; Googlebot/2.1)", Agent::Bot),
            ("python-requests/2.31 spider", Agent::Bot),
            ("Apache-HttpClient/4.5 (Android)", Agent::Tool),
            ("cur", Agent::Other),
        ] {
            assert_eq!(Agent::read(text.as_bytes()), agent, "{text}");
        }
    }

    #[test]
    fn kinds_unpack_to_what_was_packed() {
        for method in Method::ALL {
            for cache in Cache::ALL {
                for (version, agent) in Version::ALL.iter().zip(Agent::ALL) {
                    let kind = Kind {
                        method: *method,
                        cache: *cache,
                        version: *version,
                        condition: Condition::Both,
                        coding: Coding::Zstd,
                        agent: *agent,
                        aborted: true,
                        reload: false,
                    };
                    assert_eq!(Kind::unpack(kind.pack()), kind);
                }
            }
        }
    }

    #[test]
    fn words_fit_into_their_places() {
        assert!(Method::ALL.len() <= 16 && Cache::ALL.len() <= 16);
        assert!(Version::ALL.len() <= 8 && Coding::ALL.len() <= 8 && Agent::ALL.len() <= 8);
        assert!(Condition::ALL.len() <= 4 && Media::ALL.len() <= 16 && Storage::ALL.len() <= 4);
    }

    #[test]
    fn versions_methods_and_media() {
        for (text, version) in [
            ("HTTP/1.1", Version::Http11),
            ("HTTP/1.0", Version::Http10),
            ("HTTP/2.0", Version::Http2),
            ("h3", Version::Http3),
            ("-", Version::Untold),
        ] {
            assert_eq!(Version::read(text.as_bytes()), version, "{text}");
        }
        assert_eq!(Method::read(b"M-SEARCH"), Some(Method::Other));
        assert_eq!(Method::read(b"\x16\x03\x01"), None);
        assert_eq!(Method::read(b"-"), None);
        for (path, media) in [
            ("/a/b.JPG?x=1", Media::Image),
            ("/", Media::Html),
            ("/v1/items", Media::Html),
            ("/seg-1.m4s", Media::Video),
            ("/x.tar.gz", Media::Binary),
            ("/a.html#part", Media::Html),
            ("/a.b/c.woff2", Media::Font),
            ("/live.m3u8", Media::Playlist),
            ("/x.", Media::Html),
            ("/x.markdown", Media::Binary),
            ("/x.jpgjpgjpg", Media::Binary),
        ] {
            assert_eq!(Media::of_path(path.as_bytes()), media, "{path}");
        }
        assert_eq!(Media::of_type(b"text/html; charset=utf-8"), Media::Html);
        assert_eq!(Media::of_type(b"application/vnd.apple.mpegurl"), Media::Playlist);
    }
}
