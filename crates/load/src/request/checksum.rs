//! Checksums of messages. Parameters of the CRCs are those of the catalogue of parametrised CRC algorithms.

use aes::{Aes128, Aes192, Aes256};
use cmac::Cmac;
use des::Des;
use des::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt};
use hmac::{Hmac, KeyInit, Mac};
use plan::data::Algorithm;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// A checksum that is ready to be computed: what follows from a key alone is done.
pub(super) struct Sum(ChecksumKind);

enum ChecksumKind {
    Lrc,
    Crc16(u16),
    Crc16Reflected { begin: u32, little: bool },
    Crc32,
    HmacSha1(Box<Hmac<Sha1>>),
    HmacSha256(Box<Hmac<Sha256>>),
    HmacSha512(Box<Hmac<Sha512>>),
    Cmac128(Box<Cmac<Aes128>>),
    Cmac192(Box<Cmac<Aes192>>),
    Cmac256(Box<Cmac<Aes256>>),
    Retail(Box<Retail>),
}

impl Sum {
    /// `None` where the key is none for the algorithm.
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Option<Sum> {
        Some(Sum(match algorithm {
            Algorithm::Lrc => ChecksumKind::Lrc,
            Algorithm::Crc16 => ChecksumKind::Crc16(0xFFFF),
            Algorithm::Crc16Xmodem => ChecksumKind::Crc16(0),
            Algorithm::Crc16Arc => ChecksumKind::Crc16Reflected { begin: 0, little: false },
            Algorithm::Crc16Modbus => ChecksumKind::Crc16Reflected { begin: 0xFFFF, little: true },
            Algorithm::Crc32 => ChecksumKind::Crc32,
            Algorithm::HmacSha1 => ChecksumKind::HmacSha1(keyed(key)?),
            Algorithm::HmacSha256 => ChecksumKind::HmacSha256(keyed(key)?),
            Algorithm::HmacSha512 => ChecksumKind::HmacSha512(keyed(key)?),
            Algorithm::Cmac if key.len() == 16 => ChecksumKind::Cmac128(keyed(key)?),
            Algorithm::Cmac if key.len() == 24 => ChecksumKind::Cmac192(keyed(key)?),
            Algorithm::Cmac => ChecksumKind::Cmac256(keyed(key)?),
            Algorithm::RetailMac => ChecksumKind::Retail(Box::new(Retail::new(key, 0)?)),
            Algorithm::RetailMac80 => ChecksumKind::Retail(Box::new(Retail::new(key, 0x80)?)),
        }))
    }

    /// Appends the checksum over bytes, most significant byte first but for Modbus.
    pub fn append(&self, bytes: &[u8], to: &mut Vec<u8>) {
        match &self.0 {
            ChecksumKind::Lrc => to.push(bytes.iter().fold(0, |sum, byte| sum ^ byte)),
            ChecksumKind::Crc16(begin) => to.extend_from_slice(&forward(*begin, bytes).to_be_bytes()),
            ChecksumKind::Crc16Reflected { begin, little } => {
                let sum = reflected(0xA001, *begin, bytes) as u16;
                to.extend_from_slice(&if *little { sum.to_le_bytes() } else { sum.to_be_bytes() });
            }
            ChecksumKind::Crc32 => {
                to.extend_from_slice(&(!reflected(0xEDB8_8320, 0xFFFF_FFFF, bytes)).to_be_bytes());
            }
            ChecksumKind::HmacSha1(mac) => put(&**mac, bytes, to),
            ChecksumKind::HmacSha256(mac) => put(&**mac, bytes, to),
            ChecksumKind::HmacSha512(mac) => put(&**mac, bytes, to),
            ChecksumKind::Cmac128(mac) => put(&**mac, bytes, to),
            ChecksumKind::Cmac192(mac) => put(&**mac, bytes, to),
            ChecksumKind::Cmac256(mac) => put(&**mac, bytes, to),
            ChecksumKind::Retail(mac) => to.extend_from_slice(&mac.over(bytes)),
        }
    }
}

fn keyed<M: Mac + KeyInit>(key: &[u8]) -> Option<Box<M>> {
    <M as KeyInit>::new_from_slice(key).ok().map(Box::new)
}

fn put(mac: &(impl Mac + Clone), bytes: &[u8], to: &mut Vec<u8>) {
    let mut mac = mac.clone();
    mac.update(bytes);
    to.extend_from_slice(&mac.finalize().into_bytes());
}

/// ISO 9797-1, algorithm 3: DES with the first half of the key in cipher block chaining, and triple DES at the end.
struct Retail {
    first: Des,
    second: Des,
    /// The first byte of what fills the last block up. 0: nothing is added to whole blocks, unless there is none
    /// (padding method 1); otherwise something always is (method 2).
    fill: u8,
}

impl Retail {
    fn new(key: &[u8], fill: u8) -> Option<Retail> {
        let (first, second) = key.split_at_checked(8)?;
        Some(Retail {
            first: Des::new_from_slice(first).ok()?,
            second: Des::new_from_slice(second).ok()?,
            fill,
        })
    }

    fn over(&self, bytes: &[u8]) -> [u8; 8] {
        let mut sum = Block::<Des>::default();
        let mut chain = |piece: &[u8], fill: u8| {
            sum.iter_mut().zip(piece).for_each(|(sum, byte)| *sum ^= byte);
            if let Some(next) = sum.get_mut(piece.len()) {
                *next ^= fill;
            }
            self.first.encrypt_block(&mut sum);
        };
        let whole = bytes.chunks_exact(8);
        let rest = whole.remainder();
        whole.for_each(|block| chain(block, 0));
        if !rest.is_empty() || self.fill != 0 || bytes.is_empty() {
            chain(rest, self.fill);
        }
        self.second.decrypt_block(&mut sum);
        self.first.encrypt_block(&mut sum);
        sum.into()
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
    use plan::data::hex;

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
            assert_eq!(sum(algorithm, "", b"123456789"), expected, "{algorithm:?}");
        }
    }

    #[test]
    fn macs_of_the_standards() {
        let jefe = "4a656665";
        let said = b"what do ya want for nothing?";
        // RFC 2202, case 2; RFC 4231, case 2.
        for (algorithm, expected) in [
            (Algorithm::HmacSha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (Algorithm::HmacSha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                Algorithm::HmacSha512,
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
                 9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
            ),
        ] {
            assert_eq!(sum(algorithm, jefe, said), expected);
        }
        // RFC 4493 section 4; NIST SP 800-38B appendix D for the longer keys.
        let key = "2b7e151628aed2a6abf7158809cf4f3c";
        let message =
            hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411").unwrap();
        for (length, expected) in [
            (0, "bb1d6929e95937287fa37d129b756746"),
            (16, "070a16b46b4d4144f79bdd9dd04a287c"),
            (40, "dfa66747de9ae63030ca32611497c827"),
        ] {
            assert_eq!(sum(Algorithm::Cmac, key, &message[..length]), expected, "{length}");
        }
        let longer = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b";
        assert_eq!(sum(Algorithm::Cmac, longer, b""), "d17ddf46adaacde531cac483de7a9367");
        let longest = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
        assert_eq!(sum(Algorithm::Cmac, longest, b""), "028962f61b7bf89efc6b551f4667d983");
    }

    const RETAIL: [(Algorithm, &str, &str); 8] = [
        (Algorithm::RetailMac, "", "08d7b4fb629d0885"),
        (Algorithm::RetailMac, "Now is the time for all ", "a1c72e74ea3fa9b6"),
        (Algorithm::RetailMac, "Now is the time for it", "2e2b1428cc78254f"),
        (Algorithm::RetailMac, "12345678", "41d2ffba3cdc15fe"),
        (Algorithm::RetailMac80, "", "f1fbcf2a56d19ba7"),
        (Algorithm::RetailMac80, "Now is the time for all ", "e9086230ca3be796"),
        (Algorithm::RetailMac80, "Now is the time for it", "5a692ce64f404145"),
        (Algorithm::RetailMac80, "12345678", "e367e02b86ae75ed"),
    ];

    /// There is no vector of the standard at hand: what it says is said again with DES of OpenSSL, whose results stand
    /// here (`openssl enc -des-ecb -nopad`, block by block).
    #[test]
    fn retail_macs_as_openssl_has_them() {
        let key = "0123456789abcdeffedcba9876543210";
        for (algorithm, text, expected) in RETAIL {
            assert_eq!(sum(algorithm, key, text.as_bytes()), expected, "{algorithm:?} {text}");
        }
    }

    fn sum(algorithm: Algorithm, key: &str, bytes: &[u8]) -> String {
        let mut sum = Vec::new();
        Sum::new(algorithm, &hex(key).unwrap()).unwrap().append(bytes, &mut sum);
        assert_eq!(sum.len(), usize::from(algorithm.bytes()), "{algorithm:?}");
        sum.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
