//! The innermost product: a few rows of activations times one panel of weights, accumulated in i32.
//!
//! A panel holds [`NR`] outputs. Its weights lie as pairs along k, output after output:
//! `o0k0 o0k1 o1k0 o1k1 …`, so that one multiply-add-pairs instruction (`pmaddwd`, `vpdpwssd`,
//! `i32x4.dot_i16x8_s`) serves several outputs and no horizontal sum is needed.

/// Outputs in a panel.
pub const NR: usize = 16;
/// Most rows that one call of a tile takes.
pub const MAX_MR: usize = 8;

/// Accumulators of one tile: rows by outputs.
pub type Acc = [[i32; NR]; MAX_MR];

/// Multiplies `rows` (at most [`MAX_MR`] slices of `2 * pairs` activations) with `panel`
/// (`pairs * 2 * NR` weights) and writes the exact sums to `acc[..rows.len()]`.
///
/// The caller guarantees that no sum overflows an i32; see `PackedLinear::pack`.
#[inline]
pub fn multiply(isa: Isa, panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut Acc) {
    assert!(rows.len() <= MAX_MR && panel.len() >= pairs * 2 * NR);
    assert!(rows.iter().all(|r| r.len() >= 2 * pairs));
    match isa {
        // SAFETY: the features were detected when `isa` was made, the lengths are checked above.
        #[cfg(target_arch = "x86_64")]
        Isa::Vnni512 => unsafe { x86::vnni512(panel, rows, pairs, acc) },
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::avx2(panel, rows, pairs, acc) },
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Isa::Simd128 => unsafe { simd128::multiply(panel, rows, pairs, acc) },
        Isa::Portable => portable(panel, rows, pairs, acc),
    }
}

/// The instruction set that [`multiply`] uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// AVX-512 VNNI: 32 products an instruction.
    #[cfg(target_arch = "x86_64")]
    Vnni512,
    /// AVX2: 16 products an instruction.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// WebAssembly SIMD: 8 products an instruction.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
    /// Plain Rust, for everything else and as the reference.
    Portable,
}

impl Isa {
    /// The best one this machine has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
                return Self::Vnni512;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        return Self::Simd128;
        #[allow(unreachable_code)]
        Self::Portable
    }

    /// Every instruction set that this machine can run, the portable one first.
    #[cfg(test)]
    pub fn available() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                all.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
                all.push(Self::Vnni512);
            }
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        all.push(Self::Simd128);
        all
    }
}

fn portable(panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut Acc) {
    for (row, acc) in rows.iter().zip(acc.iter_mut()) {
        *acc = [0; NR];
        for (w, x) in panel.chunks_exact(2 * NR).zip(row.chunks_exact(2)).take(pairs) {
            let (x0, x1) = (i32::from(x[0]), i32::from(x[1]));
            for (a, w) in acc.iter_mut().zip(w.chunks_exact(2)) {
                *a += i32::from(w[0]) * x0 + i32::from(w[1]) * x1;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Acc, NR};
    use std::arch::x86_64::*;

    /// SAFETY: needs AVX-512F and VNNI; lengths as `multiply` checks them.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub unsafe fn vnni512(panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut Acc) {
        #[target_feature(enable = "avx512f,avx512vnni")]
        unsafe fn go<const MR: usize>(panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut Acc) {
            unsafe {
                let mut sum = [_mm512_setzero_si512(); MR];
                let w = panel.as_ptr();
                for p in 0..pairs {
                    let wv = _mm512_loadu_si512(w.add(p * 2 * NR).cast());
                    for (s, row) in sum.iter_mut().zip(rows) {
                        let x = row.as_ptr().add(2 * p).cast::<i32>().read_unaligned();
                        *s = _mm512_dpwssd_epi32(*s, wv, _mm512_set1_epi32(x));
                    }
                }
                for (s, a) in sum.iter().zip(acc.iter_mut()) {
                    _mm512_storeu_si512(a.as_mut_ptr().cast(), *s);
                }
            }
        }
        unsafe {
            match rows.len() {
                8 => go::<8>(panel, rows, pairs, acc),
                7 => go::<7>(panel, rows, pairs, acc),
                6 => go::<6>(panel, rows, pairs, acc),
                5 => go::<5>(panel, rows, pairs, acc),
                4 => go::<4>(panel, rows, pairs, acc),
                3 => go::<3>(panel, rows, pairs, acc),
                2 => go::<2>(panel, rows, pairs, acc),
                _ => go::<1>(panel, rows, pairs, acc),
            }
        }
    }

    /// SAFETY: needs AVX2; lengths as `multiply` checks them.
    #[target_feature(enable = "avx2")]
    pub unsafe fn avx2(panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut Acc) {
        #[target_feature(enable = "avx2")]
        unsafe fn go<const MR: usize>(panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut [[i32; NR]]) {
            unsafe {
                let mut sum = [[_mm256_setzero_si256(); 2]; MR];
                let w = panel.as_ptr();
                for p in 0..pairs {
                    let w0 = _mm256_loadu_si256(w.add(p * 2 * NR).cast());
                    let w1 = _mm256_loadu_si256(w.add(p * 2 * NR + 16).cast());
                    for (s, row) in sum.iter_mut().zip(rows) {
                        let x = row.as_ptr().add(2 * p).cast::<i32>().read_unaligned();
                        let x = _mm256_set1_epi32(x);
                        s[0] = _mm256_add_epi32(s[0], _mm256_madd_epi16(w0, x));
                        s[1] = _mm256_add_epi32(s[1], _mm256_madd_epi16(w1, x));
                    }
                }
                for (s, a) in sum.iter().zip(acc.iter_mut()) {
                    _mm256_storeu_si256(a.as_mut_ptr().cast(), s[0]);
                    _mm256_storeu_si256(a.as_mut_ptr().add(8).cast(), s[1]);
                }
            }
        }
        // Four rows: eight sums, two weights and one activation fit the sixteen registers.
        let mut at = 0;
        while at < rows.len() {
            let (rows, acc) = (&rows[at..], &mut acc[at..]);
            unsafe {
                at += match rows.len() {
                    1 => (go::<1>(panel, rows, pairs, acc), 1).1,
                    2 => (go::<2>(panel, rows, pairs, acc), 2).1,
                    3 => (go::<3>(panel, rows, pairs, acc), 3).1,
                    _ => (go::<4>(panel, rows, pairs, acc), 4).1,
                };
            }
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use super::{Acc, NR};
    use core::arch::wasm32::*;

    /// SAFETY: lengths as `multiply` checks them.
    pub unsafe fn multiply(panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut Acc) {
        #[inline(always)]
        unsafe fn go<const MR: usize>(panel: &[i16], rows: &[&[i16]], pairs: usize, acc: &mut [[i32; NR]]) {
            unsafe {
                let mut sum = [[i32x4_splat(0); 4]; MR];
                let mut w = panel.as_ptr();
                let mut x = [core::ptr::null::<i16>(); MR];
                for (x, row) in x.iter_mut().zip(rows) {
                    *x = row.as_ptr();
                }
                for _ in 0..pairs {
                    let wv = [
                        v128_load(w.cast()),
                        v128_load(w.add(8).cast()),
                        v128_load(w.add(16).cast()),
                        v128_load(w.add(24).cast()),
                    ];
                    w = w.add(2 * NR);
                    for (s, x) in sum.iter_mut().zip(x.iter_mut()) {
                        let xv = v128_load32_splat((*x).cast());
                        *x = x.add(2);
                        for (s, w) in s.iter_mut().zip(wv) {
                            *s = i32x4_add(*s, i32x4_dot_i16x8(w, xv));
                        }
                    }
                }
                for (s, a) in sum.iter().zip(acc.iter_mut()) {
                    for (i, s) in s.iter().enumerate() {
                        v128_store(a.as_mut_ptr().add(4 * i).cast(), *s);
                    }
                }
            }
        }
        // Two rows: eight sums and four weights leave registers for the activations.
        let mut at = 0;
        while at < rows.len() {
            let (rows, acc) = (&rows[at..], &mut acc[at..]);
            unsafe {
                if rows.len() == 1 {
                    go::<1>(panel, rows, pairs, acc);
                    at += 1;
                } else {
                    go::<2>(panel, rows, pairs, acc);
                    at += 2;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_gives_the_exact_sums() {
        let mut state = 7u64;
        let mut next = |bound: i64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as i64 % (2 * bound + 1) - bound) as i16
        };
        for pairs in [1, 2, 5, 192] {
            let panel: Vec<i16> = (0..pairs * 2 * NR).map(|_| next(1000)).collect();
            let xs: Vec<Vec<i16>> = (0..MAX_MR).map(|_| (0..2 * pairs).map(|_| next(4095)).collect()).collect();
            for n in 1..=MAX_MR {
                let rows: Vec<&[i16]> = xs[..n].iter().map(Vec::as_slice).collect();
                for isa in Isa::available() {
                    let mut acc = [[-1; NR]; MAX_MR];
                    multiply(isa, &panel, &rows, pairs, &mut acc);
                    for r in 0..n {
                        for o in 0..NR {
                            let exact: i64 = (0..2 * pairs)
                                .map(|k| {
                                    let w = panel[(k / 2) * 2 * NR + 2 * o + k % 2];
                                    i64::from(w) * i64::from(xs[r][k])
                                })
                                .sum();
                            assert_eq!(i64::from(acc[r][o]), exact, "{isa:?} {pairs} {n} {r} {o}");
                        }
                    }
                }
            }
        }
    }
}
