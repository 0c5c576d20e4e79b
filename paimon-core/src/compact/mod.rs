//! Rewriting the files of buckets into fewer ones, without changing visible rows.
