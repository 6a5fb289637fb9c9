//! Integer dot products. Every path gives exactly the same number, because integer sums do not depend
//! on their order: scalar code, AVX2 (chosen when the program runs) and WebAssembly's simd128 (chosen
//! when it is compiled).

/// Σ aᵢ·bᵢ over 8-bit numbers. Cannot overflow below 133,152 numbers (128² each).
pub(super) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // Safe: the instruction set was just looked for.
        return unsafe { avx2::dot_i8(a, b) };
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return simd128::dot_i8(a, b);
    #[allow(unreachable_code)]
    scalar_i8(a, b)
}

/// Σ aᵢ·bᵢ of an 8-bit row and a 16-bit query. The caller bounds the query so that no sum overflows,
/// see [`super::quantise::query_limit`].
pub(super) fn dot_i8_i16(a: &[i8], b: &[i16]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // Safe: the instruction set was just looked for.
        return unsafe { avx2::dot_i8_i16(a, b) };
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return simd128::dot_i8_i16(a, b);
    #[allow(unreachable_code)]
    scalar_i8_i16(a, b)
}

fn scalar_i8(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

fn scalar_i8_i16(a: &[i8], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{scalar_i8, scalar_i8_i16};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    fn sum(v: __m256i) -> i32 {
        let v = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
        let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
        _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32::<0b10_11_00_01>(v)))
    }

    /// Sixteen signed bytes as words.
    #[target_feature(enable = "avx2")]
    fn widen(bytes: &[i8; 16]) -> __m256i {
        // Safe: the reference covers the 16 bytes that are read, and the load needs no alignment.
        _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
        let mut total = _mm256_setzero_si256();
        for (a, b) in a.iter().zip(b) {
            total = _mm256_add_epi32(total, _mm256_madd_epi16(widen(a), widen(b)));
        }
        sum(total) + scalar_i8(a_rest, b_rest)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dot_i8_i16(a: &[i8], b: &[i16]) -> i32 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
        let mut total = _mm256_setzero_si256();
        for (a, b) in a.iter().zip(b) {
            // Safe: the reference covers the 32 bytes that are read, and the load needs no alignment.
            let b = unsafe { _mm256_loadu_si256(b.as_ptr().cast()) };
            total = _mm256_add_epi32(total, _mm256_madd_epi16(widen(a), b));
        }
        sum(total) + scalar_i8_i16(a_rest, b_rest)
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use super::{scalar_i8, scalar_i8_i16};
    use std::arch::wasm32::*;

    fn sum(v: v128) -> i32 {
        i32x4_extract_lane::<0>(v)
            + i32x4_extract_lane::<1>(v)
            + i32x4_extract_lane::<2>(v)
            + i32x4_extract_lane::<3>(v)
    }

    fn bytes(from: &[i8; 16]) -> v128 {
        // Safe: the reference covers the 16 bytes that are read, and the load needs no alignment.
        unsafe { v128_load(from.as_ptr().cast()) }
    }

    fn words(from: &[i16; 16]) -> [v128; 2] {
        let at = from.as_ptr();
        // Safe: the reference covers the 32 bytes that are read, and the loads need no alignment.
        unsafe { [v128_load(at.cast()), v128_load(at.add(8).cast())] }
    }

    pub(super) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
        let mut total = i32x4_splat(0);
        for (a, b) in a.iter().zip(b) {
            let (a, b) = (bytes(a), bytes(b));
            let low = i32x4_dot_i16x8(i16x8_extend_low_i8x16(a), i16x8_extend_low_i8x16(b));
            let high = i32x4_dot_i16x8(i16x8_extend_high_i8x16(a), i16x8_extend_high_i8x16(b));
            total = i32x4_add(total, i32x4_add(low, high));
        }
        sum(total) + scalar_i8(a_rest, b_rest)
    }

    pub(super) fn dot_i8_i16(a: &[i8], b: &[i16]) -> i32 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
        let mut total = i32x4_splat(0);
        for (a, b) in a.iter().zip(b) {
            let (a, [b_low, b_high]) = (bytes(a), words(b));
            let low = i32x4_dot_i16x8(i16x8_extend_low_i8x16(a), b_low);
            let high = i32x4_dot_i16x8(i16x8_extend_high_i8x16(a), b_high);
            total = i32x4_add(total, i32x4_add(low, high));
        }
        sum(total) + scalar_i8_i16(a_rest, b_rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length up to some blocks and a tail, with the extreme values in it.
    #[test]
    fn fast_paths_equal_the_definition() {
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        for length in 0..200 {
            let a: Vec<i8> = (0..length).map(|i| if i % 7 == 0 { -127 } else { next() as i8 }).collect();
            let b: Vec<i8> = (0..length).map(|i| if i % 5 == 0 { 127 } else { next() as i8 }).collect();
            let q: Vec<i16> = (0..length).map(|i| if i % 3 == 0 { -32767 } else { next() as i16 }).collect();
            let exact = |b: &[i64]| a.iter().zip(b).map(|(a, b)| i64::from(*a) * b).sum::<i64>();
            let (wide_b, wide_q): (Vec<i64>, Vec<i64>) =
                b.iter().zip(&q).map(|(b, q)| (i64::from(*b), i64::from(*q))).unzip();
            assert_eq!(i64::from(dot_i8(&a, &b)), exact(&wide_b));
            assert_eq!(i64::from(scalar_i8(&a, &b)), exact(&wide_b));
            assert_eq!(i64::from(dot_i8_i16(&a, &q)), exact(&wide_q));
            assert_eq!(i64::from(scalar_i8_i16(&a, &q)), exact(&wide_q));
        }
    }
}
