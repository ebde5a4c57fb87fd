//! A disk in memory that notes every write and sync, so that a test can ask what a crash at any moment would leave.
#![allow(dead_code, reason = "every test uses a part of it")]

pub mod memory;
pub mod records;

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ledger::{Embedded, Store as _, chain, frame::Frame};
use odometer::journal::{Fields, Receipt, UnknownField};
use redb::StorageBackend;

/// What was asked of the disk.
#[derive(Clone, Debug)]
pub enum Op {
    Write(u64, Vec<u8>),
    Length(u64),
    Sync,
}

/// How the disk misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Says that it has synced, and has not.
    Lies,
    /// Call number so many fails, and all after it.
    From(usize, io::ErrorKind),
    /// Only that call fails.
    Once(usize, io::ErrorKind),
}

#[derive(Debug, Default)]
pub struct Platter {
    now: Vec<u8>,
    pub ops: Vec<Op>,
    /// What ran, and how much had been asked of the disk by then.
    pub ran: Vec<(usize, u64)>,
    fault: Fault,
    /// Calls that change something.
    pub calls: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<Platter>>);

impl Disk {
    pub fn with(now: Vec<u8>) -> Self {
        let platter = Platter {
            now,
            ..Platter::default()
        };
        Self(Arc::new(Mutex::new(platter)))
    }

    pub fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_fault(&self, fault: Fault) {
        let mut platter = self.platter();
        platter.fault = fault;
        platter.calls = 0;
    }

    /// Notes that a mechanism has run for this record.
    pub fn ran(&self, seq: u64) {
        let mut platter = self.platter();
        let asked = platter.ops.len();
        platter.ran.push((asked, seq));
    }

    /// What a copy of the disk has now.
    pub fn copy(&self) -> Vec<u8> {
        self.platter().now.clone()
    }

    fn change(&self, op: Op) -> io::Result<()> {
        let mut platter = self.platter();
        let call = platter.calls;
        platter.calls += 1;
        match platter.fault {
            Fault::From(from, kind) if call >= from => return Err(kind.into()),
            Fault::Once(at, kind) if call == at => return Err(kind.into()),
            Fault::Lies if matches!(op, Op::Sync) => return Ok(()),
            _ => {}
        }
        apply(&mut platter.now, &op);
        platter.ops.push(op);
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platter().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platter = self.platter();
        let from = offset as usize;
        let bytes = platter.now.get(from..from + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Op::Length(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(Op::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Op::Write(offset, data.to_vec()))
    }
}

pub fn apply(image: &mut Vec<u8>, op: &Op) {
    match op {
        Op::Write(offset, data) => {
            let (from, to) = (*offset as usize, *offset as usize + data.len());
            if image.len() < to {
                image.resize(to, 0);
            }
            image[from..to].copy_from_slice(data);
        }
        Op::Length(len) => image.resize(*len as usize, 0),
        Op::Sync => {}
    }
}

/// Numbers that look random, the same ones every time.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn coin(&mut self) -> bool {
        self.roll() & 1 == 1
    }
}

/// Keeps some 512-byte pieces of a write, and loses the others.
fn torn(op: &Op, dice: &mut Dice, image: &mut Vec<u8>) {
    let Op::Write(offset, data) = op else {
        return apply(image, op);
    };
    for (at, piece) in data.chunks(512).enumerate() {
        if dice.coin() {
            apply(image, &Op::Write(offset + at as u64 * 512, piece.to_vec()));
        }
    }
}

/// Goes through every moment of what a disk was asked, and hands out what a crash there may leave: all that was written, a
/// random part of the writes since the last sync, and random pieces of them, each `times`. With it comes how much had run.
pub fn crashes(disk: &Disk, times: u64, look: impl FnMut(Vec<u8>, &[(usize, u64)])) -> u64 {
    crashes_since(disk, 0, times, look)
}

/// Only from this moment on.
pub fn crashes_since(
    disk: &Disk,
    since: usize,
    times: u64,
    mut look: impl FnMut(Vec<u8>, &[(usize, u64)]),
) -> u64 {
    let platter = disk.platter();
    let (mut durable, mut unsynced) = (Vec::new(), Vec::<&Op>::new());
    let mut dice = Dice(1);
    let mut images = 0;
    for moment in 0..=platter.ops.len() {
        let ran = platter.ran.partition_point(|(asked, _)| *asked <= moment);
        let ran = &platter.ran[..ran];
        let mut leave = |image| {
            images += 1;
            look(image, ran);
        };
        let mut all = durable.clone();
        unsynced.iter().for_each(|op| apply(&mut all, op));
        if moment >= since {
            leave(all.clone());
        }
        if moment >= since && !unsynced.is_empty() {
            for _ in 0..times {
                let mut some = durable.clone();
                let kept = unsynced.iter().filter(|_| dice.coin());
                kept.for_each(|op| apply(&mut some, op));
                leave(some);
                let mut pieces = durable.clone();
                let parts = unsynced.iter();
                parts.for_each(|op| torn(op, &mut dice, &mut pieces));
                leave(pieces);
            }
        }
        match platter.ops.get(moment) {
            Some(Op::Sync) => {
                durable = all;
                unsynced.clear();
            }
            Some(op) => unsynced.push(op),
            None => {}
        }
    }
    images
}

/// The bodies of all records in an image, whose chain is checked; in words, what is wrong with it.
pub fn bodies(image: Vec<u8>) -> Result<Vec<Vec<u8>>, String> {
    let store = Embedded::on(Disk::with(image)).map_err(|error| error.to_string())?;
    chain::verify(&store).map_err(|error| error.to_string())?;
    let mut bodies = Vec::new();
    let all = chain::Walk::from_the_start().through(&store, |frame: &Frame<&[u8]>| {
        bodies.push(frame.body().to_vec());
        std::ops::ControlFlow::Continue(())
    });
    all.map_err(|error| error.to_string())?;
    Ok(bodies)
}

/// The head of a store.
pub fn head(store: &Embedded) -> Receipt {
    chain::verify(store).unwrap().unwrap()
}

/// A new store on a disk, begun.
pub fn begun(disk: &Disk) -> Embedded {
    let store = Embedded::on(disk.clone()).unwrap();
    if store.last().unwrap().is_none() {
        store.begin().unwrap();
    }
    store
}

/// Every optional field, and one of a newer program.
pub fn fields() -> Fields {
    Fields {
        time: Some("2026-11-19T08:30:00.5Z".into()),
        actor: Some("survey service, node 3".into()),
        note: Some("asked for by the board".into()),
        purpose: Some("the yearly survey".into()),
        contact: Some("privacy office, room 12".into()),
        voucher: Some("the statistics team".into()),
        attached_file: Some([1; 32]),
        plan: Some("scan visits\ncount".into()),
        unit: Some("one person, up to 4 rows".into()),
        data_snapshot: Some("visits of 2026-11-01".into()),
        fingerprint: Some([2; 32]),
        partition_price: None,
        unknown: vec![UnknownField {
            tag: 77,
            value: vec![0, 1, 255],
        }],
    }
}
