//! Breaches of HTTP/2 (RFC 9113), but for fields and their compression.

use crate::codes::http2;
use crate::table::catalogue;

catalogue! {
    /// Faults that break a stream or a connection of HTTP/2.
    Http2

    IsHttp1 = "h2_is_http1" {
        text: "the peer answers with HTTP/1";
        chinese: "对端以 HTTP/1 回应";
        meaning: "The first bytes are a status line: the server took the preface for a request of HTTP/1.1, mostly a bad one.";
        rules: [9113 "3.3", 9113 "3.4"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SPEAK_HTTP1;
        example: Begins2 [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 1];
    }
    IsTls = "h2_is_tls" {
        text: "the peer speaks TLS";
        chinese: "对端使用 TLS";
        meaning: "A TLS record, mostly an alert, came where HTTP/2 was spoken without TLS.";
        rules: [8446 "5.1", 9113 "3.3"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SPEAK_TLS;
        example: Begins2 [b"\x15\x03\x01\0\x02\x02F" * 1];
    }
    Preface = "h2_preface" {
        text: "the connection does not begin with the preface";
        chinese: "连接不以前言开头";
        meaning: "A client of HTTP/2 first sends PRI * HTTP/2.0, two empty lines and SM between them.";
        rules: [9113 "3.4"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: CLIENT;
        example: Greets2 [b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n" * 1];
    }
    FirstFrame = "h2_first_frame" {
        text: "the first frame is not SETTINGS";
        chinese: "首个帧不是 SETTINGS";
        meaning: "Each side begins with a SETTINGS frame, which may be empty, but is no acknowledgement.";
        rules: [9113 "3.4"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Begins2 [b"\0\0\x08\x06\0\0\0\0\0pingpong" * 1];
    }
    FrameSize = "h2_frame_size" {
        text: "a frame is longer than SETTINGS_MAX_FRAME_SIZE";
        chinese: "帧长超过 SETTINGS_MAX_FRAME_SIZE";
        meaning: "A payload may have 16,384 bytes, or what this side has announced. Where what came is not HTTP/2 at all, its first bytes are \
            taken for a length, too.";
        rules: [9113 "4.2"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0@\x01\0\0\0\0\0\x01" * 1];
    }
    FrameWithinBlock = "h2_frame_within_block" {
        text: "a frame stands within a field block";
        chinese: "字段块之间夹有其他帧";
        meaning: "HEADERS and its CONTINUATION frames come without any frame between them, of whatever stream.";
        rules: [9113 "4.3", 9113 "6.10"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x01\0\0\0\0\x01\x88\0\0\x08\x06\0\0\0\0\0pingpong" * 1];
    }
    ContinuationAlone = "h2_continuation_alone" {
        text: "CONTINUATION without a field block before it";
        chinese: "CONTINUATION 之前没有字段块";
        meaning: "Only HEADERS without END_HEADERS is continued.";
        rules: [9113 "6.10"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x09\x04\0\0\0\x01\x88" * 1];
    }
    StreamZero = "h2_stream_zero" {
        text: "a frame that belongs to a stream has stream 0";
        chinese: "属于流的帧使用了流 0";
        meaning: "DATA, HEADERS, PRIORITY, RST_STREAM, PUSH_PROMISE and CONTINUATION are about one request.";
        rules: [9113 "6.1", 9113 "6.2", 9113 "6.4"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\0\0\0\0\0\0x" * 1];
    }
    NotStreamZero = "h2_not_stream_zero" {
        text: "a frame of the connection has a stream";
        chinese: "连接级的帧带有流标识";
        meaning: "SETTINGS, PING and GOAWAY are about the whole connection: their stream is 0.";
        rules: [9113 "6.5", 9113 "6.7", 9113 "6.8"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x08\x06\0\0\0\0\x0112345678" * 1];
    }
    PadLength = "h2_pad_length" {
        text: "a padded frame has no pad length";
        chinese: "带填充的帧没有填充长度";
        meaning: "With the flag PADDED the first byte of a payload says how much padding ends it.";
        rules: [9113 "6.1", 9113 "6.2"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\0\0\x08\0\0\0\x01" * 1];
    }
    Padding = "h2_padding" {
        text: "the padding is longer than the frame";
        chinese: "填充长度超过帧长";
        meaning: "The pad length leaves no room for anything else in the payload.";
        rules: [9113 "6.1", 9113 "6.2"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x02\x01\x0c\0\0\0\x01\x09\x88" * 1];
    }
    HeadersShort = "h2_headers_short" {
        text: "HEADERS is shorter than its flags say";
        chinese: "HEADERS 短于其标志所示";
        meaning: "With the flag PRIORITY five bytes stand before the field block.";
        rules: [9113 "4.2", 9113 "6.2"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x03\x01$\0\0\0\x01\0\0\0" * 1];
    }
    IdleStream = "h2_idle_stream" {
        text: "a frame for a stream that was never opened";
        chinese: "帧指向从未打开的流";
        meaning: "Only PRIORITY may come for a stream that no request has opened; servers open none, since pushes are not allowed.";
        rules: [9113 "5.1"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\0\0\0\0\0\x05x" * 1];
    }
    ClosedStream = "h2_closed_stream" {
        text: "a frame for a stream that has ended";
        chinese: "帧指向已结束的流";
        meaning: "Behind END_STREAM or RST_STREAM nothing comes on a stream but PRIORITY, WINDOW_UPDATE and RST_STREAM.";
        rules: [9113 "5.1"];
        ends: Connection; blame: Peer; codes: [http2::STREAM_CLOSED]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x01\x05\0\0\0\x01\x88\0\0\x04\0\x01\0\0\0\x01late" * 1];
    }
    HalfClosed = "h2_half_closed" {
        text: "content after the end of the request";
        chinese: "请求结束后仍有内容";
        meaning: "The client has set END_STREAM, and sends DATA or HEADERS for the stream all the same.";
        rules: [9113 "5.1"];
        ends: Stream; blame: Peer; codes: [http2::STREAM_CLOSED]; advice: CLIENT;
        example: Request2 [b"\0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x01\x01a\0\0\x04\0\x01\0\0\0\x01late" * 1];
    }
    EvenStream = "h2_even_stream" {
        text: "a client opens a stream with an even number";
        chinese: "客户端打开了偶数编号的流";
        meaning: "Clients open streams with odd numbers, each above all before it.";
        rules: [9113 "5.1.1"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: CLIENT;
        example: Request2 [b"\0\0\x06\x01\x05\0\0\0\x02\x82\x86\x84\x01\x01a" * 1];
    }
    SettingsLength = "h2_settings_length" {
        text: "the length of SETTINGS is no multiple of six";
        chinese: "SETTINGS 的长度不是 6 的倍数";
        meaning: "A setting is two bytes of name and four of value.";
        rules: [9113 "6.5"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x03\x04\0\0\0\0\0\0\x03\0" * 1];
    }
    SettingsAck = "h2_settings_ack" {
        text: "an acknowledgement of SETTINGS has a payload";
        chinese: "SETTINGS 确认帧带有载荷";
        meaning: "SETTINGS with ACK says only that the other side's were taken.";
        rules: [9113 "6.5"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x06\x04\x01\0\0\0\0\0\x03\0\0\0\x01" * 1];
    }
    SettingsPush = "h2_settings_push" {
        text: "SETTINGS_ENABLE_PUSH has a value that it may not have";
        chinese: "SETTINGS_ENABLE_PUSH 取值不允许";
        meaning: "It is 0 or 1, and from a server 0 alone.";
        rules: [9113 "6.5.2"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Begins2 [b"\0\0\x06\x04\0\0\0\0\0\0\x02\0\0\0\x01" * 1];
    }
    SettingsWindow = "h2_settings_window" {
        text: "SETTINGS_INITIAL_WINDOW_SIZE is above 2^31-1";
        chinese: "SETTINGS_INITIAL_WINDOW_SIZE 超过 2^31-1";
        meaning: "No window may be larger.";
        rules: [9113 "6.5.2"];
        ends: Connection; blame: Peer; codes: [http2::FLOW_CONTROL_ERROR]; advice: SERVER;
        example: Begins2 [b"\0\0\x06\x04\0\0\0\0\0\0\x04\x80\0\0\0" * 1];
    }
    SettingsFrameSize = "h2_settings_frame_size" {
        text: "SETTINGS_MAX_FRAME_SIZE is not between 2^14 and 2^24-1";
        chinese: "SETTINGS_MAX_FRAME_SIZE 不在 2^14 与 2^24-1 之间";
        meaning: "No side may ask for frames below 16,384 bytes, or above what their length can say.";
        rules: [9113 "6.5.2"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Begins2 [b"\0\0\x06\x04\0\0\0\0\0\0\x05\0\0\x10\0" * 1];
    }
    SettingsPriorities = "h2_settings_priorities" {
        text: "SETTINGS_NO_RFC7540_PRIORITIES is neither 0 nor 1";
        chinese: "SETTINGS_NO_RFC7540_PRIORITIES 既不是 0 也不是 1";
        meaning: "The setting says whether the old priorities are ignored.";
        rules: [9218 "2.1"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Begins2 [b"\0\0\x06\x04\0\0\0\0\0\0\x09\0\0\0\x02" * 1];
    }
    SettingsOverflow = "h2_settings_overflow" {
        text: "SETTINGS raise a stream's window above 2^31-1";
        chinese: "SETTINGS 使流窗口超过 2^31-1";
        meaning: "A new SETTINGS_INITIAL_WINDOW_SIZE changes the windows of all open streams by the difference.";
        rules: [9113 "6.9.2"];
        ends: Connection; blame: Peer; codes: [http2::FLOW_CONTROL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x08\0\0\0\0\x01\0\0\0\x7f\0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff" * 1];
    }
    PingLength = "h2_ping_length" {
        text: "PING has not eight bytes";
        chinese: "PING 不是 8 字节";
        meaning: "Its payload is eight bytes, which come back.";
        rules: [9113 "6.7"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x06\0\0\0\0\0ping" * 1];
    }
    GoAwayLength = "h2_goaway_length" {
        text: "GOAWAY is shorter than eight bytes";
        chinese: "GOAWAY 短于 8 字节";
        meaning: "It names the last stream and a code, four bytes each; a text may follow.";
        rules: [9113 "4.2", 9113 "6.8"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x07\0\0\0\0\0\0\0\0\x01" * 1];
    }
    RstStreamLength = "h2_rst_stream_length" {
        text: "RST_STREAM has not four bytes";
        chinese: "RST_STREAM 不是 4 字节";
        meaning: "Its payload is an error code.";
        rules: [9113 "6.4"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x03\x03\0\0\0\0\x01\0\0\x08" * 1];
    }
    WindowUpdateLength = "h2_window_update_length" {
        text: "WINDOW_UPDATE has not four bytes";
        chinese: "WINDOW_UPDATE 不是 4 字节";
        meaning: "Its payload is the number of bytes that are granted.";
        rules: [9113 "6.9"];
        ends: Connection; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x02\x08\0\0\0\0\0\0\x01" * 1];
    }
    PriorityLength = "h2_priority_length" {
        text: "PRIORITY has not five bytes";
        chinese: "PRIORITY 不是 5 字节";
        meaning: "Its payload is a stream and a weight; nobody heeds it any more, but its length must be right.";
        rules: [9113 "6.3"];
        ends: Either; blame: Peer; codes: [http2::FRAME_SIZE_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x02\0\0\0\0\x01\0\0\0\0" * 1];
    }
    WindowZero = "h2_window_zero" {
        text: "WINDOW_UPDATE grants nothing";
        chinese: "WINDOW_UPDATE 的增量为 0";
        meaning: "An increment is at least 1.";
        rules: [9113 "6.9"];
        ends: Either; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x08\0\0\0\0\0\0\0\0\0" * 1];
    }
    WindowOverflow = "h2_window_overflow" {
        text: "WINDOW_UPDATE raises a window above 2^31-1";
        chinese: "WINDOW_UPDATE 使窗口超过 2^31-1";
        meaning: "No window may be larger, of a stream or of the connection.";
        rules: [9113 "6.9.1"];
        ends: Either; blame: Peer; codes: [http2::FLOW_CONTROL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x08\0\0\0\0\0\x7f\xff\xff\xff" * 1];
    }
    FlowControl = "h2_flow_control" {
        text: "more content came than the window allows";
        chinese: "内容超过窗口允许的量";
        meaning: "What may be sent on a stream, and on the connection, is granted by windows; padding counts, too.";
        rules: [9113 "5.2", 9113 "6.9"];
        ends: Either; blame: Peer; codes: [http2::FLOW_CONTROL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\xc8\0\0\0\0\0\x01" * 1, b"\0" * 200];
    }
    Push = "h2_push" {
        text: "PUSH_PROMISE though pushes are not allowed";
        chinese: "不允许推送却收到 PUSH_PROMISE";
        meaning: "This client announces SETTINGS_ENABLE_PUSH 0, and clients themselves cannot push.";
        rules: [9113 "6.6", 9113 "8.4"];
        ends: Connection; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\n\x05\x04\0\0\0\x01\0\0\0\x02\x82\x86\x84\x01\x01a" * 1];
    }
    DataFirst = "h2_data_first" {
        text: "DATA before the head of the answer";
        chinese: "响应头部之前出现 DATA";
        meaning: "An answer begins with HEADERS.";
        rules: [9113 "8.1"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x05\0\x01\0\0\0\x01hello" * 1];
    }
    InterimEnds = "h2_interim_ends" {
        text: "the stream ends with an interim answer";
        chinese: "流以临时响应结束";
        meaning: "Behind a status of 1xx the final answer must come; END_STREAM says that it never will.";
        rules: [9113 "8.1"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x05\x01\x05\0\0\0\x01\x08\x03103" * 1];
    }
    TrailersOpen = "h2_trailers_open" {
        text: "trailers do not end the stream";
        chinese: "尾部字段没有结束流";
        meaning: "The HEADERS frame behind the content has END_STREAM.";
        rules: [9113 "8.1"];
        ends: Stream; blame: Peer; codes: [http2::PROTOCOL_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x01\0\0\0\0\0\x01a\0\0\x05\x01\x04\0\0\0\x01\0\x01a\x01b" * 1];
    }
    IdleFlood = "h2_idle_flood" {
        text: "frames that do nothing, too many in a row";
        chinese: "过多连续的无用帧";
        meaning: "PING, SETTINGS, PRIORITY and empty DATA cost the receiver work and move nothing (CVE-2019-9512, 9515, 9518); 10,000 in a \
            row are taken.";
        rules: [9113 "10.5"];
        ends: Connection; blame: OwnLimit; codes: [http2::ENHANCE_YOUR_CALM]; advice: FLOOD;
        example: Answer2 [b"\0\0\x08\x06\0\0\0\0\0pingpong" * 9];
    }
    ResetFlood = "h2_reset_flood" {
        text: "too many streams were reset";
        chinese: "过多的流被重置";
        meaning: "A client that opens streams and breaks them off again has the server work for nothing (CVE-2023-44487, CVE-2025-8671); \
            1,000 beyond those that ended well are taken.";
        rules: [9113 "10.5"];
        ends: Connection; blame: OwnLimit; codes: [http2::ENHANCE_YOUR_CALM]; advice: FLOOD;
        example: Request2 [b"\0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x01\x01a\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08\0\0\x06\x01\x05\0\0\0\x03\x82\x86\x84\x01\x01a\0\0\x04\x03\0\0\0\0\x03\0\0\0\x08\0\0\x06\x01\x05\0\0\0\x05\x82\x86\x84\x01\x01a\0\0\x04\x03\0\0\0\0\x05\0\0\0\x08\0\0\x06\x01\x05\0\0\0\x07\x82\x86\x84\x01\x01a\0\0\x04\x03\0\0\0\0\x07\0\0\0\x08\0\0\x06\x01\x05\0\0\0\x09\x82\x86\x84\x01\x01a\0\0\x04\x03\0\0\0\0\x09\0\0\0\x08" * 1];
    }
    ContinuationFlood = "h2_continuation_flood" {
        text: "a field block goes on in more CONTINUATION frames than are taken";
        chinese: "字段块的 CONTINUATION 帧超过上限";
        meaning: "A field block without an end costs the receiver work without an end (CVE-2024-27316); 1,024 frames are taken.";
        rules: [9113 "10.5"];
        ends: Connection; blame: OwnLimit; codes: [http2::ENHANCE_YOUR_CALM]; advice: FLOOD;
        example: Answer2 [b"\0\0\x01\x01\0\0\0\0\x01\x88" * 1, b"\0\0\x01\x09\0\0\0\0\x01\x88" * 9];
    }
}
