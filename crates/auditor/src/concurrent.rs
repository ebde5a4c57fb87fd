//! Parts that are asked concurrently, and the orders in which they are.

use queryable::Exchange;

use crate::explore::Offer;

/// One of several parts that are asked concurrently: how often, and what, given its own history.
pub struct Part<Q, A> {
    depth: usize,
    offer: Box<Offers<'static, Q, A>>,
}

/// How often the two parts of a pair take turns when their independence is checked, unless said otherwise.
pub const DEFAULT_TURNS: usize = 4;

/// What can be asked after a history.
pub(crate) type Offers<'a, Q, A> = dyn Fn(&[Exchange<Q, A>]) -> Vec<Q> + Sync + 'a;

impl<Q, A> Part<Q, A> {
    /// A part that is asked at most `depth` times; `offer` says what, given the history of this part alone.
    pub fn new(depth: usize, offer: impl Fn(&[Exchange<Q, A>]) -> Vec<Q> + Sync + 'static) -> Self {
        Self {
            depth,
            offer: Box::new(offer),
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    fn offered(&self, history: &[Exchange<Q, A>]) -> Vec<Q> {
        if history.len() >= self.depth {
            return vec![];
        }
        (self.offer)(history)
    }
}

/// The first part that has something to ask, when the history goes through the parts in order.
pub(crate) fn in_order<Q, A>(parts: &[Part<Q, A>], history: &[Exchange<Q, A>]) -> Offer<Q> {
    let mut rest = history;
    let mut cut_off = false;
    for (number, part) in parts.iter().enumerate() {
        let ends = |length: &usize| part.offered(&rest[..*length]).is_empty();
        let own = (0..rest.len()).find(ends).unwrap_or(rest.len());
        if own == rest.len() {
            let queries = part.offered(rest);
            if !queries.is_empty() {
                return Offer {
                    part: number,
                    queries,
                    cut_off: false,
                };
            }
        }
        cut_off |= own == part.depth;
        rest = &rest[own..];
    }
    Offer {
        part: 0,
        queries: vec![],
        cut_off,
    }
}

/// What is offered after any interleaving. Queries carry the number of the part they go to.
pub(crate) fn in_any_order<Q: Clone, A: Clone>(
    parts: &[Part<Q, A>],
    history: &[Exchange<(usize, Q), A>],
) -> Offer<(usize, Q)> {
    offer_of(parts, 0..parts.len(), history)
}

/// What is offered when only two parts are asked, and take few turns.
pub(crate) fn in_few_turns<Q: Clone, A: Clone>(
    parts: &[Part<Q, A>],
    pair: [usize; 2],
    turns: usize,
    history: &[Exchange<(usize, Q), A>],
) -> Offer<(usize, Q)> {
    let owner = |round: &Exchange<(usize, Q), A>| round.query.0;
    let switches = history
        .windows(2)
        .filter(|two| owner(&two[0]) != owner(&two[1]))
        .count();
    let goes_on = |number: &usize| {
        let switch = history.last().is_some_and(|last| owner(last) != *number);
        switches + usize::from(switch) < turns
    };
    offer_of(parts, pair.into_iter().filter(goes_on), history)
}

/// What these parts are asked next, each given its own history.
fn offer_of<Q: Clone, A: Clone>(
    parts: &[Part<Q, A>],
    numbers: impl Iterator<Item = usize>,
    history: &[Exchange<(usize, Q), A>],
) -> Offer<(usize, Q)> {
    let mut queries = vec![];
    let mut cut_off = false;
    for number in numbers {
        let own: Vec<Exchange<Q, A>> = history
            .iter()
            .filter(|round| round.query.0 == number)
            .map(|round| Exchange {
                query: round.query.1.clone(),
                answer: round.answer.clone(),
            })
            .collect();
        cut_off |= own.len() == parts[number].depth;
        let offered = parts[number].offered(&own);
        queries.extend(offered.into_iter().map(|query| (number, query)));
    }
    Offer {
        part: 0,
        queries,
        cut_off,
    }
}
