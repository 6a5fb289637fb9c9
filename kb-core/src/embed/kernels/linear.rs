//! A linear layer with constant weights: `y = x Wᵀ + b`.

use super::tile::{Acc, Isa, MAX_MR, NR, multiply};

/// Largest magnitude of a quantised activation: 12 bits and a sign.
const X_MAX: f32 = 4095.0;
/// Bound on the sum of magnitudes of one output's quantised weights: with activations of at most
/// [`X_MAX`] no partial sum can leave an i32 (524,287 × 4,095 < 2³¹).
const W_L1_MAX: f64 = 524_287.0;
/// Rows that are quantised and multiplied before the next ones, so that they stay in the cache.
const ROW_BLOCK: usize = 256;

/// Weights of a linear layer, quantised to 16 bits with one scale for each output and laid out in
/// panels for the tile kernel.
#[derive(Debug, Clone)]
pub struct PackedLinear {
    n: usize,
    k: usize,
    panels: Vec<i16>,
    scales: Vec<f32>,
    bias: Vec<f32>,
    isa: Isa,
}

impl PackedLinear {
    /// Packs a layer with `n` outputs and `k` inputs. `row(o, buf)` fills `buf` (length `k`) with the
    /// weights of output `o`; `bias` has length `n` or is empty.
    ///
    /// Each output's weights are divided by the smallest scale that keeps them in 16 bits and their
    /// sum of magnitudes under [`W_L1_MAX`]; the error is at most half a step, about a thousandth of
    /// the mean magnitude for 384 inputs.
    pub fn pack(n: usize, k: usize, bias: Vec<f32>, mut row: impl FnMut(usize, &mut [f32])) -> Self {
        let pairs = k.div_ceil(2);
        let panel_len = pairs * 2 * NR;
        let mut panels = vec![0i16; n.div_ceil(NR) * panel_len];
        let mut scales = vec![0f32; n.next_multiple_of(NR)];
        let mut buf = vec![0f32; k];
        for (o, output_scale) in scales.iter_mut().enumerate().take(n) {
            row(o, &mut buf);
            let (mut max, mut l1) = (0f32, 0f64);
            for w in &buf {
                max = max.max(w.abs());
                l1 += f64::from(w.abs());
            }
            // k/2 for the halves that rounding may add.
            let room = W_L1_MAX - k as f64 / 2.0;
            let scale = (f64::from(max) / 32_767.0).max(l1 / room) as f32;
            if !(scale.is_finite() && scale > 0.0) {
                continue;
            }
            *output_scale = scale;
            let (panel, lane) = (o / NR, o % NR);
            for (i, w) in buf.iter().enumerate() {
                let q = (w / scale).round_ties_even().clamp(-32_767.0, 32_767.0) as i16;
                panels[panel * panel_len + (i / 2) * 2 * NR + lane * 2 + i % 2] = q;
            }
        }
        let mut padded = bias;
        padded.resize(n.next_multiple_of(NR), 0.0);
        Self { n, k, panels, scales, bias: padded, isa: Isa::detect() }
    }

    /// Outputs.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Inputs.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Bytes that the packed weights take.
    pub fn bytes(&self) -> usize {
        2 * self.panels.len() + 4 * (self.scales.len() + self.bias.len())
    }

    /// Multiplies `x` (rows of `k`) and writes `y` (as many rows of `n`). A row's result does not
    /// depend on the other rows. Rows with a NaN or an infinity give NaN.
    pub fn forward(&self, x: &[f32], y: &mut [f32]) {
        let (n, k) = (self.n, self.k);
        if n == 0 || k == 0 {
            y.fill(0.0);
            return;
        }
        let pairs = k.div_ceil(2);
        let mut xq = vec![0i16; ROW_BLOCK.min(x.len() / k) * pairs * 2];
        let mut xs = [0f32; ROW_BLOCK];
        for (x, y) in x.chunks(ROW_BLOCK * k).zip(y.chunks_mut(ROW_BLOCK * n)) {
            let rows = x.len() / k;
            for r in 0..rows {
                xs[r] = quantise(&x[r * k..(r + 1) * k], &mut xq[r * pairs * 2..][..k]);
            }
            let xq = &xq[..rows * pairs * 2];
            products(self.isa, &self.panels, xq, n, pairs, |p, r, acc| {
                let scales = &self.scales[p * NR..][..NR];
                let bias = &self.bias[p * NR..][..NR];
                let width = NR.min(n - p * NR);
                for (i, acc) in acc.iter().enumerate() {
                    let sx = xs[r + i];
                    let out = &mut y[(r + i) * n + p * NR..][..width];
                    for (j, out) in out.iter_mut().enumerate() {
                        *out = acc[j] as f32 * (scales[j] * sx) + bias[j];
                    }
                }
            });
        }
    }
}

/// 16-bit integer weights without scales, for products that must be exact (8-bit ONNX models).
#[derive(Debug, Clone)]
pub struct PackedIntegers {
    n: usize,
    k: usize,
    panels: Vec<i16>,
    isa: Isa,
}

impl PackedIntegers {
    /// Packs `n` outputs of `k` inputs; `row(o, buf)` fills `buf` with the weights of output `o`.
    /// The caller sees to it that no sum of products overflows an i32.
    pub fn pack(n: usize, k: usize, mut row: impl FnMut(usize, &mut [i16])) -> Self {
        let panel_len = k.div_ceil(2) * 2 * NR;
        let mut panels = vec![0i16; n.div_ceil(NR) * panel_len];
        let mut buf = vec![0i16; k];
        for o in 0..n {
            row(o, &mut buf);
            let panel = &mut panels[o / NR * panel_len..][..panel_len];
            for (i, w) in buf.iter().enumerate() {
                panel[(i / 2) * 2 * NR + o % NR * 2 + i % 2] = *w;
            }
        }
        Self { n, k, panels, isa: Isa::detect() }
    }

    /// Outputs.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Inputs.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Multiplies `x` (rows of `k`) and writes `y` (as many rows of `n`).
    pub fn forward(&self, x: &[i16], y: &mut [i32]) {
        let (n, k) = (self.n, self.k);
        if n == 0 || k == 0 {
            y.fill(0);
            return;
        }
        let pairs = k.div_ceil(2);
        let rows = x.len() / k;
        let mut xq = vec![0i16; rows * pairs * 2];
        for (q, x) in xq.chunks_exact_mut(pairs * 2).zip(x.chunks_exact(k)) {
            q[..k].copy_from_slice(x);
        }
        let (panels, isa) = (&self.panels, self.isa);
        products(isa, panels, &xq, n, pairs, |p, r, acc| {
            let width = NR.min(n - p * NR);
            for (i, acc) in acc.iter().enumerate() {
                y[(r + i) * n + p * NR..][..width].copy_from_slice(&acc[..width]);
            }
        });
    }
}

/// Multiplies every row of `xq` (of `2 * pairs`) with every panel and hands out the sums:
/// `emit(panel, first row, sums)`.
fn products(
    isa: Isa,
    panels: &[i16],
    xq: &[i16],
    n: usize,
    pairs: usize,
    mut emit: impl FnMut(usize, usize, &[[i32; NR]]),
) {
    let panel_len = pairs * 2 * NR;
    let rows = xq.len() / (pairs * 2);
    let mut acc: Acc = [[0; NR]; MAX_MR];
    for p in 0..n.div_ceil(NR) {
        let panel = &panels[p * panel_len..][..panel_len];
        let mut r = 0;
        while r < rows {
            let m = MAX_MR.min(rows - r);
            let mut refs: [&[i16]; MAX_MR] = [&[]; MAX_MR];
            for (i, s) in refs.iter_mut().enumerate().take(m) {
                *s = &xq[(r + i) * pairs * 2..][..pairs * 2];
            }
            multiply(isa, panel, &refs[..m], pairs, &mut acc);
            emit(p, r, &acc[..m]);
            r += m;
        }
    }
}

/// Quantises one row to [-4095, 4095] and gives its scale; NaN if the row is not finite.
fn quantise(x: &[f32], q: &mut [i16]) -> f32 {
    let mut lanes = [0f32; 16];
    let mut finite = true;
    let chunks = x.chunks_exact(16);
    let rest = chunks.remainder();
    for c in chunks {
        for (m, v) in lanes.iter_mut().zip(c) {
            let a = v.abs();
            *m = if a > *m { a } else { *m };
            finite &= a < f32::INFINITY;
        }
    }
    for v in rest {
        lanes[0] = lanes[0].max(v.abs());
        finite &= v.is_finite();
    }
    let max = lanes.iter().fold(0f32, |a, b| a.max(*b));
    if !finite {
        q.fill(0);
        return f32::NAN;
    }
    if max == 0.0 {
        q.fill(0);
        return 0.0;
    }
    let inv = X_MAX / max;
    // A subnormal row would make an infinite factor: it is zero for every purpose.
    if !inv.is_finite() {
        q.fill(0);
        return 0.0;
    }
    // Adding and taking away 1.5 × 2²³ rounds to the nearest integer, ties to even.
    const MAGIC: f32 = 12_582_912.0;
    for (q, v) in q.iter_mut().zip(x) {
        *q = ((v * inv + MAGIC) - MAGIC) as i32 as i16;
    }
    max / X_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64) -> impl FnMut() -> f32 {
        let mut s = seed;
        move || {
            s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (s >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        }
    }

    #[test]
    fn equals_the_product_in_f64() {
        for (rows, k, n) in [(1, 384, 384), (3, 384, 1536), (9, 1536, 384), (300, 33, 17), (2, 1, 1)] {
            let mut f = noise(k as u64);
            let w: Vec<f32> = (0..n * k).map(|_| f() * f() * 0.1).collect();
            let x: Vec<f32> = (0..rows * k).map(|_| f() * 3.0).collect();
            let b: Vec<f32> = (0..n).map(|_| f()).collect();
            let packed = PackedLinear::pack(n, k, b.clone(), |o, r| r.copy_from_slice(&w[o * k..(o + 1) * k]));
            let mut y = vec![0f32; rows * n];
            packed.forward(&x, &mut y);
            let (mut dot, mut aa, mut bb) = (0f64, 0f64, 0f64);
            for r in 0..rows {
                for o in 0..n {
                    let exact: f64 = (0..k).map(|i| f64::from(x[r * k + i]) * f64::from(w[o * k + i])).sum::<f64>()
                        + f64::from(b[o]);
                    let got = f64::from(y[r * n + o]);
                    dot += exact * got;
                    aa += exact * exact;
                    bb += got * got;
                }
            }
            let cosine = dot / (aa * bb).sqrt();
            assert!(cosine > 0.999_999, "{rows}x{k}x{n}: {cosine}");
        }
    }

    #[test]
    fn extreme_weights_and_rows_stay_in_range() {
        // All weights equal and all activations at the maximum: the largest possible sum.
        let packed = PackedLinear::pack(1, 1536, vec![], |_, r| r.fill(5.0));
        let mut y = [0f32];
        packed.forward(&[2.0; 1536], &mut y);
        assert!((y[0] - 15_360.0).abs() < 20.0, "{}", y[0]);
        packed.forward(&[0.0; 1536], &mut y);
        assert_eq!(y[0], 0.0);
        packed.forward(&[f32::MIN_POSITIVE / 8.0; 1536], &mut y);
        assert_eq!(y[0], 0.0);
        packed.forward(&[f32::INFINITY; 1536], &mut y);
        assert!(y[0].is_nan());
    }

    #[test]
    fn a_row_does_not_depend_on_its_neighbours() {
        let mut f = noise(3);
        let w: Vec<f32> = (0..64 * 40).map(|_| f()).collect();
        let packed = PackedLinear::pack(40, 64, vec![], |o, r| r.copy_from_slice(&w[o * 64..(o + 1) * 64]));
        let x: Vec<f32> = (0..11 * 64).map(|_| f()).collect();
        let mut all = vec![0f32; 11 * 40];
        packed.forward(&x, &mut all);
        for r in 0..11 {
            let mut one = vec![0f32; 40];
            packed.forward(&x[r * 64..(r + 1) * 64], &mut one);
            assert_eq!(one, all[r * 40..(r + 1) * 40]);
        }
    }
}
