//! `odometry`: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    odometry_cli::main()
}
