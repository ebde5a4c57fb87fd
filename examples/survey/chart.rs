//! The chart: the loss against the number of launches.

use std::path::Path;

use plotters::prelude::*;

use crate::{Problem, table::Losses};

/// Draws it into a file.
pub fn draw(file: &Path, losses: &[Losses], budget: f64) -> Result<(), Problem> {
    let launches = losses.len() - 1;
    // What was charged in an earlier run by a map that is only a function is not known at other distances.
    let known = |(_, loss): &(usize, f64)| loss.is_finite();
    let one = losses.iter().map(|loss| loss.at_one).enumerate();
    let two = losses.iter().map(|loss| loss.at_two).enumerate();
    let (one, two) = (one.filter(known), two.filter(known));
    let highest = two.clone().fold(budget, |top, (_, loss)| top.max(loss));
    let area = SVGBackend::new(file, (800, 480)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("privacy loss against launches", ("sans-serif", 22))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0..launches.max(1), 0.0..highest * 1.08)?;
    chart
        .configure_mesh()
        .x_desc("launches")
        .y_desc("ε")
        .draw()?;
    let key = |colour: RGBColor| move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour);
    chart
        .draw_series(LineSeries::new(one, BLUE.stroke_width(2)))?
        .label("at d_in = 1")
        .legend(key(BLUE));
    chart
        .draw_series(LineSeries::new(two, RED.stroke_width(2)))?
        .label("at d_in = 2")
        .legend(key(RED));
    chart
        .draw_series(LineSeries::new([(0, budget), (launches, budget)], BLACK))?
        .label("budget (at d_in = 1)")
        .legend(key(BLACK));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
