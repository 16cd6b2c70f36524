//! Where counted values stand in the messages of a step: of each place, the numbers of its values are a function of the
//! request's number, so that no counter is shared.

use plan::message::{FieldSource, MessageOrder, MessageStep};
use plan::template::{Encode, Piece, pieces};
use std::collections::HashMap;

/// A place of a message where a counted value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Values that stand before it in its round, a round's messages, and the values of a round.
    first: u64,
    messages: u64,
    values: u64,
}

impl Place {
    /// Which of the values stands here in a request.
    #[inline]
    pub fn nth(self, number: u64) -> u64 {
        let round = if self.messages == 1 { number } else { number / self.messages };
        round.wrapping_mul(self.values).wrapping_add(self.first)
    }
}

/// The places of a step, told one after another as its messages are taken apart.
#[derive(Debug, Default)]
pub(super) struct Places {
    names: HashMap<String, Named>,
    /// Which message is taken apart.
    now: usize,
    /// Messages of a round.
    messages: u64,
}

#[derive(Debug, Default)]
struct Named {
    /// Values before each message in its round.
    before: Vec<u64>,
    /// Values of a round.
    values: u64,
    /// Places told of the message at hand.
    told: u64,
}

impl Places {
    /// Counts the places of a step. In a loop a round is the list, and each value is taken once. In another order it is not
    /// known how often each message was sent before a request, so that each request has values for the greatest number of
    /// places, and some stay unused.
    pub fn new(step: &MessageStep) -> Places {
        let counted = step
            .data
            .iter()
            .filter(|field| matches!(field.source, FieldSource::Count(_) | FieldSource::Lines(_)));
        let mut names: HashMap<String, Named> =
            counted.map(|field| (field.name.clone(), Named::default())).collect();
        if names.is_empty() {
            return Places::default();
        }
        let in_turn = step.order == MessageOrder::Loop;
        for message in &step.messages {
            names.values_mut().for_each(|named| named.before.push(if in_turn { named.values } else { 0 }));
            let mut here: HashMap<String, u64> = HashMap::new();
            for piece in
                [&message.head, &message.body].iter().flat_map(|text| pieces(text, Encode::Raw)).flatten()
            {
                if let Piece::Value { name, .. } = piece {
                    *here.entry(name).or_default() += 1;
                }
            }
            for (name, places) in here {
                let Some(named) = names.get_mut(&name) else { continue };
                named.values = if in_turn { named.values + places } else { named.values.max(places) };
            }
        }
        Places { names, now: 0, messages: if in_turn { step.messages.len().max(1) as u64 } else { 1 } }
    }

    /// A message is taken apart.
    pub fn begin(&mut self, message: usize) {
        self.now = message;
        self.names.values_mut().for_each(|named| named.told = 0);
    }

    /// The next place of a name in that message.
    pub fn next(&mut self, name: &str) -> Place {
        let (now, messages) = (self.now, self.messages.max(1));
        let Some(named) = self.names.get_mut(name) else { return Place { first: 0, messages: 1, values: 1 } };
        let first = named.before.get(now).copied().unwrap_or(0) + named.told;
        named.told += 1;
        Place { first, messages, values: named.values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::message::{Count, CountOrder, Field, Message};

    /// The values that each of so many requests takes.
    fn taken(bodies: &[&str], order: MessageOrder, requests: u64) -> Vec<Vec<u64>> {
        let count = Count { start: 0, end: 9, step: 1, order: CountOrder::Restart };
        let step = MessageStep {
            messages: bodies.iter().map(|body| Message::of(*body)).collect(),
            order,
            data: vec![Field { name: "c".to_owned(), source: FieldSource::Count(count), format: None }],
            ..MessageStep::default()
        };
        let mut places = Places::new(&step);
        let mut all = Vec::new();
        for (nth, body) in bodies.iter().enumerate() {
            places.begin(nth);
            all.push(body.matches("{{c}}").map(|_| places.next("c")).collect::<Vec<Place>>());
        }
        let of =
            |number: u64| all[number as usize % bodies.len()].iter().map(|place| place.nth(number)).collect();
        (0..requests).map(of).collect()
    }

    #[test]
    fn values_are_taken_in_the_order_of_the_places() {
        assert_eq!(taken(&["{{c}}-{{c}}"], MessageOrder::Loop, 3), [[0, 1], [2, 3], [4, 5]]);
        let wanted: [&[u64]; 6] = [&[0], &[], &[1, 2], &[3], &[], &[4, 5]];
        assert_eq!(taken(&["{{c}}", "x", "{{c}}{{c}}"], MessageOrder::Loop, 6), wanted);
    }

    #[test]
    fn no_value_is_taken_twice_in_any_order() {
        for order in [MessageOrder::Weighted, MessageOrder::Sequence] {
            let wanted: [&[u64]; 4] = [&[0], &[2, 3], &[4], &[6, 7]];
            assert_eq!(taken(&["{{c}}", "{{c}}{{c}}"], order, 4), wanted);
        }
    }
}
