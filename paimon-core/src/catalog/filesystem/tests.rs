use std::collections::HashMap;

use bytes::Bytes;

use super::*;
use crate::types::{BigIntType, DataType, IntType, VarCharType};

/// A fresh catalog on each store, with options on top.
fn catalogs(extra: &[(&str, &str)]) -> (tempfile::TempDir, [FileSystemCatalog; 2]) {
    let directory = tempfile::tempdir().unwrap();
    let roots = [format!("{}/w", directory.path().display()), format!("memory:/{}", uuid::Uuid::new_v4())];
    let catalogs = roots.map(|root| {
        let options = extra.iter().copied().chain([("warehouse", root.as_str())]).collect();
        FileSystemCatalog::new(options).unwrap()
    });
    (directory, catalogs)
}

fn schema() -> Schema {
    Schema::builder().column("id", DataType::Int(IntType::new())).build().unwrap()
}

fn id(text: &str) -> Identifier {
    Identifier::parse(text).unwrap()
}

async fn touch(catalog: &FileSystemCatalog, file: &str) {
    let path = format!("{}/{file}", catalog.warehouse());
    catalog.io.write(&path, Bytes::from_static(b"x")).await.unwrap();
}

/// Puts a schema file where only a copy or another writer would.
async fn put_schema(catalog: &FileSystemCatalog, file: &str, schema: &TableSchema) {
    let path = format!("{}/{file}", catalog.warehouse());
    catalog.io.write(&path, Bytes::from(schema.to_json())).await.unwrap();
}

fn numbered(schema_id: i64) -> TableSchema {
    TableSchema { id: schema_id, ..TableSchema::create(&schema(), 1).unwrap() }
}

fn says<T: std::fmt::Debug>(result: Result<T>, kind: ErrorKind, message: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.message()), (kind, message));
}

#[tokio::test]
async fn databases() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        assert_eq!(catalog.list_databases().await.unwrap(), Vec::<String>::new());
        for name in ["b", "a", "a-b", "ü x.y"] {
            catalog.create_database(name, false, HashMap::new()).await.unwrap();
        }
        assert_eq!(catalog.list_databases().await.unwrap(), ["a", "a-b", "b", "ü x.y"]);
        assert!(catalog.database_exists("a").await.unwrap());
        assert!(catalog.database_exists("sys").await.unwrap());
        assert!(!catalog.database_exists("../w/a").await.unwrap());
        let exists = ErrorKind::AlreadyExists(Entity::Database);
        says(catalog.create_database("a", false, HashMap::new()).await, exists, "Database a already exists.");
        catalog.create_database("a", true, HashMap::new()).await.unwrap();
        catalog.drop_database("a", false, false).await.unwrap();
        let missing = ErrorKind::NotFound(Entity::Database);
        says(catalog.drop_database("a", false, true).await, missing, "Database a does not exist.");
        catalog.drop_database("a", true, true).await.unwrap();
        says(catalog.list_tables("a").await, missing, "Database a does not exist.");
        assert_eq!(catalog.list_databases().await.unwrap(), ["a-b", "b", "ü x.y"]);
    }
}

#[tokio::test]
async fn arguments_are_checked_before_the_ignore_flags() {
    let (_guard, catalogs) = catalogs(&[]);
    let system = "Can't do operation on system database.";
    for catalog in catalogs {
        let given = |key: &str| HashMap::from([(key.to_owned(), "x".to_owned())]);
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        says(
            catalog.create_database("d", true, given("location")).await,
            ErrorKind::InvalidInput,
            "Cannot specify location for a database when using fileSystem catalog.",
        );
        says(
            catalog.create_database("e", true, given("owner")).await,
            ErrorKind::Unsupported,
            "a filesystem catalog keeps no properties of a database, but was given: owner",
        );
        says(catalog.create_database("sys", true, HashMap::new()).await, ErrorKind::InvalidInput, system);
        says(catalog.drop_database("sys", true, true).await, ErrorKind::InvalidInput, system);
        says(catalog.create_table(&id("sys.t"), schema(), true).await, ErrorKind::InvalidInput, system);
        for bad in ["", "..", "a/b", "a:b"] {
            let result = catalog.create_database(bad, true, HashMap::new()).await;
            assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(catalog.drop_database(bad, true, true).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        says(
            catalog.drop_table(&id("d.t$branch_b"), true).await,
            ErrorKind::InvalidInput,
            "Cannot 'dropTable' for branch table 'd.t$branch_b', please modify the table with the default branch.",
        );
        says(
            catalog.rename_table(&id("d.t"), &id("d.t$files"), true).await,
            ErrorKind::InvalidInput,
            "Cannot 'renameTable' for system table 'd.t$files', please use data table.",
        );
        let changes = vec![SchemaChange::RemoveOption { key: "x".to_owned() }];
        says(
            catalog.alter_table(&id("d.t$files"), changes, true).await,
            ErrorKind::InvalidInput,
            "Cannot 'alterTable' for system table 'd.t$files', please use data table.",
        );
    }
}

#[tokio::test]
async fn only_directories_with_a_schema_are_tables() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        put_schema(&catalog, "a.db/t1/schema/schema-0", &numbered(0)).await;
        put_schema(&catalog, "a.db/t2/schema/schema-3", &numbered(3)).await;
        put_schema(&catalog, "a.db/t3/branch/branch-b/schema/schema-0", &numbered(0)).await;
        for file in ["a.db/junk/x.parquet", "a.db/.tmp/x", "a/x", "b.db", "a.db/t4/schema/schema-x"] {
            touch(&catalog, file).await;
        }
        assert_eq!(catalog.list_databases().await.unwrap(), ["a"]);
        assert_eq!(catalog.list_tables("a").await.unwrap(), ["t1", "t2"]);
        assert_eq!(catalog.get_table(&id("a.t2")).await.unwrap().schema().id, 3);
        let branch = catalog.get_table(&id("a.t3$branch_b")).await.unwrap();
        assert_eq!((branch.branch(), branch.location()), ("b", catalog.table_location(&id("a.t3")).as_str()));
        says(catalog.get_table(&id("a.t3")).await, ErrorKind::NotFound(Entity::Table), "Table a.t3 does not exist.");
        says(
            catalog.drop_database("a", false, false).await,
            ErrorKind::NotEmpty(Entity::Database),
            "Database a is not empty.",
        );
        catalog.drop_table(&id("a.t1"), false).await.unwrap();
        catalog.drop_table(&id("a.t2"), false).await.unwrap();
        catalog.drop_database("a", false, false).await.unwrap();
        assert!(!catalog.io.exists(&format!("{}/a.db", catalog.warehouse())).await.unwrap());
    }
}

#[tokio::test]
async fn creating_and_getting_tables() {
    let (_guard, catalogs) = catalogs(&[("table-default.bucket", "3"), ("table-default.file.format", "parquet")]);
    for catalog in catalogs {
        let missing = ErrorKind::NotFound(Entity::Database);
        says(catalog.create_table(&id("d.t"), schema(), true).await, missing, "Database d does not exist.");
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        touch(&catalog, "d.db/t/left/over").await;
        let keyed = Schema::builder()
            .column("id", DataType::Int(IntType::new()))
            .primary_key(["id"])
            .option("bucket", "1")
            .build()
            .unwrap();
        catalog.create_table(&id("d.t"), keyed, false).await.unwrap();
        let table = catalog.get_table(&id("d.t")).await.unwrap();
        let options: Vec<_> = table.schema().options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(options, [("bucket", "1"), ("file.format", "parquet")]);
        assert_eq!(table.schema().id, 0);
        assert_eq!(table.current_snapshot().await.unwrap(), None);
        let exists = ErrorKind::AlreadyExists(Entity::Table);
        says(catalog.create_table(&id("d.t"), schema(), false).await, exists, "Table d.t already exists.");
        catalog.create_table(&id("d.t"), schema(), true).await.unwrap();
        assert_eq!(table.schema().primary_keys, ["id"], "an existing table stays as it is");
        let refused =
            Schema::builder().column("id", DataType::Int(IntType::new())).option("path", "/elsewhere").build().unwrap();
        let result = catalog.create_table(&id("d.u"), refused, false).await;
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(catalog.list_tables("d").await.unwrap(), ["t"]);
        let system = catalog.get_table(&id("d.t$snapshots")).await.unwrap_err();
        assert!(system.message().contains("get the table t and ask for its system table snapshots"), "{system}");
        says(
            catalog.get_table(&id("d.t$branch_b")).await,
            ErrorKind::NotFound(Entity::Branch),
            "Branch b in table d.t doesn't exist.",
        );
        let missing = ErrorKind::NotFound(Entity::Table);
        says(catalog.get_table(&id("nodb.t")).await, missing, "Table nodb.t does not exist.");
        says(catalog.get_table(&id("d.x$branch_b")).await, missing, "Table d.x does not exist.");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_of_many_racers_creates_a_table() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        let mut racers = tokio::task::JoinSet::new();
        for racer in 0..8 {
            let catalog = catalog.clone();
            racers.spawn(async move { catalog.create_table(&id("d.t"), schema(), racer % 2 == 0).await });
        }
        let results = racers.join_all().await;
        let lost: Vec<_> = results.into_iter().filter_map(|r| r.err().map(|e| e.kind())).collect();
        assert!((3..=4).contains(&lost.len()), "only those that do not ignore it see that they lost: {lost:?}");
        assert!(lost.iter().all(|kind| *kind == ErrorKind::AlreadyExists(Entity::Table)));
        assert_eq!(catalog.get_table(&id("d.t")).await.unwrap().schema().id, 0);
    }
}

#[tokio::test]
async fn dropping_follows_the_external_paths_of_every_schema() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        catalog.create_table(&id("d.t"), schema(), false).await.unwrap();
        let outside = catalog.warehouse().to_owned() + "-outside";
        let with_paths = |schema_id, paths: String| TableSchema {
            options: [("data-file.external-paths".to_owned(), paths)].into(),
            ..numbered(schema_id)
        };
        put_schema(&catalog, "d.db/t/schema/schema-1", &with_paths(1, format!("{outside}/a, {outside}/b"))).await;
        put_schema(&catalog, "d.db/t/schema/schema-2", &numbered(2)).await;
        let branch = with_paths(0, format!("{outside}/c"));
        put_schema(&catalog, "d.db/t/branch/branch-b/schema/schema-0", &branch).await;
        touch(&catalog, "d.db/t/schema/schema-7").await;
        for name in ["a", "b", "c", "other"] {
            catalog.io.write(&format!("{outside}/{name}/p=1/f"), Bytes::from_static(b"x")).await.unwrap();
        }
        catalog.drop_table(&id("d.t"), false).await.unwrap();
        let left = catalog.io.list_names(&outside).await.unwrap();
        assert_eq!(left, [("other".to_owned(), true)]);
        assert!(!catalog.io.exists(&catalog.table_location(&id("d.t"))).await.unwrap());
        let missing = ErrorKind::NotFound(Entity::Table);
        says(catalog.drop_table(&id("d.t"), false).await, missing, "Table d.t does not exist.");
        catalog.drop_table(&id("d.t"), true).await.unwrap();
    }
}

#[tokio::test]
async fn an_external_path_that_may_not_be_deleted_keeps_the_table() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        for (path, kind) in [
            (catalog.warehouse().to_owned(), ErrorKind::InvalidConfig),
            ("s3://bucket/x".to_owned(), ErrorKind::Unsupported),
        ] {
            let schema = TableSchema { options: [("data-file.external-paths".to_owned(), path)].into(), ..numbered(0) };
            put_schema(&catalog, "d.db/t/schema/schema-0", &schema).await;
            assert_eq!(catalog.drop_table(&id("d.t"), false).await.unwrap_err().kind(), kind);
            assert_eq!(catalog.list_tables("d").await.unwrap(), ["t"]);
        }
    }
}

#[tokio::test]
async fn renaming_tables() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        for name in ["d.a", "d.b"] {
            catalog.create_table(&id(name), schema(), false).await.unwrap();
        }
        let exists = ErrorKind::AlreadyExists(Entity::Table);
        says(catalog.rename_table(&id("d.a"), &id("d.b"), false).await, exists, "Table d.b already exists.");
        let missing = ErrorKind::NotFound(Entity::Table);
        says(catalog.rename_table(&id("d.x"), &id("d.y"), false).await, missing, "Table d.x does not exist.");
        catalog.rename_table(&id("d.x"), &id("d.y"), true).await.unwrap();
        touch(&catalog, "d.db/full/file").await;
        says(
            catalog.rename_table(&id("d.a"), &id("d.full"), false).await,
            exists,
            "Failed to rename table d.a to table d.full: the target directory exists and is not a table",
        );
        let nowhere = ErrorKind::NotFound(Entity::Database);
        says(catalog.rename_table(&id("d.a"), &id("e.c"), false).await, nowhere, "Database e does not exist.");
        catalog.create_database("e", false, HashMap::new()).await.unwrap();
        catalog.rename_table(&id("d.a"), &id("e.c"), false).await.unwrap();
        assert_eq!(catalog.list_tables("d").await.unwrap(), ["b"]);
        assert_eq!(catalog.list_tables("e").await.unwrap(), ["c"]);
        assert_eq!(catalog.get_table(&id("e.c")).await.unwrap().schema().fields.len(), 1);
    }
}

fn add(column: &str) -> Vec<SchemaChange> {
    vec![SchemaChange::AddColumn {
        path: vec![column.to_owned()],
        data_type: DataType::VarChar(VarCharType::string_type()),
        comment: None,
        position: None,
    }]
}

#[tokio::test]
async fn altering_tables() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        catalog.create_table(&id("d.t"), schema(), false).await.unwrap();
        let before = catalog.get_table(&id("d.t")).await.unwrap();
        catalog.alter_table(&id("d.t"), add("s"), false).await.unwrap();
        let after = catalog.get_table(&id("d.t")).await.unwrap();
        assert_eq!((before.schema().fields.len(), after.schema().fields.len()), (1, 2));
        assert_eq!((after.schema().id, after.schema().highest_field_id), (1, 1));
        says(
            catalog.alter_table(&id("d.t"), add("s"), false).await,
            ErrorKind::AlreadyExists(Entity::Column),
            "Column s already exists in the d.t table.",
        );
        let missing = ErrorKind::NotFound(Entity::Table);
        says(catalog.alter_table(&id("d.x"), add("s"), false).await, missing, "Table d.x does not exist.");
        catalog.alter_table(&id("d.x"), add("s"), true).await.unwrap();
        put_schema(&catalog, "d.db/t/branch/branch-b/schema/schema-0", &numbered(0)).await;
        catalog.alter_table(&id("d.t$branch_b"), add("only_here"), false).await.unwrap();
        assert!(catalog.get_table(&id("d.t$branch_b")).await.unwrap().schema().row_type().field("only_here").is_some());
        assert_eq!(catalog.get_table(&id("d.t")).await.unwrap().schema().id, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn racing_changes_all_arrive() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        catalog.create_table(&id("d.t"), schema(), false).await.unwrap();
        let mut racers = tokio::task::JoinSet::new();
        for racer in 0..8 {
            let catalog = catalog.clone();
            racers.spawn(async move {
                for step in 0..5 {
                    catalog.alter_table(&id("d.t"), add(&format!("c{racer}_{step}")), false).await.unwrap();
                }
            });
        }
        racers.join_all().await;
        let table = catalog.get_table(&id("d.t")).await.unwrap();
        assert_eq!((table.schema().id, table.schema().fields.len()), (40, 41));
        let ids: std::collections::BTreeSet<_> = table.schema().fields.iter().map(|f| f.id).collect();
        assert_eq!(ids.len(), 41);
    }
}

#[tokio::test]
async fn a_type_that_the_catalog_does_not_load() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        let foreign = TableSchema { options: [("type".to_owned(), "format-table".to_owned())].into(), ..numbered(0) };
        put_schema(&catalog, "d.db/t/schema/schema-0", &foreign).await;
        let error = catalog.get_table(&id("d.t")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("format-table"), "{error}");
    }
}

#[tokio::test]
async fn a_warehouse_that_is_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("w");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let catalog = FileSystemCatalog::new([("warehouse", file)].into_iter().collect()).unwrap();
    let message = format!("The path '{file}' should be a directory.");
    says(catalog.list_databases().await, ErrorKind::InvalidConfig, &message);
    says(catalog.create_database("d", false, HashMap::new()).await, ErrorKind::InvalidConfig, &message);
}

#[tokio::test]
async fn a_table_that_was_dropped_while_it_is_held() {
    let (_guard, catalogs) = catalogs(&[]);
    for catalog in catalogs {
        catalog.create_database("d", false, HashMap::new()).await.unwrap();
        let wide = Schema::builder().column("n", DataType::BigInt(BigIntType::new())).build().unwrap();
        catalog.create_table(&id("d.t"), wide, false).await.unwrap();
        let table = catalog.get_table(&id("d.t")).await.unwrap();
        catalog.drop_table(&id("d.t"), false).await.unwrap();
        assert_eq!(table.refresh().await.unwrap_err().kind(), ErrorKind::NotFound(Entity::Table));
        assert_eq!(table.current_snapshot().await.unwrap(), None);
    }
}
