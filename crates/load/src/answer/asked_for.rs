//! Moments at which a worker's own requests were sent, by their nonces. A cache counts the age of an answer from when it asked for it (RFC
//! 9111 section 4.2.3), and it cannot have asked before the client did that the answer was made for. So an age is judged only where that
//! moment is known: an answer made for a request of another worker or of an earlier run, or for one still under way, tells nothing.

/// Requests that are remembered: at least, and at most. Each has one place, and a newer one takes that of an older.
const PLACES: (u64, u64) = (1 << 10, 1 << 16);

/// Requests that were no hits, as far as a worker remembers them.
pub(super) struct AskedFor {
    places: Box<[Place]>,
}

/// A request, and when it was sent, in µs since 1970.
#[derive(Clone, Copy, Default)]
struct Place {
    /// 0: nothing stands here.
    nonce: u64,
    sent_us: u64,
}

impl AskedFor {
    /// For a hot set of so many objects; 0: no objects are asked for.
    pub fn for_hot(hot: u64) -> AskedFor {
        let (least, most) = PLACES;
        let places = if hot == 0 { 0 } else { hot.clamp(least, most) };
        AskedFor { places: vec![Place::default(); places as usize].into() }
    }

    /// A request has ended, whether or not an answer came.
    pub fn add(&mut self, nonce: u64, sent_us: u64) {
        if let Some(at) = self.place_of(nonce) {
            self.places[at] = Place { nonce, sent_us };
        }
    }

    /// When the request with this nonce was sent, if it is known.
    pub fn sent_us(&self, nonce: u64) -> Option<u64> {
        let place = self.places[self.place_of(nonce)?];
        (nonce != 0 && place.nonce == nonce).then_some(place.sent_us)
    }

    /// Nonces are spread evenly, as they are hashes.
    fn place_of(&self, nonce: u64) -> Option<usize> {
        nonce.checked_rem(self.places.len() as u64).map(|at| at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_until_another_one_takes_its_place() {
        let mut asked = AskedFor::for_hot(1);
        asked.add(5, 100);
        asked.add(6, 200);
        assert_eq!((asked.sent_us(5), asked.sent_us(6), asked.sent_us(7)), (Some(100), Some(200), None));
        asked.add(5 + PLACES.0, 300);
        assert_eq!((asked.sent_us(5), asked.sent_us(5 + PLACES.0)), (None, Some(300)));
        assert_eq!(asked.sent_us(0), None, "a stamp that names no request");
        let mut none = AskedFor::for_hot(0);
        none.add(5, 100);
        assert_eq!(none.sent_us(5), None);
    }
}
