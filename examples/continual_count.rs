//! How wrong is a count that is published at every step, for one and the same guarantee about each event? Old and new ways to
//! add the noise, and their errors over time, as a picture. Run with `cargo run --release --example continual_count`.

use std::error::Error;

use odometry::measures::convert::zcdp_epsilon;
use odometry::mechanisms::counter::{
    Counter, EndlessCounter, SquareRootBlocks, SquareRootCounter, SubtractingCounter,
};
use odometry::mechanisms::noise::Noise;
use odometry::mechanisms::samplers::{DiscreteGaussian, DiscreteLaplace};
use odometry::mechanisms::spend::{epsilon, rho};
use odometry::queryable::{Machine, Root, Scope, machine};
use plotters::prelude::*;

const STEPS: usize = 1 << 14;
const RUNS: usize = 40;
const WINDOW: usize = 64;

/// A way to count: its name, and the root mean square error in each window of time.
type Line = (String, Vec<f64>);

fn main() -> Result<(), Box<dyn Error>> {
    // 15 levels: noise of scale 15 on every block makes ε = 1 for each event.
    let laplace = Counter::new(STEPS as u64, DiscreteLaplace::new(15)?)?;
    assert_eq!(laplace.map().loss(&1u32.into())?.to_string(), "1");
    // The same ε with δ = 1e-6, for Gaussian noise.
    let gaussian = Counter::new(STEPS as u64, DiscreteGaussian::with_scale(18)?)?;
    let loss = gaussian.map().loss(&1u32.into())?;
    let least = zcdp_epsilon(&loss, &"1e-6".parse()?).to_f64(odometry::exact::Round::Up);
    // The best blocks, no horizon, blocks that are also taken away; and the square root of the sums.
    let blocks = Counter::spending(STEPS as u64, epsilon(1))?;
    let endless = EndlessCounter::spending(epsilon(1))?;
    let taken_away = SubtractingCounter::spending(STEPS as u64, epsilon(1))?;
    let in_blocks = SquareRootBlocks::spending(STEPS as u64, rho(loss.value()))?;
    let square_root = SquareRootCounter::spending(STEPS as u64, rho(loss.value()))?;
    // Or noise on every update, which adds up.
    let each = DiscreteLaplace::new(1)?;

    let lines = [
        (
            "noise on every update, summed (ε = 1)".into(),
            errors(|| summed(each.clone()))?,
        ),
        (
            "binary tree, Laplace (ε = 1)".into(),
            errors(|| laplace.machine())?,
        ),
        (
            "best blocks, Laplace (ε = 1)".into(),
            errors(|| blocks.machine())?,
        ),
        (
            "no horizon, Laplace (ε = 1)".into(),
            errors(|| endless.machine())?,
        ),
        (
            "blocks taken away, Laplace (ε = 1)".into(),
            errors(|| taken_away.machine())?,
        ),
        (
            format!("binary tree, Gaussian (ε = {least:.2}, δ = 1e-6)"),
            errors(|| gaussian.machine())?,
        ),
        (
            format!("square root in blocks, Gaussian (ε = {least:.2}, δ = 1e-6)"),
            errors(|| in_blocks.machine())?,
        ),
        (
            format!("square root, Gaussian (ε = {least:.2}, δ = 1e-6)"),
            errors(|| square_root.machine())?,
        ),
    ];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/target/continual_count.svg");
    plot(path, &lines)?;
    println!("wrote {path}");
    for (name, errors) in &lines {
        let last = errors[errors.len() - 1];
        println!("{name:<44} error at the end: {last:>6.1} of {STEPS}");
    }
    Ok(())
}

/// Adds noise to every update and sums them up.
fn summed<N: Noise>(noise: N) -> impl Machine<Query = i64, Answer = i64> + 'static {
    let mut total = 0;
    machine(move |update: i64, scope: &mut Scope<'_>| {
        let noise = scope.draw(&noise)?;
        total += update + i64::try_from(&noise).unwrap_or(0);
        Ok(total)
    })
}

/// The root mean square error in each window of time, over several runs.
fn errors<M>(counter: impl Fn() -> M) -> Result<Vec<f64>, Box<dyn Error>>
where
    M: Machine<Query = i64, Answer = i64> + 'static,
{
    let mut squares = vec![0.0; STEPS / WINDOW];
    for run in 0..RUNS {
        let counter = Root::seeded([run as u8; 32]).spawn(counter())?;
        let mut truth = 0;
        for time in 0..STEPS {
            let update = i64::from(time % 7 < 3);
            truth += update;
            let error = (counter.ask(update)? - truth) as f64;
            squares[time / WINDOW] += error * error;
        }
    }
    let mean = |sum: f64| (sum / (RUNS * WINDOW) as f64).sqrt();
    Ok(squares.into_iter().map(mean).collect())
}

fn plot(path: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    const COLORS: [RGBColor; 8] = [
        RGBColor(204, 121, 60),
        RGBColor(40, 90, 160),
        RGBColor(110, 170, 230),
        RGBColor(150, 100, 190),
        RGBColor(20, 30, 110),
        RGBColor(40, 140, 90),
        RGBColor(90, 170, 150),
        RGBColor(140, 200, 90),
    ];
    let picture = SVGBackend::new(path, (960, 540)).into_drawing_area();
    picture.fill(&WHITE)?;
    let highest = lines
        .iter()
        .flat_map(|(_, errors)| errors)
        .fold(0.0f64, |a, b| a.max(*b));
    let mut chart = ChartBuilder::on(&picture)
        .caption(
            "Error of a count published at every step",
            ("sans-serif", 24),
        )
        .margin(20)
        .x_label_area_size(45)
        .y_label_area_size(60)
        .build_cartesian_2d(0..STEPS, 0.0..highest * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .y_label_formatter(&|error| format!("{error:.0}"))
        .x_desc("time (updates seen)")
        .y_desc("root mean square error")
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .draw()?;
    for ((name, errors), color) in lines.iter().zip(COLORS) {
        let points = errors
            .iter()
            .enumerate()
            .map(|(i, error)| (i * WINDOW + WINDOW / 2, *error));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], color.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(("sans-serif", 15))
        .legend_area_size(32)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.2))
        .draw()?;
    picture.present()?;
    Ok(())
}
