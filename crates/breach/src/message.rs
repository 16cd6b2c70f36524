//! Breaches of the rules for messages that HTTP/2 and HTTP/3 have in common: fields, and the length of content.

use crate::codes::{http2, http3};
use crate::table::catalogue;

catalogue! {
    /// Faults that make a message of HTTP/2 or HTTP/3 malformed.
    Message

    Uppercase = "field_uppercase" {
        text: "a field name has an upper-case letter";
        chinese: "字段名含有大写字母";
        meaning: "Field names are in lower case over HTTP/2 and HTTP/3. A server that hands on fields of HTTP/1 as they are is the usual \
            cause.";
        rules: [9113 "8.2", 9114 "4.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x0b\x01\x04\0\0\0\x01\x88\0\x06Server\x01a" * 1];
    }
    Name = "field_name" {
        text: "a field name holds what no name may hold";
        chinese: "字段名含有不允许的字符";
        meaning: "No blank, control character or colon, and at least one character.";
        rules: [9113 "8.2.1", 9110 "5.1"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x08\x01\x04\0\0\0\x01\x88\0\x03x y\x01a" * 1];
    }
    Value = "field_value" {
        text: "a field value holds what no value may hold";
        chinese: "字段值含有不允许的字符";
        meaning: "No CR, LF or NUL, and no white space at either end.";
        rules: [9113 "8.2.1", 9110 "5.5"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x07\x01\x04\0\0\0\x01\x88\0\x01x\x02 a" * 1];
    }
    Connection = "field_of_connection" {
        text: "a field that belongs to a connection of HTTP/1";
        chinese: "出现属于 HTTP/1 连接的字段";
        meaning: "Connection, Keep-Alive, Proxy-Connection, Transfer-Encoding and Upgrade say nothing over HTTP/2 and HTTP/3, and must not be \
            there.";
        rules: [9113 "8.2.2", 9114 "4.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x13\x01\x04\0\0\0\x01\x88\0\nconnection\x05close" * 1];
    }
    Te = "field_te" {
        text: "TE is something other than trailers";
        chinese: "TE 的值不是 trailers";
        meaning: "Of all that TE can say only trailers is left.";
        rules: [9113 "8.2.2", 9114 "4.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: CLIENT;
        example: Request2 [b"\0\0\x0f\x01\x05\0\0\0\x01\x82\x86\x84\x01\x01a\0\x02te\x04gzip" * 1];
    }
    PseudoUnknown = "pseudo_unknown" {
        text: "a pseudo-field that is not known";
        chinese: "未知的伪字段";
        meaning: "There are :method, :scheme, :authority, :path and :status; no others are made up.";
        rules: [9113 "8.3", 9114 "4.3"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\r\x01\x04\0\0\0\x01\x88\0\x07:reason\x02OK" * 1];
    }
    PseudoOther = "pseudo_of_other" {
        text: "a pseudo-field of the other kind of message";
        chinese: "伪字段属于另一类报文";
        meaning: "An answer has :status alone, and no request has it.";
        rules: [9113 "8.3", 9114 "4.3"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x02\x01\x04\0\0\0\x01\x88\x84" * 1];
    }
    PseudoTwice = "pseudo_twice" {
        text: "a pseudo-field is there twice";
        chinese: "伪字段重复";
        meaning: "Each pseudo-field is there once.";
        rules: [9113 "8.3", 9114 "4.3"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x02\x01\x04\0\0\0\x01\x88\x88" * 1];
    }
    PseudoLate = "pseudo_late" {
        text: "a pseudo-field stands behind other fields";
        chinese: "伪字段位于普通字段之后";
        meaning: "Pseudo-fields come first.";
        rules: [9113 "8.3", 9114 "4.3"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x0b\x01\x04\0\0\0\x01\0\x06server\x01a\x88" * 1];
    }
    PseudoInTrailers = "pseudo_in_trailers" {
        text: "a pseudo-field stands among the trailers";
        chinese: "尾部字段中出现伪字段";
        meaning: "Trailers have fields alone.";
        rules: [9113 "8.1", 9114 "4.3"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x01\x01\x05\0\0\0\x01\x88" * 1];
    }
    PseudoEmpty = "pseudo_empty" {
        text: "a pseudo-field is empty";
        chinese: "伪字段为空";
        meaning: "Each has a value; the path of a URL without one is /.";
        rules: [9113 "8.3.1", 9114 "4.3.1"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: CLIENT;
        example: Request2 [b"\0\0\x04\x01\x05\0\0\0\x01\x82\x86\x04\0" * 1];
    }
    PseudoMissing = "pseudo_missing" {
        text: "a pseudo-field that must be there is missing";
        chinese: "缺少必需的伪字段";
        meaning: "An answer has :status; a request has :method, :scheme and :path, or with CONNECT :method and :authority.";
        rules: [9113 "8.3.1", 9113 "8.3.2", 9114 "4.3.1", 9114 "4.3.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\n\x01\x04\0\0\0\x01\0\x06server\x01a" * 1];
    }
    PseudoConnect = "pseudo_connect" {
        text: "CONNECT has a scheme or a path";
        chinese: "CONNECT 带有 scheme 或 path";
        meaning: "CONNECT names host and port in :authority, and nothing else.";
        rules: [9113 "8.5", 9114 "4.4"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: CLIENT;
        example: Request2 [b"\0\0\x10\x01\x05\0\0\0\x01\x02\x07CONNECT\x84\x01\x04a:80" * 1];
    }
    Status = "status" {
        text: "the status is no number of three digits";
        chinese: "状态码不是三位数";
        meaning: "A status is three digits, the first of them not 0.";
        rules: [9113 "8.3.2", 9110 "15"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x01\x04\0\0\0\x01\x08\x022x" * 1];
    }
    Status101 = "status_101" {
        text: "status 101, which HTTP/2 and HTTP/3 do not have";
        chinese: "状态码 101 在 HTTP/2 与 HTTP/3 中不存在";
        meaning: "Protocols are not switched by Upgrade there; see extended CONNECT (RFC 8441, RFC 9220).";
        rules: [9113 "8.6", 9114 "4.5"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x05\x01\x04\0\0\0\x01\x08\x03101" * 1];
    }
    ContentLength = "content_length" {
        text: "Content-Length is no number";
        chinese: "Content-Length 不是数字";
        meaning: "Content-Length is decimal digits and nothing else.";
        rules: [9110 "8.6", 9113 "8.1.1", 9114 "4.1.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x19\x01\x04\0\0\0\x01\x88\0\x0econtent-length\x075 bytes" * 1];
    }
    ContentLengths = "content_lengths" {
        text: "Content-Length is there with different values";
        chinese: "Content-Length 出现多个不同的值";
        meaning: "Of two lengths nobody knows which holds.";
        rules: [9110 "8.6", 9113 "8.1.1", 9114 "4.1.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0%\x01\x04\0\0\0\x01\x88\0\x0econtent-length\x015\0\x0econtent-length\x016" * 1];
    }
    TooMuch = "content_too_long" {
        text: "more content came than Content-Length says";
        chinese: "内容超过 Content-Length";
        meaning: "All DATA of a message, added up, is as long as its Content-Length.";
        rules: [9113 "8.1.1", 9114 "4.1.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x13\x01\x04\0\0\0\x01\x88\0\x0econtent-length\x012\0\0\x05\0\x01\0\0\0\x01hello" * 1];
    }
    TooLittle = "content_too_short" {
        text: "less content came than Content-Length says";
        chinese: "内容少于 Content-Length";
        meaning: "The stream ended, orderly, before all of the content had come: the program that made it ended, or its length was wrong.";
        rules: [9113 "8.1.1", 9114 "4.1.2"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: PEER_LOG;
        example: Answer2 [b"\0\0\x13\x01\x04\0\0\0\x01\x88\0\x0econtent-length\x019\0\0\x05\0\x01\0\0\0\x01hello" * 1];
    }
    NoContent = "content_not_allowed" {
        text: "content where none may be";
        chinese: "不允许有内容之处出现内容";
        meaning: "The answer to HEAD, and those with status 204 or 304, have no content.";
        rules: [9110 "6.4.1", 9113 "8.1.1"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x01\x04\0\0\0\x01\x89\0\0\x05\0\x01\0\0\0\x01hello" * 1];
    }
    InterimLimit = "interim_limit" {
        text: "more interim answers (1xx) came than is taken here";
        chinese: "临时响应(1xx)数量超过本端的上限";
        meaning: "Sixteen interim answers are taken before the final one.";
        rules: [9110 "15.2"];
        ends: Stream; blame: OwnLimit; codes: [http2::PROTOCOL_ERROR, http3::MESSAGE_ERROR]; advice: FIXED_LIMIT;
        example: Answer2 [b"\0\0\x05\x01\x04\0\0\0\x01\x08\x03103" * 17];
    }
    FieldsLimit = "fields_limit" {
        text: "the fields are longer than is taken here";
        chinese: "字段总长超过本端的上限";
        meaning: "Names and values are bounded together, each field counting 32 bytes more, and the bound is announced \
            (SETTINGS_MAX_HEADER_LIST_SIZE, SETTINGS_MAX_FIELD_SECTION_SIZE). Only this stream is given up; the others of its \
            connection go on.";
        rules: [9113 "10.5.1", 9114 "4.2.2"];
        ends: Stream; blame: OwnLimit; codes: [http2::CANCEL, http3::REQUEST_CANCELLED]; advice: HEAD_LIMIT;
        example: Answer2 [b"\0\0\xf9\x01\x04\0\0\0\x01\x88\0\x06name-0\x16a value of some length\0\x06name-1\x16a value of some length\0\x06name-2\x16a value of some length\0\x06name-3\x16a value of some length\0\x06name-4\x16a value of some length\0\x06name-5\x16a value of some length\0\x06name-6\x16a value of some length\0\x06name-7\x16a value of some length" * 1];
    }
}
