//! From options to a catalog.
//!
//! Invariants: nothing is contacted. Source: catalog sheet section 1; `catalog/CatalogFactory.java`.

use std::sync::Arc;

use super::{Catalog, FileSystemCatalog};
use crate::error::{Error, Result};
use crate::options::{CatalogOptions, Options};

/// Makes catalogs.
#[derive(Debug, Clone, Copy)]
pub struct CatalogFactory;

impl CatalogFactory {
    /// The catalog that the options describe. Contacts no storage.
    ///
    /// # Errors
    /// `InvalidConfig` naming a missing or unknown option value; `Unsupported` naming a storage scheme that is not built in.
    pub async fn create(options: Options) -> Result<Arc<dyn Catalog>> {
        Self::create_now(options)
    }

    /// As [`CatalogFactory::create`], outside async code.
    ///
    /// # Errors
    /// As [`CatalogFactory::create`].
    pub fn create_now(options: Options) -> Result<Arc<dyn Catalog>> {
        match options.get(CatalogOptions::METASTORE).unwrap_or("filesystem") {
            "filesystem" => Ok(Arc::new(FileSystemCatalog::new(options)?)),
            "rest" => {
                Err(Error::unsupported("the catalog option metastore = rest is not supported yet; use filesystem"))
            }
            kind @ ("jdbc" | "hive") => Err(Error::unsupported(format!(
                "the catalog option metastore = {kind} is not supported, only filesystem and rest are; tables in the \
                 default layout can be read through a filesystem catalog on the same warehouse"
            ))),
            other => Err(Error::invalid_config(format!(
                "Unknown metastore type: '{other}'. Available types: filesystem, rest"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn which_catalog() {
        let create = |options: &[(&str, &str)]| CatalogFactory::create_now(options.iter().copied().collect());
        assert!(create(&[("warehouse", "/w"), ("anything", "else")]).is_ok());
        assert!(create(&[("warehouse", "memory:/w"), ("metastore", "filesystem")]).is_ok());
        type Given = &'static [(&'static str, &'static str)];
        let cases: [(Given, ErrorKind, &str); 7] = [
            (&[], ErrorKind::InvalidConfig, "Missing required option: warehouse"),
            (&[("warehouse", "s3://b/w")], ErrorKind::Unsupported, "'s3'"),
            (&[("warehouse", "/w"), ("metastore", "hive")], ErrorKind::Unsupported, "metastore = hive"),
            (&[("warehouse", "/w"), ("metastore", "jdbc")], ErrorKind::Unsupported, "metastore = jdbc"),
            (&[("warehouse", "/w"), ("metastore", "rest")], ErrorKind::Unsupported, "metastore = rest"),
            (
                &[("warehouse", "/w"), ("metastore", "x")],
                ErrorKind::InvalidConfig,
                "Unknown metastore type: 'x'. Available types: filesystem, rest",
            ),
            (
                &[("warehouse", "/w"), ("table.type", "external")],
                ErrorKind::InvalidConfig,
                "Only managed table is supported in File system catalog.",
            ),
        ];
        for (options, kind, text) in cases {
            let error = create(options).unwrap_err();
            assert_eq!(error.kind(), kind, "{options:?}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
