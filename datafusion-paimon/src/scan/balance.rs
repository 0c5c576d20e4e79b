//! Spreads pieces of work over partitions by their bytes.

/// At most `parts` groups of about equal size, none of them empty; items keep their order within a group.
///
/// The largest item goes first, each to the group that has the least: at most a third above the best possible.
pub(crate) fn balance<T>(items: Vec<T>, parts: usize, size: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
    let parts = parts.min(items.len()).max(1);
    let mut order: Vec<(usize, u64)> = items.iter().map(size).enumerate().collect();
    order.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let mut loads = vec![0u64; parts];
    let mut group_of = vec![0usize; items.len()];
    for (item, bytes) in order {
        // An item without bytes still costs the opening of a file.
        let (least, load) = loads.iter().copied().enumerate().min_by_key(|(_, load)| *load).unwrap_or_default();
        loads[least] = load.saturating_add(bytes.max(1));
        group_of[item] = least;
    }
    let mut groups: Vec<Vec<T>> = (0..parts).map(|_| Vec::new()).collect();
    for (item, group) in items.into_iter().zip(group_of) {
        groups[group].push(item);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_even_and_keep_order() {
        let groups = balance(vec![5u64, 1, 1, 1, 1, 1], 2, |n| *n);
        assert_eq!(groups, vec![vec![5], vec![1, 1, 1, 1, 1]]);
        assert_eq!(balance(vec![0u64, 0, 0, 0], 2, |n| *n).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn there_are_no_empty_groups() {
        assert_eq!(balance(vec![7u64], 8, |n| *n), vec![vec![7]]);
        assert!(balance(Vec::<u64>::new(), 8, |n| *n).is_empty());
    }
}
