//! From a table provider's scan to a plan of the engine.
