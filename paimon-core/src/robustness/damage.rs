//! Bytes of a table are damaged: reading gives an error that names the file, or rows, and never a panic.
//!
//! Metadata has no checksums, so a flipped bit can give another valid value; what is promised is that nothing panics, hangs
//! or is taken for a bug of ours, and that an error names the file.

use proptest::prelude::*;

use super::*;
use crate::error::{Entity, Error};
use crate::spec::{IndexManifestEntry, Snapshot};

/// Which file of a table is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Schema,
    Snapshot,
    List,
    Manifest,
    IndexManifest,
    Data,
}

const TARGETS: [Target; 6] =
    [Target::Schema, Target::Snapshot, Target::List, Target::Manifest, Target::IndexManifest, Target::Data];

impl Target {
    /// Whether the file at this path is of this kind, and in the latest snapshot.
    fn fits(self, path: &str, latest: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        match self {
            Self::Schema => path == "schema/schema-0",
            Self::Snapshot => path == latest,
            Self::List => name.starts_with("manifest-list-"),
            Self::Manifest => name.starts_with("manifest-") && !name.starts_with("manifest-list-"),
            Self::IndexManifest => name.starts_with("index-manifest-"),
            Self::Data => name.starts_with("data-"),
        }
    }
}

/// Reads everything that is to be read in a table.
async fn read_all(image: &Image) -> Result<Vec<Row>> {
    let table = World::of(image).await.table().await?;
    if let Some(name) = table.snapshots().latest().await?.and_then(|s| s.index_manifest) {
        table.manifests().read_index(&name).await?;
    }
    rows(&table).await
}

/// A table of one snapshot, so that each file is read, with the paths of its files by kind.
async fn sample(keyed: bool) -> (Image, Vec<(Target, usize)>) {
    sample_with(keyed, &[("file.compression", "zstd")]).await
}

async fn sample_with(keyed: bool, options: &[(&str, &str)]) -> (Image, Vec<(Target, usize)>) {
    let world = World::of(&empty(keyed, options).await).await;
    let table = world.table().await.unwrap();
    let many: Vec<(String, i32, String)> = (0..300).map(|i| (format!("p{}", i % 2), i, format!("v{i}"))).collect();
    let many: Vec<(&str, i32, &str)> = many.iter().map(|(p, k, v)| (p.as_str(), *k, v.as_str())).collect();
    write(&table, &many, None).await.unwrap();
    let latest = table.snapshots().latest().await.unwrap().unwrap();
    let manifests = table.manifests().of_snapshot(&latest).await.unwrap();
    let entry = table.manifests().read(&manifests[0]).await.unwrap()[0].clone();
    let index = IndexManifestEntry {
        partition: entry.partition,
        bucket: entry.bucket,
        index_type: "HASH".to_owned(),
        file_name: "index-0".to_owned(),
        file_size: 4,
        row_count: 1,
        dv_ranges: None,
        external_path: None,
        global_index: None,
    };
    let name = table.manifests().write_index(&[index], table.options()).await.unwrap();
    let with_index = Snapshot { index_manifest: Some(name), ..latest };
    let path = table.paths().snapshot(1);
    table.io().write(&path, Bytes::from(with_index.to_json())).await.unwrap();
    let image = world.image().await;
    let mut targets = Vec::new();
    for target in TARGETS {
        let at = image.iter().position(|(path, _)| target.fits(path, "snapshot/snapshot-1"));
        targets.push((target, at.unwrap_or_else(|| panic!("no {target:?}"))));
    }
    (image, targets)
}

fn check(error: &Error, path: &str, what: &str) {
    let file = path.rsplit('/').next().unwrap_or(path);
    assert_ne!(error.kind(), ErrorKind::Internal, "{what}: {error}");
    assert!(error.to_string().contains(file), "{what}: {file} is not named: {error}");
}

#[tokio::test]
async fn files_that_are_cut_short_are_named() {
    for keyed in [false, true] {
        let (image, targets) = sample(keyed).await;
        for (target, at) in targets {
            let (path, whole) = image[at].clone();
            let steps = (0..24).map(|i| whole.len() * i / 24).chain([1, whole.len() - 1]);
            for length in steps {
                let mut cut = image.clone();
                cut[at].1 = whole.slice(..length);
                let what = format!("{target:?} cut to {length} of {} bytes", whole.len());
                match read_all(&cut).await {
                    Err(error) => check(&error, &path, &what),
                    Ok(_) => panic!("{what} was read"),
                }
            }
        }
    }
}

#[tokio::test]
async fn files_that_are_gone_are_named() {
    let (image, targets) = sample(true).await;
    for (target, at) in targets {
        let mut rest = image.clone();
        let (path, _) = rest.remove(at);
        match (target, read_all(&rest).await) {
            (Target::Schema, Err(error)) => assert_eq!(error.kind(), ErrorKind::NotFound(Entity::Table)),
            // Without its only snapshot a table is empty.
            (Target::Snapshot, found) => assert_eq!(found.unwrap(), []),
            (_, Err(error)) => check(&error, &path, &format!("{target:?} gone")),
            (_, Ok(_)) => panic!("{target:?} is not there, but was read"),
        }
    }
}

#[tokio::test]
async fn files_with_foreign_content_are_named() {
    let (image, targets) = sample(true).await;
    for (target, at) in targets {
        for content in ["", "{}", "null", "[]", "not what it should be", "PAR1PAR1", "Obj\u{1}"] {
            let mut foreign = image.clone();
            foreign[at].1 = Bytes::from_static(content.as_bytes());
            let what = format!("{target:?} with content {content:?}");
            match read_all(&foreign).await {
                Err(error) => check(&error, &image[at].0, &what),
                Ok(_) => panic!("{what} was read"),
            }
        }
    }
}

/// Flips bytes of one file and reads the table.
fn flip(image: &Image, at: usize, flips: &[(prop::sample::Index, u8)]) -> (String, Result<Vec<Row>>) {
    let mut damaged = image.clone();
    let mut bytes = damaged[at].1.to_vec();
    let mut what = String::new();
    for (index, bits) in flips {
        let position = index.index(bytes.len());
        bytes[position] ^= bits;
        what += &format!(" {position}^{bits:02x}");
    }
    damaged[at].1 = Bytes::from(bytes);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    (what, runtime.block_on(read_all(&damaged)))
}

/// What is wrong with an error of a damaged table, if anything is: a damaged file may name another one that is missed.
fn fault_of(error: &Error) -> Option<&'static str> {
    let text = error.to_string();
    match () {
        () if error.kind() == ErrorKind::Internal => Some("an internal error"),
        () if !text.contains("file: ") && !text.contains("db.t") => Some("no file is named"),
        () => None,
    }
}

fn flipped(keyed: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (image, targets) = runtime.block_on(sample(keyed));
    let flips = prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4);
    proptest!(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }, |(target in prop::sample::select(targets), flips in flips)| {
        let (target, at) = target;
        let (what, outcome) = flip(&image, at, &flips);
        if let Err(error) = outcome {
            prop_assert_eq!(fault_of(&error), None, "{:?} with flips{}: {}", target, what, error);
        }
    });
}

#[test]
fn flipped_bytes_of_an_append_table_never_panic() {
    flipped(false);
}

#[test]
fn flipped_bytes_of_a_keyed_table_never_panic() {
    flipped(true);
}

/// Options of every kind of value: a damaged one is an error that names the file.
const OPTIONS: [(&str, &str); 9] = [
    ("file.compression", "zstd"),
    ("scan.mode", "latest-full"),
    ("scan.manifest.parallelism", "2"),
    ("read.batch-size", "512"),
    ("source.split.target-size", "64 mb"),
    ("snapshot.time-retained", "1 h"),
    ("partition.default-name", "none"),
    ("metadata.stats-mode", "truncate(16)"),
    ("deletion-vectors.enabled", "false"),
];

#[test]
fn every_byte_of_a_document_may_be_wrong() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for keyed in [false, true] {
        let mut options = OPTIONS.to_vec();
        if keyed {
            options.extend([("merge-engine", "deduplicate"), ("sequence.field", "v"), ("changelog-producer", "none")]);
        }
        let (image, targets) = runtime.block_on(sample_with(keyed, &options));
        let documents = targets.into_iter().filter(|(target, _)| matches!(target, Target::Schema | Target::Snapshot));
        for (target, at) in documents {
            let whole = image[at].1.clone();
            for position in 0..whole.len() {
                let byte = b"-0;"[position % 3];
                let mut damaged = image.clone();
                let mut bytes = whole.to_vec();
                bytes[position] = byte;
                damaged[at].1 = Bytes::from(bytes);
                if let Err(error) = runtime.block_on(read_all(&damaged)) {
                    let place = format!("{target:?} with byte {position} as {:?}", byte as char);
                    assert_eq!(fault_of(&error), None, "{place}: {error}");
                }
            }
        }
    }
}
