//! The Paimon extension of DataFusion behind its stable binary interface.
//!
//! Each function wraps a provider into the structure that another library of the same major version of DataFusion
//! understands. The host's memory pool, disk manager and object stores do not cross that border, so what the providers
//! plan is put under a node that runs it in an environment of ours.
#![forbid(unsafe_code)]

mod hosted;

use std::sync::Arc;

use datafusion::catalog::{CatalogProvider, TableFunctionImpl, TableProvider};
use datafusion_ffi::catalog_provider::FFI_CatalogProvider;
use datafusion_ffi::proto::logical_extension_codec::FFI_LogicalExtensionCodec;
use datafusion_ffi::table_provider::FFI_TableProvider;
use datafusion_ffi::udtf::FFI_TableFunction;
use tokio::runtime::Handle;

pub use hosted::{HostedCatalog, HostedFunction, HostedTable};

/// A catalog for a host with this codec; its work runs on `runtime`.
pub fn catalog_provider(
    provider: Arc<dyn CatalogProvider>,
    runtime: Handle,
    codec: FFI_LogicalExtensionCodec,
) -> FFI_CatalogProvider {
    FFI_CatalogProvider::new_with_ffi_codec(Arc::new(HostedCatalog::new(provider)), Some(runtime), codec)
}

/// A table for a host with this codec; filters are pushed into it.
pub fn table_provider(
    provider: Arc<dyn TableProvider>,
    runtime: Handle,
    codec: FFI_LogicalExtensionCodec,
) -> FFI_TableProvider {
    FFI_TableProvider::new_with_ffi_codec(Arc::new(HostedTable::new(provider)), true, Some(runtime), codec)
}

/// A table function for a host with this codec.
pub fn table_function(
    function: Arc<dyn TableFunctionImpl>,
    runtime: Handle,
    codec: FFI_LogicalExtensionCodec,
) -> FFI_TableFunction {
    FFI_TableFunction::new_with_ffi_codec(Arc::new(HostedFunction::new(function)), Some(runtime), codec)
}
