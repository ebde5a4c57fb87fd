//! Distances between data sets: OpenDP's floats, integers and tuples, and the exact values that we use for them.

use std::fmt;

use dashu_int::IBig;
use dashu_ratio::RBig;
use exact::{Exact, ExactError, Round};
use measures::{Distance, MapError};
use opendp::error::Fallible;
use thiserror::Error;

use crate::{error::in_full, written::readable};

/// A distance type of OpenDP's metrics.
///
/// Into ours it is exact; back into theirs it is rounded up, which is sound because maps are monotone.
pub trait OpendpDistance: Sized + 'static {
    /// The exact value.
    type Ours: Distance;

    /// The exact value of this distance.
    ///
    /// # Errors
    /// [`DistanceError::NotADistance`] if it is NaN or negative.
    fn exact(&self) -> Result<Self::Ours, DistanceError>;

    /// The least distance of this type that is at least `ours`.
    ///
    /// # Errors
    /// [`DistanceError::TooLarge`] if there is none.
    fn at_least(ours: &Self::Ours) -> Result<Self, DistanceError>;
}

/// Why a distance cannot be carried over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum DistanceError {
    /// NaN, or negative.
    #[error("not a distance: {0}")]
    NotADistance(#[from] ExactError),
    /// No value of OpenDP's type is large enough.
    #[error("the distance {distance} does not fit into {into}")]
    TooLarge {
        /// The distance.
        distance: String,
        /// OpenDP's type.
        into: &'static str,
    },
}

impl DistanceError {
    fn too_large<T>(distance: &Exact) -> Self {
        Self::TooLarge {
            distance: distance.to_string(),
            into: std::any::type_name::<T>(),
        }
    }
}

/// Asks a map of OpenDP's at a distance of ours, rounded up.
pub(crate) fn ask_map<D: OpendpDistance, T>(
    d_in: &D::Ours,
    map: impl FnOnce(&D) -> Fallible<T>,
) -> Result<T, MapError> {
    let failed = |reason: String| MapError::failed(d_in, reason);
    let distance = D::at_least(d_in).map_err(|error| failed(error.to_string()))?;
    map(&distance).map_err(|error| failed(in_full(&error)))
}

/// Counts of records stay counts.
impl OpendpDistance for u32 {
    type Ours = u32;

    fn exact(&self) -> Result<u32, DistanceError> {
        Ok(*self)
    }

    fn at_least(ours: &u32) -> Result<Self, DistanceError> {
        Ok(*ours)
    }
}

/// The least integer that is at least this.
fn ceiling(exact: &Exact) -> Option<IBig> {
    exact.to_rational().map(|ratio| ratio.ceil())
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl OpendpDistance for $integer {
            type Ours = Exact;

            fn exact(&self) -> Result<Exact, DistanceError> {
                match u128::try_from(*self) {
                    Ok(value) => Ok(Exact::from(value)),
                    Err(_) => Err(ExactError::Negative { input: self.to_string() }.into()),
                }
            }

            fn at_least(ours: &Exact) -> Result<Self, DistanceError> {
                ceiling(ours)
                    .and_then(|value| <$integer>::try_from(&value).ok())
                    .ok_or_else(|| DistanceError::too_large::<Self>(ours))
            }
        }
    )*};
}
integers!(u8, u16, u64, u128, usize, i8, i16, i32, i64, i128, isize);

impl OpendpDistance for f64 {
    type Ours = Exact;

    fn exact(&self) -> Result<Exact, DistanceError> {
        Ok(Exact::try_from(*self)?)
    }

    fn at_least(ours: &Exact) -> Result<Self, DistanceError> {
        Ok(ours.to_f64(Round::Up))
    }
}

impl OpendpDistance for f32 {
    type Ours = Exact;

    fn exact(&self) -> Result<Exact, DistanceError> {
        f64::from(*self).exact()
    }

    fn at_least(ours: &Exact) -> Result<Self, DistanceError> {
        let wide = ours.to_f64(Round::Up);
        let nearest = wide as f32;
        Ok(if f64::from(nearest) < wide {
            nearest.next_up()
        } else {
            nearest
        })
    }
}

/// Rationals whose denominator is not made of twos and fives are rounded up to 128 bits.
impl OpendpDistance for RBig {
    type Ours = Exact;

    fn exact(&self) -> Result<Exact, DistanceError> {
        Ok(Exact::from_rational(self, Round::Up)?)
    }

    fn at_least(ours: &Exact) -> Result<Self, DistanceError> {
        ours.to_rational()
            .ok_or_else(|| DistanceError::too_large::<Self>(ours))
    }
}

/// The distance of OpenDP's `L0InfDistance`: how many groups changed, and each by how much at the most.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupsChanged<D> {
    /// How many groups.
    pub groups: u32,
    /// The largest change of one of them.
    pub largest: D,
}

impl<D: Distance> Distance for GroupsChanged<D> {
    fn at_most(&self, other: &Self) -> bool {
        self.groups <= other.groups && self.largest.at_most(&other.largest)
    }

    fn written(&self) -> Option<String> {
        let text = format!("{}; {}", self.groups, self.largest.written()?);
        readable(self, text, Self::read)
    }

    fn read(text: &str) -> Option<Self> {
        let (groups, largest) = text.split_once("; ")?;
        Some(Self {
            groups: u32::read(groups)?,
            largest: D::read(largest)?,
        })
    }
}

impl<D: fmt::Display> fmt::Display for GroupsChanged<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} groups, each by {})", self.groups, self.largest)
    }
}

impl<Q: OpendpDistance> OpendpDistance for (u32, Q) {
    type Ours = GroupsChanged<Q::Ours>;

    fn exact(&self) -> Result<Self::Ours, DistanceError> {
        Ok(GroupsChanged {
            groups: self.0,
            largest: self.1.exact()?,
        })
    }

    fn at_least(ours: &Self::Ours) -> Result<Self, DistanceError> {
        Ok((ours.groups, Q::at_least(&ours.largest)?))
    }
}

/// The distance of OpenDP's `L0PInfDistance`: how many groups changed, by how much together, and each by how much at
/// the most.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupsChangedTogether<D> {
    /// How many groups.
    pub groups: u32,
    /// The norm of all changes.
    pub together: D,
    /// The largest change of one of them.
    pub largest: D,
}

impl<D: Distance> Distance for GroupsChangedTogether<D> {
    fn at_most(&self, other: &Self) -> bool {
        self.groups <= other.groups
            && self.together.at_most(&other.together)
            && self.largest.at_most(&other.largest)
    }

    fn written(&self) -> Option<String> {
        let (together, largest) = (self.together.written()?, self.largest.written()?);
        let text = format!("{}; {together}; {largest}", self.groups);
        readable(self, text, Self::read)
    }

    fn read(text: &str) -> Option<Self> {
        let (groups, norms) = text.split_once("; ")?;
        let (together, largest) = norms.split_once("; ")?;
        Some(Self {
            groups: u32::read(groups)?,
            together: D::read(together)?,
            largest: D::read(largest)?,
        })
    }
}

impl<D: fmt::Display> fmt::Display for GroupsChangedTogether<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            groups,
            together,
            largest,
        } = self;
        write!(
            f,
            "({groups} groups, together by {together}, each by {largest})"
        )
    }
}

impl<Q: OpendpDistance> OpendpDistance for (u32, Q, Q) {
    type Ours = GroupsChangedTogether<Q::Ours>;

    fn exact(&self) -> Result<Self::Ours, DistanceError> {
        Ok(GroupsChangedTogether {
            groups: self.0,
            together: self.1.exact()?,
            largest: self.2.exact()?,
        })
    }

    fn at_least(ours: &Self::Ours) -> Result<Self, DistanceError> {
        let together = Q::at_least(&ours.together)?;
        Ok((ours.groups, together, Q::at_least(&ours.largest)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        text.parse().unwrap()
    }

    #[test]
    fn a_float_is_its_exact_binary_value() {
        assert_eq!(0.5.exact(), Ok(exact("0.5")));
        assert!(0.1.exact().unwrap() > exact("0.1"));
        assert_eq!(f64::INFINITY.exact(), Ok(Exact::INFINITY));
        assert!(f64::NAN.exact().is_err() && (-1.0).exact().is_err());
    }

    #[test]
    fn the_way_back_rounds_up() {
        assert_eq!(i32::at_least(&exact("2.1")), Ok(3));
        assert_eq!(u8::at_least(&exact("255")), Ok(255));
        assert!(u8::at_least(&exact("255.5")).is_err());
        assert!(i64::at_least(&Exact::INFINITY).is_err());
        assert!(f32::at_least(&exact("0.1")).unwrap().exact().unwrap() >= exact("0.1"));
        assert_eq!(f32::at_least(&exact("0.5")), Ok(0.5));
        assert_eq!(f64::at_least(&Exact::INFINITY), Ok(f64::INFINITY));
    }

    fn again<D: Distance>(distance: &D) {
        assert_eq!(
            D::read(&distance.written().unwrap()).as_ref(),
            Some(distance)
        );
    }

    #[test]
    fn norms_of_groups_are_read_as_they_were_written() {
        let (two, three) = ((2u32, 0.1), (3u32, 0.5, 0.25));
        again(&two.exact().unwrap());
        again(&three.exact().unwrap());
        again(&(7u32, 3u32).exact().unwrap());
        for forged in [
            "",
            "2",
            "2 0.5",
            "2;0.5",
            "-2; 0.5",
            "2; ",
            "2; NaN",
            "2; 0.5; 0.5",
            "inf; 1",
        ] {
            assert_eq!(GroupsChanged::<Exact>::read(forged), None, "{forged}");
        }
        for forged in ["2; 0.5", "2; 0.5; ", "2; 0.5; 0.5; 0.5", "2.5; 0.5; 0.5"] {
            assert_eq!(
                GroupsChangedTogether::<Exact>::read(forged),
                None,
                "{forged}"
            );
        }
    }

    #[test]
    fn tuples_compare_coordinate_wise() {
        let small = (1u32, 2.0, 2.0).exact().unwrap();
        let large = (2u32, 2.0, 3.0).exact().unwrap();
        assert!(small.at_most(&large) && !large.at_most(&small));
        let many = (3u32, 1.0, 1.0).exact().unwrap();
        assert!(!many.at_most(&large) && !large.at_most(&many));
        assert_eq!(<(u32, f64, f64)>::at_least(&small), Ok((1, 2.0, 2.0)));
        assert!((1u32, -1i32).exact().is_err());
    }
}
