//! Breaches of HTTP/1.0 and HTTP/1.1 (RFC 9112), in the order in which a message is read.

use crate::table::catalogue;

catalogue! {
    /// Faults of a message of HTTP/1.
    Http1

    NotHttp = "h1_not_http" {
        text: "the first bytes are not the start of an HTTP message";
        chinese: "首字节不是 HTTP 报文的开头";
        meaning: "An answer begins with HTTP/1.1 or HTTP/1.0 and a status, a request with a method. What came begins with something else: \
            another service listens at the port, or bytes that belong to no message came before this one.";
        rules: [9112 "2.1"];
        ends: Connection; blame: Peer; codes: []; advice: PORT;
        example: Answer1 [b"SSH-2.0-OpenSSH_9.6\r\n" * 1];
    }
    IsHttp2 = "h1_is_http2" {
        text: "the peer speaks HTTP/2 without TLS";
        chinese: "对端使用明文 HTTP/2";
        meaning: "A SETTINGS frame or the preface of HTTP/2 came where HTTP/1.1 was spoken: the port knows HTTP/2 by prior knowledge alone.";
        rules: [9113 "3.3", 9113 "3.4"];
        ends: Connection; blame: Peer; codes: []; advice: SPEAK_HTTP2;
        example: Answer1 [b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0d" * 1];
    }
    IsTls = "h1_is_tls" {
        text: "the peer speaks TLS";
        chinese: "对端使用 TLS";
        meaning: "A TLS record, mostly an alert, came where plain HTTP was spoken.";
        rules: [8446 "5.1"];
        ends: Connection; blame: Peer; codes: []; advice: SPEAK_TLS;
        example: Answer1 [b"\x15\x03\x01\0\x02\x02F" * 1];
    }
    Version = "h1_version" {
        text: "a version of HTTP that is not spoken here";
        chinese: "不支持的 HTTP 版本";
        meaning: "The first line names a major version other than 1, or something that is no version. HTTP/2 and HTTP/3 have no such line.";
        rules: [9112 "2.3"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/3.0 200 OK\r\n\r\n" * 1];
    }
    MinorVersion = "h1_minor_version" {
        text: "HTTP/1 in a version above 1.1";
        chinese: "HTTP/1 的次版本高于 1.1";
        meaning: "There are HTTP/1.0 and HTTP/1.1. A recipient may take a higher minor version for 1.1; this one refuses it, so that it is \
            seen.";
        rules: [9110 "2.5", 9112 "2.3"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n" * 1];
    }
    StatusLine = "h1_status_line" {
        text: "the status line has no status of three digits";
        chinese: "状态行没有三位数的状态码";
        meaning: "After the version come a space, three digits, and mostly a space and a reason.";
        rules: [9112 "4"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 OK\r\n\r\n" * 1];
    }
    Status = "h1_status" {
        text: "the status is below 100";
        chinese: "状态码小于 100";
        meaning: "Statuses begin with 100.";
        rules: [9110 "15"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 099 Early\r\n\r\n" * 1];
    }
    Reason = "h1_reason" {
        text: "the reason phrase holds a control character";
        chinese: "原因短语含有控制字符";
        meaning: "A reason phrase is text: no control characters but the tab.";
        rules: [9112 "4"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 O\x01K\r\n\r\n" * 1];
    }
    FieldWithoutColon = "h1_field_without_colon" {
        text: "a field line has no colon";
        chinese: "字段行没有冒号";
        meaning: "Each line of a head but the first is a name, a colon and a value. A line that a program wrote for people, or the rest of a \
            value with a line end in it, has none.";
        rules: [9112 "5"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nServer: a\r\nwarning from a script\r\n\r\n" * 1];
    }
    FieldName = "h1_field_name" {
        text: "a field name holds a character that no name may hold";
        chinese: "字段名含有不允许的字符";
        meaning: "A field name is a token: letters, digits and some signs, but no quotation mark, blank or control character. Quotation marks \
            around a whole field line come of a wrong configuration mostly.";
        rules: [9110 "5.1", 9112 "5"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\"Connection: close\"\r\n\r\n" * 1];
    }
    FieldWithoutName = "h1_field_without_name" {
        text: "a field line has no name";
        chinese: "字段行没有名称";
        meaning: "The line begins with its colon.";
        rules: [9110 "5.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\n: value\r\n\r\n" * 1];
    }
    SpaceBeforeColon = "h1_space_before_colon" {
        text: "white space stands between a field name and its colon";
        chinese: "字段名与冒号之间有空白";
        meaning: "Recipients differ in what they take such a line for, so it has been used to smuggle requests; a server must refuse it.";
        rules: [9112 "5.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n" * 1];
    }
    SpaceBeforeFields = "h1_space_before_fields" {
        text: "white space stands before the first field line";
        chinese: "首个字段行前有空白";
        meaning: "A line after the first one begins with white space, though there is no field that it could continue.";
        rules: [9112 "2.2"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\n Server: a\r\n\r\n" * 1];
    }
    Folded = "h1_folded" {
        text: "a field value goes over several lines";
        chinese: "字段值跨多行(折行)";
        meaning: "Folded lines are obsolete. A server refuses them in requests; in answers this client reads them as one line.";
        rules: [9112 "5.2"];
        ends: Connection; blame: Peer; codes: []; advice: CLIENT;
        example: Request1 [b"GET / HTTP/1.1\r\nHost: a\r\nX: one\r\n two\r\n\r\n" * 1];
    }
    FieldValue = "h1_field_value" {
        text: "a field value holds a control character";
        chinese: "字段值含有控制字符";
        meaning: "A value is text: no NUL, no other control character but the tab.";
        rules: [9110 "5.5"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nX-Name: a\0b\r\n\r\n" * 1];
    }
    BareCr = "h1_bare_cr" {
        text: "a CR stands alone";
        chinese: "单独出现的 CR";
        meaning: "A line ends with CRLF. A CR that no LF follows is read differently by different programs.";
        rules: [9112 "2.2"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nX-Name: a\rb\r\n\r\n" * 1];
    }
    ContentLength = "h1_content_length" {
        text: "Content-Length is no number";
        chinese: "Content-Length 不是数字";
        meaning: "Content-Length is decimal digits and nothing else: no sign, no unit, and a number below 2^64.";
        rules: [9110 "8.6", 9112 "6.3"];
        ends: Connection; blame: Peer; codes: []; advice: ONE_LENGTH;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nContent-Length: 5 bytes\r\n\r\nhello" * 1];
    }
    ContentLengths = "h1_content_lengths" {
        text: "Content-Length is there with different values";
        chinese: "Content-Length 出现多个不同的值";
        meaning: "Of two lengths nobody knows which holds, so the end of the message cannot be found. Equal ones count as one.";
        rules: [9112 "6.3"];
        ends: Connection; blame: Peer; codes: []; advice: ONE_LENGTH;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello" * 1];
    }
    LengthAndChunked = "h1_length_and_chunked" {
        text: "both Content-Length and Transfer-Encoding are there";
        chinese: "同时给出 Content-Length 与 Transfer-Encoding";
        meaning: "Chunked coding would win, but one who wrote both has forgotten to take one away, and recipients that obey the other see \
            another end.";
        rules: [9112 "6.1", 9112 "6.3"];
        ends: Connection; blame: Peer; codes: []; advice: ONE_LENGTH;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" * 1];
    }
    TransferCoding = "h1_transfer_coding" {
        text: "a transfer coding that is not known here";
        chinese: "未知的传输编码";
        meaning: "Transfer-Encoding names something beside chunked, gzip and deflate. Its chunks may be sound; what is in them is coded in a \
            way that this client did not ask for (it sends no TE) and does not take away. Where contents are compared with an origin's, \
            gzip and deflate are refused, too. Content that is compressed is told by Content-Encoding.";
        rules: [9112 "6.1", 9112 "7"];
        ends: Connection; blame: Peer; codes: []; advice: CONTENT_ENCODING;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: br, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" * 1];
    }
    NoTransferCoding = "h1_no_transfer_coding" {
        text: "Transfer-Encoding names no coding";
        chinese: "Transfer-Encoding 没有给出编码";
        meaning: "The field is there and empty, so that recipients differ in whether the content is chunked.";
        rules: [9112 "6.1"];
        ends: Connection; blame: Peer; codes: []; advice: ONE_LENGTH;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: \r\n\r\n" * 1];
    }
    ChunkedNotLast = "h1_chunked_not_last" {
        text: "chunked is not the last transfer coding";
        chinese: "chunked 不是最后一个传输编码";
        meaning: "What is chunked is coded no further, because nobody could find its end then.";
        rules: [9112 "6.1", 9112 "6.3"];
        ends: Connection; blame: Peer; codes: []; advice: ONE_LENGTH;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n" * 1];
    }
    ChunkedTwice = "h1_chunked_twice" {
        text: "content is chunked more than once";
        chinese: "内容被多次分块";
        meaning: "A proxy that adds Transfer-Encoding though it is there already says so.";
        rules: [9112 "6.1"];
        ends: Connection; blame: Peer; codes: []; advice: ONE_LENGTH;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" * 1];
    }
    ChunkedInHttp10 = "h1_chunked_in_http10" {
        text: "Transfer-Encoding in a message of HTTP/1.0";
        chinese: "HTTP/1.0 报文中出现 Transfer-Encoding";
        meaning: "HTTP/1.0 knows no transfer coding: a recipient of that age would take the chunk sizes for content.";
        rules: [9112 "6.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" * 1];
    }
    ChunkSize = "h1_chunk_size" {
        text: "a chunk has no size";
        chinese: "分块没有大小";
        meaning: "A chunk begins with its size in hexadecimal digits.";
        rules: [9112 "7.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n0\r\n\r\n" * 1];
    }
    ChunkTooLarge = "h1_chunk_too_large" {
        text: "a chunk size needs more than 64 bits";
        chinese: "分块大小超过 64 位";
        meaning: "No chunk can be as large. A number that overflows in one program and not in another ends the message in two places.";
        rules: [9112 "7.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n" * 1];
    }
    ChunkExtension = "h1_chunk_extension" {
        text: "a chunk size line holds what it may not hold";
        chinese: "分块大小行含有不允许的内容";
        meaning: "After the size come white space and extensions behind a semicolon, in visible characters.";
        rules: [9112 "7.1", 9112 "7.1.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 bytes\r\nhello\r\n0\r\n\r\n" * 1];
    }
    ChunkLineEnd = "h1_chunk_line_end" {
        text: "a chunk size line does not end with CRLF";
        chinese: "分块大小行不以 CRLF 结尾";
        meaning: "An LF alone is no line end there: of all places, this one has been used to smuggle requests.";
        rules: [9112 "7.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n" * 1];
    }
    ChunkEnd = "h1_chunk_end" {
        text: "a chunk is not as long as its size says";
        chinese: "分块长度与其大小不符";
        meaning: "Behind the bytes that the size announces stands no CRLF: more or fewer came, or another program wrote between them.";
        rules: [9112 "7.1"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello, world\r\n0\r\n\r\n" * 1];
    }
    ChunkLineLimit = "h1_chunk_line_limit" {
        text: "a chunk size line is longer than is taken here";
        chinese: "分块大小行超过本端的上限";
        meaning: "Of a size line with its extensions 4,096 bytes are taken.";
        rules: [9112 "7.1.1"];
        ends: Connection; blame: OwnLimit; codes: []; advice: FIXED_LIMIT;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" * 1, b"name=value;" * 400];
    }
    TrailerField = "h1_trailer_field" {
        text: "a trailer field line is malformed";
        chinese: "尾部字段行格式错误";
        meaning: "Trailers are field lines like those of a head, and end with an empty line.";
        rules: [9112 "5", 9112 "7.1.2"];
        ends: Connection; blame: Peer; codes: []; advice: SERVER;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno colon here\r\n\r\n" * 1];
    }
    HeadLimit = "h1_head_limit" {
        text: "the head is longer than is taken here";
        chinese: "头部超过本端的上限";
        meaning: "The bytes of a head are bounded, so that a server which never ends it costs no more memory than that.";
        rules: [9110 "5.4"];
        ends: Connection; blame: OwnLimit; codes: []; advice: HEAD_LIMIT;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nX: " * 1, b"long " * 200];
    }
    FieldsLimit = "h1_fields_limit" {
        text: "there are more field lines than is taken here";
        chinese: "字段行数超过本端的上限";
        meaning: "The field lines of a head are bounded.";
        rules: [9110 "5.4"];
        ends: Connection; blame: OwnLimit; codes: []; advice: FIELDS_LIMIT;
        example: Answer1 [b"HTTP/1.1 200 OK\r\n" * 1, b"A: b\r\n" * 20, b"\r\n" * 1];
    }
    TrailersLimit = "h1_trailers_limit" {
        text: "the trailers are longer than is taken here";
        chinese: "尾部字段超过本端的上限";
        meaning: "Trailers may have as many bytes as a head.";
        rules: [9110 "6.5"];
        ends: Connection; blame: OwnLimit; codes: []; advice: HEAD_LIMIT;
        example: Answer1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " * 1, b"long " * 200];
    }
    InterimLimit = "h1_interim_limit" {
        text: "more interim answers (1xx) came than is taken here";
        chinese: "临时响应(1xx)数量超过本端的上限";
        meaning: "Sixteen interim answers are taken before the final one.";
        rules: [9110 "15.2"];
        ends: Connection; blame: OwnLimit; codes: []; advice: FIXED_LIMIT;
        example: Answer1 [b"HTTP/1.1 103 Early Hints\r\n\r\n" * 17];
    }
    ClosedIdle = "h1_closed_before_answer" {
        text: "closed before any byte of the answer";
        chinese: "尚未收到响应的任何字节即被关闭";
        meaning: "The peer took the request and closed. Over a connection that had carried a request before, it may have closed for its own \
            reasons just then.";
        rules: [9112 "9.5"];
        ends: Connection; blame: Peer; codes: []; advice: PEER_LOG;
        example: Closed1 [b"" * 1];
    }
    ClosedInHead = "h1_closed_in_head" {
        text: "closed within the head";
        chinese: "头部未完成即被关闭";
        meaning: "What came of the head is no answer.";
        rules: [9112 "8"];
        ends: Connection; blame: Peer; codes: []; advice: PEER_LOG;
        example: Closed1 [b"HTTP/1.1 200 OK\r\nContent-Le" * 1];
    }
    ClosedInBody = "h1_closed_in_body" {
        text: "closed before all that Content-Length says had come";
        chinese: "内容未达到 Content-Length 即被关闭";
        meaning: "The answer is incomplete: the program that made it ended, its length was wrong, or something between closed the connection.";
        rules: [9112 "8"];
        ends: Connection; blame: Peer; codes: []; advice: PEER_LOG;
        example: Closed1 [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel" * 1];
    }
    ClosedInChunks = "h1_closed_in_chunks" {
        text: "closed before the last chunk";
        chinese: "最后一个分块之前即被关闭";
        meaning: "Only the chunk of size 0 and the empty line after it say that all has come.";
        rules: [9112 "8"];
        ends: Connection; blame: Peer; codes: []; advice: PEER_LOG;
        example: Closed1 [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n" * 1];
    }
    Method = "h1_method" {
        text: "the method is no token";
        chinese: "请求方法不是合法的记号";
        meaning: "A method is letters, digits and some signs.";
        rules: [9110 "9.1", 9112 "3.1"];
        ends: Connection; blame: Peer; codes: []; advice: CLIENT;
        example: Request1 [b"GE(T / HTTP/1.1\r\nHost: a\r\n\r\n" * 1];
    }
    Target = "h1_target" {
        text: "the request target has a form that it may not have";
        chinese: "请求目标形式不合法";
        meaning: "A target is a path, a whole URL, host and port with CONNECT, or * with OPTIONS.";
        rules: [9112 "3.2"];
        ends: Connection; blame: Peer; codes: []; advice: CLIENT;
        example: Request1 [b"GET path HTTP/1.1\r\nHost: a\r\n\r\n" * 1];
    }
    EmptyLines = "h1_empty_lines" {
        text: "more empty lines stand before a request than are taken";
        chinese: "请求前的空行超过上限";
        meaning: "Sixteen bytes of empty lines are passed over.";
        rules: [9112 "2.2"];
        ends: Connection; blame: OwnLimit; codes: []; advice: CLIENT;
        example: Request1 [b"\r\n" * 9];
    }
}
