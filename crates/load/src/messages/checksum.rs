//! Checksums of messages. Parameters of the CRCs are those of the catalogue of parametrised CRC algorithms.

use hmac::{Hmac, KeyInit, Mac};
use plan::message::Algorithm;
use sha2::Sha256;

/// Appends a checksum over bytes, most significant byte first but for Modbus.
pub(super) fn checksum(algorithm: Algorithm, key: &[u8], bytes: &[u8], to: &mut Vec<u8>) {
    match algorithm {
        Algorithm::Lrc => to.push(bytes.iter().fold(0, |sum, byte| sum ^ byte)),
        Algorithm::Crc16 => to.extend_from_slice(&forward(0xFFFF, bytes).to_be_bytes()),
        Algorithm::Crc16Xmodem => to.extend_from_slice(&forward(0, bytes).to_be_bytes()),
        Algorithm::Crc16Arc => to.extend_from_slice(&(reflected(0xA001, 0, bytes) as u16).to_be_bytes()),
        Algorithm::Crc16Modbus => {
            to.extend_from_slice(&(reflected(0xA001, 0xFFFF, bytes) as u16).to_le_bytes());
        }
        Algorithm::Crc32 => {
            to.extend_from_slice(&(!reflected(0xEDB8_8320, 0xFFFF_FFFF, bytes)).to_be_bytes());
        }
        Algorithm::HmacSha256 => {
            // Any key will do.
            if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) {
                mac.update(bytes);
                to.extend_from_slice(&mac.finalize().into_bytes());
            }
        }
    }
}

/// CRC-16 with the polynomial 0x1021, most significant bit first.
fn forward(begin: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(begin, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte) << 8, |sum, _| sum << 1 ^ if sum >> 15 == 1 { 0x1021 } else { 0 })
    })
}

/// A CRC of at most 32 bits, least significant bit first.
fn reflected(polynomial: u32, begin: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(begin, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { polynomial } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_the_catalogue() {
        // The check values: over the digits 1 to 9.
        for (algorithm, expected) in [
            (Algorithm::Lrc, "31"),
            (Algorithm::Crc16, "29b1"),
            (Algorithm::Crc16Xmodem, "31c3"),
            (Algorithm::Crc16Arc, "bb3d"),
            (Algorithm::Crc16Modbus, "374b"),
            (Algorithm::Crc32, "cbf43926"),
        ] {
            let mut sum = Vec::new();
            checksum(algorithm, b"", b"123456789", &mut sum);
            let shown: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(shown, expected, "{algorithm:?}");
            assert_eq!(sum.len(), usize::from(algorithm.bytes()));
        }
        // RFC 4231, case 2.
        let mut sum = Vec::new();
        checksum(Algorithm::HmacSha256, b"Jefe", b"what do ya want for nothing?", &mut sum);
        assert_eq!(sum[..4], [0x5b, 0xdc, 0xc1, 0x46]);
    }
}
