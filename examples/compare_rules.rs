//! Which rule to choose: what a growing number of equal questions amounts to under each, as a table and as a chart below
//! `target/compare`. Run with `cargo run --release --example compare_rules`.

use std::{error::Error, fs, path::Path};

use odometry::accountant::compare;
use odometry::exact::Round;
use odometry::measures::{Comparison, Use};
use plotters::prelude::*;

/// Questions of ε = 0.1, and the δ that the total may have.
const QUESTION: &str = "(0.1, 0)";
const BUDGET: &str = "(6, 1e-6)";
const MOST: usize = 200;
const STEP: usize = 10;

/// The total ε of one rule after 10, 20, … questions.
struct Line {
    rule: &'static str,
    good_for: Use,
    totals: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let tables: Vec<Comparison> = (STEP..=MOST)
        .step_by(STEP)
        .map(|questions| compare(vec![QUESTION; questions], BUDGET))
        .collect::<Result<_, _>>()?;
    let last = tables.last().ok_or("nothing to compare")?;
    println!("{MOST} questions of {QUESTION}:\n{last}");
    for wanted in [Use::Odometer, Use::Filter, Use::Compositor] {
        let best = last.least(wanted).ok_or("no rule is within δ")?;
        println!("best for {wanted:<11} {}", best.rule);
    }

    let lines = lines(&tables)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/compare");
    fs::create_dir_all(&folder)?;
    let file = folder.join("rules.svg");
    draw(&file, &lines)?;
    println!("chart: {}", file.display());
    Ok(())
}

fn lines(tables: &[Comparison]) -> Result<Vec<Line>, Box<dyn Error>> {
    let first = tables.first().ok_or("nothing to compare")?;
    let line = |(at, row): (usize, &odometry::measures::Compared)| {
        let total = |table: &Comparison| {
            let total = table.rows()[at].total.clone()?;
            Ok(total.epsilon().to_f64(Round::Up))
        };
        Ok(Line {
            rule: row.rule,
            good_for: row.good_for,
            totals: tables
                .iter()
                .map(total)
                .collect::<Result<_, Box<dyn Error>>>()?,
        })
    };
    first.rows().iter().enumerate().map(line).collect()
}

fn draw(file: &Path, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let highest = 12.0;
    let area = SVGBackend::new(file, (900, 560)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(
            "ε of many questions of 0.1, at δ = 1e-6",
            ("sans-serif", 22),
        )
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0..MOST, 0.0..highest)?;
    chart
        .configure_mesh()
        .x_desc("questions")
        .y_desc("ε")
        .draw()?;
    for (at, line) in lines.iter().enumerate() {
        let colour = Palette99::pick(at).to_rgba();
        let points = line.totals.iter().enumerate();
        let points = points.map(|(at, total)| (STEP * (at + 1), total.min(highest)));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(format!("{} ({})", line.rule, line.good_for))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
