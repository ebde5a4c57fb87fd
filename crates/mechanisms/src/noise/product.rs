//! A change times the rate of noise: what it costs, and what that is as data.

use dashu_base::BitTest as _;
use dashu_ratio::RBig;
use exact::{Exact, Round};
use measures::Form;

/// The product, rounded up once. Infinity where there is no bound.
pub(super) fn product(change: &Exact, rate: &RBig) -> Exact {
    let product = change.to_rational().map(|change| change * rate);
    product
        .and_then(|product| Exact::from_rational(&product, Round::Up).ok())
        .unwrap_or(Exact::INFINITY)
}

/// So many bits of a number leave room for every whole distance, and its square, in a product that is not rounded.
const SHORT: usize = 64;

/// The form of the product at every distance, rounded up once: of the product at one if its multiples are short, and otherwise of the
/// distance alone, times the product as a ratio.
pub(super) fn form_of_product<D, L>(
    change: &Exact,
    rate: &RBig,
    per_unit: impl Fn(Exact) -> Form<D, L>,
) -> Form<D, L> {
    let form = || {
        let at_one = product(change, rate);
        let exact = change.to_rational()? * rate;
        if exact.numerator().bit_len() <= SHORT && at_one.to_rational()? == exact {
            return Some(per_unit(at_one));
        }
        let whole = |number: RBig, round| Exact::from_rational(&number, round).ok();
        Some(Form::Ratio {
            times: whole(exact.numerator().clone().into(), Round::Up)?,
            over: whole(exact.denominator().clone().into(), Round::Down)?,
            of: Box::new(per_unit(Exact::ONE)),
        })
    };
    form().unwrap_or(Form::Function)
}
