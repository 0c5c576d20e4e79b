//! Changes of every kind, with Java's answers.

use proptest::prelude::*;

use super::*;
use crate::error::{Entity, ErrorKind, Result};
use crate::options::Options;
use crate::spec::{ColumnMove, Schema, SchemaChange, TableSchema};
use crate::types::{DataField, DataType};

fn schema(columns: &[(&str, &str)], keys: &[&str], partition: &[&str], options: &[(&str, &str)]) -> TableSchema {
    let mut builder = Schema::builder();
    for (name, data_type) in columns {
        builder = builder.column(*name, data_type.parse().unwrap());
    }
    for (key, value) in options {
        builder = builder.option(*key, *value);
    }
    let schema = builder.primary_key(keys.iter().copied()).partition_keys(partition.iter().copied()).build().unwrap();
    TableSchema::create(&schema, 1).unwrap()
}

fn table() -> TableSchema {
    let columns = [
        ("k", "INT"),
        ("a", "INT"),
        ("s", "ROW<x INT, y STRING>"),
        ("arr", "ARRAY<ROW<e INT>>"),
        ("m", "MAP<STRING, INT>"),
        ("n", "INT NOT NULL"),
    ];
    schema(&columns, &["k"], &[], &[("bucket", "1")])
}

fn path(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

fn add(at: &str, data_type: &str, position: Option<ColumnMove>) -> SchemaChange {
    SchemaChange::AddColumn { path: path(at), data_type: data_type.parse().unwrap(), comment: None, position }
}

fn rename(at: &str, new_name: &str) -> SchemaChange {
    SchemaChange::RenameColumn { path: path(at), new_name: new_name.to_owned() }
}

fn drop(at: &str) -> SchemaChange {
    SchemaChange::DropColumn { path: path(at) }
}

fn retype(at: &str, data_type: &str) -> SchemaChange {
    SchemaChange::UpdateColumnType { path: path(at), data_type: data_type.parse().unwrap(), keep_nullability: true }
}

fn nullability(at: &str, nullable: bool) -> SchemaChange {
    SchemaChange::UpdateColumnNullability { path: path(at), nullable }
}

fn relocate(column: &str, position: ColumnMove) -> SchemaChange {
    SchemaChange::UpdateColumnPosition { column: column.to_owned(), position }
}

fn set(key: &str, value: &str) -> SchemaChange {
    SchemaChange::SetOption { key: key.to_owned(), value: value.to_owned() }
}

fn reset(key: &str) -> SchemaChange {
    SchemaChange::RemoveOption { key: key.to_owned() }
}

/// `name(id) TYPE` of all columns.
fn print(fields: &[DataField]) -> String {
    let inner = |t: &DataType| match t {
        DataType::Row(row) => format!("<{}>", print(row.fields())),
        other => other.to_string(),
    };
    let column = |f: &DataField| format!("{}({}) {}", f.name, f.id, inner(&f.data_type));
    fields.iter().map(column).collect::<Vec<_>>().join(", ")
}

fn changed(changes: &[SchemaChange]) -> Result<TableSchema> {
    table().change(changes, true, 9)
}

#[test]
fn the_example_of_the_sheet() {
    let table = schema(&[("k", "INT"), ("a", "INT"), ("s", "ROW<x INT, y STRING>")], &[], &[], &[]);
    let changes = [
        rename("a", "b"),
        drop("s.x"),
        add("s.z", "BIGINT", None),
        add("c", "STRING", None),
        drop("c"),
        add("c", "INT", None),
        retype("b", "STRING"),
    ];
    let next = table.change(&changes, true, 9).unwrap();
    assert_eq!(print(&next.fields), "k(0) INT, b(1) STRING, s(2) <y(4) STRING, z(5) BIGINT>, c(7) INT");
    assert_eq!((next.id, next.highest_field_id, next.time_millis, next.version), (1, 7, 9, 3));
}

#[test]
fn nested_columns_take_ids_after_their_own() {
    let next =
        changed(&[add("new", "ROW<p INT, q ARRAY<ROW<z INT>>>", None), add("arr.element.f", "INT", None)]).unwrap();
    let last = next.fields.last().unwrap();
    assert_eq!((last.id, next.highest_field_id), (9, 13));
    assert!(next.fields_json().contains(r#"{"id":13,"name":"f","type":"INT"}"#), "{}", next.fields_json());
}

#[test]
fn columns_go_where_they_are_told() {
    let names = |changes: &[SchemaChange]| {
        let table = schema(
            &[("k", "INT"), ("a", "INT"), ("s", "INT")],
            &[],
            &["s"],
            &[("add-column-before-partition", "true")],
        );
        let next = table.change(changes, true, 9)?;
        Ok::<_, crate::Error>(next.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(","))
    };
    let after = |t: &str| ColumnMove::After(t.into());
    let before = |t: &str| ColumnMove::Before(t.into());
    let cases = [
        (relocate("a", after("s")), "k,s,a"),
        (relocate("s", before("a")), "k,s,a"),
        (relocate("a", ColumnMove::Last), "k,s,a"),
        (relocate("s", ColumnMove::First), "s,k,a"),
        (add("n", "INT", None), "k,a,n,s"),
        (add("n", "INT", Some(ColumnMove::First)), "n,k,a,s"),
        (add("n", "INT", Some(ColumnMove::Last)), "k,a,s,n"),
        (add("n", "INT", Some(after("k"))), "k,n,a,s"),
        (add("n", "INT", Some(before("k"))), "n,k,a,s"),
    ];
    for (change, expected) in cases {
        assert_eq!(names(std::slice::from_ref(&change)).unwrap(), expected, "{change:?}");
    }
    for change in [relocate("k", ColumnMove::First), relocate("s", ColumnMove::Last), relocate("a", after("a"))] {
        assert!(names(&[change]).unwrap_err().message().starts_with("Cannot move itself for column"));
    }
    assert_eq!(names(&[relocate("a", after("zz"))]).unwrap_err().message(), "Field name not found: zz");
}

#[test]
fn types_and_nullability() {
    let next = changed(&[
        retype("a", "BIGINT"),
        retype("s.x", "STRING"),
        retype("arr.element.e", "DOUBLE"),
        retype("m.value", "BIGINT"),
        retype("s.y", "STRING"),
        nullability("n", true),
    ]);
    let next = next.unwrap();
    assert_eq!(
        next.fields.iter().map(|f| f.data_type.to_string()).collect::<Vec<_>>(),
        [
            "INT NOT NULL",
            "BIGINT",
            "ROW<`x` STRING, `y` STRING>",
            "ARRAY<ROW<`e` DOUBLE>>",
            "MAP<STRING, BIGINT>",
            "INT"
        ]
    );
    let keeps = changed(&[retype("n", "BIGINT")]).unwrap();
    assert_eq!(keeps.fields[5].data_type.to_string(), "BIGINT NOT NULL");
    let allowed = [set("alter-column-null-to-not-null.disabled", "false")];
    let loose = changed(&allowed).unwrap().change(&[nullability("a", false)], true, 9).unwrap();
    assert!(!loose.fields[1].data_type.is_nullable());
    let strict = changed(&[set("disable-explicit-type-casting", "true")]).unwrap();
    assert!(strict.change(&[retype("a", "BIGINT")], true, 9).is_ok());
    assert!(strict.change(&[retype("a", "TINYINT")], true, 9).is_err());
}

#[test]
fn comments_and_defaults() {
    let comment =
        |text: Option<&str>| SchemaChange::UpdateColumnComment { path: path("s.x"), comment: text.map(Into::into) };
    let default = |at: &str, text: &str| SchemaChange::UpdateColumnDefault {
        path: path(at),
        default_value: Some(text.to_owned()).filter(|t| !t.is_empty()),
    };
    let next =
        changed(&[comment(Some("c")), default("a", "5"), SchemaChange::UpdateComment { comment: Some("t".into()) }]);
    let next = next.unwrap();
    assert!(next.fields_json().contains(r#""name":"x","type":"INT","description":"c""#));
    assert_eq!((next.fields[1].default_value.as_deref(), next.comment.as_deref()), (Some("5"), Some("t")));
    let next = next.change(&[comment(None), default("a", ""), SchemaChange::UpdateComment { comment: None }], true, 9);
    assert_eq!(next.unwrap().fields, table().fields);
    let error = changed(&[default("a", "abc")]).unwrap_err();
    assert_eq!(error.message(), "Unsupported default value `abc` for type INT");
    let error = changed(&[default("a", "300"), retype("a", "TINYINT")]).unwrap_err();
    assert_eq!(error.message(), "Unsupported default value `300` for type TINYINT");
}

#[test]
fn forbidden_changes_say_what_java_says() {
    let cases = [
        (add("n2", "INT NOT NULL", None), "Column n2 cannot specify NOT NULL in the table."),
        (add("a", "INT", None), "Column a already exists."),
        (add("s.x", "INT", None), "Column s.x already exists."),
        (add("zz.x", "INT", None), "Column zz does not exist."),
        (add("arr.x", "INT", None), "Column arr.x does not exist."),
        (rename("a", "k"), "Column k already exists."),
        (rename("zz", "y"), "Column zz does not exist."),
        (rename("a", "_ROW_ID"), "Field name[_ROW_ID] in schema cannot be exist in"),
        (drop("k"), "Cannot drop partition key or primary key: [k]"),
        (drop("arr.element.e"), "Cannot drop all fields in table"),
        (drop("m.value"), "Column m.value does not exist."),
        (retype("k", "BIGINT"), "Cannot update primary key"),
        (retype("a", "DATE"), "Column type a[INT] cannot be converted to DATE without losing information."),
        (retype("s", "STRING NOT NULL"), ""),
        (retype("arr", "ARRAY<INT>"), "Column type arr[ARRAY<ROW<`e` INT>>] cannot be converted to ARRAY<INT> without"),
        (retype("arr", "ARRAY<ROW<e INT>>"), ""),
        (retype("m.key", "INT"), "Column m.key does not exist."),
        (retype("a", "BLOB"), "Cannot change column type involving BLOB"),
        (nullability("k", true), "Cannot change nullability of primary key"),
        (nullability("a", false), "Cannot update column type from nullable to non nullable for a."),
        (SchemaChange::DropPrimaryKey, "Cannot drop primary keys on a non-empty table."),
        (set("bucket", "0"), "The number of buckets needs to be greater than 0."),
        (set("sequence.field", "zz"), "Sequence field: 'zz' can not be found in table schema."),
    ];
    for (change, message) in cases {
        match changed(std::slice::from_ref(&change)) {
            Ok(_) => assert_eq!(message, "", "{change:?}"),
            Err(error) => assert!(!message.is_empty() && error.message().starts_with(message), "{change:?}: {error}"),
        }
    }
    assert_eq!(changed(&[drop("zz")]).unwrap_err().kind(), ErrorKind::NotFound(Entity::Column));
    assert_eq!(changed(&[add("a", "INT", None)]).unwrap_err().kind(), ErrorKind::AlreadyExists(Entity::Column));
    let parts = schema(&[("p", "INT"), ("v", "INT")], &[], &["p"], &[]);
    for (change, message) in [
        (rename("p", "q"), "Cannot rename partition column: [p]"),
        (drop("p"), "Cannot drop partition key or primary key: [p]"),
        (retype("p", "BIGINT"), "Cannot update partition column: [p]"),
    ] {
        assert_eq!(parts.change(&[change], false, 9).unwrap_err().message(), message);
    }
    assert!(parts.change(&[nullability("p", true), relocate("p", ColumnMove::Last)], false, 9).is_ok());
}

#[test]
fn options_follow_a_rename() {
    let options = [
        ("bucket", "2"),
        ("bucket-key", "k"),
        ("merge-engine", "aggregation"),
        ("sequence.field", "q"),
        ("fields.a.aggregate-function", "collect"),
        ("fields.a.distinct", "true"),
        ("fields.l.aggregate-function", "nested_update"),
        ("fields.l.nested-key", "a,b"),
    ];
    let columns = [("k", "INT"), ("q", "INT"), ("a", "ARRAY<INT>"), ("l", "ARRAY<ROW<a INT, b INT>>")];
    let table = schema(&columns, &["k"], &[], &options);
    let changes = [rename("k", "key"), rename("q", "seq"), rename("a", "list"), rename("l.element.b", "c")];
    let next = table.change(&changes, true, 9).unwrap();
    let expected = [
        ("bucket", "2"),
        ("bucket-key", "key"),
        ("fields.l.aggregate-function", "nested_update"),
        ("fields.l.nested-key", "a,c"),
        ("fields.list.aggregate-function", "collect"),
        ("fields.list.distinct", "true"),
        ("merge-engine", "aggregation"),
        ("sequence.field", "seq"),
    ];
    let found: Vec<_> = next.options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!((found.as_slice(), next.primary_keys), (expected.as_slice(), vec!["key".to_owned()]));

    let columns = [("k", "INT"), ("g", "INT"), ("v", "INT"), ("w", "INT")];
    let grouped = [("bucket", "1"), ("merge-engine", "partial-update"), ("fields.g.sequence-group", "v,w")];
    let next = schema(&columns, &["k"], &[], &grouped).change(&[rename("g", "h"), rename("w", "x")], true, 9).unwrap();
    assert_eq!(next.options.get("fields.h.sequence-group").map(String::as_str), Some("v,x"));

    let left_behind =
        schema(&columns, &["k"], &[], &[("bucket", "1"), ("rowkind.field", "v"), ("fields.w.count-limit", "3")]);
    let error = left_behind.change(&[rename("w", "x")], true, 9).unwrap_err();
    assert_eq!(error.message(), "Field w can not be found in table schema.");
}

#[test]
fn options_are_fixed_once_there_are_snapshots() {
    let options = [("bucket", "2"), ("ignore-delete", "true"), ("merge-engine", "deduplicate"), ("write-only", "true")];
    let table = schema(&[("k", "INT"), ("v", "INT")], &["k"], &[], &options);
    let cases = [
        (set("merge-engine", "aggregation"), "Change 'merge-engine' is not supported yet."),
        (set("merge-engine", "DEDUPLICATE"), "Change 'merge-engine' is not supported yet."),
        (reset("merge-engine"), "Change 'merge-engine' is not supported yet."),
        (set("bucket", "-1"), "Cannot change bucket to -1."),
        (reset("bucket"), "Cannot reset bucket."),
        (set("deletion-vectors.enabled", "true"), "Cannot change deletion vectors mode from false to true."),
        (set("ignore-delete", "false"), "Cannot change ignore-delete from true to false."),
        (reset("ignore-delete"), "Cannot change ignore-delete from true to false."),
        (set("rowkind.field", "v"), "Change 'rowkind.field' is not supported yet."),
        (set("primary-key", "v"), "Change 'primary-key' is not supported yet."),
        (set("merge-engine", "deduplicate"), ""),
        (set("primary-key", " k"), ""),
        (set("bucket", "4"), ""),
        (set("type", "TABLE"), ""),
        (reset("rowkind.field"), ""),
        (set("write-only", "false"), ""),
        (set("anything", "x"), ""),
    ];
    for (change, message) in cases {
        match table.change(std::slice::from_ref(&change), true, 9) {
            Ok(next) => assert!(message.is_empty() && !next.options.contains_key("primary-key"), "{change:?}"),
            Err(error) => assert!(!message.is_empty() && error.message().starts_with(message), "{change:?}: {error}"),
        }
    }
    let empty = [set("merge-engine", "aggregation"), set("deletion-vectors.enabled", "true"), set("bucket", "-1")];
    for change in empty {
        assert!(table.change(std::slice::from_ref(&change), false, 9).is_ok(), "{change:?}");
    }
    for change in [set("type", "object-table"), set("path", "/x")] {
        assert!(table.change(std::slice::from_ref(&change), false, 9).is_err(), "{change:?}");
    }
    let modifiable = table.change(&[set("deletion-vectors.modifiable", "true")], true, 9).unwrap();
    assert!(modifiable.change(&[set("deletion-vectors.enabled", "true")], true, 9).is_ok());
    let dynamic = schema(&[("k", "INT")], &["k"], &[], &[]);
    let error = dynamic.change(&[set("bucket", "2")], true, 9).unwrap_err();
    assert_eq!(error.message(), "Cannot change bucket when it is -1.");
    let keyless = table.change(&[SchemaChange::DropPrimaryKey, set("bucket", "-1")], false, 9).unwrap();
    assert!(keyless.primary_keys.is_empty());
}

#[test]
fn dynamic_options_may_not_change_what_is_fixed() {
    let stored: Options = [("bucket", "2")].into_iter().collect();
    let check = |key: &str, value: Option<&str>| {
        check_dynamic_options(&stored, &[(key.to_owned(), value.map(str::to_owned))].into_iter().collect())
    };
    assert!(check("merge-engine", Some("deduplicate")).is_err());
    assert!(check("scan.snapshot-id", Some("1")).is_ok());
    assert!(check("merge-engine", None).is_ok());
    assert!(check("bucket", None).is_err());
    assert!(check("sequence.field", Some("v")).is_err());
}

#[test]
fn old_tables_stay_alterable() {
    let mut old = schema(&[("v", "INT")], &[], &[], &[]);
    old.version = 1;
    old.options = [("bucket".to_owned(), "1".to_owned()), ("file.format".to_owned(), "orc".to_owned())].into();
    let next = old.change(&[add("w", "INT", None)], true, 9).unwrap();
    assert_eq!(TableSchema::from_json(next.to_json().as_bytes()).unwrap(), next);
}

proptest! {
    #[test]
    fn ids_stay_and_are_never_given_twice(steps in proptest::collection::vec((0..4u8, 0..8usize), 1..20)) {
        let mut current = table();
        for (kind, at) in steps {
            let names: Vec<_> = current.fields.iter().map(|f| f.name.clone()).collect();
            let name = &names[at % names.len()];
            let fresh = format!("c{}", current.highest_field_id);
            let change = match kind {
                0 => add(&fresh, "ROW<x INT>", Some(ColumnMove::First)),
                1 => rename(name, &fresh),
                2 => drop(name),
                _ => relocate(name, ColumnMove::Last),
            };
            let Ok(next) = current.change(&[change], true, 9) else { continue };
            prop_assert!(next.highest_field_id >= current.highest_field_id);
            for field in &next.fields {
                let was = current.fields.iter().find(|f| f.id == field.id);
                prop_assert!(was.is_some_and(|f| f.data_type == field.data_type) || field.id > current.highest_field_id);
            }
            prop_assert_eq!(&TableSchema::from_json(next.to_json().as_bytes()).unwrap(), &next);
            current = next;
        }
    }
}
