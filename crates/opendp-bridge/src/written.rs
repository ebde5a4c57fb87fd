//! What is written down of OpenDP's metrics, measures and their distances, for sessions on a ledger: names and texts that stay the same,
//! whatever types are called.

use std::{any::Any, fmt::Debug};

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::Exact;
use measures::Name;
use opendp::{core::Metric as TheirMetric, metrics};

/// The name of a metric of OpenDP's that has one. In which type its distances are counted makes no difference, but for numbers of
/// records and whatever else is counted in `u32`: those are whole here, and a map may rely on it.
pub(crate) fn name_of_metric<MI: TheirMetric<Distance: 'static> + 'static>(
    metric: &MI,
) -> Option<Name> {
    let metric: &dyn Any = metric;
    let monotonic = metric.downcast_ref::<metrics::LInfDistance<MI::Distance>>();
    let name = match metric {
        _ if metric.is::<metrics::SymmetricDistance>() => "opendp-symmetric",
        _ if metric.is::<metrics::InsertDeleteDistance>() => "opendp-insert-delete",
        _ if metric.is::<metrics::ChangeOneDistance>() => "opendp-change-one",
        _ if metric.is::<metrics::HammingDistance>() => "opendp-hamming",
        _ if metric.is::<metrics::DiscreteDistance>() => "opendp-discrete",
        _ if metric.is::<metrics::AbsoluteDistance<MI::Distance>>() => "opendp-absolute",
        _ if metric.is::<metrics::L1Distance<MI::Distance>>() => "opendp-l1",
        _ if metric.is::<metrics::L2Distance<MI::Distance>>() => "opendp-l2",
        _ if monotonic.is_some() => "opendp-l-infinity",
        _ => return name_of_norms(metric),
    };
    let name = Name::new(name);
    let name = match monotonic {
        Some(metric) => name.with("monotonic", metric.monotonic),
        None => name,
    };
    let counts_in_whole_numbers = metric.is::<metrics::AbsoluteDistance<u32>>()
        || metric.is::<metrics::L1Distance<u32>>()
        || metric.is::<metrics::L2Distance<u32>>()
        || metric.is::<metrics::LInfDistance<u32>>();
    Some(match counts_in_whole_numbers {
        true => name.with("distances", "whole"),
        false => name,
    })
}

/// The name of a metric with several norms of what changes in each group, if that is counted by one of these.
fn name_of_norms(metric: &dyn Any) -> Option<Name> {
    macro_rules! found {
        ($($within:ty),*) => {
            None$(.or_else(|| norms_of::<$within>(metric)))*
        };
    }
    macro_rules! differences {
        ($($number:ty),*) => { found!($(metrics::AbsoluteDistance<$number>),*) };
    }
    let records = found!(
        metrics::SymmetricDistance,
        metrics::InsertDeleteDistance,
        metrics::ChangeOneDistance,
        metrics::HammingDistance
    );
    let differences = || {
        differences!(
            u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, RBig
        )
    };
    records.or_else(differences)
}

fn norms_of<M: TheirMetric<Distance: 'static> + 'static>(metric: &dyn Any) -> Option<Name> {
    if let Some(norms) = metric.downcast_ref::<metrics::L0InfDistance<M>>() {
        return Some(Name::new("opendp-l0-infinity").of(&name_of_metric(&norms.0)?));
    }
    let (p, within) = match metric.downcast_ref::<metrics::L01InfDistance<M>>() {
        Some(norms) => (1, &norms.0),
        None => (2, &metric.downcast_ref::<metrics::L02InfDistance<M>>()?.0),
    };
    let name = Name::new("opendp-l0-p-infinity").of(&name_of_metric(within)?);
    Some(name.with("p", p))
}

/// A distance of one of OpenDP's measures, as it is written down for good: for measures of your own on a ledger.
///
/// ```
/// use odometry::opendp_bridge::WrittenLoss;
/// assert_eq!(WrittenLoss::written(&0.5).as_deref(), Some("0.5"));
/// assert_eq!(<(f64, f64)>::read("(0.5, 0)"), Some((0.5, 0.0)));
/// assert_eq!(f64::read("0.1"), None); // a decimal that is no such float
/// ```
pub trait WrittenLoss: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Its text: exact, and the same for ever. Without it (the default), sessions on a ledger refuse the measure.
    fn written(&self) -> Option<String> {
        None
    }

    /// The distance that was [written](Self::written) like this.
    fn read(text: &str) -> Option<Self> {
        let _ = text;
        None
    }
}

macro_rules! floats {
    ($($float:ty),*) => {$(
        /// The exact binary value. What is NaN or negative is no loss.
        impl WrittenLoss for $float {
            fn written(&self) -> Option<String> {
                Some(Exact::try_from(f64::from(*self)).ok()?.text())
            }

            fn read(text: &str) -> Option<Self> {
                let exact: Exact = text.parse().ok()?;
                let near = exact.to_f64(exact::Round::Down) as $float;
                (Exact::try_from(f64::from(near)).ok()? == exact).then_some(near)
            }
        }
    )*};
}
floats!(f32, f64);

macro_rules! whole {
    ($($number:ty),*) => {$(
        impl WrittenLoss for $number {
            fn written(&self) -> Option<String> {
                Some(self.to_string())
            }

            fn read(text: &str) -> Option<Self> {
                as_written(text.parse().ok()?, text)
            }
        }
    )*};
}
whole!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, IBig
);

/// In lowest terms.
impl WrittenLoss for RBig {
    fn written(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn read(text: &str) -> Option<Self> {
        let number: Self = text.parse().ok()?;
        // It is read with a denominator of zero.
        let is_number = !number.denominator().is_zero();
        is_number
            .then_some(number)
            .and_then(|number| as_written(number, text))
    }
}

/// The number, if this is how it is written.
fn as_written<N: ToString>(number: N, text: &str) -> Option<N> {
    (number.to_string() == text).then_some(number)
}

/// `(ε, δ)`, for one.
impl<A: WrittenLoss, B: WrittenLoss> WrittenLoss for (A, B) {
    fn written(&self) -> Option<String> {
        Some(format!("({}, {})", self.0.written()?, self.1.written()?))
    }

    fn read(text: &str) -> Option<Self> {
        let inside = text.strip_prefix('(')?.strip_suffix(')')?;
        let (one, other) = inside.split_once(", ")?;
        Some((A::read(one)?, B::read(other)?))
    }
}

/// A text, if what is read from it is what was written: whatever is in it, nothing else is put into its place.
pub(crate) fn readable<T: PartialEq>(
    of: &T,
    text: String,
    read: impl Fn(&str) -> Option<T>,
) -> Option<String> {
    (read(&text).as_ref() == Some(of)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn again<L: WrittenLoss>(loss: L) {
        let text = loss.written().unwrap();
        assert_eq!(L::read(&text).as_ref(), Some(&loss), "{text}");
    }

    proptest! {
        #[test]
        fn losses_are_read_as_they_were_written(bits in any::<u64>(), short in any::<u32>(), n in any::<i128>(), d in 1u64..) {
            let float = f64::from_bits(bits >> 1); // not negative
            let short = f32::from_bits(short >> 1);
            if !float.is_nan() && !short.is_nan() {
                again(float);
                again(short);
                again((short, float));
                again((n, (float, d)));
            }
            again(n);
            again(RBig::from_parts(n.into(), d.into()));
        }

        #[test]
        fn whatever_is_read_was_written_so(text in r"[-+0-9.e(), inf*^]{0,12}") {
            if let Some(float) = f64::read(&text) {
                again(float);
            }
            if let Some(pair) = <(f64, f64)>::read(&text) {
                again(pair);
            }
        }
    }

    #[test]
    fn what_is_no_loss_has_no_text() {
        assert_eq!(WrittenLoss::written(&f64::NAN), None);
        assert_eq!(WrittenLoss::written(&-0.5), None);
        for forged in ["", "NaN", "-1", "0.1", "1e999", "(1, 0)", "inf inf", "0.5 "] {
            assert_eq!(f64::read(forged), None, "{forged}");
        }
        for forged in [
            "0.5",
            "(0.5)",
            "(0.5, 0.1)",
            "(0.5, 0, 0)",
            "(0.5,0)",
            "0.5, 0",
        ] {
            assert_eq!(<(f64, f64)>::read(forged), None, "{forged}");
        }
        for forged in ["1/0", "0/0", "2/4", "+5", "05", "1/-2", ""] {
            assert_eq!(RBig::read(forged), None, "{forged}");
        }
        assert_eq!(i64::read("+5"), None);
        assert_eq!(u8::read("256"), None);
        assert_eq!(f32::read("16777217"), None);
    }
}
