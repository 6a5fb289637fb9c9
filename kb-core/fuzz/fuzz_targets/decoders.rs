//! Every decoder of kb-core. Run it with `cargo +nightly fuzz run decoders` in kb-core/.
#![no_main]

#[path = "../drive.rs"]
mod drive;

libfuzzer_sys::fuzz_target!(|input: &[u8]| drive::drive(input));
