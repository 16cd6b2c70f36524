//! Breaches of HPACK (RFC 7541), the field compression of HTTP/2.

use crate::codes::http2;
use crate::table::catalogue;

catalogue! {
    /// Faults for which a field block of HTTP/2 cannot be decoded.
    Hpack

    Integer = "hpack_integer" {
        text: "an integer of a field block is cut off or too large";
        chinese: "字段块中的整数被截断或过大";
        meaning: "Integers go over as many bytes as they need; more than 32 bits are taken by nobody.";
        rules: [7541 "5.1"];
        ends: Connection; blame: Peer; codes: [http2::COMPRESSION_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x07\x01\x04\0\0\0\x01\xff\xff\xff\xff\xff\xff\x7f" * 1];
    }
    String = "hpack_string" {
        text: "a string of a field block is longer than the block";
        chinese: "字段块中的字符串超出字段块";
        meaning: "A string says its length first; that many bytes must follow.";
        rules: [7541 "5.2"];
        ends: Connection; blame: Peer; codes: [http2::COMPRESSION_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x06\x01\x04\0\0\0\x01\0\x09name" * 1];
    }
    Index = "hpack_index" {
        text: "a field block refers to an entry that no table has";
        chinese: "字段块引用了不存在的表项";
        meaning: "Indices 1 to 61 are static entries, those above them entries that the peer has added on this connection; 0 is none.";
        rules: [7541 "2.3.3", 7541 "6.1"];
        ends: Connection; blame: Peer; codes: [http2::COMPRESSION_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x01\x01\x04\0\0\0\x01\xbe" * 1];
    }
    Huffman = "hpack_huffman" {
        text: "a string of a field block is not Huffman code";
        chinese: "字段块中的字符串不是合法的 Huffman 编码";
        meaning: "The string holds the code for its end, or more than seven bits of padding, or padding that is not all ones.";
        rules: [7541 "5.2"];
        ends: Connection; blame: Peer; codes: [http2::COMPRESSION_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x05\x01\x04\0\0\0\x01\0\x81\0\x01a" * 1];
    }
    TableSize = "hpack_table_size" {
        text: "the table is to be larger than was announced";
        chinese: "表大小超过已声明的值";
        meaning: "An encoder may use as much table as the other side's SETTINGS_HEADER_TABLE_SIZE allows.";
        rules: [7541 "6.3"];
        ends: Connection; blame: Peer; codes: [http2::COMPRESSION_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x04\x01\x04\0\0\0\x01?\xe2\x1f\x88" * 1];
    }
    TableSizeLate = "hpack_table_size_late" {
        text: "the table's size changes within a field block";
        chinese: "字段块中途改变表大小";
        meaning: "A change of size stands before the first field of a block.";
        rules: [7541 "4.2"];
        ends: Connection; blame: Peer; codes: [http2::COMPRESSION_ERROR]; advice: SERVER;
        example: Answer2 [b"\0\0\x02\x01\x04\0\0\0\x01\x88 " * 1];
    }
}
