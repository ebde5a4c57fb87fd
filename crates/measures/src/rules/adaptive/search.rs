//! Looking for the largest loss that would still be admitted, where there is no closed form.

use exact::{Exact, Round};

/// About the largest number in `[0, upper]` that is admitted, or `None` if zero is not. `admits` must be decreasing: what
/// is below an admitted value is admitted. Only values on the grid that were tried and admitted are returned.
pub(crate) fn largest_admitted(upper: &Exact, admits: impl Fn(&Exact) -> bool) -> Option<Exact> {
    let at = |bits: u64| Exact::try_from(f64::from_bits(bits)).unwrap_or(Exact::ZERO);
    if !admits(&Exact::ZERO) {
        return None;
    }
    let upper = down(upper);
    if admits(&upper) {
        return Some(upper);
    }
    // The bits of non-negative floats are ordered as the floats are.
    let (mut admitted, mut refused) = (0u64, upper.to_f64(Round::Up).to_bits());
    while refused - admitted > 1 {
        let middle = admitted + (refused - admitted) / 2;
        if admits(&at(middle)) {
            admitted = middle;
        } else {
            refused = middle;
        }
    }
    let admitted = down(&at(admitted));
    let candidates = [down(&shown(&admitted)), admitted, Exact::ZERO];
    candidates.into_iter().find(admits)
}

/// The number rounded down to the grid, so that it is absorbed as it is.
fn down(x: &Exact) -> Exact {
    x.on_grid(Round::Down).into_owned()
}

/// The number rounded down to the 17 digits that are displayed, so that what a person reads can be launched.
fn shown(x: &Exact) -> Exact {
    x.decimal(17, Round::Down).parse().unwrap_or(Exact::ZERO)
}

/// The largest handy number on the grid whose square, rounded up, is at most `square`: the root itself if it is exact,
/// otherwise rounded down to an `f64`, so that its square is exact.
pub(crate) fn root_within(square: &Exact) -> Exact {
    let root = square.sqrt(Round::Down);
    let handy = Exact::try_from(root.to_f64(Round::Down)).unwrap_or(Exact::ZERO);
    let within = |root: &Exact| root.mul(root, Round::Up) <= *square;
    let candidates = [down(&root), down(&handy)];
    candidates.into_iter().find(within).unwrap_or(Exact::ZERO)
}

/// Half of a number: exact for all but the tiniest numbers.
pub(crate) fn half(x: &Exact, round: Round) -> Exact {
    x.div(&Exact::from(2u32), round)
}

/// The number rounded up to 53 bits, so that sums of such numbers stay short.
pub(crate) fn short(x: &Exact) -> Exact {
    Exact::try_from(x.to_f64(Round::Up)).unwrap_or(Exact::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_ends_next_to_the_boundary() {
        let third = Exact::ratio_rounded(1, 3, Round::Down).unwrap();
        let found = largest_admitted(&Exact::ONE, |x| *x <= third).unwrap();
        assert_eq!(found.to_string(), "0.33333333333333331"); // the float below 1/3, to 17 digits
        assert!(found <= third);
        assert_eq!(largest_admitted(&Exact::ONE, |_| true), Some(Exact::ONE));
        assert_eq!(largest_admitted(&Exact::ONE, |_| false), None);
        assert_eq!(
            largest_admitted(&Exact::INFINITY, |x| x.is_zero()),
            Some(Exact::ZERO)
        );
    }

    #[test]
    fn a_root_never_squares_to_more() {
        assert_eq!(
            root_within(&"0.16".parse().unwrap()),
            "0.4".parse().unwrap()
        );
        for text in ["2", "3e-9", "0.1", "1e-100", "1e70", "123456.789"] {
            let square: Exact = text.parse().unwrap();
            let root = root_within(&square);
            assert!(root.mul(&root, Round::Up) <= square);
            assert!(root.to_f64(Round::Up) >= square.to_f64(Round::Down).sqrt() * (1.0 - 1e-15));
        }
    }
}
