//! All tests of this crate but for those that need a process of their own: one program, which is built once.

mod broken;
mod compare;
mod conversions;
mod errors;
mod extremes;
mod forms;
mod gaussian_bounds;
mod into;
mod laws_on_rules;
mod losses;
mod maps;
mod names;
mod numbers;
mod optimal;
mod products;
mod reference;
mod split;
