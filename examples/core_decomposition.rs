//! Core numbers of a social network in which nobody tells their friends to the server. The graph is read from a list of
//! edges, which this example makes if it is given none:
//! `cargo run --release --example core_decomposition [-- FILE]`.

use std::{
    error::Error,
    fs::{self, File},
    io::BufReader,
};

use odometry::mechanisms::cores::{Cores, Graph};
use odometry::queryable::Root;

fn main() -> Result<(), Box<dyn Error>> {
    let path = match std::env::args().nth(1) {
        Some(path) => path,
        None => made()?,
    };
    let graph = Graph::read(BufReader::new(File::open(&path)?))?;
    println!(
        "{path}: {} people, {} friendships",
        graph.vertices(),
        graph.edges()
    );
    let truth = graph.cores();
    for epsilon in ["1", "4", "16"] {
        let cores = Cores::for_epsilon(epsilon)?;
        let found = cores.run(&Root::from_os()?, &graph)?;
        let errors = found.iter().zip(&truth).map(|(x, y)| x.abs_diff(*y));
        let (worst, sum) = errors.fold((0, 0), |(worst, sum), error| {
            (worst.max(error), sum + error)
        });
        println!(
            "ε = {epsilon:>2} for a friendship: off by {:.1} on average, by {worst} at the most (stated: {:.0}, 99 times in 100)",
            sum as f64 / truth.len() as f64,
            cores.accuracy(truth.len(), 0.01),
        );
    }
    println!("largest core number: {}", truth.iter().max().unwrap_or(&0));
    Ok(())
}

/// A network of three circles of friends, of whom the first know nearly everybody in it, and some friends in between.
fn made() -> Result<String, Box<dyn Error>> {
    let mut text = String::from("# two people on a line are friends\n");
    for circle in 0..3 {
        let (start, size) = (circle * 80, 80);
        for u in 0..size {
            for v in 0..u {
                let close = (u * 31 + v * 17) % 100 < 90 - 35 * circle;
                if close {
                    text.push_str(&format!("{} {}\n", start + u, start + v));
                }
            }
        }
    }
    for u in 0..80 {
        text.push_str(&format!(
            "{u} {}\n{} {}\n",
            80 + (u * 7) % 80,
            80 + u,
            160 + (u * 11) % 80
        ));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/target/friends.txt");
    fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/target"))?;
    fs::write(path, text)?;
    Ok(path.into())
}
