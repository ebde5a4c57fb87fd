//! Timing that is fair to all contestants: they take turns in short rounds, so that whatever else the
//! machine does hits all of them, and the best round of each counts.

use std::{
    error::Error,
    time::{Duration, Instant},
};

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Enough for stable ratios.
    Full,
    /// Enough to see that it runs, and roughly where it stands.
    Quick,
}

impl Effort {
    fn rounds(self) -> usize {
        match self {
            Effort::Full => 250,
            Effort::Quick => 40,
        }
    }

    /// Shorter than a scheduler's time slice, so that on a busy machine some rounds are undisturbed.
    fn round_time(self) -> Duration {
        match self {
            Effort::Full => Duration::from_millis(2),
            Effort::Quick => Duration::from_micros(500),
        }
    }
}

/// Something to measure: a name, how many operations a call does, and the call.
pub struct Contestant<'a> {
    name: &'static str,
    operations: usize,
    call: Box<dyn FnMut() + 'a>,
}

impl<'a> Contestant<'a> {
    /// `call` does `operations` operations; it must hide its inputs and results in `black_box`.
    pub fn new(name: &'static str, operations: usize, call: impl FnMut() + 'a) -> Self {
        let call = Box::new(call);
        Contestant {
            name,
            operations,
            call,
        }
    }
}

/// The time of one operation.
pub struct Timing {
    /// Whose.
    pub name: &'static str,
    /// In the best round, in nanoseconds.
    pub best: f64,
    /// In the median round, in nanoseconds.
    pub median: f64,
}

/// Measures all contestants, in turns.
pub fn compare<const N: usize>(
    effort: Effort,
    mut contestants: [Contestant<'_>; N],
) -> [Timing; N] {
    let calls = contestants
        .each_mut()
        .map(|contestant| calls_per_round(effort, contestant));
    let mut rounds = [(); N].map(|()| Vec::new());
    for _ in 0..effort.rounds() {
        for (i, contestant) in contestants.iter_mut().enumerate() {
            rounds[i].push(time(contestant, calls[i]));
        }
    }
    let mut rounds = rounds.into_iter();
    contestants.map(|contestant| {
        let mut times: Vec<f64> = rounds.next().unwrap_or_default();
        times.sort_by(f64::total_cmp);
        Timing {
            name: contestant.name,
            best: times[0],
            median: times[times.len() / 2],
        }
    })
}

/// The scales of noise at which samplers and releases are measured.
const SCALES: [u16; 3] = [1, 10, 1000];

/// Ratios, of which the least counts, and times, of which the largest counts.
pub type AtScale<const N: usize, const M: usize> = ([f64; N], [f64; M]);

/// Measures at each scale, and returns the least of each ratio and the largest of each time.
pub fn over_scales<const N: usize, const M: usize>(
    at_scale: impl Fn(u16) -> Result<AtScale<N, M>, Box<dyn Error>>,
) -> AtScale<N, M> {
    let (mut least, mut most) = ([f64::INFINITY; N], [0.0f64; M]);
    for scale in SCALES {
        println!("## scale {scale}");
        match at_scale(scale) {
            Ok((ratios, times)) => {
                least = std::array::from_fn(|i| least[i].min(ratios[i]));
                most = std::array::from_fn(|i| most[i].max(times[i]));
            }
            Err(error) => println!("not measured: {error}"),
        }
    }
    (least, most)
}

/// How many calls fill one round; finding out also warms up.
fn calls_per_round(effort: Effort, contestant: &mut Contestant<'_>) -> usize {
    let mut calls = 1;
    loop {
        let start = Instant::now();
        (0..calls).for_each(|_| (contestant.call)());
        if start.elapsed() >= effort.round_time() {
            return calls;
        }
        calls *= 2;
    }
}

/// Nanoseconds per operation.
fn time(contestant: &mut Contestant<'_>, calls: usize) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| (contestant.call)());
    start.elapsed().as_nanos() as f64 / (calls * contestant.operations) as f64
}

/// Prints one row per timing.
pub fn print_table(timings: &[Timing]) {
    println!("{:<32}{:>12}{:>12}", "operation", "best, ns", "median, ns");
    for Timing { name, best, median } in timings {
        println!("{name:<32}{best:>12.1}{median:>12.1}");
    }
}

/// The time that this thread has spent on a processor, where the system tells; else the time that has passed. For long
/// runs that would be interrupted by others.
pub fn busy_time(start: Instant) -> Duration {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split_whitespace().next()?.parse().ok());
    spent.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Bytes of this process in memory; 0 where the system does not tell.
pub fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<f64>().ok());
    pages.unwrap_or(0.0) * 4096.0
}

/// Prints why a subcommand has no bars, and returns its line without any: a check misses them.
pub fn not_measured(error: &dyn std::fmt::Display) -> String {
    println!("not measured: {error}");
    "bar:".to_owned()
}
