//! Objects, their names on the wire, and their laws.

use super::*;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

#[test]
fn paths_prefixes_etags_and_stamps_read_back() {
    for object in [0, 1, hot_object(2, 3, 99), one_timer(u64::MAX)] {
        let paths = Paths::new(&Site::default());
        let path = written(|out| paths.write(out, object, 14_800));
        assert_eq!(paths.read(&path), Ok((object, 14_800)));
        let tag = written(|out| write_etag(out, object, 7, 2));
        assert_eq!(read_etag(&tag), Some((object, 7, 2)));
        let body = written(|out| write_prefix(out, object, 7, 2, 500));
        let prefix = Prefix { object, version: 7, variant: 2, size: 500 };
        assert_eq!((read_prefix(&body), prefix_length(&prefix)), (Some(prefix), body.len() as u64));
        for (sets_cookie, foreign) in [(false, None), (true, None), (false, Some(0)), (true, Some(9))] {
            let kind = StampKind::Cut;
            let made_at_us = 1 << 50;
            let stamp = Stamp { serial: 5, asked_by: object, made_at_us, kind, sets_cookie, foreign };
            assert_eq!(Stamp::read(&written(|out| stamp.write(out))), Some(stamp));
        }
    }
}

#[test]
fn what_is_not_a_path_is_refused() {
    let paths = Paths::new(&Site::default());
    for path in ["", "/w/", "/w/1", "/w//5", "/w/1/", "/w/1/5x", "/w/xyz/5", "/w/1/99999999999999999999"] {
        assert_eq!(paths.read(path.as_bytes()), Err(NotAnObject::OtherForm), "{path}");
    }
    assert_eq!(paths.read(b"/w/1f/5?q=1"), Ok((0x1f, 5)));
}

#[test]
fn addresses_differ_between_sites_with_different_laws() {
    let path = |site: &Site| written(|out| Paths::new(site).write(out, 5, 500));
    let site = Site::default();
    let every = |seconds| Some(Duration::from_secs(seconds));
    let others = [
        Site { variants: 3, ..site.clone() },
        Site { change_every: every(1), ..site.clone() },
        Site { change_every: every(2), ..site.clone() },
        Site { private: 0.5, ..site.clone() },
        Site { no_store: 0.5, ..site.clone() },
        Site { lifetime: Lifetime::Fixed { max_age: Duration::from_secs(1) }, ..site.clone() },
        Site { etag: false, ..site.clone() },
        Site { gone: 0.5, ..site.clone() },
        Site { freshness: Freshness::Mixed, ..site.clone() },
        Site { version_sizes: vec![VersionSize::Half], ..site.clone() },
    ];
    let mut paths: Vec<Vec<u8>> = others.iter().chain([&site]).map(path).collect();
    assert_eq!(path(&site), path(&Site::default()));
    for other in &others {
        assert_eq!(Paths::new(other).read(&path(&site)), Err(NotAnObject::OtherLaws));
    }
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), others.len() + 1);
}

#[test]
fn versions_follow_each_other_without_gap() {
    let site = Site { change_every: Some(Duration::from_secs(10)), ..Site::default() };
    for object in 0..50 {
        for version in 1_000..1_005 {
            let began = site.version_began(object, version);
            assert_eq!(site.version_at(object, began), version);
            assert_eq!(site.version_at(object, began - 1), version - 1);
        }
    }
}

#[test]
fn shares_of_storage_come_out_as_asked() {
    let site = Site { private: 0.2, no_store: 0.1, ..Site::default() };
    let count = |kind| (0..10_000).filter(|id| site.storage_of(*id) == kind).count();
    assert!((1_850..2_150).contains(&count(Storage::Private)));
    assert!((880..1_120).contains(&count(Storage::NoStore)));
}

#[test]
fn sizes_keep_to_their_law() {
    let site = Site { size: Size::Uniform { min: 10, max: 20 }, ..Site::default() };
    assert!((0..1_000).all(|id| (10..=20).contains(&site.size_of(id))));
    assert_eq!(
        site.size_of(hot_object(0, 0, 5)),
        site.size_of(hot_object(1, 9, 5)),
        "a set's sizes are by rank"
    );
    let heavy = Size::Heavy { median: 8_000, sigma: 1.3, tail: 0.05, shape: 1.2, max: 10_000_000 };
    let mut sizes: Vec<u64> = (0..20_001).map(|id| heavy.of(hash(SALT_SIZE, id))).collect();
    sizes.sort_unstable();
    assert!((7_000..10_000).contains(&sizes[10_000]), "median {}", sizes[10_000]);
    assert!(sizes[20_000] > 1_000_000 && sizes[20_000] <= 10_000_000);
}

#[test]
fn jtest_forms_of_variant_are_understood() {
    assert_eq!(VaryOn::Cookie.variant(b"a=b; jtest-cookie-3"), Some(3));
    assert_eq!(VaryOn::UserAgent.variant(b"jtest-browser-12 x"), Some(12));
    assert_eq!(VaryOn::Field("X".into()).variant(b"fr"), None);
}

#[test]
fn different_sites_have_different_fingerprints() {
    let site = Site::default();
    assert_eq!(site.fingerprint(), Site::default().fingerprint());
    assert_ne!(site.fingerprint(), Site { variants: 2, ..Site::default() }.fingerprint());
}

/// Whenever they were fetched, they expire at the same moments.
#[test]
fn objects_that_expire_together_do_so_at_whole_multiples() {
    let site = Site { lifetime: Lifetime::Together { every: Duration::from_secs(10) }, ..Site::default() };
    let lifetimes = [0, 1_999_999, 9_000_000, 10_000_000, 1_234_567_000_000];
    assert_eq!(lifetimes.map(|made_at_us| site.lifetime_of(7, made_at_us).as_secs()), [10, 9, 1, 10, 3]);
}
