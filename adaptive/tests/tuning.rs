//! The tuner: labels, stores, incremental tuning, selection, reports.
