//! Responses that come once: the bulk of a long list. Their factors are multiplied in lanes, without branches.

use crate::laws::Response;
use crate::numbers::{Complex, cos_sin, halves};

use super::factors::Product;

const LANES: usize = 4;
/// Blocks between two looks at whether the product is negligible.
const BLOCKS: usize = 4;

/// As many responses as there are lanes; what is missing has ε = 0, and Φ = 1.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    high: [f64; LANES],
    low: [f64; LANES],
    lean: [f64; LANES],
}

#[derive(Debug, Default)]
pub(super) struct Singles {
    blocks: Vec<Block>,
    pub(super) count: usize,
}

impl Singles {
    pub(super) fn push(&mut self, response: Response, lean: f64) {
        let lane = self.count % LANES;
        if lane == 0 {
            self.blocks.push(Block::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            (block.high[lane], block.low[lane]) = halves(response.epsilon);
            block.lean[lane] = lean;
        }
        self.count += 1;
    }

    /// `start` times all factors at a node, or a bound of the modulus once that is negligible.
    ///
    /// The lanes' moduli are at most 1, up to their errors: the product of what was computed of them is off by no more than
    /// the whole product would be.
    pub(super) fn at(&self, t: f64, start: Complex<f64>, negligible: f64) -> Product {
        let (mut re, mut im) = ([1.0; LANES], [0.0; LANES]);
        let square = |re: f64, im: f64| re * re + im * im;
        let begun = square(start.re, start.im);
        for blocks in self.blocks.chunks(BLOCKS) {
            for block in blocks {
                for j in 0..LANES {
                    let (cos, sin) = cos_sin(t, block.high[j], block.low[j]);
                    let lean = sin * block.lean[j];
                    (re[j], im[j]) = (re[j] * cos - im[j] * lean, re[j] * lean + im[j] * cos);
                }
            }
            let modulus = (0..LANES).fold(begun, |all, j| all * square(re[j], im[j]));
            if modulus < negligible * negligible {
                return Product::Left(modulus.sqrt() * (1.0 + 1e-12) + 1e-150);
            }
        }
        let lane = |j: usize| Complex::new(re[j], im[j]);
        Product::Whole((0..LANES).fold(start, |product, j| product * lane(j)))
    }
}
