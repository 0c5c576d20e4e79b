//! Versions, tags, hints, options of the session, rollback.

use paimon_core::ErrorKind;
use paimon_core::error::Entity;

use super::Env;

async fn three_versions() -> Env {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.v (id INT, s STRING)").await;
    env.rows("INSERT INTO db.v VALUES (1, 'one')").await;
    env.ok("CALL sys.create_tag(table => 'db.v', tag => 'first')").await;
    env.rows("INSERT INTO db.v VALUES (2, 'two')").await;
    env.rows("INSERT INTO db.v VALUES (3, 'three')").await;
    env
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_by_number_and_by_name() {
    let env = three_versions().await;
    for (clause, count) in [
        ("VERSION AS OF 2", "2"),
        ("version  as of 'first'", "1"),
        ("FOR VERSION AS OF 1", "1"),
        ("FOR SYSTEM_VERSION AS OF '3'", "3"),
        ("TIMESTAMP AS OF '2199-01-01 00:00:00'", "3"),
        ("TIMESTAMP AS OF now()", "3"),
        ("FOR SYSTEM_TIME AS OF current_timestamp() + INTERVAL '1' HOUR", "3"),
        ("TIMESTAMP AS OF 7000000000", "3"),
        ("TIMESTAMP AS OF DATE '2199-01-01'", "3"),
        ("TIMESTAMP AS OF TIMESTAMP '2199-01-01 00:00:00'", "3"),
        ("/*+ OPTIONS('scan.snapshot-id' = '2') */", "2"),
        ("VERSION AS OF 1 /*+ OPTIONS('read.batch-size' = '7') */", "1"),
        ("VERSION AS OF 'first' /*+ OPTIONS('read.batch-size' = '7') */ AS x", "1"),
        ("TIMESTAMP AS OF now() + INTERVAL '1' DAY /*+ OPTIONS('read.batch-size' = '7') */ x", "3"),
    ] {
        let sql = format!("SELECT count(*) FROM db.v {clause}");
        assert_eq!(env.rows(&sql).await, [count], "{sql}");
    }
    assert_eq!(
        env.rows("SELECT a.id, b.id FROM db.v a JOIN db.v VERSION AS OF 'first' b ON a.id = b.id").await,
        ["1 1"]
    );
    assert_eq!(
        env.rows("WITH q AS (SELECT * FROM db.v VERSION AS OF 2) SELECT count(*) FROM q, db.v VERSION AS OF 1 w").await,
        ["2"]
    );
    assert_eq!(env.rows("INSERT INTO db.v SELECT id + 10, s FROM db.v VERSION AS OF 1").await, ["1"]);
    assert_eq!(env.rows("SELECT count(*) FROM db.v").await, ["4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_selects_nothing_is_an_error() {
    let env = three_versions().await;
    for (clause, kind) in [
        ("VERSION AS OF 99", ErrorKind::NotFound(Entity::Snapshot)),
        ("VERSION AS OF 'nosuch'", ErrorKind::NotFound(Entity::Tag)),
        ("TIMESTAMP AS OF '2001-01-01 00:00:00'", ErrorKind::NotFound(Entity::Snapshot)),
        ("TIMESTAMP AS OF 1", ErrorKind::NotFound(Entity::Snapshot)),
        ("/*+ OPTIONS('scan.tag-name' = 'nosuch') */", ErrorKind::NotFound(Entity::Tag)),
    ] {
        let (found, message) = env.error(&format!("SELECT * FROM db.v {clause}")).await;
        let fits = found == kind || matches!((found, kind), (ErrorKind::InvalidConfig, ErrorKind::NotFound(_)));
        assert!(fits, "{clause}: {found:?} {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_is_that_of_the_version() {
    let env = three_versions().await;
    env.ok("ALTER TABLE db.v ADD COLUMN w INT, RENAME COLUMN s TO label").await;
    env.rows("INSERT INTO db.v VALUES (4, 'four', 40)").await;
    assert_eq!(env.rows("SELECT * FROM db.v VERSION AS OF 1").await, ["1 one"]);
    assert_eq!(env.rows("SELECT s FROM db.v VERSION AS OF 2 WHERE s = 'two'").await, ["two"]);
    env.fails("SELECT w FROM db.v VERSION AS OF 1", "w").await;
    assert_eq!(env.rows("SELECT label, w FROM db.v WHERE id > 2 ORDER BY id").await, ["three NULL", "four 40"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_the_session_apply_until_reset() {
    let env = three_versions().await;
    env.ok("SET 'paimon.scan.snapshot-id' = '1'").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.v").await, ["1"]);
    // A clause or a hint replaces every selector of the session.
    assert_eq!(env.rows("SELECT count(*) FROM db.v VERSION AS OF 2").await, ["2"]);
    assert_eq!(env.rows("SELECT count(*) FROM db.v /*+ OPTIONS('scan.tag-name' = 'first') */").await, ["1"]);
    for sql in ["INSERT INTO db.v VALUES (4, 'x')", "INSERT OVERWRITE db.v SELECT 1, 'x'", "TRUNCATE TABLE db.v"] {
        env.fails(sql, "while 'scan.snapshot-id' is set; RESET 'paimon.scan.snapshot-id' first").await;
    }
    env.ok("RESET 'paimon.scan.snapshot-id'").await;
    env.ok("SET paimon.*.db.other.scan.snapshot-id = 1").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.v").await, ["3"]);
    env.ok("SET paimon.paimon.db.v.scan.snapshot-id = 2").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.v").await, ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_and_rollback() {
    let env = three_versions().await;
    env.error("CALL sys.create_tag(table => 'db.v', tag => 'first')").await;
    env.error("CALL sys.create_tag(table => 'db.v', tag => 'ghost', snapshot_id => 42)").await;
    env.ok("CALL sys.create_tag('db.v', 'second', 2)").await;
    assert_eq!(env.rows("SHOW TAGS db.v").await, ["first", "second"]);
    assert_eq!(env.rows("CALL sys.rollback_to(table => 'db.v', snapshot_id => 2)").await, ["3 2"]);
    assert_eq!(env.rows("SELECT id FROM db.v ORDER BY id").await, ["1", "2"]);
    env.fails("SELECT * FROM db.v VERSION AS OF 3", "3").await;
    env.rows("CALL paimon.sys.rollback('paimon.db.v', tag => 'first')").await;
    assert_eq!(env.rows("SELECT * FROM db.v").await, ["1 one"]);
    env.ok("CALL sys.delete_tag('db.v', 'first')").await;
    assert!(env.rows("SHOW TAGS db.v").await.is_empty());
    assert_eq!(env.rows("SHOW SNAPSHOTS db.v").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_view_keeps_its_version() {
    let env = three_versions().await;
    env.ok("CREATE TEMPORARY VIEW db.old AS SELECT * FROM db.v VERSION AS OF 'first' /*+ OPTIONS('read.batch-size' = '1') */").await;
    env.ok("CREATE TEMPORARY VIEW db.now AS SELECT v.id FROM db.v").await;
    env.rows("INSERT INTO db.v VALUES (4, 'four')").await;
    assert_eq!(env.rows("SELECT * FROM db.old").await, ["1 one"]);
    assert_eq!(env.rows("SELECT count(*) FROM db.now").await, ["4"]);
    let definition = env.rows("SHOW CREATE TABLE db.old").await.remove(0);
    assert!(definition.contains("VERSION AS OF 'first'"), "{definition}");
}

#[tokio::test(flavor = "multi_thread")]
async fn compaction_keeps_the_rows_and_history() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.k (id INT NOT NULL, n INT, PRIMARY KEY (id)) WITH ('bucket'='1')").await;
    for n in 1..=3 {
        env.rows(&format!("INSERT INTO db.k VALUES (1, {n}), ({n}0, {n})")).await;
    }
    let metrics = env.rows("CALL sys.compact(table => 'db.k')").await;
    assert!(metrics[0].starts_with("1 3 1 4 "), "{metrics:?}");
    assert_eq!(env.rows("SELECT * FROM db.k ORDER BY id").await, ["1 3", "10 1", "20 2", "30 3"]);
    assert_eq!(env.rows("SELECT * FROM db.k VERSION AS OF 2 ORDER BY id").await, ["1 2", "10 1", "20 2"]);
    assert!(env.rows("CALL sys.compact('db.k')").await[0].starts_with("0 0 0 0"));
    assert_eq!(env.rows("SELECT max(snapshot_id) FROM db.k$snapshots").await, ["4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_are_expired_by_count_and_age() {
    let env = three_versions().await;
    assert_eq!(env.rows("CALL sys.expire_snapshots('db.v', retain_max => 2)").await, ["1"]);
    env.fails("SELECT * FROM db.v VERSION AS OF 1", "1").await;
    assert_eq!(env.rows("SELECT * FROM db.v VERSION AS OF 'first'").await, ["1 one"]);
    assert_eq!(env.rows("CALL sys.expire_snapshots('db.v', 10, 1, TIMESTAMP '2001-01-01 00:00:00')").await, ["0"]);
    assert_eq!(env.rows("CALL sys.expire_snapshots('db.v', 10, 1, '2199-01-01 00:00:00')").await, ["1"]);
    assert_eq!(env.rows("SELECT count(*) FROM db.v").await, ["3"]);
    env.fails("CALL sys.expire_snapshots('db.v', retain_max => 0)", "at least 1").await;
    env.fails("CALL sys.expire_snapshots('db.v', retain_max => 2, retain_min => 3)", "must not be greater").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_zone_of_the_session_rules_times_without_zone() {
    let env = three_versions().await;
    env.ok("SET TIME ZONE '+08:00'").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.v TIMESTAMP AS OF now()").await, ["3"]);
    // The wall clock of UTC, eight hours behind the session's: before the first snapshot.
    let utc = "SELECT count(*) FROM db.v TIMESTAMP AS OF arrow_cast(now() - INTERVAL '8' HOUR, 'Timestamp(Millisecond, None)')";
    env.fails(utc, "snapshot").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.v TIMESTAMP AS OF '2199-01-01 00:00:00'").await, ["3"]);
}
