//! ALTER TABLE.

use paimon_core::ErrorKind;
use paimon_core::error::Entity;

use super::Env;

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_added_dropped_renamed_and_moved() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT, b STRING, r ROW<x INT>)").await;
    env.ok("ALTER TABLE db.t ADD COLUMN c BIGINT COMMENT 'new' FIRST, ADD COLUMN d DATE AFTER a").await;
    env.ok("ALTER TABLE db.t RENAME COLUMN b TO label, DROP COLUMN d").await;
    env.ok("ALTER TABLE db.t ADD COLUMN r.y STRING, ALTER COLUMN a TYPE BIGINT, ALTER COLUMN c COMMENT 'newer'").await;
    env.ok("ALTER TABLE db.t ALTER COLUMN c AFTER r").await;
    assert_eq!(
        env.rows("DESCRIBE db.t").await,
        ["a BIGINT YES", "label STRING YES", "r ROW<x INT, y STRING> YES", "c BIGINT YES"]
    );
    env.ok("ALTER TABLE db.t ADD COLUMN IF NOT EXISTS a INT, DROP COLUMN IF EXISTS nope").await;
    let (kind, message) = env.error("ALTER TABLE db.t ADD COLUMN a INT").await;
    assert_eq!(kind, ErrorKind::AlreadyExists(Entity::Column));
    assert!(message.contains("Column a already exists"), "{message}");
    assert_eq!(env.error("ALTER TABLE db.t DROP COLUMN nope").await.0, ErrorKind::NotFound(Entity::Column));
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_of_one_statement_are_one_schema_or_none() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    env.ok("ALTER TABLE db.t ADD COLUMN b INT, ADD COLUMN c INT, SET TBLPROPERTIES ('x' = '1')").await;
    let schemas = || std::fs::read_dir(env.warehouse.path().join("db.db/t/schema")).unwrap().count();
    assert_eq!(schemas(), 2);
    env.error("ALTER TABLE db.t ADD COLUMN d INT, DROP COLUMN nope").await;
    assert_eq!(schemas(), 2);
    assert_eq!(env.rows("DESCRIBE db.t").await.len(), 3);
    env.ok("ALTER TABLE IF EXISTS db.nope ADD COLUMN a INT").await;
    env.fails("ALTER TABLE db.nope ADD COLUMN a INT", "Table db.nope does not exist.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_protected() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.k (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket'='1')").await;
    env.ok("ALTER TABLE db.k RENAME COLUMN id TO pk").await;
    env.error("ALTER TABLE db.k DROP COLUMN pk").await;
    env.error("ALTER TABLE db.k ALTER COLUMN pk TYPE BIGINT").await;
    env.error("ALTER TABLE db.k ALTER COLUMN pk DROP NOT NULL").await;
    env.ok("CREATE TABLE db.p (id INT, dt STRING) PARTITIONED BY (dt)").await;
    env.error("ALTER TABLE db.p DROP COLUMN dt").await;
    env.error("ALTER TABLE db.p RENAME COLUMN dt TO day").await;
    env.error("ALTER TABLE db.p ADD COLUMN must INT NOT NULL").await;
    env.ok("CREATE TABLE db.one (only_one INT)").await;
    env.error("ALTER TABLE db.one DROP COLUMN only_one").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_comments_and_defaults() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT, b INT) WITH ('x' = '1')").await;
    env.ok("ALTER TABLE db.t SET TBLPROPERTIES ('y' = '2', 'comment' = 'hello')").await;
    env.ok("ALTER TABLE db.t UNSET TBLPROPERTIES ('x')").await;
    env.fails("ALTER TABLE db.t UNSET TBLPROPERTIES ('x')", "option 'x' of db.t is not set").await;
    env.ok("ALTER TABLE db.t UNSET TBLPROPERTIES IF EXISTS ('x')").await;
    env.ok("ALTER TABLE db.t RESET ('x')").await;
    env.ok("ALTER TABLE db.t ALTER COLUMN a SET DEFAULT 1 + 1").await;
    env.ok("COMMENT ON COLUMN db.t.b IS 'the b'").await;
    let definition = env.rows("SHOW CREATE TABLE db.t").await.remove(0);
    for part in ["a INT DEFAULT '2'", "b INT COMMENT 'the b'", "COMMENT 'hello'", "'y' = '2'"] {
        assert!(definition.contains(part), "{part} in {definition}");
    }
    env.ok("COMMENT ON TABLE db.t IS NULL").await;
    env.ok("ALTER TABLE db.t ALTER COLUMN a DROP DEFAULT").await;
    let definition = env.rows("SHOW CREATE TABLE db.t").await.remove(0);
    assert!(!definition.contains("hello") && !definition.contains("DEFAULT"), "{definition}");
    env.fails("ALTER TABLE db.t ALTER COLUMN a SET DEFAULT 'x'", "column a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_renamed_within_their_catalog() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.old_name (id INT)").await;
    env.ok("ALTER TABLE paimon.db.old_name RENAME TO paimon.db.new_name").await;
    assert_eq!(env.rows("SHOW TABLES IN db").await, ["paimon db new_name BASE TABLE"]);
    env.ok("ALTER TABLE db.new_name RENAME TO newer").await;
    assert_eq!(env.rows("SHOW TABLES IN db").await, ["paimon db newer BASE TABLE"]);
    env.ok("CREATE TABLE db.other (id INT)").await;
    assert_eq!(env.error("ALTER TABLE db.newer RENAME TO other").await.0, ErrorKind::AlreadyExists(Entity::Table));
    env.fails("ALTER TABLE db.newer RENAME TO datafusion.public.x", "another catalog").await;
    env.fails("ALTER TABLE db.newer RENAME TO \"a$b\"", "separates branch").await;
}
