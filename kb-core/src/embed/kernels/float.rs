//! The float functions of a transformer: exponential, GELU, layer normalisation, softmax.
//!
//! Only additions, multiplications, divisions and square roots are used, each rounded as IEEE 754
//! says, and sums run over a fixed number of lanes; so the results are the same bits on every
//! machine. Loops are written for the compiler's vectoriser; on x86-64 they are compiled a second
//! time for AVX2.

/// Lanes of every sum in this module.
pub(crate) const LANES: usize = 16;

/// Compiles `$body` for the baseline and, on x86-64, for AVX2, and calls the better one.
macro_rules! multiversion {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        #[inline]
        $vis fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn body($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                unsafe fn avx2($($arg: $ty),*) { body($($arg),*) }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the feature was just detected.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}
pub(crate) use multiversion;

/// `e^x` to within 2 ulp for -87 ≤ x ≤ 88, 0 below, clamped above. Range reduction by ln 2 in two
/// parts and a polynomial of degree 6 (Cody and Waite; coefficients of Cephes' `expf`).
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0;
    let under = x < -87.0;
    let x = if x > 88.0 { 88.0 } else { x };
    let x = if under { -87.0 } else { x };
    let n = (x * std::f32::consts::LOG2_E + MAGIC) - MAGIC;
    let r = x - n * 0.693_359_4;
    let r = r - n * -2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let e = p * (r * r) + r + 1.0;
    // n is in [-126, 127], so the exponent field is valid.
    let two_n = f32::from_bits(((n as i32 + 127) as u32) << 23);
    if under { 0.0 } else { e * two_n }
}

/// `erf(x)` with an absolute error under 1.5e-7 (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let a = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let p = 1.061_405_4;
    let p = p * t - 1.453_152;
    let p = p * t + 1.421_413_8;
    let p = p * t - 0.284_496_72;
    let p = p * t + 0.254_829_6;
    let y = 1.0 - p * t * exp(-a * a);
    if x < 0.0 { -y } else { y }
}

multiversion! {
    /// GELU in its exact form, `x/2 · (1 + erf(x/√2))`, in place.
    pub fn gelu(x: &mut [f32]) {
        for v in x {
            *v = 0.5 * *v * (1.0 + erf(*v * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

multiversion! {
    /// Adds `bias` to every row of `x`; the rows have the bias's length.
    pub fn add_rows(x: &mut [f32], bias: &[f32]) {
        for row in x.chunks_exact_mut(bias.len()) {
            for (v, b) in row.iter_mut().zip(bias) {
                *v += b;
            }
        }
    }
}

multiversion! {
    /// Adds `other` to `x`, element by element.
    pub fn add(x: &mut [f32], other: &[f32]) {
        for (v, o) in x.iter_mut().zip(other) {
            *v += o;
        }
    }
}

multiversion! {
    /// Layer normalisation of each row of `x` in place: `(x - mean) / √(variance + epsilon) · gamma
    /// + beta`; rows have gamma's length, beta has it too or is empty.
    pub fn layer_norm(x: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) {
        let n = gamma.len();
        if n == 0 {
            return;
        }
        for row in x.chunks_exact_mut(n) {
            let mean = sum(row) / n as f32;
            for v in row.iter_mut() {
                *v -= mean;
            }
            let variance = sum_of_squares(row) / n as f32;
            let inv = 1.0 / (variance + epsilon).sqrt();
            if beta.is_empty() {
                for (v, g) in row.iter_mut().zip(gamma) {
                    *v = *v * inv * g;
                }
            } else {
                for ((v, g), b) in row.iter_mut().zip(gamma).zip(beta) {
                    *v = *v * inv * g + b;
                }
            }
        }
    }
}

/// Folds the lanes in a fixed order.
#[inline(always)]
pub(crate) fn fold(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
pub(crate) fn sum(x: &[f32]) -> f32 {
    let mut lanes = [0f32; LANES];
    let chunks = x.chunks_exact(LANES);
    for (l, v) in lanes.iter_mut().zip(chunks.remainder()) {
        *l += v;
    }
    for c in chunks {
        for (l, v) in lanes.iter_mut().zip(c) {
            *l += v;
        }
    }
    fold(lanes)
}

#[inline(always)]
fn sum_of_squares(x: &[f32]) -> f32 {
    let mut lanes = [0f32; LANES];
    let chunks = x.chunks_exact(LANES);
    for (l, v) in lanes.iter_mut().zip(chunks.remainder()) {
        *l += v * v;
    }
    for c in chunks {
        for (l, v) in lanes.iter_mut().zip(c) {
            *l += v * v;
        }
    }
    fold(lanes)
}

/// Softmax of `x` in place. An entry of negative infinity gets exactly 0; a row of nothing else
/// becomes zeros.
#[inline(always)]
pub(crate) fn softmax(x: &mut [f32]) {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let chunks = x.chunks_exact(LANES);
    for (l, v) in lanes.iter_mut().zip(chunks.remainder()) {
        *l = if *v > *l { *v } else { *l };
    }
    for c in chunks {
        for (l, v) in lanes.iter_mut().zip(c) {
            *l = if *v > *l { *v } else { *l };
        }
    }
    let max = lanes.iter().fold(f32::NEG_INFINITY, |a, b| if *b > a { *b } else { a });
    if max == f32::NEG_INFINITY {
        x.fill(0.0);
        return;
    }
    for v in x.iter_mut() {
        *v = exp(*v - max);
    }
    let inv = 1.0 / sum(x);
    for v in x.iter_mut() {
        *v *= inv;
    }
}

multiversion! {
    /// Softmax of every row of `n` entries.
    pub fn softmax_rows(x: &mut [f32], n: usize) {
        for row in x.chunks_exact_mut(n) {
            softmax(row);
        }
    }
}

multiversion! {
    /// The error function of every entry.
    pub fn erf_all(x: &mut [f32]) {
        for v in x {
            *v = erf(*v);
        }
    }
}

multiversion! {
    /// The exponential of every entry.
    pub fn exp_all(x: &mut [f32]) {
        for v in x {
            *v = exp(*v);
        }
    }
}

multiversion! {
    /// The hyperbolic tangent of every entry: `1 - 2 / (e^2x + 1)`.
    pub fn tanh_all(x: &mut [f32]) {
        for v in x {
            let a = if *v > 20.0 { 20.0 } else { *v };
            *v = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The platform's own exponential is good enough to check against.
    #[allow(clippy::disallowed_methods)]
    #[test]
    fn exp_is_close_to_the_true_value() {
        for i in -87_000..88_000 {
            let x = i as f32 / 1000.0;
            let exact = f64::from(x).exp();
            let got = f64::from(exp(x));
            assert!((got - exact).abs() <= 2.5e-7 * exact, "{x}: {got} {exact}");
        }
        assert_eq!(exp(-88.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(0.0), 1.0);
    }

    // Values from the tables of Abramowitz and Stegun, page 310 and after.
    #[test]
    fn erf_agrees_with_the_tables() {
        for (x, y) in [
            (0.0, 0.0),
            (0.1, 0.112_462_92),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (1.5, 0.966_105_15),
            (2.0, 0.995_322_3),
        ] {
            assert!((erf(x) - y).abs() < 2.5e-7, "{x}");
            assert!((erf(-x) + y).abs() < 2.5e-7, "-{x}");
        }
    }

    #[test]
    fn layer_norm_by_hand() {
        // mean 2.5, variance 1.25
        let mut x = vec![1.0, 2.0, 3.0, 4.0];
        layer_norm(&mut x, &[1.0, 1.0, 2.0, 1.0], &[0.0, 0.0, 0.5, 0.0], 0.0);
        let s = 1.25f32.sqrt();
        for (got, want) in x.iter().zip([-1.5 / s, -0.5 / s, 1.0 / s + 0.5, 1.5 / s]) {
            assert!((got - want).abs() < 1e-6);
        }
    }

    #[test]
    fn softmax_ignores_what_is_masked() {
        let mut x = vec![1.0, f32::NEG_INFINITY, 1.0];
        softmax(&mut x);
        assert_eq!(x, [0.5, 0.0, 0.5]);
        let mut none = vec![f32::NEG_INFINITY; 3];
        softmax(&mut none);
        assert_eq!(none, [0.0; 3]);
    }
}
