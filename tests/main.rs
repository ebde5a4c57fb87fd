//! All tests of the whole: one program, which is built once.

mod dependencies;
mod ledger;
mod limits;
mod references;
mod rooms;
mod survey;
