//! Breaches of HTTP/3 (RFC 9114), but for fields and their compression.

use crate::codes::http3;
use crate::table::catalogue;

catalogue! {
    /// Faults that break a stream or a connection of HTTP/3.
    Http3

    FrameOfHttp2 = "h3_frame_of_http2" {
        text: "a frame that only HTTP/2 has";
        chinese: "只有 HTTP/2 才有的帧";
        meaning: "PRIORITY, PING, WINDOW_UPDATE and CONTINUATION have no place in HTTP/3, where QUIC does their work.";
        rules: [9114 "7.2.8"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: SERVER;
        example: Answer3 [b"\x06\x0812345678" * 1];
    }
    FrameLimit = "h3_frame_limit" {
        text: "a frame of the control stream is longer than this side takes";
        chinese: "控制流上的帧超过本端上限";
        meaning: "Of frames on the control stream 4,096 bytes are taken.";
        rules: [9114 "10.5"];
        ends: Connection; blame: OwnLimit; codes: [http3::EXCESSIVE_LOAD]; advice: FIXED_LIMIT;
        example: Control3 [b"\x07S\x88" * 1];
    }
    ServerStream = "h3_server_stream" {
        text: "a server opened a stream for requests";
        chinese: "服务器打开了请求流";
        meaning: "Streams that go both ways are opened by clients alone.";
        rules: [9114 "6.1"];
        ends: Connection; blame: Peer; codes: [http3::STREAM_CREATION_ERROR]; advice: SERVER;
        example: ServerStream3 [b"x" * 1];
    }
    Push = "h3_push" {
        text: "a push though none is allowed";
        chinese: "不允许推送却收到推送";
        meaning: "This client never sends MAX_PUSH_ID, so that no push can have a number.";
        rules: [9114 "4.6", 9114 "7.2.5"];
        ends: Connection; blame: Peer; codes: [http3::ID_ERROR]; advice: SERVER;
        example: Answer3 [b"\x05\x03\0\0\0" * 1];
    }
    PushStream = "h3_push_stream" {
        text: "a stream for a push though none is allowed";
        chinese: "不允许推送却打开了推送流";
        meaning: "This client never sends MAX_PUSH_ID, so that no push can have a number.";
        rules: [9114 "4.6", 9114 "6.2.2"];
        ends: Connection; blame: Peer; codes: [http3::ID_ERROR]; advice: SERVER;
        example: OneWay3 [b"\x01\0" * 1];
    }
    ClientPush = "h3_client_push" {
        text: "a client opened a stream for a push";
        chinese: "客户端打开了推送流";
        meaning: "Only servers push.";
        rules: [9114 "6.2.2"];
        ends: Connection; blame: Peer; codes: [http3::STREAM_CREATION_ERROR]; advice: CLIENT;
        example: ClientOneWay3 [b"\x01\0" * 1];
    }
    DataFirst = "h3_data_first" {
        text: "DATA before the head";
        chinese: "头部之前出现 DATA";
        meaning: "A message begins with HEADERS; behind interim answers the final head comes before the content.";
        rules: [9114 "4.1"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: SERVER;
        example: Answer3 [b"\0\x05hello" * 1];
    }
    AfterTrailers = "h3_after_trailers" {
        text: "DATA or HEADERS behind the trailers";
        chinese: "尾部字段之后又出现 DATA 或 HEADERS";
        meaning: "Nothing that is known follows the trailers of a message.";
        rules: [9114 "4.1"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: SERVER;
        example: Answer3 [b"\x01\x03\0\0\xd9\0\x01a\x01\x06\0\0!t\x011\0\x01b" * 1];
    }
    ControlFrame = "h3_control_frame" {
        text: "a frame of the control stream on a request's";
        chinese: "请求流上出现控制流的帧";
        meaning: "SETTINGS, GOAWAY, CANCEL_PUSH and MAX_PUSH_ID are about the whole connection.";
        rules: [9114 "7.2.3", 9114 "7.2.4", 9114 "7.2.6", 9114 "7.2.7"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: SERVER;
        example: Answer3 [b"\x07\x01\0" * 1];
    }
    ClientPushPromise = "h3_client_push_promise" {
        text: "PUSH_PROMISE from a client";
        chinese: "客户端发送了 PUSH_PROMISE";
        meaning: "Only servers push.";
        rules: [9114 "7.2.5"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: CLIENT;
        example: Request3 [b"\x05\x03\0\0\0" * 1];
    }
    RequestFrame = "h3_request_frame" {
        text: "a frame of a request on the control stream";
        chinese: "控制流上出现请求流的帧";
        meaning: "DATA, HEADERS and PUSH_PROMISE belong to one request.";
        rules: [9114 "7.2.1", 9114 "7.2.2", 9114 "7.2.5"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: SERVER;
        example: Control3 [b"\0\x05hello" * 1];
    }
    MissingSettings = "h3_missing_settings" {
        text: "the control stream does not begin with SETTINGS";
        chinese: "控制流不以 SETTINGS 开头";
        meaning: "The first frame of the control stream is SETTINGS, which may be empty.";
        rules: [9114 "6.2.1"];
        ends: Connection; blame: Peer; codes: [http3::MISSING_SETTINGS]; advice: SERVER;
        example: FirstControl3 [b"\0\x07\x01\0" * 1];
    }
    SecondSettings = "h3_second_settings" {
        text: "a second SETTINGS frame";
        chinese: "第二个 SETTINGS 帧";
        meaning: "SETTINGS are told once.";
        rules: [9114 "7.2.4"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: SERVER;
        example: Control3 [b"\x04\0" * 1];
    }
    MaxPushId = "h3_max_push_id" {
        text: "MAX_PUSH_ID from a server";
        chinese: "服务器发送了 MAX_PUSH_ID";
        meaning: "Only clients say how much may be pushed.";
        rules: [9114 "7.2.7"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_UNEXPECTED]; advice: SERVER;
        example: Control3 [b"\r\x01\0" * 1];
    }
    CancelPush = "h3_cancel_push" {
        text: "CANCEL_PUSH of a push that never was";
        chinese: "CANCEL_PUSH 取消了不存在的推送";
        meaning: "No push was allowed, so that none has a number.";
        rules: [9114 "7.2.3"];
        ends: Connection; blame: Peer; codes: [http3::ID_ERROR]; advice: SERVER;
        example: Control3 [b"\x03\x01\0" * 1];
    }
    GoAwayId = "h3_goaway_id" {
        text: "GOAWAY names a stream that is no request's";
        chinese: "GOAWAY 指向的流不是请求流";
        meaning: "A server names the first request that it does not take: a multiple of four.";
        rules: [9114 "7.2.6"];
        ends: Connection; blame: Peer; codes: [http3::ID_ERROR]; advice: SERVER;
        example: Control3 [b"\x07\x01\x05" * 1];
    }
    GoAwayMore = "h3_goaway_more" {
        text: "GOAWAY allows more than the one before";
        chinese: "GOAWAY 比之前允许得更多";
        meaning: "Each GOAWAY names the same stream or a lower one.";
        rules: [9114 "5.2"];
        ends: Connection; blame: Peer; codes: [http3::ID_ERROR]; advice: SERVER;
        example: Control3 [b"\x07\x01\x04\x07\x01\x08" * 1];
    }
    SettingsCut = "h3_settings_cut" {
        text: "SETTINGS is cut off";
        chinese: "SETTINGS 被截断";
        meaning: "A setting is a name and a value, two integers.";
        rules: [9114 "7.1"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_ERROR]; advice: SERVER;
        example: FirstControl3 [b"\0\x04\x01\x06" * 1];
    }
    SettingTwice = "h3_setting_twice" {
        text: "a setting is there twice";
        chinese: "同一设置出现两次";
        meaning: "Each setting is told once.";
        rules: [9114 "7.2.4"];
        ends: Connection; blame: Peer; codes: [http3::SETTINGS_ERROR]; advice: SERVER;
        example: FirstControl3 [b"\0\x04\x04\x06\x10\x06 " * 1];
    }
    SettingOfHttp2 = "h3_setting_of_http2" {
        text: "a setting that only HTTP/2 has";
        chinese: "只有 HTTP/2 才有的设置";
        meaning: "Settings 2 to 5 of HTTP/2 are done by QUIC, and must not be sent.";
        rules: [9114 "7.2.4.1"];
        ends: Connection; blame: Peer; codes: [http3::SETTINGS_ERROR]; advice: SERVER;
        example: FirstControl3 [b"\0\x04\x02\x03\x10" * 1];
    }
    FrameLength = "h3_frame_length" {
        text: "a frame is not as long as what it holds";
        chinese: "帧长与其内容不符";
        meaning: "Behind the integer that the frame consists of something follows, or the integer is cut off.";
        rules: [9114 "7.1"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_ERROR]; advice: SERVER;
        example: Control3 [b"\x07\x02\x04\x04" * 1];
    }
    FrameCut = "h3_frame_cut" {
        text: "a stream ends within a frame";
        chinese: "流在帧中途结束";
        meaning: "The stream ended, orderly, before the last frame had as many bytes as it announced.";
        rules: [9114 "7.1"];
        ends: Connection; blame: Peer; codes: [http3::FRAME_ERROR]; advice: PEER_LOG;
        example: Answer3 [b"\x01\x03\0\0\xd9\0\x05hel" * 1];
    }
    CriticalStream = "h3_critical_stream" {
        text: "the control stream, or one of QPACK, was closed";
        chinese: "控制流或 QPACK 流被关闭";
        meaning: "These streams stay open as long as the connection.";
        rules: [9114 "6.2.1", 9204 "4.2"];
        ends: Connection; blame: Peer; codes: [http3::CLOSED_CRITICAL_STREAM]; advice: SERVER;
        example: EndedOneWay3 [b"\x02" * 1];
    }
    SecondStream = "h3_second_stream" {
        text: "a second stream of a type that there is one of";
        chinese: "同类型的流出现第二条";
        meaning: "Each side has one control stream, one for the encoder of QPACK and one for its decoder.";
        rules: [9114 "6.2.1", 9204 "4.2"];
        ends: Connection; blame: Peer; codes: [http3::STREAM_CREATION_ERROR]; advice: SERVER;
        example: OneWay3 [b"\0\x04\0" * 1];
    }
    IdleFlood = "h3_idle_flood" {
        text: "frames that do nothing, too many of them";
        chinese: "过多的无用帧";
        meaning: "Frames of the control stream that are not known, or change nothing, cost the receiver work; 10,000 are taken.";
        rules: [9114 "10.5"];
        ends: Connection; blame: OwnLimit; codes: [http3::EXCESSIVE_LOAD]; advice: FLOOD;
        example: Control3 [b"!\0" * 10001];
    }
    ResetFlood = "h3_reset_flood" {
        text: "too many requests were broken off";
        chinese: "过多的请求被中止";
        meaning: "A client that begins requests and breaks them off again has the server work for nothing (CVE-2023-44487); 1,000 beyond \
            those that ended well are taken.";
        rules: [9114 "10.5"];
        ends: Connection; blame: OwnLimit; codes: [http3::EXCESSIVE_LOAD]; advice: FLOOD;
        example: EachRequest3 [b"\x01\x14\0\0'\x03connection\x05close" * 5];
    }
    NoHead = "h3_no_head" {
        text: "a request ends before its head";
        chinese: "请求在头部之前结束";
        meaning: "The client ended the stream without HEADERS.";
        rules: [9114 "4.1"];
        ends: Stream; blame: Peer; codes: [http3::REQUEST_INCOMPLETE]; advice: CLIENT;
        example: Request3 [b"" * 1];
    }
    NoAnswer = "h3_no_answer" {
        text: "the stream ends without a final answer";
        chinese: "流结束时没有最终响应";
        meaning: "The server ended the stream, orderly, and sent no head, or interim ones (1xx) alone.";
        rules: [9114 "4.1"];
        ends: Stream; blame: Peer; codes: [http3::MESSAGE_ERROR]; advice: PEER_LOG;
        example: Answer3 [b"\x01\x03\0\0\xd8" * 1];
    }
}
