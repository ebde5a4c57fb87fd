//! What an audit looked at, and what it took for granted.

use std::fmt;

use dashu_ratio::RBig;
use exact::Round;

use crate::{links::Outline, shown::shown};

/// What a verdict is about: it says nothing beyond this.
///
/// ```
/// use odometry::auditor::{Input, audit};
/// use odometry::measures::Epsilon;
/// use odometry::queryable::{Root, machine};
///
/// // Tells its input when it is asked for the third time.
/// let build = |input: Input, root: &Root| {
///     let mut asked = 0;
///     root.spawn(machine(move |(), _| {
///         asked += 1;
///         Ok(asked == 3 && input == Input::One)
///     }))
/// };
/// let verdict = audit(build).asking(2, |_| vec![()])?.claims(&Epsilon::ZERO)?;
/// assert!(verdict.holds() && verdict.coverage.cut_off);
/// assert!(verdict.to_string().contains("histories of up to 2 rounds, some of them cut off there"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// How many rounds the longest history has.
    pub depth: usize,
    /// Whether a history ended only because it, or a part of it, was as long as the depth allowed. What the system would
    /// have answered next was not looked at; nor was it where the offers ended by themselves.
    pub cut_off: bool,
    /// The fewest and the most queries that were offered after a history, ends left out.
    pub offered: [usize; 2],
    /// The largest mass that an adversary can lose to truncated draws, under each input.
    pub missing: [RBig; 2],
    /// Whether equal answers were assumed indistinguishable. Otherwise their type is
    /// [`Canonical`](queryable::Canonical), and it was checked.
    pub equality_assumed: bool,
    /// How interleavings were merged, if they were.
    pub merged: Option<Merged>,
    /// How many runs were made again on each input, at the least, and compared. Randomness that does not come from the
    /// coins and changes each of them with probability p stays hidden with probability `(1 − p)^reruns`: at 512, 0.6 % for
    /// p = 1 %.
    pub reruns: usize,
}

/// Interleavings that were merged. This assumes that no part minds what the others are asked and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Merged {
    /// How many parts there are.
    pub parts: usize,
    /// The assumption was checked for every two parts in every interleaving of at most so many turns, and for all parts
    /// one after the other. Beyond that it is an assumption.
    pub turns: usize,
}

impl Coverage {
    pub(crate) fn new(
        graph: Outline<'_>,
        cut_off: bool,
        reruns: usize,
        equality_assumed: bool,
        merged: Option<Merged>,
    ) -> Self {
        let nodes = graph.nodes;
        let mut depths = vec![0; nodes.count()];
        let mut offered = [usize::MAX, 0];
        let mut depth = 0;
        let mut children = Vec::new();
        for at in 0..nodes.count() {
            depth = depth.max(depths[at]);
            let count = nodes.edges(at);
            for edge in 0..count {
                nodes.children(at, edge, &mut children);
                for child in &children {
                    depths[*child] = depths[*child].max(depths[at] + 1);
                }
            }
            if count > 0 {
                offered = [offered[0].min(count), offered[1].max(count)];
            }
        }
        Self {
            depth,
            cut_off,
            offered: [offered[0].min(offered[1]), offered[1]],
            missing: graph.missing.clone(),
            equality_assumed,
            merged,
            reruns,
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: usize, one: &str, more: &str| match n {
            1 => format!("1 {one}"),
            _ => format!("{n} {more}"),
        };
        let [fewest, most] = self.offered;
        let queries = plural(most, "query", "queries");
        match fewest == most {
            true => write!(f, "{queries} offered after each history")?,
            false => write!(f, "{fewest} to {queries} offered after each history")?,
        }
        let rounds = plural(self.depth, "round", "rounds");
        match self.cut_off {
            true => write!(
                f,
                "; histories of up to {rounds}, some of them cut off there"
            )?,
            // Not "to its end": whoever makes the offers may stop before the system does.
            false => write!(
                f,
                "; histories of up to {rounds}, each until nothing more was offered"
            )?,
        }
        let [zero, one] = &self.missing;
        let missing = zero.max(one);
        if !missing.is_zero() {
            let missing = shown(missing, Round::Up);
            write!(f, "; draws truncated, up to {missing} of the mass")?;
        }
        if self.equality_assumed {
            f.write_str("; equal answers were assumed indistinguishable")?;
        }
        if let Some(Merged { parts, turns }) = self.merged {
            write!(
                f,
                "; interleavings of {parts} parts merged, assuming that no part minds the others (checked for every two in \
                 up to {turns} turns, and for all in one order)"
            )?;
        }
        write!(
            f,
            "; {} repeated on each input",
            plural(self.reruns, "run", "runs")
        )
    }
}
