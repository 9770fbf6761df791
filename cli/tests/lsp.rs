//! The language server.

use crate::support::{Folder, command, finish};

/// `lsp` talks to its editor until that goes, publishes what `analyze` finds, and has no document.
#[test]
fn lsp() {
    let text = "stencil x(t, i) { field u: f32; u[t+1, i] = w; }";
    let file =
        serde_json::json!({"uri": "file:///x.stencil", "languageId": "stencil", "version": 1, "text": text});
    let messages = [
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
        serde_json::json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": file}}),
        serde_json::json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}),
        serde_json::json!({"jsonrpc": "2.0", "method": "exit"}),
    ];
    let framed = messages.iter().map(|message| message.to_string());
    let framed: String = framed.map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len())).collect();
    let folder = Folder::new();
    let talk = |arguments: &[&str], input: &str| {
        let mut command = command(arguments);
        command.stdin(std::fs::File::open(folder.write("input", input)).unwrap());
        finish(command)
    };
    let output = talk(&["lsp"], &framed).succeeded();
    assert!(output.stdout.contains("\"code\":\"TW0201\""), "{}", output.stdout);
    assert!(!output.stdout.ends_with('\n'));
    assert_eq!(talk(&["lsp"], "").code, 1);
    let broken = talk(&["lsp"], "hello");
    assert!(broken.code == 2 && broken.stderr.contains("Language Server Protocol"), "{}", broken.stderr);
    assert_eq!(talk(&["lsp", "--json"], "").code, 2);
}
