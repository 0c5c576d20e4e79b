//! Partitioned tables: overwrite, drop, show.

use super::Env;

async fn three_days() -> Env {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT, d DATE, h INT) PARTITIONED BY (d, h)").await;
    env.rows("INSERT INTO db.t VALUES (1, '2024-04-18', 1), (2, '2024-04-18', 2), (3, '2024-04-19', 1)").await;
    env
}

#[tokio::test(flavor = "multi_thread")]
async fn static_specs_replace_everything_below_them() {
    let env = three_days().await;
    env.rows("INSERT OVERWRITE db.t PARTITION (d = '2024-04-18', h = 2) SELECT 20").await;
    assert_eq!(
        env.rows("SELECT * FROM db.t ORDER BY id").await,
        ["1 2024-04-18 1", "3 2024-04-19 1", "20 2024-04-18 2"]
    );
    env.rows("INSERT OVERWRITE db.t PARTITION (d = DATE '2024-04-18') SELECT 99, 7").await;
    assert_eq!(env.rows("SELECT * FROM db.t ORDER BY id").await, ["3 2024-04-19 1", "99 2024-04-18 7"]);
    // Without rows too.
    env.rows("INSERT OVERWRITE db.t PARTITION (d = '2024-04-18') SELECT 1 AS a, 1 AS b WHERE false").await;
    assert_eq!(env.rows("SELECT * FROM db.t").await, ["3 2024-04-19 1"]);
    env.rows("INSERT INTO db.t PARTITION (d = NULL, h = 1 + 1) (id) VALUES (5)").await;
    env.rows("INSERT OVERWRITE db.t PARTITION (d = NULL) VALUES (6, 3)").await;
    assert_eq!(env.rows("SELECT * FROM db.t ORDER BY id").await, ["3 2024-04-19 1", "6 NULL 3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamic_overwrite_replaces_the_partitions_of_new_rows() {
    let env = three_days().await;
    env.rows("INSERT OVERWRITE db.t PARTITION (d, h) SELECT 30, DATE '2024-04-19', 1").await;
    env.rows("INSERT OVERWRITE db.t SELECT id + 100, d, h FROM db.t WHERE id = 1").await;
    env.rows("INSERT OVERWRITE db.t SELECT * FROM db.t WHERE false").await;
    assert_eq!(
        env.rows("SELECT * FROM db.t ORDER BY id").await,
        ["2 2024-04-18 2", "30 2024-04-19 1", "101 2024-04-18 1"]
    );
    env.rows(
        "INSERT OVERWRITE db.t /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ SELECT 7, DATE '2024-01-01', 0",
    )
    .await;
    assert_eq!(env.rows("SELECT * FROM db.t").await, ["7 2024-01-01 0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_shown_dropped_and_truncated() {
    let env = three_days().await;
    env.ok("ALTER TABLE db.t SET ('partition.legacy-name' = 'true')").await;
    assert_eq!(env.rows("SHOW PARTITIONS db.t").await, ["d=2024-04-18/h=1", "d=2024-04-18/h=2", "d=2024-04-19/h=1"]);
    assert_eq!(env.rows("SHOW PARTITIONS db.t PARTITION (h = 2)").await, ["d=2024-04-18/h=2"]);
    env.fails("ALTER TABLE db.t DROP PARTITION (d = '2020-01-01')", "does not exist").await;
    let snapshots = env.rows("SELECT count(*) FROM db.t$snapshots").await;
    env.ok("ALTER TABLE db.t DROP IF EXISTS PARTITION (d = '2020-01-01')").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.t$snapshots").await, snapshots);
    env.ok("ALTER TABLE db.t DROP PARTITION (d = '2024-04-18', h = 1), PARTITION (d = '2024-04-19')").await;
    assert_eq!(env.rows("SELECT id FROM db.t").await, ["2"]);
    env.fails("ALTER TABLE db.t DROP PARTITION (id = 1)", "id is no partition column of db.t; known are d, h").await;
    env.fails("ALTER TABLE db.t DROP PARTITION (d = 'x')", "column d").await;
    env.ok("TRUNCATE TABLE db.t PARTITION (h = 2)").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.t").await, ["0"]);
    env.fails("INSERT OVERWRITE db.t PARTITION (id = 1) SELECT 1", "no partition column").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_null_partition_has_two_spellings() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT, p STRING) PARTITIONED BY (p)").await;
    env.rows("INSERT INTO db.t VALUES (1, NULL), (2, 'a'), (3, NULL)").await;
    env.ok("ALTER TABLE db.t DROP PARTITION (p = '__DEFAULT_PARTITION__')").await;
    assert_eq!(env.rows("SELECT id FROM db.t").await, ["2"]);
    env.rows("INSERT INTO db.t VALUES (4, NULL)").await;
    env.ok("ALTER TABLE db.t DROP PARTITION (p = NULL)").await;
    assert_eq!(env.rows("SELECT id FROM db.t").await, ["2"]);
    env.fails("INSERT INTO db.t VALUES (5, '__DEFAULT_PARTITION__')", "is the name of the partition of null").await;
    env.fails("INSERT INTO db.t VALUES (6, 'a'), (5, '__DEFAULT_PARTITION__')", "column p").await;
    assert_eq!(env.rows("SELECT id FROM db.t").await, ["2"]);
}
