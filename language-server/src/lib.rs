//! A server of the Language Server Protocol (3.17) for the stencil language: what is wrong in a file while it is
//! written, and what a name means.
//!
//! [`serve`] reads messages from any reader and writes to any writer: a whole conversation is bytes in, bytes out.
//!
//! ```
//! let body = r#"{"jsonrpc": "2.0", "method": "exit"}"#;
//! let conversation = format!("Content-Length: {}\r\n\r\n{body}", body.len());
//! // `exit` without `shutdown` before it.
//! assert_eq!(language_server::serve(&mut conversation.as_bytes(), &mut Vec::new())?, 1);
//! # Ok::<(), std::io::Error>(())
//! ```

mod frame;
mod hover;
mod position;
mod server;

pub use server::serve;
