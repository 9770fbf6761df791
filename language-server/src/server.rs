//! The conversation: one message in, no, one or several messages out.

use crate::position::Lines;
use crate::{frame, hover};
use lsp_server::{ErrorCode, Message, Notification, Request, Response, ResponseError};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Hover, HoverContents,
    HoverProviderCapability, InitializeResult, Location, MarkupContent, MarkupKind, NumberOrString,
    PublishDiagnosticsParams, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, Uri,
};
use polyhedral::diagnostic;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

/// Serves one client until it says `exit` or goes; returns the exit code of the protocol: 0 after `shutdown`, else 1.
///
/// A message that is no JSON-RPC gets an error, and the conversation goes on.
///
/// # Errors
/// Where the streams fail, or what comes is not framed as messages are.
pub fn serve(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<u8> {
    let mut server = Server::default();
    while let Some(body) = frame::read(input)? {
        match serde_json::from_slice::<Message>(&body) {
            Ok(Message::Request(request)) => {
                let answer = server.answer(&request);
                frame::write(output, &Message::Response(answer))?;
            }
            Ok(Message::Notification(heard)) if heard.method == notification::Exit::METHOD => {
                return Ok(u8::from(!server.is_shut_down));
            }
            Ok(Message::Notification(heard)) => {
                if let Some(said) = server.hear(heard) {
                    frame::write(output, &Message::Notification(said))?;
                }
            }
            // Nothing is asked of the client.
            Ok(Message::Response(_)) => {}
            Err(error) => {
                let error = json!({ "code": ErrorCode::ParseError as i32, "message": error.to_string() });
                frame::write(output, &json!({ "id": null, "error": error }))?;
            }
        }
    }
    Ok(u8::from(!server.is_shut_down))
}

/// What is known of the client.
#[derive(Default)]
struct Server {
    is_initialized: bool,
    is_shut_down: bool,
    /// Texts of open documents by their URIs.
    documents: BTreeMap<String, String>,
}

type Answer = Result<Value, ResponseError>;

impl Server {
    fn answer(&mut self, request: &Request) -> Response {
        let answer = match request.method.as_str() {
            request::Initialize::METHOD if self.is_initialized => {
                Err(refusal(ErrorCode::InvalidRequest, "initialized already"))
            }
            request::Initialize::METHOD => {
                self.is_initialized = true;
                value(&capabilities())
            }
            _ if !self.is_initialized => Err(refusal(ErrorCode::ServerNotInitialized, "not initialized")),
            _ if self.is_shut_down => Err(refusal(ErrorCode::InvalidRequest, "shut down")),
            request::Shutdown::METHOD => {
                self.is_shut_down = true;
                Ok(Value::Null)
            }
            request::HoverRequest::METHOD => self.hover(&request.params),
            other => Err(refusal(ErrorCode::MethodNotFound, &format!("`{other}` is not served"))),
        };
        Response { id: request.id.clone(), response_result: answer }
    }

    /// Takes a notification; the diagnostics of the document that it is about. What is not understood is left alone, as the
    /// protocol wants it.
    fn hear(&mut self, heard: Notification) -> Option<Notification> {
        if !self.is_initialized || self.is_shut_down {
            return None;
        }
        let (uri, version, diagnostics) = match heard.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                let document = read::<lsp_types::DidOpenTextDocumentParams>(heard.params)?.text_document;
                let found = diagnostics(&document.uri, &document.text);
                self.documents.insert(document.uri.as_str().to_owned(), document.text);
                (document.uri, Some(document.version), found)
            }
            notification::DidChangeTextDocument::METHOD => {
                let changed = read::<lsp_types::DidChangeTextDocumentParams>(heard.params)?;
                let open = self.documents.get_mut(changed.text_document.uri.as_str())?;
                // One after the other: places are those of the text that the changes before have made.
                for change in changed.content_changes {
                    match change.range {
                        Some(range) => {
                            let bytes = Lines::new(open).bytes(range);
                            open.replace_range(bytes, &change.text);
                        }
                        None => *open = change.text,
                    }
                }
                let found = diagnostics(&changed.text_document.uri, open);
                (changed.text_document.uri, Some(changed.text_document.version), found)
            }
            notification::DidCloseTextDocument::METHOD => {
                let closed = read::<lsp_types::DidCloseTextDocumentParams>(heard.params)?.text_document;
                self.documents.remove(closed.uri.as_str())?;
                (closed.uri, None, Vec::new())
            }
            _ => return None,
        };
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        Some(Notification::new(notification::PublishDiagnostics::METHOD.to_owned(), params))
    }

    fn hover(&self, params: &Value) -> Answer {
        let asked: lsp_types::HoverParams = serde_json::from_value(params.clone())
            .map_err(|error| refusal(ErrorCode::InvalidParams, &error.to_string()))?;
        let asked = asked.text_document_position_params;
        let text = self.documents.get(asked.text_document.uri.as_str());
        let text = text.ok_or_else(|| refusal(ErrorCode::InvalidParams, "this document is not open"))?;
        let lines = Lines::new(text);
        let found = lines.offset(asked.position).and_then(|offset| hover::meaning(text, offset));
        value(&found.map(|(span, says)| Hover {
            contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: says }),
            range: Some(lines.range(&span)),
        }))
    }
}

fn capabilities() -> InitializeResult {
    InitializeResult {
        capabilities: ServerCapabilities {
            text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            ..ServerCapabilities::default()
        },
        server_info: Some(ServerInfo {
            name: "tilewright".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    }
}

/// The mistakes of a text, as `tilewright analyze` finds them.
fn diagnostics(uri: &Uri, text: &str) -> Vec<Diagnostic> {
    let Err(mistakes) = polyhedral::parse(uri.as_str(), text) else { return Vec::new() };
    let lines = Lines::new(text);
    mistakes.list.iter().map(|mistake| shown(uri, &lines, mistake)).collect()
}

fn shown(uri: &Uri, lines: &Lines, mistake: &diagnostic::Diagnostic) -> Diagnostic {
    let mut message = mistake.message.clone();
    if !mistake.primary.text.is_empty() {
        message += &format!(" ({})", mistake.primary.text);
    }
    for note in &mistake.notes {
        message += &format!("\nnote: {note}");
    }
    for hint in &mistake.hints {
        message += &format!("\nhelp: {hint}");
    }
    let related = mistake.related.iter().map(|label| DiagnosticRelatedInformation {
        location: Location::new(uri.clone(), lines.range(&label.span)),
        message: label.text.clone(),
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    Diagnostic {
        range: lines.range(&mistake.primary.span),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String(mistake.code.to_string())),
        source: Some("tilewright".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

fn refusal(code: ErrorCode, message: &str) -> ResponseError {
    ResponseError { code: code as i32, message: message.to_owned(), data: None }
}

fn value(answer: &impl serde::Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| refusal(ErrorCode::InternalError, &error.to_string()))
}

fn read<P: DeserializeOwned>(params: Value) -> Option<P> {
    serde_json::from_value(params).ok()
}
