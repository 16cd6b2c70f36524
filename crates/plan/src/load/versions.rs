//! Which versions of HTTP users speak, where a plan has several.

use super::http::Http;
use super::{Load, Phase, Protocol};
use crate::http::version::HttpVersion;
use crate::scenario::Group;

impl Http {
    /// The version that users speak of whom the plan does not say it; `None`: there are two.
    pub fn usual(&self) -> Option<HttpVersion> {
        match (&self.h2, &self.h3) {
            (None, None) => Some(HttpVersion::One),
            (Some(_), None) => Some(HttpVersion::Two),
            (None, Some(_)) => Some(HttpVersion::Three),
            (Some(_), Some(_)) => None,
        }
    }

    /// It with one version alone, which TLS then offers alone; with the usual settings where the plan has none.
    #[must_use]
    pub fn speaking(&self, version: HttpVersion) -> Http {
        let mut http = self.clone();
        http.h2 = http.h2.filter(|_| version == HttpVersion::Two);
        http.h3 = http.h3.filter(|_| version == HttpVersion::Three);
        match version {
            HttpVersion::One => {}
            HttpVersion::Two => drop(http.h2.get_or_insert_default()),
            HttpVersion::Three => drop(http.h3.get_or_insert_default()),
        }
        if let Some(tls) = &mut http.tls
            && tls.alpn.iter().any(|name| name == version.alpn())
        {
            tls.alpn = vec![version.alpn().to_owned()];
        }
        http
    }
}

impl Phase {
    /// Versions that the users of one of its groups speak in turns; empty: the usual one.
    pub fn versions_of<'a>(&'a self, group: &'a Group) -> &'a [HttpVersion] {
        if group.http.is_empty() { &self.http } else { &group.http }
    }

    /// Versions that the plan names for its users, each once; those of the usual one are not among them.
    pub fn versions(&self) -> Vec<HttpVersion> {
        let of_groups = self.groups.iter().map(|group| self.versions_of(group));
        let own = self.groups.is_empty().then_some(&self.http[..]);
        let mut found = Vec::new();
        own.into_iter().chain(of_groups).flatten().for_each(|version| {
            if !found.contains(version) {
                found.push(*version);
            }
        });
        found
    }
}

impl Load {
    /// It with one version of HTTP alone.
    #[must_use]
    pub fn speaking(&self, version: HttpVersion) -> Load {
        let mut load = self.clone();
        if let Protocol::Http(http) = &mut load.protocol {
            *http = http.speaking(version);
        }
        load
    }

    /// HTTP as users speak it, once for each version. Without HTTP, none.
    pub fn spoken(&self) -> Vec<Http> {
        let Some(http) = self.protocol.http() else { return Vec::new() };
        let mut versions: Vec<HttpVersion> = Vec::new();
        let mut is_usual = self.phases.is_empty();
        for phase in &self.phases {
            is_usual |= match phase.groups.is_empty() {
                true => phase.http.is_empty(),
                false => phase.groups.iter().any(|group| phase.versions_of(group).is_empty()),
            };
            versions.extend(phase.versions());
        }
        versions.dedup();
        let mut spoken: Vec<Http> = is_usual.then(|| http.clone()).into_iter().collect();
        for version in versions {
            let one = http.speaking(version);
            if !spoken.contains(&one) {
                spoken.push(one);
            }
        }
        spoken
    }

    /// True if any user speaks it.
    pub fn speaks(&self, version: HttpVersion) -> bool {
        self.spoken().iter().any(|http| http.usual() == Some(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::http2::Http2;
    use crate::http::tls::Tls;

    fn both() -> Http {
        let alpn = ["http/1.1", "h2", "h3"].map(str::to_owned).to_vec();
        Http {
            h2: Some(Http2 { streams: 7, ..Http2::default() }),
            h3: Some(Box::default()),
            tls: Some(Tls { alpn, ..Tls::default() }),
            ..Http::default()
        }
    }

    #[test]
    fn each_version_alone_has_its_settings_and_offers_itself() {
        assert_eq!(both().usual(), None);
        for version in [HttpVersion::One, HttpVersion::Two, HttpVersion::Three] {
            let alone = both().speaking(version);
            assert_eq!(alone.usual(), Some(version));
            assert_eq!(alone.tls.unwrap().alpn, [version.alpn()]);
        }
        assert_eq!(both().speaking(HttpVersion::Two).streams(), Some(7));
        assert_eq!(Http::default().speaking(HttpVersion::Two).streams(), Some(1), "the usual settings");
        assert_eq!(both().speaking(HttpVersion::One).streams(), None);
    }

    #[test]
    fn spoken_is_what_any_user_speaks() {
        let phase = |http: &[HttpVersion]| Phase { http: http.to_vec(), ..Phase::default() };
        let load = |phases| Load { protocol: Protocol::Http(both()), phases, ..Load::default() };
        let mixed = load(vec![
            phase(&[HttpVersion::One, HttpVersion::Two]),
            phase(&[HttpVersion::Two, HttpVersion::One]),
        ]);
        assert_eq!(mixed.spoken(), [both().speaking(HttpVersion::One), both().speaking(HttpVersion::Two)]);
        assert!(mixed.speaks(HttpVersion::Two) && !mixed.speaks(HttpVersion::Three));
        let group = |http: &[HttpVersion]| Group { http: http.to_vec(), ..Group::default() };
        let groups = vec![group(&[HttpVersion::Three]), group(&[])];
        let grouped = load(vec![Phase { groups, ..phase(&[HttpVersion::Two]) }]);
        assert_eq!(grouped.phases[0].versions(), [HttpVersion::Three, HttpVersion::Two]);
        assert!(
            grouped.speaks(HttpVersion::Three)
                && grouped.speaks(HttpVersion::Two)
                && !grouped.speaks(HttpVersion::One)
        );
    }
}
