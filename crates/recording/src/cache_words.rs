//! Words that caches have for their results, and their meaning.

use crate::words::Cache;

/// A cache's word, and what else it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheWord {
    /// The account.
    pub cache: Cache,
    /// The client went away.
    pub aborted: bool,
    /// The line is not about a client's request for an object at all: a query between caches.
    pub foreign: bool,
}

/// Reads the word of any cache: nginx, Squid, ATS, varnishncsa, mod_cache, CloudFront, Cloudflare, Azure, Bunny and others; a word
/// that nobody knows tells nothing.
pub fn read(text: &[u8]) -> CacheWord {
    let mut upper = [0; 40];
    let length = text.len().min(upper.len());
    let word = &mut upper[..length];
    word.copy_from_slice(&text[..length]);
    word.make_ascii_uppercase();
    // Squid and ATS log "TCP_MISS/200" where the format has both in one.
    let end = word.iter().position(|byte| matches!(byte, b'/' | b' ' | b',' | b';')).unwrap_or(length);
    let mut word = &word[..end];
    if word.starts_with(b"UDP_") || word.starts_with(b"ICP_") {
        return CacheWord { foreign: true, ..CacheWord::default() };
    }
    let mut aborted = false;
    for suffix in [&b"_ABORTED"[..], b"_TIMEDOUT", b"_TIMEOUT"] {
        if let Some(before) = word.strip_suffix(suffix) {
            aborted = true;
            word = before;
        }
    }
    aborted |= matches!(word, b"ERR_CLIENT_ABORT" | b"ERR_CLIENT_READ_ERROR" | b"CLIENTCOMMERROR");
    CacheWord { cache: meaning(word), aborted, foreign: false }
}

/// The account behind a word in upper case, suffixes taken off.
fn meaning(word: &[u8]) -> Cache {
    match word {
        b"HIT" | b"TCP_HIT" | b"TCP_MEM_HIT" | b"TCP_IMS_HIT" | b"TCP_INM_HIT" | b"TCP_OFFLINE_HIT"
        | b"TCP_NEGATIVE_HIT" | b"TCP_DISK_HIT" | b"TCP_CF_HIT" | b"REMOTE_HIT" | b"TCP_REMOTE_HIT"
        | b"ORIGINSHIELDHIT" | b"ORIGIN_SHIELD_HIT" | b"PARTIAL_HIT" | b"CACHE" | b"1" => Cache::Hit,
        b"REVALIDATED"
        | b"REFRESHHIT"
        | b"TCP_REFRESH_HIT"
        | b"TCP_REFRESH_UNMODIFIED"
        | b"TCP_CF_REFRESH_UNMODIFIED"
        | b"REFRESH_HIT" => Cache::Revalidated,
        b"EXPIRED"
        | b"TCP_REFRESH_MISS"
        | b"TCP_REFRESH_MODIFIED"
        | b"TCP_CF_REFRESH_MODIFIED"
        | b"TCP_EXPIRED_MISS"
        | b"TCP_EXPIRED" => Cache::Expired,
        b"MISS"
        | b"TCP_MISS"
        | b"TCP_CF_MISS"
        | b"TCP_SWAPFAIL"
        | b"TCP_SWAPFAIL_MISS"
        | b"TCP_IMS_MISS"
        | b"TCP_ASYNC_MISS"
        | b"FETCH"
        | b"ERR_CLIENT_ABORT"
        | b"ERR_CLIENT_READ_ERROR"
        | b"TCP_REFRESH_IGNORED"
        | b"0" => Cache::Miss,
        b"STALE"
        | b"UPDATING"
        | b"STALEHIT"
        | b"TCP_REFRESH_FAIL"
        | b"TCP_REFRESH_FAIL_OLD"
        | b"TCP_CF_REFRESH_FAIL"
        | b"TCP_REF_FAIL_HIT"
        | b"TCP_REFRESH_FAIL_HIT"
        | b"TCP_STALE_HIT" => Cache::Stale,
        b"TCP_CLIENT_REFRESH" | b"TCP_CLIENT_REFRESH_MISS" => Cache::Reload,
        b"BYPASS" | b"PASS" | b"PIPE" | b"DYNAMIC" | b"NONE" | b"IGNORED" | b"TCP_TUNNEL" | b"HITMISS"
        | b"HITPASS" | b"CACHE_NOCONFIG" | b"PRIVATE_NOSTORE" | b"NONE_NONE" | b"IGNORE" => Cache::Bypass,
        b"ERROR"
        | b"SYNTH"
        | b"REDIRECT"
        | b"LIMITEXCEEDED"
        | b"CAPACITYEXCEEDED"
        | b"TCP_DENIED"
        | b"TCP_REDIRECT"
        | b"TCP_REFRESH_FAIL_ERR"
        | b"TCP_DENIED_REPLY" => Cache::Error,
        other if other.starts_with(b"ERR_") => Cache::Error,
        // "Hit from cloudfront", "HIT-CLUSTER", "cache hit": mod_cache and the fields of X-Cache.
        other if other.starts_with(b"HIT") => Cache::Hit,
        other if other.starts_with(b"MISS") => Cache::Miss,
        _ => Cache::Untold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_many_caches() {
        for (text, cache, aborted) in [
            ("HIT", Cache::Hit, false),
            ("hit", Cache::Hit, false),
            ("TCP_MEM_HIT/200", Cache::Hit, false),
            ("TCP_MISS_ABORTED", Cache::Miss, true),
            ("TCP_REFRESH_UNMODIFIED", Cache::Revalidated, false),
            ("TCP_REFRESH_MODIFIED_ABORTED", Cache::Expired, true),
            ("ERR_CLIENT_ABORT", Cache::Miss, true),
            ("ERR_CONNECT_FAIL", Cache::Error, false),
            ("RefreshHit", Cache::Revalidated, false),
            ("UPDATING", Cache::Stale, false),
            ("dynamic", Cache::Bypass, false),
            ("Hit from edge", Cache::Hit, false),
            ("pass", Cache::Bypass, false),
            ("-", Cache::Untold, false),
            ("", Cache::Untold, false),
        ] {
            assert_eq!(read(text.as_bytes()), CacheWord { cache, aborted, foreign: false }, "{text}");
        }
        assert!(read(b"UDP_MISS").foreign);
    }
}
