//! Who has a file locked: on Linux the kernel lists it.

use std::path::Path;

/// The process that has this file locked, in words, as far as the system tells.
#[cfg(target_os = "linux")]
pub(super) fn of(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let inode = std::fs::metadata(path).ok()?.ino();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let own = std::process::id();
    let process = locks
        .lines()
        .filter_map(|line| process_of(line, inode))
        .find(|process| *process != own)?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok();
    Some(match name.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() => format!("process {process} ({name})"),
        _ => format!("process {process}"),
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of(_: &Path) -> Option<String> {
    None
}

/// The process of a line of `/proc/locks`, if it is about this file. Locks of open files have no process there.
#[cfg(target_os = "linux")]
fn process_of(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    // A waiting process has an arrow in front.
    let process = fields
        .iter()
        .position(|field| field.parse::<u32>().is_ok())?;
    let file = fields.get(process + 1)?.rsplit(':').next()?;
    let same = file.parse() == Ok(inode);
    fields[process]
        .parse()
        .ok()
        .filter(|_| same && !line.contains("->"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::process_of;

    #[test]
    fn lines_of_the_kernel() {
        let held = "1: FLOCK  ADVISORY  WRITE 4711 08:02:393304 0 EOF";
        assert_eq!(process_of(held, 393_304), Some(4711));
        assert_eq!(process_of(held, 93_304), None);
        let open_file = "2: OFDLCK ADVISORY  WRITE -1 08:02:393304 0 EOF";
        assert_eq!(process_of(open_file, 393_304), None);
        let waiting = "3: -> FLOCK  ADVISORY  WRITE 12 08:02:393304 0 EOF";
        assert_eq!(process_of(waiting, 393_304), None);
        assert_eq!(process_of("", 1), None);
    }
}
