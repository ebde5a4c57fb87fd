//! Rényi differential privacy at several orders at once. The set of orders is fixed by the measure; a loss has one value
//! for each order, and is within a budget only if every order is.

use super::{check_order, read_order};
use crate::loss::scalar::down;
use crate::{Additive, Loss, LossError, Measure, ScaleSquared};
use exact::{Exact, Parameter, Round, excerpt};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A non-empty, strictly increasing list of Rényi orders, each finite and above 1. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Orders(Arc<[Exact]>);

impl Orders {
    /// The list of these orders.
    ///
    /// # Errors
    /// [`LossError::Orders`] if there is none or they do not grow; as [`RenyiDp::new`](crate::RenyiDp::new) for each.
    pub fn new(orders: impl IntoIterator<Item: Parameter>) -> Result<Self, LossError> {
        let orders = orders.into_iter().map(read_order);
        let orders: Arc<[Exact]> = orders.collect::<Result<_, _>>()?;
        orders.iter().try_for_each(check_order)?;
        if orders.is_empty() || orders.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(LossError::Orders {
                orders: excerpt(&list(&orders)),
            });
        }
        Ok(Orders(orders))
    }

    /// Their exact texts, to be written down.
    pub(crate) fn text(&self) -> String {
        texts(&self.0)
    }

    /// The orders, increasing.
    pub fn as_slice(&self) -> &[Exact] {
        &self.0
    }

    /// Whether these are the same orders; cheap when they are one list, as for the losses of one measure.
    fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

/// Exact texts, to be written down.
fn texts(values: &[Exact]) -> String {
    let texts: Vec<String> = values.iter().map(Exact::text).collect();
    texts.join(" ")
}

fn list(values: &[Exact]) -> String {
    let texts: Vec<String> = values.iter().map(Exact::to_string).collect();
    format!("[{}]", texts.join(", "))
}

/// A Rényi curve: for each order of a fixed set, a bound on the divergence of that order. Compared order by order;
/// curves on different sets of orders are incomparable.
///
/// An infinite value at one order says nothing about that order; the others still count.
///
/// ```
/// use odometry::exact::Exact;
/// use odometry::measures::{Loss, Orders, RenyiCurve};
/// let orders = Orders::new([2, 4])?;
/// let low = RenyiCurve::new(&orders, [Exact::ONE, 2u32.into()])?;
/// let steep = RenyiCurve::new(&orders, [Exact::ZERO, 9u32.into()])?;
/// assert!(!low.at_most(&steep) && !steep.at_most(&low));
/// # Ok::<(), odometry::measures::LossError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct RenyiCurve {
    orders: Orders,
    epsilons: Arc<[Exact]>,
}

impl RenyiCurve {
    /// The curve with these values, one for each order.
    pub fn new(
        orders: &Orders,
        epsilons: impl IntoIterator<Item = Exact>,
    ) -> Result<Self, LossError> {
        let epsilons: Arc<[Exact]> = epsilons.into_iter().collect();
        if epsilons.len() != orders.0.len() {
            return Err(LossError::Foreign {
                loss: excerpt(&list(&epsilons)),
                measure: excerpt(&format!("orders {}", list(&orders.0))),
            });
        }
        Ok(RenyiCurve {
            orders: orders.clone(),
            epsilons,
        })
    }

    /// The orders.
    pub const fn orders(&self) -> &Orders {
        &self.orders
    }

    /// The values, in the order of the orders.
    pub fn epsilons(&self) -> &[Exact] {
        &self.epsilons
    }

    /// Whether both curves are on the same orders.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        self.orders.same(&other.orders)
    }

    /// The curve with the values of `f` on the same orders.
    pub(crate) fn map(&self, f: impl Fn(usize, &Exact) -> Exact) -> Self {
        let epsilons = self
            .epsilons
            .iter()
            .enumerate()
            .map(|(i, epsilon)| f(i, epsilon))
            .collect();
        RenyiCurve {
            orders: self.orders.clone(),
            epsilons,
        }
    }

    /// The curve as text, with its values shown like this.
    fn text(&self, shown: impl Fn(&Exact) -> String) -> String {
        let pairs = self.orders.0.iter().zip(&*self.epsilons);
        let texts: Vec<String> = pairs
            .map(|(order, epsilon)| format!("{order}: {}", shown(epsilon)))
            .collect();
        format!("{{{}}}", texts.join(", "))
    }

    /// The values, to change in place; copied first if they are shared.
    pub(crate) fn epsilons_mut(&mut self) -> &mut [Exact] {
        Arc::make_mut(&mut self.epsilons)
    }
}

impl Loss for RenyiCurve {
    fn at_most(&self, other: &Self) -> bool {
        self.matches(other)
            && self
                .epsilons
                .iter()
                .zip(&*other.epsilons)
                .all(|(a, b)| a <= b)
    }

    fn shown_down(&self) -> String {
        self.text(down)
    }

    fn on_grid(self) -> Self {
        match self.epsilons.iter().all(Exact::is_on_grid) {
            true => self,
            false => self.map(|_, epsilon| epsilon.on_grid(Round::Up).into_owned()),
        }
    }

    /// The orders, then the values.
    fn written(&self) -> Option<String> {
        Some(format!(
            "{}: {}",
            texts(&self.orders.0),
            texts(&self.epsilons)
        ))
    }

    fn read(text: &str) -> Option<Self> {
        let (orders, epsilons) = text.split_once(": ")?;
        let numbers = |text: &str| text.split(' ').map(|number| number.parse().ok()).collect();
        let (orders, epsilons): (Option<Vec<Exact>>, Option<Vec<Exact>>) =
            (numbers(orders), numbers(epsilons));
        RenyiCurve::new(&Orders::new(orders?).ok()?, epsilons?).ok()
    }

    fn quadratic(&self, by: &Exact) -> Option<Self> {
        Some(self.scaled_squared(by))
    }
}

/// Gaussian noise of variance σ² costs `α·d_in²/(2σ²)` at every order (\[Mir17\] Cor 3). There is no such group rule.
impl ScaleSquared for RenyiCurve {
    fn scaled_squared(&self, by: &Exact) -> Self {
        let square = by.pow(2, Round::Up);
        self.map(|_, epsilon| epsilon.mul(&square, Round::Up))
    }
}

impl fmt::Display for RenyiCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Exact::to_string))
    }
}

/// The serialized form; reading it checks the orders and the number of values.
#[derive(Serialize, Deserialize)]
struct Fields {
    orders: Vec<Exact>,
    epsilons: Vec<Exact>,
}

impl TryFrom<Fields> for RenyiCurve {
    type Error = LossError;

    fn try_from(fields: Fields) -> Result<Self, LossError> {
        RenyiCurve::new(&Orders::new(fields.orders)?, fields.epsilons)
    }
}

impl From<RenyiCurve> for Fields {
    fn from(loss: RenyiCurve) -> Self {
        Fields {
            orders: loss.orders.0.to_vec(),
            epsilons: loss.epsilons.to_vec(),
        }
    }
}

/// Rényi differential privacy on a fixed set of orders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenyiCurveDp {
    orders: Orders,
}

impl RenyiCurveDp {
    /// The measure on these orders.
    pub const fn new(orders: Orders) -> Self {
        RenyiCurveDp { orders }
    }

    /// The orders.
    pub const fn orders(&self) -> &Orders {
        &self.orders
    }

    /// The curve whose value at the order α is `f(α)`.
    pub fn loss(&self, f: impl Fn(&Exact) -> Exact) -> RenyiCurve {
        RenyiCurve {
            orders: self.orders.clone(),
            epsilons: self.orders.0.iter().map(f).collect(),
        }
    }
}

impl Measure for RenyiCurveDp {
    type Loss = RenyiCurve;

    fn zero(&self) -> RenyiCurve {
        self.loss(|_| Exact::ZERO)
    }

    fn infinity(&self) -> RenyiCurve {
        self.loss(|_| Exact::INFINITY)
    }

    fn check(&self, loss: &RenyiCurve) -> Result<(), LossError> {
        if loss.orders.same(&self.orders) {
            return Ok(());
        }
        Err(LossError::Foreign {
            loss: excerpt(loss),
            measure: excerpt(&format!("{self:?}")),
        })
    }

    fn name(&self) -> Option<crate::Name> {
        Some(crate::Name::new("renyi-curve").with("orders", texts(&self.orders.0)))
    }

    fn added(&self, one: &RenyiCurve, other: &RenyiCurve) -> Option<RenyiCurve> {
        Some(self.plus(one, other, 1))
    }
}
