//! What a table holds, from its metadata: partitions and their counts.

use std::collections::HashMap;

use super::Table;
use crate::error::Result;
use crate::row::BinaryRow;
use crate::scan::live_entries;

/// Counts of the live files of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionStat {
    /// Partition columns and the text of their values, in partition-key order; empty for an unpartitioned table.
    pub partition: Vec<(String, String)>,
    /// Physical rows.
    pub record_count: i64,
    /// Files.
    pub file_count: i64,
    /// Bytes.
    pub total_size_bytes: i64,
}

impl Table {
    /// Partitions that have files in the snapshot that a read sees now, sorted; none for an unpartitioned table. Values are
    /// the text that stands in paths, unescaped; null and blank are the table's default name.
    ///
    /// # Errors
    /// As [`Table::check_alive`] if the table is gone; `Storage` or `Corrupt`.
    pub async fn list_partitions(&self) -> Result<Vec<Vec<(String, String)>>> {
        if self.schema().partition_keys.is_empty() {
            self.check_alive().await?;
            return Ok(Vec::new());
        }
        Ok(self.partition_stats().await?.into_iter().map(|s| s.partition).collect())
    }

    /// Counts of the live files of each partition in the snapshot that a read sees now, sorted by partition. An unpartitioned
    /// table has one row if it has files.
    ///
    /// # Errors
    /// As [`Table::check_alive`] if the table is gone; `Storage` or `Corrupt`.
    pub async fn partition_stats(&self) -> Result<Vec<PartitionStat>> {
        self.while_alive(self.counted()).await
    }

    async fn counted(&self) -> Result<Vec<PartitionStat>> {
        let Some(snapshot) = self.current_snapshot().await? else { return Ok(Vec::new()) };
        let mut counts: HashMap<BinaryRow, (i64, i64, i64)> = HashMap::new();
        for entry in live_entries(self, &snapshot, None).await? {
            let (rows, files, bytes) = counts.entry(entry.partition).or_default();
            *rows += entry.file.row_count;
            *files += 1;
            *bytes += entry.file.file_size;
        }
        let keys = &self.schema().partition_keys;
        let mut stats: Vec<PartitionStat> = Vec::with_capacity(counts.len());
        for (partition, (record_count, file_count, total_size_bytes)) in counts {
            let values = self.paths().partition_values(self.schema(), self.options(), &partition)?;
            let partition = keys.iter().cloned().zip(values).collect();
            stats.push(PartitionStat { partition, record_count, file_count, total_size_bytes });
        }
        stats.sort_by(|a, b| a.partition.cmp(&b.partition));
        // Null and blank share one text: they are one directory.
        stats.dedup_by(|next, first| {
            let same = next.partition == first.partition;
            if same {
                first.record_count += next.record_count;
                first.file_count += next.file_count;
                first.total_size_bytes += next.total_size_bytes;
            }
            same
        });
        Ok(stats)
    }
}
