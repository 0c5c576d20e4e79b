use super::*;

#[test]
fn names_are_found_in_any_case() {
    assert_eq!(SystemTable::by_name("Snapshots"), Some(SystemTable::Snapshots));
    assert_eq!(SystemTable::by_name("bogus"), None);
    for table in SystemTable::ALL {
        assert_eq!(SystemTable::by_name(table.name()), Some(table));
    }
}
