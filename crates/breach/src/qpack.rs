//! Breaches of QPACK (RFC 9204), the field compression of HTTP/3.

use crate::codes::http3;
use crate::table::catalogue;

catalogue! {
    /// Faults for which a field section of HTTP/3 cannot be decoded.
    Qpack

    Integer = "qpack_integer" {
        text: "an integer of a field section is cut off or too large";
        chinese: "字段段中的整数被截断或过大";
        meaning: "Integers go over as many bytes as they need; more than 32 bits are taken by nobody.";
        rules: [9204 "4.1.1"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_DECOMPRESSION_FAILED]; advice: SERVER;
        example: Answer3 [b"\x01\x03\0\0_" * 1];
    }
    String = "qpack_string" {
        text: "a string of a field section is longer than the section";
        chinese: "字段段中的字符串超出字段段";
        meaning: "A string says its length first; that many bytes must follow.";
        rules: [9204 "4.1.2"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_DECOMPRESSION_FAILED]; advice: SERVER;
        example: Answer3 [b"\x01\x05\0\0$na" * 1];
    }
    Huffman = "qpack_huffman" {
        text: "a string of a field section is not Huffman code";
        chinese: "字段段中的字符串不是合法的 Huffman 编码";
        meaning: "The string holds the code for its end, or more than seven bits of padding, or padding that is not all ones.";
        rules: [9204 "4.1.2", 7541 "5.2"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_DECOMPRESSION_FAILED]; advice: SERVER;
        example: Answer3 [b"\x01\x06\0\0\xd9P\x81\0" * 1];
    }
    Dynamic = "qpack_dynamic" {
        text: "a field section needs a dynamic table that there is none of";
        chinese: "字段段需要不存在的动态表";
        meaning: "This side allows no dynamic table (SETTINGS_QPACK_MAX_TABLE_CAPACITY 0), so that nothing can refer to one.";
        rules: [9204 "3.2.3", 9204 "4.5.1"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_DECOMPRESSION_FAILED]; advice: SERVER;
        example: Answer3 [b"\x01\x03\x02\0\xd9" * 1];
    }
    Base = "qpack_base" {
        text: "the base of a field section is negative";
        chinese: "字段段的基准为负";
        meaning: "Base is the required insert count less the delta, and must not go below zero.";
        rules: [9204 "4.5.1.2"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_DECOMPRESSION_FAILED]; advice: SERVER;
        example: Answer3 [b"\x01\x03\0\x80\xd9" * 1];
    }
    Index = "qpack_index" {
        text: "a field section refers to an entry that the static table has not";
        chinese: "字段段引用了静态表中不存在的表项";
        meaning: "The static table has the entries 0 to 98.";
        rules: [9204 "3.1"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_DECOMPRESSION_FAILED]; advice: SERVER;
        example: Answer3 [b"\x01\x04\0\0\xff$" * 1];
    }
    EncoderStream = "qpack_encoder_stream" {
        text: "an instruction for a dynamic table that there is none of";
        chinese: "对不存在的动态表发出指令";
        meaning: "The peer's encoder sets a capacity above what this side allows, which is 0, or inserts entries.";
        rules: [9204 "3.2.3", 9204 "4.3"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_ENCODER_STREAM_ERROR]; advice: SERVER;
        example: OneWay3 [b"\x02\xc0\x01x" * 1];
    }
    DecoderStream = "qpack_decoder_stream" {
        text: "an acknowledgement of entries that were never sent";
        chinese: "确认了从未发送的表项";
        meaning: "This side's encoder inserts nothing, so that there is nothing to acknowledge.";
        rules: [9204 "4.4"];
        ends: Connection; blame: Peer; codes: [http3::QPACK_DECODER_STREAM_ERROR]; advice: SERVER;
        example: OneWay3 [b"\x03\x81" * 1];
    }
}
