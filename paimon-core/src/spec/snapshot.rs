//! The snapshot document, both ways.
//!
//! Invariants: 64-bit integers are exact; keys without value are omitted, since old readers know no null. Source:
//! metadata sheet section 1; `Snapshot.java`.

use std::collections::BTreeMap;

use super::file_name::file_name;
use crate::error::{Error, Result};
use crate::json::{self, Json, Object};

/// What a snapshot did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitKind {
    /// Only added.
    Append,
    /// Rewrote files without changing visible rows.
    Compact,
    /// Replaced or deleted.
    Overwrite,
    /// Only set statistics.
    Analyze,
}

impl CommitKind {
    /// The word in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "APPEND",
            Self::Compact => "COMPACT",
            Self::Overwrite => "OVERWRITE",
            Self::Analyze => "ANALYZE",
        }
    }

    fn parse(word: &str) -> Result<Self> {
        let kinds = [Self::Append, Self::Compact, Self::Overwrite, Self::Analyze];
        kinds.into_iter().find(|k| k.as_str() == word).ok_or_else(|| {
            Error::corrupt(format!(
                "key 'commitKind' of the snapshot must be one of APPEND, COMPACT, OVERWRITE, ANALYZE, but is '{word}'"
            ))
        })
    }
}

/// A snapshot. Source: specification chapter "Snapshot"; `Snapshot.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Version of the document; 3 for new ones.
    pub version: Option<i32>,
    /// Random per snapshot.
    pub uuid: Option<String>,
    /// Id, from 1.
    pub id: i64,
    /// Latest schema at commit time.
    pub schema_id: i64,
    /// Name of the base manifest list.
    pub base_manifest_list: String,
    /// Its bytes.
    pub base_manifest_list_size: Option<i64>,
    /// Name of the delta manifest list.
    pub delta_manifest_list: String,
    /// Its bytes.
    pub delta_manifest_list_size: Option<i64>,
    /// Name of the changelog manifest list.
    pub changelog_manifest_list: Option<String>,
    /// Its bytes.
    pub changelog_manifest_list_size: Option<i64>,
    /// Name of the index manifest.
    pub index_manifest: Option<String>,
    /// Who committed.
    pub commit_user: String,
    /// Version of the software that committed.
    pub writer_version: Option<String>,
    /// Grows within one user; batch commits use the greatest number.
    pub commit_identifier: i64,
    /// What the snapshot did.
    pub commit_kind: CommitKind,
    /// Commit time in milliseconds.
    pub time_millis: i64,
    /// Physical rows of all live files.
    pub total_record_count: Option<i64>,
    /// Physical rows added less those deleted.
    pub delta_record_count: Option<i64>,
    /// Rows of changelog files.
    pub changelog_record_count: Option<i64>,
    /// Watermark.
    pub watermark: Option<i64>,
    /// Name of the statistics file.
    pub statistics: Option<String>,
    /// Free properties.
    pub properties: Option<BTreeMap<String, String>>,
    /// Next free row id.
    pub next_row_id: Option<i64>,
    /// The operation behind the commit.
    pub operation: Option<String>,
}

impl Snapshot {
    /// The JSON document with Java's keys in Java's order.
    pub fn to_json(&self) -> String {
        self.to_entries().pretty()
    }

    /// The document as a tree, to which a tag adds keys.
    pub(crate) fn to_entries(&self) -> Json {
        let long = |value: i64| Some(Json::Number(value));
        let text = |value: &Option<String>| value.as_ref().map(Json::text);
        let properties = self.properties.as_ref().filter(|p| !p.is_empty());
        let entries = [
            ("version", self.version.map(|v| Json::Number(i64::from(v)))),
            ("uuid", text(&self.uuid)),
            ("id", long(self.id)),
            ("schemaId", long(self.schema_id)),
            ("baseManifestList", Some(Json::text(&self.base_manifest_list))),
            ("baseManifestListSize", self.base_manifest_list_size.map(Json::Number)),
            ("deltaManifestList", Some(Json::text(&self.delta_manifest_list))),
            ("deltaManifestListSize", self.delta_manifest_list_size.map(Json::Number)),
            ("changelogManifestList", text(&self.changelog_manifest_list)),
            ("changelogManifestListSize", self.changelog_manifest_list_size.map(Json::Number)),
            ("indexManifest", text(&self.index_manifest)),
            ("commitUser", Some(Json::text(&self.commit_user))),
            ("writerVersion", text(&self.writer_version)),
            ("commitIdentifier", long(self.commit_identifier)),
            ("commitKind", Some(Json::text(self.commit_kind.as_str()))),
            ("timeMillis", long(self.time_millis)),
            ("totalRecordCount", self.total_record_count.map(Json::Number)),
            ("deltaRecordCount", self.delta_record_count.map(Json::Number)),
            ("changelogRecordCount", self.changelog_record_count.map(Json::Number)),
            ("watermark", self.watermark.map(Json::Number)),
            ("statistics", text(&self.statistics)),
            ("properties", properties.map(Json::text_map)),
            ("nextRowId", self.next_row_id.map(Json::Number)),
            ("operation", text(&self.operation)),
        ];
        Json::Object(entries.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))).collect())
    }

    /// Reads a document of any version; unknown keys are ignored.
    ///
    /// # Errors
    /// `Corrupt` naming the key that is missing or has a wrong type.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let document = json::parse(text, "snapshot")?;
        Self::from_object(&Object::new(&document, "snapshot")?)
    }

    /// Reads the keys of a snapshot out of a document that may hold more.
    ///
    /// # Errors
    /// `Corrupt` naming the key that is missing or has a wrong type.
    pub(crate) fn from_object(object: &Object<'_>) -> Result<Self> {
        let name = |key| file_name(object.text(key)?, key);
        let find_name = |key| object.find_text(key)?.map(|text| file_name(text, key)).transpose();
        Ok(Self {
            version: object.find_int("version")?,
            uuid: object.find_text("uuid")?,
            id: object.long("id")?,
            schema_id: object.long("schemaId")?,
            base_manifest_list: name("baseManifestList")?,
            base_manifest_list_size: object.find_long("baseManifestListSize")?,
            delta_manifest_list: name("deltaManifestList")?,
            delta_manifest_list_size: object.find_long("deltaManifestListSize")?,
            changelog_manifest_list: find_name("changelogManifestList")?,
            changelog_manifest_list_size: object.find_long("changelogManifestListSize")?,
            index_manifest: find_name("indexManifest")?,
            commit_user: object.text("commitUser")?,
            writer_version: object.find_text("writerVersion")?,
            commit_identifier: object.long("commitIdentifier")?,
            commit_kind: CommitKind::parse(&object.text("commitKind")?)?,
            time_millis: object.long("timeMillis")?,
            total_record_count: object.find_long("totalRecordCount")?,
            delta_record_count: object.find_long("deltaRecordCount")?,
            changelog_record_count: object.find_long("changelogRecordCount")?,
            watermark: object.find_long("watermark")?,
            statistics: find_name("statistics")?,
            properties: object.find_text_map("properties")?,
            next_row_id: object.find_long("nextRowId")?,
            operation: object.find_text("operation")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;

    const JAVA: &str = include_str!("../../tests/golden/java-1.4.2/commit_details/snapshot-2");

    #[test]
    fn prints_what_java_wrote() {
        let snapshot = Snapshot::from_json(JAVA.as_bytes()).unwrap();
        assert_eq!(snapshot.to_json(), JAVA);
        assert_eq!((snapshot.version, snapshot.id, snapshot.commit_kind), (Some(3), 2, CommitKind::Append));
    }

    #[test]
    fn old_documents_are_read() {
        let old = br#"{"id": 7, "schemaId": 0, "baseManifestList": "b", "deltaManifestList": "d",
            "changelogManifestList": null, "commitUser": "u", "commitIdentifier": 9223372036854775807,
            "commitKind": "OVERWRITE", "timeMillis": 1, "logOffsets": {}, "changelogRecordCount": 0,
            "watermark": -9223372036854775808}"#;
        let snapshot = Snapshot::from_json(old).unwrap();
        assert_eq!((snapshot.version, snapshot.changelog_manifest_list.as_deref()), (None, None));
        assert_eq!((snapshot.commit_identifier, snapshot.watermark), (i64::MAX, Some(i64::MIN)));
        assert_eq!(snapshot.total_record_count, None);
    }

    #[test]
    fn corrupt_documents_name_the_key() {
        let cases = [
            (
                "\"id\" : 2",
                "\"id\" : \"x\"",
                "key 'id' of the snapshot must be an integer of 64 bits, but is the text 'x'",
            ),
            ("\"commitUser\"", "\"user\"", "key 'commitUser' is missing in the snapshot"),
            (
                "\"APPEND\"",
                "\"TRUNCATE\"",
                "key 'commitKind' of the snapshot must be one of APPEND, COMPACT, OVERWRITE, ANALYZE, but is 'TRUNCATE'",
            ),
        ];
        for (from, to, message) in cases {
            let error = Snapshot::from_json(JAVA.replace(from, to).as_bytes()).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, message));
        }
        for end in 0..JAVA.len() {
            assert_eq!(Snapshot::from_json(&JAVA.as_bytes()[..end]).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }

    proptest! {
        #[test]
        fn round_trip(texts in proptest::collection::vec(any::<Option<String>>(), 8), longs in proptest::collection::vec(any::<Option<i64>>(), 9)) {
            let mut text = texts.into_iter();
            let mut text = || text.next().flatten();
            let name = |text: Option<String>| text.map(|t| format!("m{}", t.replace(['/', '\\', '\0'], "_")));
            let mut long = longs.into_iter();
            let mut long = || long.next().flatten();
            let snapshot = Snapshot {
                version: Some(3),
                uuid: text(),
                id: long().unwrap_or(1),
                schema_id: long().unwrap_or(0),
                base_manifest_list: name(text()).unwrap_or_default(),
                base_manifest_list_size: long(),
                delta_manifest_list: name(text()).unwrap_or_default(),
                delta_manifest_list_size: None,
                changelog_manifest_list: name(text()),
                changelog_manifest_list_size: long(),
                index_manifest: name(text()),
                commit_user: text().unwrap_or_default(),
                writer_version: text(),
                commit_identifier: long().unwrap_or(i64::MAX),
                commit_kind: CommitKind::Compact,
                time_millis: long().unwrap_or(0),
                total_record_count: long(),
                delta_record_count: long(),
                changelog_record_count: None,
                watermark: long(),
                statistics: None,
                properties: text().map(|t| BTreeMap::from([(t.clone(), t)])),
                next_row_id: Some(0),
                operation: None,
            };
            prop_assert_eq!(Snapshot::from_json(snapshot.to_json().as_bytes()).unwrap(), snapshot);
        }
    }
}
