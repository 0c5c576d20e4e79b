//! The statements that DataFusion cannot plan.
