//! Ordered packing of items into bins.
//!
//! Invariants: nothing is reordered or cut; a bin exceeds the target only with a single item. Source: read-path sheet
//! section 5; `utils/BinPacking.java`.

/// Fills bins in order: a bin is closed when the next item would take it over `target`; equality fits.
pub fn pack<T>(items: impl IntoIterator<Item = T>, weight: impl Fn(&T) -> u64, target: u64) -> Vec<Vec<T>> {
    let mut bins = Vec::new();
    let mut bin = Vec::new();
    let mut filled = 0u64;
    for item in items {
        let weight = weight(&item);
        if !bin.is_empty() && filled.saturating_add(weight) > target {
            bins.push(std::mem::take(&mut bin));
            filled = 0;
        }
        filled = filled.saturating_add(weight);
        bin.push(item);
    }
    if !bin.is_empty() {
        bins.push(bin);
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_small_files_fill_bins_of_four_and_two() {
        let bins = pack([900u64; 6], |size| (*size).max(1024), 4096);
        assert_eq!(bins.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2]);
    }

    #[test]
    fn order_is_kept_and_large_items_stand_alone() {
        assert_eq!(pack([5u64, 100, 1, 9, 1], |v| *v, 10), [vec![5], vec![100], vec![1, 9], vec![1]]);
        assert!(pack([], |v: &u64| *v, 10).is_empty());
    }
}
