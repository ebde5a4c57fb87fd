//! Optional fields of records: one way to write them, limits, and hostile bytes.

use odometer::journal::{
    Event, FieldError, FieldValue, Fields, MAX_FIELD_BYTES, MAX_FIELDS, MAX_LINE, MUST_UNDERSTAND,
    Memory, Note, Receipt, Record, UnknownField,
};

fn every() -> Fields {
    Fields {
        time: Some("2026-11-19T08:30:00.5Z".into()),
        actor: Some("node 3".into()),
        note: Some("asked for by the board".into()),
        purpose: Some("the yearly survey".into()),
        contact: Some("room 12".into()),
        voucher: Some("the statistics team".into()),
        attached_file: Some([1; 32]),
        plan: Some("scan\ncount".into()),
        unit: Some("one person".into()),
        data_snapshot: Some("visits".into()),
        fingerprint: Some([2; 32]),
        partition_price: Some("sparse".into()),
        unknown: vec![unknown(77, &[0, 1, 255]), unknown(300, &[])],
    }
}

fn unknown(tag: u16, value: &[u8]) -> UnknownField {
    UnknownField {
        tag,
        value: value.to_vec(),
    }
}

fn field(tag: u16, value: &[u8]) -> Vec<u8> {
    let length = (value.len() as u32).to_le_bytes();
    [&tag.to_le_bytes(), &length[..], value].concat()
}

#[test]
fn fields_are_read_as_they_were_written() {
    let bytes = every().encode().unwrap();
    let read = Fields::decode(&bytes).unwrap();
    assert_eq!(read, every());
    assert_eq!(read.encode().unwrap(), bytes);
    assert_eq!(Fields::decode(&[]).unwrap(), Fields::default());
    assert!(Fields::default().is_empty() && !every().is_empty());
    let json = serde_json::to_string(&every()).unwrap();
    assert_eq!(serde_json::from_str::<Fields>(&json).unwrap(), every());
    let named: Vec<&str> = read.named().map(|(name, _)| name).collect();
    assert_eq!(named.len(), 12);
    assert_eq!(
        read.named().next(),
        Some(("time", FieldValue::Text("2026-11-19T08:30:00.5Z")))
    );
    // The tags are the format.
    let first = field(1, b"2026-11-19T08:30:00.5Z");
    assert_eq!(bytes[..first.len()], first);
    let last = field(MUST_UNDERSTAND | 12, b"sparse");
    assert_eq!(bytes[bytes.len() - last.len()..], last);
}

/// Every cut and every flipped bit: an error, or other fields that are written as they were read.
#[test]
fn damaged_fields_are_refused_or_mean_something_else() {
    let bytes = every().encode().unwrap();
    for end in 0..bytes.len() {
        match Fields::decode(&bytes[..end]) {
            Ok(fields) => assert_eq!(fields.encode().unwrap(), bytes[..end]),
            Err(error) => assert!(error.to_string().len() < 200),
        }
    }
    let mut refused = 0;
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match Fields::decode(&flipped) {
            Ok(fields) => {
                assert_ne!(fields, every());
                assert_eq!(fields.encode().unwrap(), flipped);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn there_is_one_order_and_no_field_twice() {
    let (one, other) = (field(2, b"a"), field(3, b"b"));
    assert!(Fields::decode(&[one.clone(), other.clone()].concat()).is_ok());
    for wrong in [
        [other, one.clone()].concat(),
        [one.clone(), one.clone()].concat(),
        one[..5].to_vec(),
        field(2, b"a")[..6].to_vec(),
        [&2u16.to_le_bytes()[..], &u32::MAX.to_le_bytes()].concat(),
    ] {
        assert_eq!(Fields::decode(&wrong), Err(FieldError::Malformed));
    }
    // An unknown field of the same tag as another, or as a known one.
    for wrong in [
        vec![unknown(40, b""), unknown(40, b"")],
        vec![unknown(2, b"a")],
    ] {
        let fields = Fields {
            unknown: wrong,
            ..Fields::default()
        };
        assert_eq!(fields.encode(), Err(FieldError::Malformed));
    }
    // They are written in the order of their tags, whatever order they are in.
    let fields = Fields {
        unknown: vec![unknown(300, b"b"), unknown(40, b"a")],
        ..Fields::default()
    };
    let bytes = [field(40, b"a"), field(300, b"b")].concat();
    assert_eq!(fields.encode(), Ok(bytes));
}

#[test]
fn what_must_be_understood_is_refused_and_the_rest_is_kept() {
    let optional = Fields::decode(&field(300, b"new")).unwrap();
    assert_eq!(optional.unknown, [unknown(300, b"new")]);
    let tag = MUST_UNDERSTAND | 300;
    let newer = FieldError::Newer { tag };
    assert_eq!(Fields::decode(&field(tag, b"new")), Err(newer));
    assert_eq!(
        newer.to_string(),
        "it has the field 0x812c, which this program does not know and must not ignore: use a newer program"
    );
    let fields = Fields {
        unknown: vec![unknown(tag, b"new")],
        ..Fields::default()
    };
    assert_eq!(fields.encode(), Err(newer));
    // The bit belongs to the tag: a known number with the other bit is unknown.
    assert!(Fields::decode(&field(MUST_UNDERSTAND | 1, b"")).is_err());
    let other = Fields::decode(&field(12, b"a")).unwrap();
    assert_eq!((other.partition_price, other.unknown.len()), (None, 1));
}

#[test]
fn values_and_limits_are_checked_on_both_sides() {
    let line = "x".repeat(MAX_LINE);
    let with = |actor: &str| Fields {
        actor: Some(actor.into()),
        ..Fields::default()
    };
    assert!(with(&line).encode().is_ok());
    for actor in ["", "  ", "a\nb", "a\u{7}", &format!("{line}x")] {
        assert!(matches!(
            with(actor).encode(),
            Err(FieldError::Value { name: "actor", .. })
        ));
        let read = Fields::decode(&field(2, actor.as_bytes()));
        assert!(matches!(read, Err(FieldError::Value { .. })), "{actor:?}");
    }
    for (tag, value) in [
        (2, &[0xff][..]),
        (7, &[1; 31]),
        (8, b""),
        (1, b"yesterday"),
        (11, &[1; 33]),
    ] {
        let read = Fields::decode(&field(tag, value));
        assert!(matches!(read, Err(FieldError::Value { .. })), "{tag}");
    }
    let many = |count: u16| Fields {
        unknown: (0..count).map(|tag| unknown(100 + tag, b"")).collect(),
        ..Fields::default()
    };
    let most = MAX_FIELDS as u16;
    assert!(Fields::decode(&many(most).encode().unwrap()).is_ok());
    assert_eq!(many(most + 1).encode(), Err(FieldError::TooMany));
    let bytes: Vec<u8> = (0..=most).flat_map(|tag| field(100 + tag, b"")).collect();
    assert_eq!(Fields::decode(&bytes), Err(FieldError::TooMany));
    let long = |length: usize| Fields {
        plan: Some("x".repeat(length)),
        ..Fields::default()
    };
    assert!(Fields::decode(&long(MAX_FIELD_BYTES - 6).encode().unwrap()).is_ok());
    assert_eq!(long(MAX_FIELD_BYTES - 5).encode(), Err(FieldError::TooLong));
    let bytes = field(8, "x".repeat(MAX_FIELD_BYTES).as_bytes());
    assert_eq!(Fields::decode(&bytes), Err(FieldError::TooLong));
}

/// Fields go with their records, also in a journal in memory and its snapshots.
#[test]
fn a_snapshot_keeps_fields() {
    let journal = Memory::new();
    let opening = crate::journal::account(None, "all", "1");
    let write = |event: Event, fields: Fields| {
        let record = Record { event, fields };
        crate::journal::write(&journal, record)
    };
    let fields = || Fields {
        partition_price: None,
        ..every()
    };
    write(opening.into(), fields()).unwrap();
    let place = odometer::journal::Place(0);
    let charge = crate::journal::launch(Some("monday"), "query", &[place]);
    write(charge.event.clone(), fields()).unwrap();
    let snapshot = journal.snapshot().unwrap();
    assert_eq!(snapshot.state().fields(place), Some(&fields()));
    let text = serde_json::to_string(&snapshot).unwrap();
    assert_eq!(
        serde_json::from_str::<odometer::journal::Snapshot>(&text).unwrap(),
        snapshot
    );
    // The same key with another fingerprint is another launch.
    let other = Fields {
        fingerprint: Some([3; 32]),
        ..fields()
    };
    let refused = write(charge.event.clone(), other).unwrap_err().to_string();
    assert!(refused.contains("belongs to another launch"), "{refused}");
    let later = Fields {
        time: Some("2027-01-01T00:00:00Z".into()),
        ..fields()
    };
    let refused = write(charge.event, later).unwrap_err().to_string();
    assert!(refused.contains("was charged before"), "{refused}");
    // What cannot be written is refused, and what refers to nothing is, too.
    let wrong = Fields {
        time: Some("noon".into()),
        ..Fields::default()
    };
    let note = |seq: u64| Note {
        on: Receipt { seq, hash: [0; 32] },
        text: "a".into(),
    };
    assert!(write(note(0).into(), wrong).is_err());
    assert!(write(note(9).into(), Fields::default()).is_err());
    write(note(0).into(), Fields::default()).unwrap();
}
