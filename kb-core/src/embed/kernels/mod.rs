//! The encoder's arithmetic in one place: integer matrix products and the float functions between
//! them, in fixed-width code that gives the same bits on every machine.
//!
//! Why its own kernels: tract multiplies 4-bit weights by expanding them at every run, or keeps them
//! as f32 (173 MB for the default model). Here weights are 16-bit integers with a scale for each
//! output, activations are quantised for each row, and products are accumulated exactly in i32, so
//! the order of summation, and with it the instruction set, does not matter.

pub mod attention;
pub mod float;
pub mod linear;
mod tile;

pub use linear::{PackedIntegers, PackedLinear};
