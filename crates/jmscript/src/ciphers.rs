//! AES as `javax.crypto.Cipher` names its modes: CBC, ECB and GCM.

use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::consts::{U12, U16};
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt};
use aes::cipher::{BlockSizeUser, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{Aead, Payload};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;

/// A mode of AES, and whether the last block is filled up (PKCS #7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Each block depends on the one before it.
    Cbc {
        /// The last block is filled up.
        pads: bool,
    },
    /// Each block stands for itself.
    Ecb {
        /// The last block is filled up.
        pads: bool,
    },
    /// A counter, and a tag of 16 bytes behind the text.
    Gcm,
}

impl Mode {
    /// The mode of a transformation, such as `AES/CBC/PKCS5Padding`; `None`: it is not done here.
    pub fn of(transformation: &str) -> Option<Mode> {
        let upper = transformation.to_ascii_uppercase();
        let parts: Vec<&str> = upper.split('/').map(str::trim).collect();
        let pads = |padding: &str| match padding {
            "PKCS5PADDING" | "PKCS7PADDING" => Some(true),
            "NOPADDING" => Some(false),
            _ => None,
        };
        match parts.as_slice() {
            ["AES"] => Some(Mode::Ecb { pads: true }),
            ["AES", "CBC", padding] => pads(padding).map(|pads| Mode::Cbc { pads }),
            ["AES", "ECB", padding] => pads(padding).map(|pads| Mode::Ecb { pads }),
            ["AES", "GCM", "NOPADDING"] => Some(Mode::Gcm),
            _ => None,
        }
    }

    /// It fills up the last block.
    pub fn pads(self) -> bool {
        match self {
            Mode::Cbc { pads } | Mode::Ecb { pads } => pads,
            Mode::Gcm => false,
        }
    }
}

/// Key, vector and data beside the text, by which it is encrypted or decrypted.
#[derive(Clone, Copy)]
pub(crate) struct Sealing<'a> {
    pub mode: Mode,
    pub key: &'a [u8],
    /// Nothing for ECB.
    pub iv: &'a [u8],
    /// Data that GCM's tag covers beside the text.
    pub beside: &'a [u8],
}

/// The text encrypted; `None`: key, initial vector or length do not fit.
pub(crate) fn encrypt(sealing: Sealing<'_>, text: &[u8]) -> Option<Vec<u8>> {
    match sealing.key.len() {
        16 => encrypt_by::<Aes128>(sealing, text),
        24 => encrypt_by::<Aes192>(sealing, text),
        32 => encrypt_by::<Aes256>(sealing, text),
        _ => None,
    }
}

/// The text decrypted; `None`: key, initial vector or length do not fit, or the padding or tag is wrong.
pub(crate) fn decrypt(sealing: Sealing<'_>, text: &[u8]) -> Option<Vec<u8>> {
    match sealing.key.len() {
        16 => decrypt_by::<Aes128>(sealing, text),
        24 => decrypt_by::<Aes192>(sealing, text),
        32 => decrypt_by::<Aes256>(sealing, text),
        _ => None,
    }
}

fn encrypt_by<A>(sealing: Sealing<'_>, text: &[u8]) -> Option<Vec<u8>>
where
    A: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
{
    let Sealing { mode, key, iv, .. } = sealing;
    if !mode.pads() && mode != Mode::Gcm && !text.len().is_multiple_of(BLOCK) {
        return None;
    }
    match mode {
        Mode::Cbc { pads } => {
            let by = cbc::Encryptor::<A>::new_from_slices(key, iv).ok()?;
            Some(if pads {
                by.encrypt_padded_vec::<Pkcs7>(text)
            } else {
                by.encrypt_padded_vec::<NoPadding>(text)
            })
        }
        Mode::Ecb { pads } => {
            let by = ecb::Encryptor::<A>::new_from_slice(key).ok()?;
            Some(if pads {
                by.encrypt_padded_vec::<Pkcs7>(text)
            } else {
                by.encrypt_padded_vec::<NoPadding>(text)
            })
        }
        Mode::Gcm => {
            let payload = Payload { msg: text, aad: sealing.beside };
            match iv.len() {
                12 => AesGcm::<A, U12>::new_from_slice(key).ok()?.encrypt(iv.try_into().ok()?, payload).ok(),
                16 => AesGcm::<A, U16>::new_from_slice(key).ok()?.encrypt(iv.try_into().ok()?, payload).ok(),
                _ => None,
            }
        }
    }
}

fn decrypt_by<A>(sealing: Sealing<'_>, text: &[u8]) -> Option<Vec<u8>>
where
    A: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let Sealing { mode, key, iv, .. } = sealing;
    match mode {
        Mode::Cbc { pads } => {
            let by = cbc::Decryptor::<A>::new_from_slices(key, iv).ok()?;
            match pads {
                true => by.decrypt_padded_vec::<Pkcs7>(text).ok(),
                false => by.decrypt_padded_vec::<NoPadding>(text).ok(),
            }
        }
        Mode::Ecb { pads } => {
            let by = ecb::Decryptor::<A>::new_from_slice(key).ok()?;
            match pads {
                true => by.decrypt_padded_vec::<Pkcs7>(text).ok(),
                false => by.decrypt_padded_vec::<NoPadding>(text).ok(),
            }
        }
        Mode::Gcm => {
            let payload = Payload { msg: text, aad: sealing.beside };
            match iv.len() {
                12 => AesGcm::<A, U12>::new_from_slice(key).ok()?.decrypt(iv.try_into().ok()?, payload).ok(),
                16 => AesGcm::<A, U16>::new_from_slice(key).ok()?.decrypt(iv.try_into().ok()?, payload).ok(),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::{from_hex, hex};

    fn bytes(digits: &str) -> Vec<u8> {
        from_hex(digits).expect("digits")
    }

    /// NIST SP 800-38A, F.2.1 and F.1.1, first block; McGrew and Viega's test case 4 of GCM.
    #[test]
    fn the_vectors_of_the_standards() {
        let key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
        let iv = bytes("000102030405060708090a0b0c0d0e0f");
        let text = bytes("6bc1bee22e409f96e93d7e117393172a");
        let cbc = Sealing { mode: Mode::Cbc { pads: false }, key: &key, iv: &iv, beside: &[] };
        let ecb = Sealing { mode: Mode::Ecb { pads: false }, iv: &[], ..cbc };
        assert_eq!(hex(&encrypt(cbc, &text).unwrap()), "7649abac8119b246cee98e9b12e9197d");
        assert_eq!(hex(&encrypt(ecb, &text).unwrap()), "3ad77bb40d7a3660a89ecaf32466ef97");
        let key = bytes("feffe9928665731c6d6a8f9467308308");
        let iv = bytes("cafebabefacedbaddecaf888");
        let beside = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let text = bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let gcm = Sealing { mode: Mode::Gcm, key: &key, iv: &iv, beside: &beside };
        let sealed = encrypt(gcm, &text).unwrap();
        assert!(hex(&sealed).ends_with("5bc94fbc3221a5db94fae95ae7121a47"), "the tag");
        assert_eq!(decrypt(gcm, &sealed).unwrap(), text);
        assert_eq!(decrypt(Sealing { beside: &[], ..gcm }, &sealed), None);
    }

    #[test]
    fn what_does_not_fit_is_no_text() {
        let sealing = Sealing { mode: Mode::Cbc { pads: true }, key: &[1; 32], iv: &[2; 16], beside: &[] };
        let sealed = encrypt(sealing, b"0123456789abcdef").unwrap();
        assert_eq!(sealed.len(), 32, "a whole block is filled up by another one");
        assert_eq!(decrypt(sealing, &sealed).unwrap(), b"0123456789abcdef");
        assert_eq!(decrypt(Sealing { key: &[3; 32], ..sealing }, &sealed), None);
        assert_eq!(encrypt(Sealing { key: &[1; 15], ..sealing }, b"x"), None);
        assert_eq!(encrypt(Sealing { mode: Mode::Cbc { pads: false }, ..sealing }, b"x"), None);
        assert_eq!(Mode::of("aes/cbc/pkcs5padding"), Some(Mode::Cbc { pads: true }));
        assert_eq!(Mode::of("DES/CBC/PKCS5Padding"), None);
    }
}
