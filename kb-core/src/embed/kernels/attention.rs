//! Multi-head self-attention over one sequence: `softmax(q kᵀ / √d) v` for every head.

use super::float::{LANES, multiversion, softmax};

/// Attention of one sequence. `q`, `k`, `v` and `out` are rows of `heads * head_dim` numbers, one a
/// token; `keep[j]` says whether token j may be attended to. `scale` multiplies every product.
pub struct Attention<'a> {
    /// Queries.
    pub q: &'a [f32],
    /// Keys.
    pub k: &'a [f32],
    /// Values.
    pub v: &'a [f32],
    /// Tokens that may be attended to, one entry a key.
    pub keep: &'a [bool],
    /// Number of heads; it divides the row length.
    pub heads: usize,
    /// Factor on the products, usually 1/√head_dim.
    pub scale: f32,
}

impl Attention<'_> {
    /// Writes the attended values to `out` (as many rows as `q`).
    pub fn run(&self, out: &mut [f32]) {
        let keys = self.keep.len();
        if keys == 0 || self.heads == 0 {
            out.fill(0.0);
            return;
        }
        let width = self.k.len() / keys;
        let dim = width / self.heads;
        // Masked keys are left out instead of being added as zeros, so that padding cannot change a bit.
        let kept: Vec<usize> = (0..keys).filter(|j| self.keep[*j]).collect();
        let padded = kept.len().next_multiple_of(LANES);
        let mut kt = vec![0f32; dim * padded];
        let mut vh = vec![0f32; kept.len() * dim];
        let mut scores = vec![0f32; padded];
        for h in 0..self.heads {
            for (j, key) in kept.iter().enumerate() {
                let at = key * width + h * dim;
                for d in 0..dim {
                    kt[d * padded + j] = self.k[at + d];
                }
                vh[j * dim..][..dim].copy_from_slice(&self.v[at..at + dim]);
            }
            for (q, out) in self.q.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                let q = &q[h * dim..][..dim];
                let out = &mut out[h * dim..][..dim];
                one_query(q, &kt, &vh, self.scale, &mut scores, kept.len(), out);
            }
        }
    }
}

multiversion! {
    fn one_query(
        q: &[f32],
        kt: &[f32],
        vh: &[f32],
        scale: f32,
        scores: &mut [f32],
        keys: usize,
        out: &mut [f32],
    ) {
        let (dim, padded) = (q.len(), scores.len());
        for (b, s) in scores.chunks_exact_mut(LANES).enumerate() {
            let mut acc = [0f32; LANES];
            for (d, q) in q.iter().enumerate() {
                let row = &kt[d * padded + b * LANES..][..LANES];
                for (a, k) in acc.iter_mut().zip(row) {
                    *a += q * k;
                }
            }
            for (s, a) in s.iter_mut().zip(acc) {
                *s = a * scale;
            }
        }
        softmax(&mut scores[..keys]);
        for (b, out) in out.chunks_mut(LANES).enumerate() {
            let mut acc = [0f32; LANES];
            if out.len() == LANES {
                for (p, v) in scores[..keys].iter().zip(vh.chunks_exact(dim)) {
                    for (a, v) in acc.iter_mut().zip(&v[b * LANES..][..LANES]) {
                        *a += p * v;
                    }
                }
            } else {
                for (p, v) in scores[..keys].iter().zip(vh.chunks_exact(dim)) {
                    for (a, v) in acc.iter_mut().zip(&v[b * LANES..]) {
                        *a += p * v;
                    }
                }
            }
            out.copy_from_slice(&acc[..out.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_heads_by_hand() {
        // Head 1: equal keys, so the mean of the values. Head 2: the second key wins by far.
        let q = [1.0, 100.0];
        let k = [0.0, 0.0, 0.0, 1.0];
        let v = [2.0, 7.0, 4.0, 9.0];
        let mut out = [0.0; 2];
        Attention { q: &q, k: &k, v: &v, keep: &[true, true], heads: 2, scale: 1.0 }.run(&mut out);
        assert!((out[0] - 3.0).abs() < 1e-6 && (out[1] - 9.0).abs() < 1e-6, "{out:?}");
    }

    #[test]
    fn masked_keys_change_nothing() {
        let f = |i: usize| ((i * 37 + 11) % 101) as f32 / 50.0 - 1.0;
        let (heads, dim, n) = (3, 20, 21);
        let width = heads * dim;
        let q: Vec<f32> = (0..n * width).map(f).collect();
        let k: Vec<f32> = (0..n * width).map(|i| f(i + 5)).collect();
        let v: Vec<f32> = (0..n * width).map(|i| f(i + 9)).collect();
        let mut short = vec![0.0; n * width];
        Attention { q: &q, k: &k, v: &v, keep: &[true; 21], heads, scale: 0.2 }.run(&mut short);
        let (mut k2, mut v2) = (k.clone(), v.clone());
        k2.resize((n + 6) * width, 9.0);
        v2.resize((n + 6) * width, f32::NAN);
        let mut keep = vec![true; n];
        keep.resize(n + 6, false);
        let mut long = vec![0.0; n * width];
        Attention { q: &q, k: &k2, v: &v2, keep: &keep, heads, scale: 0.2 }.run(&mut long);
        assert_eq!(short, long);
    }
}
