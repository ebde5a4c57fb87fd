//! The questions: OpenDP's transformations and measurements, through the bridge.

use odometry::measures::PureDp;
use odometry::opendp_bridge::{
    BridgeError, Imported, ImportedTransformation, calibrated, measurement, theirs::Pure,
    total_transformation,
};
#[allow(
    deprecated,
    reason = "OpenDP wants Polars instead, which this example does not need"
)]
use opendp::transformations::{make_select_column, make_split_dataframe};
use opendp::{
    core::Function,
    domains::{AtomDomain, VectorDomain},
    measurements::make_laplace,
    metrics::{AbsoluteDistance, L1Distance, SymmetricDistance},
    traits::CheckAtom,
    transformations::{
        make_cast_default, make_clamp, make_count, make_count_by_categories, make_impute_constant,
        make_mean, make_resize, make_sum,
    },
};

use crate::people::COLUMNS;

/// The survey: lines of text.
pub type Text = AtomDomain<String>;
/// One column of it.
pub type Column<T> = VectorDomain<AtomDomain<T>>;
/// A question about a column.
pub type Question<T, A> = Imported<Column<T>, SymmetricDistance, PureDp, A>;
/// From the survey to a column of it.
pub type Select<T> = ImportedTransformation<Text, SymmetricDistance, Column<T>, SymmetricDistance>;

fn column<T: CheckAtom>() -> Column<T> {
    VectorDomain::new(AtomDomain::default())
}

/// A column of words. Total: every column is there, and a field that a line does not have is empty.
#[allow(deprecated, reason = "as above")]
pub fn words(name: &'static str) -> Result<Select<String>, BridgeError> {
    total_transformation(move || {
        let names = COLUMNS.map(String::from).to_vec();
        make_split_dataframe(Some(","), names)? >> make_select_column(name.to_string())?
    })
}

/// A column of whole numbers. Total, as `words`: what is no number is 0.
#[allow(deprecated, reason = "as above")]
pub fn numbers(name: &'static str) -> Result<Select<i32>, BridgeError> {
    total_transformation(move || {
        let names = COLUMNS.map(String::from).to_vec();
        (make_split_dataframe(Some(","), names)? >> make_select_column(name.to_string())?)?
            >> make_cast_default::<_, String, i32>(column(), SymmetricDistance)?
    })
}

/// How many people.
pub fn count(epsilon: &'static str) -> Result<Question<i32, i32>, BridgeError> {
    let question = measurement("count", move || {
        calibrated(1, epsilon, |scale| {
            let change = AbsoluteDistance::<i32>::default();
            make_count(column::<i32>(), SymmetricDistance)?
                >> make_laplace::<_, _, Pure>(AtomDomain::default(), change, scale, None)?
        })
    })?;
    Ok(question.with_parameter("ε", epsilon))
}

/// The sum of a column, each value clamped to `0..=top`.
pub fn sum(top: i32, epsilon: &'static str) -> Result<Question<i32, i64>, BridgeError> {
    let question = measurement("sum", move || {
        calibrated(1, epsilon, |scale| {
            let wide = make_cast_default::<_, i32, i64>(column(), SymmetricDistance)?;
            let clamp = make_clamp(column::<i64>(), SymmetricDistance, (0, i64::from(top)))?;
            let sum = make_sum(clamp.output_domain.clone(), SymmetricDistance)?;
            let change = AbsoluteDistance::<i64>::default();
            ((wide >> clamp)? >> sum)?
                >> make_laplace::<_, _, Pure>(AtomDomain::default(), change, scale, None)?
        })
    })?;
    Ok(question
        .with_parameter("top", top)
        .with_parameter("ε", epsilon))
}

/// The mean of a column, each value clamped to `0..=top`, for about this many people.
pub fn mean(
    top: f64,
    people: usize,
    epsilon: &'static str,
) -> Result<Question<i32, f64>, BridgeError> {
    let question = measurement("mean", move || {
        calibrated(1, epsilon, |scale| {
            let float = make_cast_default::<_, i32, f64>(column(), SymmetricDistance)?;
            let impute = make_impute_constant(column::<f64>(), SymmetricDistance, 0.0)?;
            let clamp = make_clamp(impute.output_domain.clone(), SymmetricDistance, (0.0, top))?;
            let resize = make_resize::<_, _, SymmetricDistance>(
                clamp.output_domain.clone(),
                SymmetricDistance,
                people,
                top / 2.0,
            )?;
            let mean = make_mean(resize.output_domain.clone(), SymmetricDistance)?;
            let change = AbsoluteDistance::<f64>::default();
            ((((float >> impute)? >> clamp)? >> resize)? >> mean)?
                >> make_laplace::<_, _, Pure>(AtomDomain::new_non_nan(), change, scale, None)?
        })
    })?;
    Ok(question
        .with_parameter("top", top)
        .with_parameter("ε", epsilon))
}

/// How many people in each category; the last number is that of all others.
pub fn histogram(
    categories: &'static [&'static str],
    epsilon: &'static str,
) -> Result<Question<String, Vec<i32>>, BridgeError> {
    let question = measurement("histogram", move || {
        calibrated(1, epsilon, |scale| {
            let names = categories.iter().copied().map(String::from).collect();
            let counts = make_count_by_categories::<L1Distance<i32>, String, i32>(
                column(),
                SymmetricDistance,
                names,
                true,
            )?;
            let change = L1Distance::<i32>::default();
            let not_below_zero =
                Function::new(|counts: &Vec<i32>| counts.iter().map(|n| (*n).max(0)).collect());
            (counts >> make_laplace::<_, _, Pure>(column(), change, scale, None)?)?
                >> not_below_zero
        })
    })?;
    Ok(question
        .with_parameter("categories", categories.len())
        .with_parameter("ε", epsilon))
}
