//! Error codes with which a stream or a connection is ended, and TLS alerts: numbers, names and what they mean.

use crate::Protocol;
use crate::rule::Rule;

/// An error code of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    /// The protocol that it belongs to.
    pub protocol: Protocol,
    /// Its number.
    pub number: u64,
}

/// Knowledge of an error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeEntry {
    /// The protocol that it belongs to.
    pub protocol: Protocol,
    /// Its number.
    pub number: u64,
    /// Its name in the RFC.
    pub name: &'static str,
    /// Its meaning to whoever sends it, in a sentence.
    pub meaning: &'static str,
    /// The same in Chinese.
    pub chinese: &'static str,
    /// Where it is defined.
    pub rule: Rule,
}

/// The codes of a protocol.
pub type Codes = &'static [CodeEntry];

impl Code {
    /// Its entry in the catalogue; `None`: the RFC does not know it.
    pub fn entry(self) -> Option<&'static CodeEntry> {
        of(self.protocol).iter().find(|entry| entry.number == self.number)
    }

    /// Its name in the RFC.
    pub fn name(self) -> Option<&'static str> {
        self.entry().map(|entry| entry.name)
    }
}

/// Its name, or its number where it has none.
impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} code {:#x}", self.protocol.name(), self.number),
        }
    }
}

/// All codes of a protocol.
pub const fn of(protocol: Protocol) -> Codes {
    match protocol {
        Protocol::Http2 => http2::ALL,
        Protocol::Http3 => http3::ALL,
        Protocol::Quic => quic::ALL,
        Protocol::Tls => tls::ALL,
    }
}

/// All codes of all protocols.
pub fn all() -> impl Iterator<Item = &'static CodeEntry> {
    [http2::ALL, http3::ALL, quic::ALL, tls::ALL].into_iter().flatten()
}

macro_rules! codes {
    ($protocol:ident; $($constant:ident = $number:literal, $name:literal, $rfc:literal $section:literal, $meaning:literal, $chinese:literal;)+) => {
        $(#[doc = $meaning] pub const $constant: super::Code = super::Code { protocol: crate::Protocol::$protocol, number: $number };)+

        /// All of them.
        pub const ALL: super::Codes = &[$(super::CodeEntry {
            protocol: crate::Protocol::$protocol,
            number: $number,
            name: $name,
            meaning: $meaning,
            chinese: $chinese,
            rule: crate::rule::Rule { rfc: $rfc, section: $section },
        },)+];
    };
}

/// Codes of HTTP/2, in RST_STREAM and GOAWAY.
pub mod http2 {
    codes! {
        Http2;
        NO_ERROR = 0x0, "NO_ERROR", 9113 "7",
            "No error: an orderly end.",
            "没有错误:正常结束。";
        PROTOCOL_ERROR = 0x1, "PROTOCOL_ERROR", 9113 "7",
            "The other side broke a rule that no other code is for.",
            "对方违反了协议规则(无更具体的错误码)。";
        INTERNAL_ERROR = 0x2, "INTERNAL_ERROR", 9113 "7",
            "Something went wrong at the sender itself.",
            "发送方自身出错。";
        FLOW_CONTROL_ERROR = 0x3, "FLOW_CONTROL_ERROR", 9113 "7",
            "More content came than a window allows.",
            "内容超过窗口允许的量。";
        SETTINGS_TIMEOUT = 0x4, "SETTINGS_TIMEOUT", 9113 "7",
            "SETTINGS were not acknowledged in time.",
            "SETTINGS 未及时确认。";
        STREAM_CLOSED = 0x5, "STREAM_CLOSED", 9113 "7",
            "A frame came for a stream that was closed.",
            "帧指向已关闭的流。";
        FRAME_SIZE_ERROR = 0x6, "FRAME_SIZE_ERROR", 9113 "7",
            "A frame has a length that it may not have.",
            "帧长不合法。";
        REFUSED_STREAM = 0x7, "REFUSED_STREAM", 9113 "7",
            "Nothing was done for the request: it may be sent again.",
            "请求未被处理:可以重发。";
        CANCEL = 0x8, "CANCEL", 9113 "7",
            "The stream is no longer wanted.",
            "不再需要该流。";
        COMPRESSION_ERROR = 0x9, "COMPRESSION_ERROR", 9113 "7",
            "A field block could not be decoded.",
            "字段块无法解码。";
        CONNECT_ERROR = 0xa, "CONNECT_ERROR", 9113 "7",
            "The connection behind a CONNECT was lost.",
            "CONNECT 背后的连接已断开。";
        ENHANCE_YOUR_CALM = 0xb, "ENHANCE_YOUR_CALM", 9113 "7",
            "The other side might be causing excessive load: too many resets, pings or requests, or fields that are too long.",
            "对方可能造成过大负载:过多的重置、PING 或请求,或字段过长。";
        INADEQUATE_SECURITY = 0xc, "INADEQUATE_SECURITY", 9113 "7",
            "The TLS below is not good enough for HTTP/2.",
            "底层 TLS 达不到 HTTP/2 的要求。";
        HTTP_1_1_REQUIRED = 0xd, "HTTP_1_1_REQUIRED", 9113 "7",
            "The request is to be made over HTTP/1.1.",
            "该请求须使用 HTTP/1.1。";
    }
}

/// Codes of HTTP/3 and QPACK, of streams and connections.
pub mod http3 {
    codes! {
        Http3;
        NO_ERROR = 0x100, "H3_NO_ERROR", 9114 "8.1",
            "No error: an orderly end.",
            "没有错误:正常结束。";
        GENERAL_PROTOCOL_ERROR = 0x101, "H3_GENERAL_PROTOCOL_ERROR", 9114 "8.1",
            "The other side broke a rule that no other code is for.",
            "对方违反了协议规则(无更具体的错误码)。";
        INTERNAL_ERROR = 0x102, "H3_INTERNAL_ERROR", 9114 "8.1",
            "Something went wrong at the sender itself.",
            "发送方自身出错。";
        STREAM_CREATION_ERROR = 0x103, "H3_STREAM_CREATION_ERROR", 9114 "8.1",
            "The other side opened a stream that it may not open.",
            "对方打开了不允许打开的流。";
        CLOSED_CRITICAL_STREAM = 0x104, "H3_CLOSED_CRITICAL_STREAM", 9114 "8.1",
            "A stream that the connection needs was closed.",
            "连接必需的流被关闭。";
        FRAME_UNEXPECTED = 0x105, "H3_FRAME_UNEXPECTED", 9114 "8.1",
            "A frame came where it may not stand.",
            "帧出现在不允许的位置。";
        FRAME_ERROR = 0x106, "H3_FRAME_ERROR", 9114 "8.1",
            "A frame is cut off, or not as long as what it holds.",
            "帧被截断,或长度与内容不符。";
        EXCESSIVE_LOAD = 0x107, "H3_EXCESSIVE_LOAD", 9114 "8.1",
            "The other side might be causing excessive load.",
            "对方可能造成过大负载。";
        ID_ERROR = 0x108, "H3_ID_ERROR", 9114 "8.1",
            "An identifier of a stream or a push was used wrongly.",
            "流或推送的标识使用有误。";
        SETTINGS_ERROR = 0x109, "H3_SETTINGS_ERROR", 9114 "8.1",
            "SETTINGS hold what they may not hold.",
            "SETTINGS 含有不允许的内容。";
        MISSING_SETTINGS = 0x10a, "H3_MISSING_SETTINGS", 9114 "8.1",
            "The control stream does not begin with SETTINGS.",
            "控制流不以 SETTINGS 开头。";
        REQUEST_REJECTED = 0x10b, "H3_REQUEST_REJECTED", 9114 "8.1",
            "Nothing was done for the request: it may be sent again.",
            "请求未被处理:可以重发。";
        REQUEST_CANCELLED = 0x10c, "H3_REQUEST_CANCELLED", 9114 "8.1",
            "The request, or its answer, is no longer wanted.",
            "不再需要该请求或其响应。";
        REQUEST_INCOMPLETE = 0x10d, "H3_REQUEST_INCOMPLETE", 9114 "8.1",
            "The stream ended before the request was whole.",
            "请求未完整时流已结束。";
        MESSAGE_ERROR = 0x10e, "H3_MESSAGE_ERROR", 9114 "8.1",
            "A message is malformed.",
            "报文格式错误。";
        CONNECT_ERROR = 0x10f, "H3_CONNECT_ERROR", 9114 "8.1",
            "The connection behind a CONNECT was lost.",
            "CONNECT 背后的连接已断开。";
        VERSION_FALLBACK = 0x110, "H3_VERSION_FALLBACK", 9114 "8.1",
            "The request is to be made over HTTP/1.1.",
            "该请求须使用 HTTP/1.1。";
        QPACK_DECOMPRESSION_FAILED = 0x200, "QPACK_DECOMPRESSION_FAILED", 9204 "6",
            "A field section could not be decoded.",
            "字段段无法解码。";
        QPACK_ENCODER_STREAM_ERROR = 0x201, "QPACK_ENCODER_STREAM_ERROR", 9204 "6",
            "An instruction of the encoder could not be followed.",
            "无法执行编码器的指令。";
        QPACK_DECODER_STREAM_ERROR = 0x202, "QPACK_DECODER_STREAM_ERROR", 9204 "6",
            "An instruction of the decoder could not be followed.",
            "无法执行解码器的指令。";
    }
}

/// Codes of QUIC itself.
pub mod quic {
    codes! {
        Quic;
        NO_ERROR = 0x0, "NO_ERROR", 9000 "20.1",
            "No error: an orderly end.",
            "没有错误:正常结束。";
        INTERNAL_ERROR = 0x1, "INTERNAL_ERROR", 9000 "20.1",
            "Something went wrong at the sender itself.",
            "发送方自身出错。";
        CONNECTION_REFUSED = 0x2, "CONNECTION_REFUSED", 9000 "20.1",
            "The server takes no new connection.",
            "服务器不接受新连接。";
        FLOW_CONTROL_ERROR = 0x3, "FLOW_CONTROL_ERROR", 9000 "20.1",
            "More data came than a window allows.",
            "数据超过窗口允许的量。";
        STREAM_LIMIT_ERROR = 0x4, "STREAM_LIMIT_ERROR", 9000 "20.1",
            "More streams were opened than are allowed.",
            "打开的流超过上限。";
        STREAM_STATE_ERROR = 0x5, "STREAM_STATE_ERROR", 9000 "20.1",
            "A frame came for a stream that is in no state for it.",
            "帧与流的状态不符。";
        FINAL_SIZE_ERROR = 0x6, "FINAL_SIZE_ERROR", 9000 "20.1",
            "A stream is longer than its end, or has two ends.",
            "流超出其终点,或有两个终点。";
        FRAME_ENCODING_ERROR = 0x7, "FRAME_ENCODING_ERROR", 9000 "20.1",
            "A frame could not be read.",
            "帧无法解析。";
        TRANSPORT_PARAMETER_ERROR = 0x8, "TRANSPORT_PARAMETER_ERROR", 9000 "20.1",
            "The transport parameters hold what they may not hold.",
            "传输参数含有不允许的内容。";
        CONNECTION_ID_LIMIT_ERROR = 0x9, "CONNECTION_ID_LIMIT_ERROR", 9000 "20.1",
            "More connection identifiers were given than are allowed.",
            "连接标识超过上限。";
        PROTOCOL_VIOLATION = 0xa, "PROTOCOL_VIOLATION", 9000 "20.1",
            "The other side broke a rule that no other code is for.",
            "对方违反了协议规则(无更具体的错误码)。";
        INVALID_TOKEN = 0xb, "INVALID_TOKEN", 9000 "20.1",
            "A token of Retry does not hold.",
            "Retry 令牌无效。";
        APPLICATION_ERROR = 0xc, "APPLICATION_ERROR", 9000 "20.1",
            "HTTP/3 closed the connection during the handshake.",
            "HTTP/3 在握手期间关闭了连接。";
        CRYPTO_BUFFER_EXCEEDED = 0xd, "CRYPTO_BUFFER_EXCEEDED", 9000 "20.1",
            "More of the TLS handshake came out of order than is kept.",
            "乱序的 TLS 握手数据超过缓冲上限。";
        KEY_UPDATE_ERROR = 0xe, "KEY_UPDATE_ERROR", 9000 "20.1",
            "Keys were changed when they may not be.",
            "在不允许时更换了密钥。";
        AEAD_LIMIT_REACHED = 0xf, "AEAD_LIMIT_REACHED", 9000 "20.1",
            "The keys have sealed as many packets as they may.",
            "密钥加密的数据包数已达上限。";
        NO_VIABLE_PATH = 0x10, "NO_VIABLE_PATH", 9000 "20.1",
            "No path of the network carries QUIC.",
            "没有可用的网络路径。";
    }
}

/// TLS alerts.
pub mod tls {
    codes! {
        Tls;
        CLOSE_NOTIFY = 0, "close_notify", 8446 "6.1",
            "An orderly end.",
            "正常结束。";
        UNEXPECTED_MESSAGE = 10, "unexpected_message", 8446 "6.2",
            "A message came out of its order.",
            "消息顺序不符。";
        BAD_RECORD_MAC = 20, "bad_record_mac", 8446 "6.2",
            "A record could not be decrypted.",
            "记录无法解密。";
        RECORD_OVERFLOW = 22, "record_overflow", 8446 "6.2",
            "A record is too long.",
            "记录过长。";
        HANDSHAKE_FAILURE = 40, "handshake_failure", 8446 "6.2",
            "No set of parameters suits both sides: versions, cipher suites, groups or signatures.",
            "双方没有共同的参数:版本、密码套件、群或签名。";
        BAD_CERTIFICATE = 42, "bad_certificate", 8446 "6.2",
            "A certificate is broken, or its signature does not hold.",
            "证书损坏或签名无效。";
        UNSUPPORTED_CERTIFICATE = 43, "unsupported_certificate", 8446 "6.2",
            "A certificate of a kind that is not taken.",
            "不接受该类型的证书。";
        CERTIFICATE_REVOKED = 44, "certificate_revoked", 8446 "6.2",
            "The certificate has been revoked.",
            "证书已被吊销。";
        CERTIFICATE_EXPIRED = 45, "certificate_expired", 8446 "6.2",
            "The certificate is not valid now.",
            "证书当前无效(过期或未生效)。";
        CERTIFICATE_UNKNOWN = 46, "certificate_unknown", 8446 "6.2",
            "Something else is wrong with the certificate.",
            "证书有其他问题。";
        ILLEGAL_PARAMETER = 47, "illegal_parameter", 8446 "6.2",
            "A field of the handshake holds what it may not hold.",
            "握手字段取值不合法。";
        UNKNOWN_CA = 48, "unknown_ca", 8446 "6.2",
            "Nobody who is trusted has signed the certificate.",
            "证书的签发者不受信任。";
        ACCESS_DENIED = 49, "access_denied", 8446 "6.2",
            "The certificate is valid, and does not let in.",
            "证书有效,但无权访问。";
        DECODE_ERROR = 50, "decode_error", 8446 "6.2",
            "A message could not be read.",
            "消息无法解析。";
        DECRYPT_ERROR = 51, "decrypt_error", 8446 "6.2",
            "A signature or a finished message does not hold.",
            "签名或 Finished 消息无效。";
        PROTOCOL_VERSION = 70, "protocol_version", 8446 "6.2",
            "The TLS version that was offered is not taken.",
            "不接受所提供的 TLS 版本。";
        INSUFFICIENT_SECURITY = 71, "insufficient_security", 8446 "6.2",
            "The server wants stronger cipher suites.",
            "服务器要求更强的密码套件。";
        INTERNAL_ERROR = 80, "internal_error", 8446 "6.2",
            "Something went wrong at the sender itself.",
            "发送方自身出错。";
        INAPPROPRIATE_FALLBACK = 86, "inappropriate_fallback", 7507 "3",
            "The client tried an older version though both know a newer one.",
            "客户端在双方支持更新版本时使用了旧版本。";
        USER_CANCELED = 90, "user_canceled", 8446 "6.1",
            "Whoever shook hands gave up.",
            "握手被用户取消。";
        NO_RENEGOTIATION = 100, "no_renegotiation", 5246 "7.2.2",
            "No new handshake within the connection.",
            "不允许重新协商。";
        MISSING_EXTENSION = 109, "missing_extension", 8446 "6.2",
            "An extension that must be there is missing.",
            "缺少必需的扩展。";
        UNSUPPORTED_EXTENSION = 110, "unsupported_extension", 8446 "6.2",
            "An extension came that was not offered.",
            "出现未提供的扩展。";
        UNRECOGNIZED_NAME = 112, "unrecognized_name", 8446 "6.2",
            "The server knows no such name (SNI).",
            "服务器不认识该名称(SNI)。";
        BAD_CERTIFICATE_STATUS_RESPONSE = 113, "bad_certificate_status_response", 8446 "6.2",
            "The OCSP answer does not hold.",
            "OCSP 响应无效。";
        CERTIFICATE_REQUIRED = 116, "certificate_required", 8446 "6.2",
            "The server wants a certificate of the client.",
            "服务器要求客户端证书。";
        NO_APPLICATION_PROTOCOL = 120, "no_application_protocol", 7301 "3.2",
            "No application protocol in common (ALPN).",
            "没有共同的应用层协议(ALPN)。";
    }
}
