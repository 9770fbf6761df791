//! Searches over cost models only: exact, with a certificate.
