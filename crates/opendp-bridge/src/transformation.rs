//! OpenDP's transformations as ours, so that `transformation >> odometer` and `transformation >> filter` exist (OpenDP
//! #744).

use measures::MapError;
use odometer::Transformation;
use opendp::core::Transformation as TheirTransformation;

use crate::{
    constructor::{Build, Constructor},
    distance::{OpendpDistance, ask_map},
    error::{BridgeError, at_release},
    pinned::Pinned,
    space::{OpendpSpace, OursOf, SharedDomain, SharedMetric, space_of},
};

/// A transformation of ours from OpenDP's data to OpenDP's data.
pub type ImportedTransformation<DI, MI, DO, MO> =
    Transformation<OpendpSpace<DI, MI>, OpendpSpace<DO, MO>>;

/// An OpenDP transformation as a transformation of ours. **Whoever calls this vouches that it is total: that it fails and
/// panics on no data set of its input domain.**
///
/// A transformation is not charged, so whether it fails would be told for free. OpenDP's own transformations may fail on
/// data that their domain allows (a parse, a cast, an overflow): pick those that cannot, or make the domain say what they
/// need. One that fails all the same fails like one of ours ([`Transformation`]).
///
/// The constructor is called now, and once on each thread that transforms data or asks the stability map. Both domains
/// and both metrics are kept and compared, and so is the stability map at the first 256 distances at which it was asked.
/// Distances go into OpenDP rounded up, and come back exactly.
///
/// ```
/// use odometry::measures::{Basic, PureDp};
/// use odometry::odometer::Odometer;
/// use opendp::{domains::{AtomDomain, VectorDomain}, metrics::SymmetricDistance, transformations::make_clamp};
/// use odometry::opendp_bridge::total_transformation;
/// let clamp = total_transformation(|| {
///     make_clamp(VectorDomain::new(AtomDomain::<i32>::default()), SymmetricDistance, (0, 100))
/// })?;
/// let odometer = Odometer::new(clamp.output().clone(), Basic::new(PureDp));
/// let session = (&clamp >> &odometer)?.open(vec![31, 147])?;
/// assert_eq!(session.before.privacy_loss(&1)?.to_string(), "0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BridgeError::Construction`] with OpenDP's text, if the constructor fails.
pub fn total_transformation<DI, MI, DO, MO>(
    constructor: impl Build<TheirTransformation<DI, MI, DO, MO>>,
) -> Result<ImportedTransformation<DI, MI, DO, MO>, BridgeError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    DO: SharedDomain,
    MO: SharedMetric,
{
    let constructor = Constructor::new(constructor);
    let first = constructor.build()?;
    let input = space_of(&first.input_domain, &first.input_metric);
    let output = space_of(&first.output_domain, &first.output_metric);
    let expected = (input.clone(), output.clone());
    let check = move |now: &TheirTransformation<DI, MI, DO, MO>| {
        let input = space_of(&now.input_domain, &now.input_metric);
        let output = space_of(&now.output_domain, &now.output_metric);
        if expected == (input, output) {
            return Ok(());
        }
        Err(BridgeError::Unstable {
            first: format!("{:?} to {:?}", expected.0, expected.1),
            now: format!("{now:?}"),
        })
    };
    let pinned = Pinned::new(constructor, check, ask);
    let asked = pinned.clone();
    Ok(Transformation::new(
        input,
        output,
        move |d_in| asked.map(d_in),
        move |data: &DI::Carrier| {
            pinned.with(|theirs| theirs.invoke(data).map_err(|error| at_release(&error)))?
        },
    ))
}

/// Asks OpenDP's stability map.
fn ask<DI, MI, DO, MO>(
    theirs: &TheirTransformation<DI, MI, DO, MO>,
    d_in: &OursOf<MI>,
) -> Result<OursOf<MO>, MapError>
where
    DI: SharedDomain,
    MI: SharedMetric,
    DO: SharedDomain,
    MO: SharedMetric,
{
    let d_out = ask_map(d_in, |d_in: &MI::Distance| theirs.map(d_in))?;
    let ours = d_out.exact();
    ours.map_err(|error| MapError::failed(d_in, error.to_string()))
}
