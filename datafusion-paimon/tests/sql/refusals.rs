//! What is refused, by name, and never ignored.

use paimon_core::ErrorKind;

use super::Env;

#[tokio::test(flavor = "multi_thread")]
async fn clauses_that_the_engine_would_ignore() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    for (sql, part) in [
        ("SELECT * FROM db.t FOR UPDATE", "FOR UPDATE"),
        ("SELECT * FROM db.t TABLESAMPLE (10 PERCENT)", "TABLESAMPLE"),
        ("SELECT * FROM (SELECT * FROM db.t) x TABLESAMPLE (10 PERCENT)", "TABLESAMPLE"),
        ("SELECT * FROM db.t WITH (NOLOCK)", "WITH (..)"),
        ("SELECT * FROM db.t PARTITION (a)", "PARTITION (..)"),
        ("SELECT * INTO x FROM db.t", "SELECT INTO"),
        ("SELECT * FROM db.t SETTINGS x = 1", "SETTINGS"),
        ("SELECT * FROM db.t PREWHERE a = 1", "PREWHERE"),
        ("SELECT 1 UNION ALL SELECT a FROM db.t PREWHERE a = 1", "PREWHERE"),
        ("EXPLAIN SELECT * FROM db.t FOR SHARE", "FOR UPDATE"),
    ] {
        let (kind, message) = env.error(sql).await;
        assert_eq!(kind, ErrorKind::Unsupported, "{sql}: {message}");
        assert!(message.contains(part), "{sql}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_level_statements_wait_for_their_issue() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    for sql in [
        "DELETE FROM db.t WHERE false",
        "DELETE FROM db.t LIMIT 1",
        "UPDATE db.t SET a = 1",
        "MERGE INTO db.t USING db.t s ON t.a = s.a WHEN MATCHED THEN DELETE",
        "EXPLAIN DELETE FROM db.t",
        "PREPARE p AS DELETE FROM db.t",
    ] {
        env.error(sql).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_only_on_tables_of_ours() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    env.ok("CREATE TABLE datafusion.public.m (a INT)").await;
    for (sql, part) in [
        ("SELECT * FROM datafusion.public.m VERSION AS OF 1", "not a table of a Paimon catalog"),
        ("SELECT * FROM datafusion.public.m /*+ OPTIONS('scan.tag-name' = 'x') */", "not a table of a Paimon catalog"),
        ("WITH q AS (SELECT 1) SELECT * FROM q VERSION AS OF 1", "common table expression"),
        ("SELECT * FROM generate_series(1, 2) /*+ OPTIONS('a' = 'b') */", "syntax error"),
        ("SELECT * FROM db.t VERSION AS OF 1.5", "VERSION AS OF"),
        ("SELECT * FROM db.t VERSION AS OF tag", "syntax error"),
        ("SELECT * FROM db.t TIMESTAMP AS OF NULL", "expected a time"),
        ("SELECT * FROM db.t TIMESTAMP AS OF true", "expected a time"),
        ("SELECT * FROM db.t /*+ OPTIONS('no.such' = 'b') */", "unknown option 'no.such'"),
        ("SELECT * FROM db.t /*+ OPTIONS('merge-engine' = 'aggregation') */", "merge-engine"),
        ("SELECT * FROM db.t VERSION AS OF 1 /*+ OPTIONS('scan.tag-name' = 'x') */", "both select"),
        ("SELECT /*+ OPTIONS('scan.tag-name' = 'x') */ * FROM db.t", "directly behind a table name"),
        ("INSERT INTO db.t /*+ OPTIONS('scan.tag-name' = 'x') */ VALUES (1)", "cannot be given for the target"),
    ] {
        let (_, message) = env.error(sql).await;
        assert!(message.contains(part), "{sql}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn system_tables_are_read_only() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    for sql in [
        "INSERT INTO db.t$snapshots VALUES (1)",
        "ALTER TABLE db.t$files ADD COLUMN b INT",
        "DROP TABLE db.t$files",
        "TRUNCATE TABLE db.t$files",
    ] {
        let (_, message) = env.error(sql).await;
        assert!(message.contains("system table"), "{sql}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn procedures_know_their_arguments() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    for (sql, part) in [
        ("CALL foo.create_tag('db.t', 'x')", "[catalog.]sys.<name>"),
        ("CALL compact('db.t')", "[catalog.]sys.<name>"),
        ("CALL sys.no_such('db.t')", "does not exist; known are"),
        ("CALL sys.create_tag(table => 'db.t', tag => 'x', snapshotid => 1)", "known are"),
        ("CALL sys.create_tag(table => 'db.t')", "tag is missing"),
        ("CALL sys.create_tag(tag => 'x', 'db.t')", "positional"),
        ("CALL sys.create_tag('db.t', 'x', table => 'db.t')", "twice"),
        ("CALL sys.compact(table => 'db.nosuch')", "does not exist"),
        ("CALL sys.compact(table => a)", "in the expression a"),
    ] {
        let (_, message) = env.error(sql).await;
        assert!(message.contains(part), "{sql}: {message}");
    }
}
