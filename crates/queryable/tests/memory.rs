//! Where keys are: this process looks for a root's key in its own memory.
#![cfg(target_os = "linux")]

use std::fs::{File, read_to_string};
use std::hint::black_box;
use std::os::unix::fs::FileExt;

use queryable::coins::Uniform;
use queryable::{Machine, Queryable, Root, Scope, machine};

const CHUNK: usize = 1 << 16;
/// The key is never written down in this test but masked, so that only the library's copies are found.
const MASK: u8 = 0x5a;

fn masked() -> [u8; 32] {
    std::array::from_fn(|i| (i as u8).wrapping_mul(37) ^ 0xc3)
}

/// How often the key is in this process's memory, but for the stack of this thread: what is left there of a key that was
/// moved cannot be wiped.
fn copies() -> usize {
    let here = 0_u8;
    let here = (&raw const here).addr();
    let stack = here - (1 << 20)..here + (1 << 14);
    let wanted = masked();
    let memory = File::open("/proc/self/mem").unwrap();
    let mut buffer = vec![0_u8; CHUNK + wanted.len() - 1];
    let start = buffer.as_ptr().addr();
    let own = start..start + buffer.len();
    let mut found = 0;
    for line in read_to_string("/proc/self/maps").unwrap().lines() {
        let mut fields = line.split_whitespace();
        let (range, rights) = (fields.next().unwrap(), fields.next().unwrap());
        if !rights.starts_with("rw") {
            continue;
        }
        let (start, end) = range.split_once('-').unwrap();
        let [start, end] = [start, end].map(|hex| usize::from_str_radix(hex, 16).unwrap());
        for chunk in (start..end).step_by(CHUNK) {
            let length = buffer.len().min(end - chunk);
            let Ok(read) = memory.read_at(&mut buffer[..length], chunk as u64) else {
                break; // not readable after all
            };
            for at in 0..read.saturating_sub(wanted.len() - 1).min(CHUNK) {
                let here = &buffer[at..at + wanted.len()];
                let equal = here
                    .iter()
                    .zip(&wanted)
                    .all(|(byte, want)| byte ^ MASK == *want);
                let at = chunk + at;
                found += usize::from(equal && !own.contains(&at) && !stack.contains(&at));
            }
        }
        buffer.fill(0);
    }
    found
}

fn drawing() -> impl Machine<Query = (), Answer = u64> {
    let below = Uniform::below(10).unwrap();
    machine(move |(), scope: &mut Scope<'_>| {
        scope.spawn(machine(|(), _| Ok(())))?.ask(())?;
        scope.draw(&below)
    })
}

#[test]
fn a_roots_key_is_in_memory_once_whatever_it_spawns_and_is_wiped_with_it() {
    assert_eq!(copies(), 0);
    let root = Root::seeded(black_box(masked()).map(|byte| byte ^ MASK));
    assert_eq!(copies(), 1);
    let machines: Vec<Queryable<(), u64>> =
        (0..50).map(|_| root.spawn(drawing()).unwrap()).collect();
    let branches: Vec<Root> = (0..50).map(|_| root.branch().unwrap()).collect();
    assert_eq!(copies(), 1);
    for (machine, branch) in machines.iter().zip(&branches) {
        machine.ask(()).unwrap();
        branch.spawn(drawing()).unwrap().ask(()).unwrap();
        root.run([], |scope| scope.spawn(drawing())?.ask(()))
            .unwrap();
    }
    assert_eq!(copies(), 1);
    drop((root, machines, branches));
    assert_eq!(copies(), 0, "wiped");
}
