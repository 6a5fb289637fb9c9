//! How far a mean over questions can be trusted: percentile bootstrap (Efron and Tibshirani 1993).

/// Number of resamples.
const RESAMPLES: usize = 2000;

/// The 95 % interval of the mean of `values`, from 2,000 resamples; the same values give the same interval.
/// Nothing for fewer than two values.
pub fn mean_interval(values: &[f64]) -> Option<[f64; 2]> {
    if values.len() < 2 {
        return None;
    }
    let mut random = SplitMix(values.len() as u64);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let sum: f64 = (0..values.len()).map(|_| values[random.below(values.len())]).sum();
            sum / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some([means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]])
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // The upper half of a product is uniform enough for these few values (Lemire 2019).
        ((u128::from(z) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For the mean of n values of a coin the normal approximation is 0.5 ± 1.96 · 0.5 / √n: ±0.049 for 400.
    #[test]
    fn a_coin_thrown_four_hundred_times() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        let [low, high] = mean_interval(&values).expect("enough values");
        assert!((low - 0.451).abs() < 0.006 && (high - 0.549).abs() < 0.006, "{low} {high}");
    }

    #[test]
    fn equal_values_leave_no_doubt_and_one_value_says_nothing() {
        assert_eq!(mean_interval(&[0.25; 9]), Some([0.25, 0.25]));
        assert_eq!(mean_interval(&[1.0]), None);
    }
}
