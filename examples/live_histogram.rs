//! Which of four pages is visited most, while the visits happen? The true and the private maximum over time, as a picture.
//! Run with `cargo run --release --example live_histogram`.

use std::error::Error;

use odometry::continual::StreamMessage::Update;
use odometry::continual::streams::{Streams, Updates};
use odometry::measures::{Basic, PureDp};
use odometry::mechanisms::histogram::{Histogram, Statistic};
use odometry::odometer::Odometer;
use odometry::queryable::Root;
use plotters::prelude::*;

const VISITS: u64 = 40_000;
const PAGES: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let largest = Histogram::for_epsilon("2", PAGES, VISITS, Statistic::Largest)?;
    // One visit is protected with ε = 2, however long it goes on: an account pays once, before the first visit.
    let streams = Streams::with(Updates);
    let filter = Odometer::new(streams, Basic::new(PureDp)).filter(1, "2")?;
    let session = filter.invoke_in(&Root::seeded([42; 32]), &().into())?;
    let running = session.launch(&largest.continual())?;

    let (mut totals, mut lines) = ([0i64; PAGES], [vec![], vec![]]);
    for visit in 0..VISITS {
        let row = visited(visit);
        for (total, page) in totals.iter_mut().zip(&row) {
            *total += i64::from(*page);
        }
        let published = running.ask(Update(row))?;
        if visit.is_multiple_of(100) {
            lines[0].push((visit, Statistic::Largest.of(&totals)));
            lines[1].push((visit, published));
        }
    }
    let (truth, published) = (
        lines[0][lines[0].len() - 1].1,
        lines[1][lines[1].len() - 1].1,
    );
    println!("after {VISITS} visits: {truth} to the most popular page, {published} published");
    println!(
        "spent {}; with probability 0.95 never more than {:.0} off",
        session.privacy_loss(&1)?,
        largest.accuracy(0.05)
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/target/live_histogram.svg");
    plot(path, &lines, truth)?;
    println!("wrote {path}");
    Ok(())
}

/// The pages that a visitor opens: the first is popular in the morning, the second in the afternoon.
fn visited(visit: u64) -> Vec<bool> {
    let afternoon = visit > VISITS / 2;
    let every = |n: u64| visit.is_multiple_of(n);
    vec![
        every(3) && !afternoon || every(10),
        every(2) && afternoon || visit % 10 == 1,
        every(7),
        every(50),
    ]
}

type Line = Vec<(u64, i64)>;

fn plot(path: &str, [truth, published]: &[Line; 2], highest: i64) -> Result<(), Box<dyn Error>> {
    let picture = SVGBackend::new(path, (960, 540)).into_drawing_area();
    picture.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&picture)
        .caption(
            "Visits to the most popular page, while they happen (ε = 2 for each visit)",
            ("sans-serif", 22),
        )
        .margin(20)
        .x_label_area_size(45)
        .y_label_area_size(60)
        .build_cartesian_2d(0..VISITS, -highest / 20..highest + highest / 10)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("visits so far")
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .draw()?;
    let colors = [RGBColor(120, 120, 120), RGBColor(40, 90, 160)];
    for ((name, line), color) in [("true", truth), ("private", published)]
        .into_iter()
        .zip(colors)
    {
        chart
            .draw_series(LineSeries::new(line.iter().copied(), color.stroke_width(2)))?
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
