//! One order out of several lists, by reciprocal ranks.

use crate::search::RRF_K;

/// Where an item stands in the merged order, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The item.
    pub item: u32,
    /// The sum over the lists of `1 / (60 + rank)` (Cormack, Clarke, Büttcher 2009), ranks from 1.
    pub score: f32,
    /// Its rank in each list, from 1, where it has one.
    pub ranks: Vec<Option<usize>>,
}

/// Merges lists of items, best first, each item at most once in a list. Equal sums are in the order of the first list
/// that has one of them.
pub fn merge(lists: &[Vec<u32>]) -> Vec<Merged> {
    let mut merged: Vec<Merged> = Vec::new();
    for (l, list) in lists.iter().enumerate() {
        for (at, item) in list.iter().enumerate() {
            let place = match merged.iter().position(|m| m.item == *item) {
                Some(place) => place,
                None => {
                    merged.push(Merged { item: *item, score: 0.0, ranks: vec![None; lists.len()] });
                    merged.len() - 1
                }
            };
            merged[place].ranks[l] = Some(at + 1);
            merged[place].score += 1.0 / (RRF_K + (at + 1) as f32);
        }
    }
    merged.sort_by(|a, b| b.score.total_cmp(&a.score));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_reciprocal_ranks_decide() {
        // By hand: 7 has 1/61 + 1/62, 5 has 1/61, 9 has 1/62, 3 has 1/63.
        let merged = merge(&[vec![7, 9], vec![5, 7, 3]]);
        assert_eq!(merged.iter().map(|m| m.item).collect::<Vec<_>>(), [7, 5, 9, 3]);
        assert!((merged[0].score - 0.032_522).abs() < 1e-6, "{}", merged[0].score);
        assert_eq!(merged[0].ranks, [Some(1), Some(2)]);
        assert_eq!(merged[3].ranks, [None, Some(3)]);
        assert_eq!(merge(&[]), []);
    }

    #[test]
    fn one_list_stays_as_it_is_and_the_first_list_wins_a_tie() {
        assert_eq!(merge(&[vec![4, 2, 8]]).iter().map(|m| m.item).collect::<Vec<_>>(), [4, 2, 8]);
        assert_eq!(merge(&[vec![1], vec![2]]).iter().map(|m| m.item).collect::<Vec<_>>(), [1, 2]);
    }
}
