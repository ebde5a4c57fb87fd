//! A checksum of anything that serializes: the same whatever format it is written in, and however it is laid out there.

use std::fmt;

use serde::{Serialize, Serializer, ser};

/// FNV-1a over what is serialized. It finds damage, not forgery.
pub(super) fn checksum(value: &impl Serialize) -> Result<u32, Unsummed> {
    let mut sum = Sum(0xcbf2_9ce4_8422_2325);
    value.serialize(&mut sum)?;
    Ok((sum.0 ^ (sum.0 >> 32)) as u32)
}

struct Sum(u64);

impl Sum {
    /// Counts a piece: a sign for its kind, its length and its bytes, so that no two lists of pieces are alike.
    fn add(&mut self, kind: u8, bytes: &[u8]) -> Result<(), Unsummed> {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in [kind].iter().chain(&length).chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }

    fn begin(&mut self, kind: u8) -> Result<&mut Self, Unsummed> {
        self.add(kind, &[])?;
        Ok(self)
    }
}

/// Something does not serialize.
#[derive(Debug)]
pub(super) struct Unsummed(String);

impl fmt::Display for Unsummed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsummed {}

impl ser::Error for Unsummed {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self(why.to_string())
    }
}

/// Numbers by their bytes.
macro_rules! numbers {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method(self, value: $type) -> Result<(), Unsummed> {
            self.add(b'n', &value.to_le_bytes())
        }
    )*};
}

/// What is made of pieces: they are counted one by one, and then the end.
macro_rules! pieces {
    ($($trait:ident::$method:ident),* $(,)?) => {$(
        impl ser::$trait for &mut Sum {
            type Ok = ();
            type Error = Unsummed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsummed> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Unsummed> {
                self.add(b'.', &[])
            }
        }
    )*};
}

/// The same with names.
macro_rules! fields {
    ($($trait:ident),* $(,)?) => {$(
        impl ser::$trait for &mut Sum {
            type Ok = ();
            type Error = Unsummed;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Unsummed> {
                self.add(b'f', name.as_bytes())?;
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Unsummed> {
                self.add(b'.', &[])
            }
        }
    )*};
}

pieces!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
);

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for &mut Sum {
    type Ok = ();
    type Error = Unsummed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unsummed> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsummed> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Unsummed> {
        self.add(b'.', &[])
    }
}

impl Serializer for &mut Sum {
    type Ok = ();
    type Error = Unsummed;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_f32: f32, serialize_f64: f64,
    }

    fn serialize_bool(self, value: bool) -> Result<(), Unsummed> {
        self.add(b'b', &[u8::from(value)])
    }

    fn serialize_char(self, value: char) -> Result<(), Unsummed> {
        self.serialize_u32(value.into())
    }

    fn serialize_str(self, value: &str) -> Result<(), Unsummed> {
        self.add(b's', value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unsummed> {
        self.add(b's', value)
    }

    fn serialize_none(self) -> Result<(), Unsummed> {
        self.add(b'0', &[])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unsummed> {
        self.add(b'1', &[])?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unsummed> {
        self.add(b'u', &[])
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unsummed> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &str, _: u32, name: &'static str) -> Result<(), Unsummed> {
        self.add(b'v', name.as_bytes())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unsummed> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unsummed> {
        self.add(b'v', name.as_bytes())?;
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Unsummed> {
        self.begin(b'[')
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Unsummed> {
        self.begin(b'[')
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Unsummed> {
        self.begin(b'[')
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, Unsummed> {
        self.add(b'v', name.as_bytes())?;
        self.begin(b'[')
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Unsummed> {
        self.begin(b'{')
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Unsummed> {
        self.begin(b'{')
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, Unsummed> {
        self.add(b'v', name.as_bytes())?;
        self.begin(b'{')
    }
}
