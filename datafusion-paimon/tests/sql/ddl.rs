//! Databases and tables.

use paimon_core::ErrorKind;
use paimon_core::error::Entity;

use super::{Env, rows};

#[tokio::test(flavor = "multi_thread")]
async fn databases_come_and_go() {
    let env = Env::new().await;
    let (kind, message) = env.error("CREATE SCHEMA paimon.db").await;
    assert_eq!(kind, ErrorKind::AlreadyExists(Entity::Database));
    assert!(message.contains("Database db already exists."), "{message}");
    env.ok("CREATE DATABASE IF NOT EXISTS db").await;
    env.ok("CREATE DATABASE Other").await;
    assert_eq!(env.rows("SHOW DATABASES").await, ["db", "default", "other"]);
    assert_eq!(env.error("DROP SCHEMA paimon.absent").await.0, ErrorKind::NotFound(Entity::Database));
    env.ok("DROP SCHEMA IF EXISTS paimon.absent").await;
    env.ok("CREATE TABLE other.t (a INT)").await;
    assert_eq!(env.error("DROP DATABASE other RESTRICT").await.0, ErrorKind::NotEmpty(Entity::Database));
    env.ok("DROP DATABASE other CASCADE").await;
    assert_eq!(env.rows("SHOW SCHEMAS IN paimon LIKE 'd%'").await, ["db", "default"]);
    env.fails("CREATE DATABASE information_schema", "cannot be called").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_folded_everywhere() {
    let env = Env::new().await;
    env.ok("CREATE TABLE Paimon.DB.A28 (ID INT, \"Kept\" STRING)").await;
    assert_eq!(env.rows("SHOW TABLES IN db").await, ["paimon db a28 BASE TABLE"]);
    assert_eq!(env.rows("SELECT Id, \"Kept\" FROM paimon.Db.a28").await, Vec::<String>::new());
    assert_eq!(env.rows("DESCRIBE db.A28").await, ["id INT YES", "Kept STRING YES"]);
    env.ok("CREATE TABLE db.\"Mixed Case\" (a INT)").await;
    let (kind, message) = env.error("SELECT * FROM db.\"mixed case\"").await;
    assert_eq!(kind, ErrorKind::NotFound(Entity::Table));
    assert!(message.contains("\"Mixed Case\""), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_parts_of_a_name_have_their_own_errors() {
    let env = Env::new().await;
    env.fails("SELECT * FROM paimon.db.orders", "Table db.orders does not exist.").await;
    env.fails("SELECT * FROM paimon.nodb.t", "Database nodb does not exist.").await;
    env.fails("SELECT * FROM nocatalog.db.t", "Catalog nocatalog does not exist.").await;
    env.fails("CREATE TABLE nocatalog.db.t (a INT)", "Catalog nocatalog does not exist.").await;
    env.fails("CREATE TABLE nodb.t (a INT)", "Database nodb does not exist.").await;
    env.fails("SELECT * FROM a.b.c.d", "a.b.c.d").await;
    env.ok("CREATE TABLE db.orders (a INT)").await;
    env.fails("SELECT * FROM db.order", "Did you mean orders?").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_have_the_types_keys_and_options_that_were_given() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT COMMENT 'key', v STRING DEFAULT 'a''b', n DECIMAL(10,2) DEFAULT 1.5, \
            dt STRING NOT NULL, PRIMARY KEY (dt, id) NOT ENFORCED) WITH ('bucket' = '2', snapshot.num-retained.max = 30) \
            COMMENT 'orders' PARTITIONED BY (dt)")
        .await;
    let definition = env.rows("SHOW CREATE TABLE db.t").await;
    let expected = "paimon db t CREATE TABLE paimon.db.t (\n  id INT NOT NULL COMMENT 'key',\n  v STRING DEFAULT 'a''b',\n  \
                    n DECIMAL(10, 2) DEFAULT '1.50',\n  dt STRING NOT NULL,\n  PRIMARY KEY (dt, id) NOT ENFORCED\n)\n\
                    COMMENT 'orders'\nPARTITIONED BY (dt)\nWITH (\n  'bucket' = '2',\n  'snapshot.num-retained.max' = '30'\n)";
    assert_eq!(definition, [expected]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_show_create_table_prints_creates_an_equal_table() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT NOT NULL, \"Weird \"\"name\" CHAR(4), v VARCHAR(9) COMMENT 'it''s', d DECIMAL(12,3), \
            t TIMESTAMP(3), z TIMESTAMP_LTZ(9), a ARRAY<INT NOT NULL>, m MAP<STRING, ARRAY<DOUBLE>>, \
            r ROW<x INT NOT NULL COMMENT 'y', \"select\" BYTES>, b BINARY(3), vb VARBINARY(7), tm TIME(3), dt STRING NOT NULL, \
            PRIMARY KEY (dt, id)) PARTITIONED BY (dt) WITH ('bucket'='2')")
        .await;
    let before = schema_file(&env, "t");
    let definition = env.rows("SHOW CREATE TABLE paimon.db.t").await.remove(0);
    let statement = definition.strip_prefix("paimon db t ").unwrap();
    env.ok("DROP TABLE db.t").await;
    env.ok(statement).await;
    assert_eq!(schema_file(&env, "t"), before);
}

/// The first schema file of a table, without its time.
fn schema_file(env: &Env, table: &str) -> String {
    let path = env.warehouse.path().join(format!("db.db/{table}/schema/schema-0"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.contains("timeMillis")).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_key_may_stand_in_three_places() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.a (id INT PRIMARY KEY, v INT) WITH ('bucket' = '1')").await;
    env.ok("CREATE TABLE db.b (id INT, v INT, PRIMARY KEY (id)) WITH ('bucket' = '1')").await;
    env.ok("CREATE TABLE db.c (id INT, v INT) WITH ('bucket' = '1', 'primary-key' = 'id')").await;
    assert_eq!(schema_file(&env, "a"), schema_file(&env, "b"));
    assert_eq!(schema_file(&env, "a"), schema_file(&env, "c"));
    env.fails(
        "CREATE TABLE db.d (id INT PRIMARY KEY, v INT) WITH ('bucket' = '1', 'primary-key' = 'id')",
        "Cannot define primary key on DDL and table options at the same time.",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_new_tables_hold() {
    let env = Env::new().await;
    for sql in [
        "CREATE TABLE db.t (id INT NOT NULL, v INT, PRIMARY KEY (id)) WITH ('bucket'='1', 'merge-engine'='nonsense')",
        "CREATE TABLE db.t (id INT) WITH ('bucket'='0')",
        "CREATE TABLE db.t (id INT, v INT) WITH ('bucket'='2')",
        "CREATE TABLE db.t (id INT NOT NULL, v INT, PRIMARY KEY (id)) WITH ('bucket'='2', 'bucket-key'='v')",
        "CREATE TABLE db.t (id INT NOT NULL, v INT, PRIMARY KEY (id)) WITH ('bucket'='1', 'sequence.field'='nope')",
        "CREATE TABLE db.t (dt STRING NOT NULL, v INT, PRIMARY KEY (dt)) PARTITIONED BY (dt) WITH ('bucket'='1')",
        "CREATE TABLE db.t (id INT) PARTITIONED BY (nope)",
        "CREATE TABLE db.t (v VARCHAR(0))",
        "CREATE TABLE db.t (id INT DEFAULT 'x')",
        "CREATE TABLE db.t (id INT DEFAULT id)",
        "CREATE TABLE db.\"t$x\" (id INT)",
    ] {
        env.error(sql).await;
    }
    assert!(env.rows("SHOW TABLES IN db").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_tables_are_not_created_again() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    assert_eq!(env.error("CREATE TABLE db.t (b INT)").await.0, ErrorKind::AlreadyExists(Entity::Table));
    env.ok("CREATE TABLE IF NOT EXISTS db.t (b INT)").await;
    assert_eq!(env.rows("DESCRIBE db.t").await, ["a INT YES"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn like_copies_what_the_table_is() {
    let env = Env::new().await;
    env.ok(
        "CREATE TABLE db.s (id INT PRIMARY KEY, v STRING DEFAULT 'x' COMMENT 'c') COMMENT 't' WITH ('bucket' = '3')",
    )
    .await;
    env.ok("CREATE TABLE db.l LIKE db.s").await;
    assert_eq!(schema_file(&env, "l"), schema_file(&env, "s"));
    env.ok("CREATE TABLE db.m LIKE db.s (EXCLUDING OPTIONS) WITH ('bucket' = '4')").await;
    assert_eq!(env.rows("SHOW TBLPROPERTIES db.m").await, ["bucket 4"]);
    env.fails("CREATE TABLE db.n LIKE db.nope", "does not exist").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_tables_is_dropped_whole_or_not_at_all() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.a (x INT)").await;
    env.ok("CREATE TABLE db.b (x INT)").await;
    assert_eq!(env.error("DROP TABLE db.a, db.nope").await.0, ErrorKind::NotFound(Entity::Table));
    assert_eq!(env.rows("SHOW TABLES IN db").await.len(), 2);
    env.ok("DROP TABLE IF EXISTS db.a, db.nope, db.b PURGE").await;
    assert!(env.rows("SHOW TABLES IN db").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_session_does_is_seen_at_once() {
    let env = Env::new().await;
    let second = env.second().await;
    env.ok("CREATE TABLE db.again (id INT)").await;
    assert_eq!(rows(&second, "DESCRIBE paimon.db.again").await.unwrap(), ["id INT YES"]);
    env.ok("DROP TABLE db.again").await;
    env.ok("CREATE TABLE db.again (name STRING, x INT)").await;
    assert_eq!(rows(&second, "DESCRIBE paimon.db.again").await.unwrap().len(), 2);
    assert_eq!(rows(&second, "SHOW TABLES IN paimon.db").await.unwrap(), ["paimon db again BASE TABLE"]);
}
