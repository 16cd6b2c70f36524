//! Moments that a worker remembers by a number. Which is known of few, and of others not at all, so whoever asks must be content with that.

/// Moments that are remembered: at least, and at most.
const PLACES: (u64, u64) = (1 << 10, 1 << 16);

/// Moments by a number. Each number has one place, and a newer one takes that of an older.
#[derive(Default)]
pub(super) struct MomentsByNumber {
    places: Box<[OneMoment]>,
}

/// A number, and its moment in µs since 1970.
#[derive(Clone, Copy, Default)]
struct OneMoment {
    /// 0: nothing stands here.
    number: u64,
    us: u64,
}

impl MomentsByNumber {
    /// Room for so many, as far as that is sensible; 0: none is remembered.
    pub fn for_numbers(numbers: u64) -> MomentsByNumber {
        let (least, most) = PLACES;
        let places = if numbers == 0 { 0 } else { numbers.clamp(least, most) };
        MomentsByNumber { places: vec![OneMoment::default(); places as usize].into() }
    }

    /// Remembers the moment of a number, unless it has one. Numbers are hashes, so they are spread evenly.
    pub fn add(&mut self, number: u64, us: u64) {
        if let Some(at) = self.place_of(number)
            && self.places[at].number != number
        {
            self.places[at] = OneMoment { number, us };
        }
    }

    /// The moment of a number, if it is known.
    pub fn get(&self, number: u64) -> Option<u64> {
        let place = self.places[self.place_of(number)?];
        (number != 0 && place.number == number).then_some(place.us)
    }

    fn place_of(&self, number: u64) -> Option<usize> {
        number.checked_rem(self.places.len() as u64).map(|at| at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_moment_of_a_number_is_known_until_another_one_takes_its_place() {
        let mut moments = MomentsByNumber::for_numbers(1);
        moments.add(5, 100);
        moments.add(6, 200);
        moments.add(5, 150);
        assert_eq!((moments.get(5), moments.get(6), moments.get(7)), (Some(100), Some(200), None));
        moments.add(5 + PLACES.0, 300);
        assert_eq!((moments.get(5), moments.get(5 + PLACES.0)), (None, Some(300)));
        assert_eq!(moments.get(0), None, "a stamp that names no request");
        let mut none = MomentsByNumber::for_numbers(0);
        none.add(5, 100);
        assert_eq!(none.get(5), None);
    }
}
