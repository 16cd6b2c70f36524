//! Advice, once for all entries that need the same.

/// Advice on what to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// In English.
    pub english: &'static str,
    /// In Chinese.
    pub chinese: &'static str,
}

const fn advice(english: &'static str, chinese: &'static str) -> Advice {
    Advice { english, chinese }
}

pub(crate) const SERVER: Advice = advice(
    "Look at what wrote it: the server, or a proxy before it. -v and the evidence show its first bytes.",
    "检查是谁写出了它:服务器,或其前面的代理。-v 与证据中有其首字节。",
);
pub(crate) const CLIENT: Advice = advice(
    "Look at what wrote the request: the proxy between, mostly, or another client of this origin.",
    "检查是谁写出了该请求:多为中间的代理,或访问本源站的其他客户端。",
);
pub(crate) const PORT: Advice = advice(
    "Something else listens there: look at host and port; the first bytes often say what it is.",
    "那里监听的是别的服务:检查主机与端口;首字节往往说明它是什么。",
);
pub(crate) const SPEAK_HTTP2: Advice = advice(
    "It speaks HTTP/2: --http 2c, or https:// with --http 2.",
    "对端使用 HTTP/2:请用 --http 2c,或以 https:// 配合 --http 2。",
);
pub(crate) const SPEAK_HTTP1: Advice = advice(
    "It speaks HTTP/1.1 there: leave out --http 2c, or give https:// and --http 2.",
    "那里使用 HTTP/1.1:去掉 --http 2c,或以 https:// 配合 --http 2。",
);
pub(crate) const SPEAK_TLS: Advice =
    advice("It speaks TLS there: give https://.", "那里使用 TLS:请用 https://。");
pub(crate) const ONE_LENGTH: Advice = advice(
    "Have the sender tell the length once, and in one way: two recipients that differ in where a message ends are how requests are \
     smuggled.",
    "让发送方只以一种方式给出一次长度:若两个接收方对报文结尾判断不同,请求便可被走私。",
);
pub(crate) const CONTENT_ENCODING: Advice = advice(
    "Have the server compress with Content-Encoding, which clients ask for by Accept-Encoding; or let no proxy change it.",
    "让服务器改用 Content-Encoding 压缩(客户端以 Accept-Encoding 请求),或不让代理改动它。",
);
pub(crate) const HEAD_LIMIT: Advice = advice(
    "A limit of this client, and no fault of the server: raise it with --max-head (limits.head_bytes in a plan).",
    "这是本客户端的上限,并非服务器的错误:请用 --max-head 调大(计划中为 limits.head_bytes)。",
);
pub(crate) const FIELDS_LIMIT: Advice = advice(
    "A limit of this client, and no fault of the server: raise it with --max-fields (limits.fields in a plan).",
    "这是本客户端的上限,并非服务器的错误:请用 --max-fields 调大(计划中为 limits.fields)。",
);
pub(crate) const FIXED_LIMIT: Advice = advice(
    "A limit of this program that no option changes; what meets it is hardly meant.",
    "这是本程序的固定上限,没有选项可改;触及它的内容多半并非有意为之。",
);
pub(crate) const FLOOD: Advice = advice(
    "A limit of this program against attacks, which no option changes: look at what sends such frames, and why.",
    "这是本程序防范攻击的上限,没有选项可改:检查是谁、为何发送这样的帧。",
);
pub(crate) const PEER_LOG: Advice = advice(
    "The other side's log may say why it stopped: a crash, a time limit, a body that ended before its length.",
    "对端的日志可能说明它为何中止:崩溃、超时,或正文短于其长度。",
);
