//! Protocol buffers as they are written (proto3's wire format): numbered fields, nested messages. A dozen messages of two schemas need no
//! generated code.

/// A message that is being written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtobufMessage(Vec<u8>);

/// Wire types.
const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;

impl ProtobufMessage {
    /// Its bytes.
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }

    /// Its bytes behind their number, as messages stand one after the other in a stream.
    pub fn delimited(self) -> Vec<u8> {
        let mut stream = ProtobufMessage::default();
        stream.varint(self.0.len() as u64);
        stream.0.extend(self.0);
        stream.0
    }

    /// A number: `uint32`, `uint64`, `bool` or an enum.
    pub fn number(&mut self, field: u32, value: u64) -> &mut Self {
        self.key(field, VARINT);
        self.varint(value);
        self
    }

    /// A number that may be negative: `sint32` or `sint64`.
    pub fn signed(&mut self, field: u32, value: i64) -> &mut Self {
        self.number(field, zigzag(value))
    }

    /// `fixed64` or `sfixed64`.
    pub fn fixed(&mut self, field: u32, value: u64) -> &mut Self {
        self.key(field, FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// `double`.
    pub fn double(&mut self, field: u32, value: f64) -> &mut Self {
        self.fixed(field, value.to_bits())
    }

    /// `string`.
    pub fn text(&mut self, field: u32, value: &str) -> &mut Self {
        self.piece(field, value.as_bytes())
    }

    /// `bytes`.
    pub fn blob(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.piece(field, value)
    }

    /// A message of its own.
    pub fn message(&mut self, field: u32, value: ProtobufMessage) -> &mut Self {
        self.piece(field, &value.0)
    }

    /// Several numbers in one field (packed).
    pub fn numbers(&mut self, field: u32, values: impl IntoIterator<Item = u64>) -> &mut Self {
        let mut packed = ProtobufMessage::default();
        values.into_iter().for_each(|value| packed.varint(value));
        self.piece(field, &packed.0)
    }

    /// Several numbers that may be negative in one field (packed).
    pub fn all_signed(&mut self, field: u32, values: impl IntoIterator<Item = i64>) -> &mut Self {
        self.numbers(field, values.into_iter().map(zigzag))
    }

    fn piece(&mut self, field: u32, bytes: &[u8]) -> &mut Self {
        self.key(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn key(&mut self, field: u32, kind: u8) {
        self.varint(u64::from(field) << 3 | u64::from(kind));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of the format's own description (protobuf.dev, encoding).
    #[test]
    fn fields_are_those_of_the_specification() {
        let mut message = ProtobufMessage::default();
        message.number(1, 150);
        assert_eq!(message.clone().bytes(), [0x08, 0x96, 0x01]);
        let mut outer = ProtobufMessage::default();
        outer.text(2, "testing").message(3, message);
        assert_eq!(
            outer.bytes(),
            [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67, 0x1a, 0x03, 0x08, 0x96, 0x01]
        );
        let mut packed = ProtobufMessage::default();
        packed.numbers(6, [3, 270, 86_942]);
        assert_eq!(packed.clone().bytes(), [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
        assert_eq!(packed.delimited()[0], 8);
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
        assert_eq!([i64::MAX, i64::MIN].map(zigzag), [u64::MAX - 1, u64::MAX]);
    }
}
