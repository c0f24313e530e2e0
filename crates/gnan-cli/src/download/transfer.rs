//! One file over HTTP, continued where it was cut.
//!
//! A part is continued with `Range`. If the version that it is a part of is known, `If-Range` asks for the rest of that
//! version only; if not, the part is continued only where a checksum will show whether the pieces fit. A server that
//! ignores `Range`, or has another version by now, sends everything, and the part starts over.

use std::io::Read;
use std::time::Duration;

use gnan::Error;
use gnan_paper::catalogue::RemoteFile;
use ureq::http::{HeaderMap, StatusCode, header};
use ureq::{Agent, Body};

use super::part::PartialFile;
use super::{PIECE, Patience, Watch, append, interrupted};
use crate::exit::{Failure, Result};

const USER_AGENT: &str = concat!("gnan/", env!("CARGO_PKG_VERSION"));
/// How often a pause looks whether it should end.
const GLANCE: Duration = Duration::from_millis(50);

/// Why an attempt did not bring the rest of the file.
enum TransferFault {
    /// It may go better next time.
    Cut(String),
    /// It will not.
    Final(Failure),
}

impl From<Failure> for TransferFault {
    fn from(failure: Failure) -> Self {
        TransferFault::Final(failure)
    }
}

impl From<Error> for TransferFault {
    fn from(error: Error) -> Self {
        TransferFault::Final(error.into())
    }
}

/// Fills the part from `address`; returns whether bytes of an earlier attempt were kept.
pub fn receive(
    address: &str,
    file: &RemoteFile,
    part: &mut PartialFile,
    patience: Patience,
    watch: Watch<'_>,
) -> Result<bool> {
    let agent = agent(address, patience);
    let mut pause = patience.pause;
    let mut attempt = 1;
    loop {
        match continue_part(&agent, address, file, part, watch) {
            Ok(kept) => return Ok(kept),
            Err(TransferFault::Final(failure)) => return Err(failure),
            Err(TransferFault::Cut(what)) if attempt >= patience.attempts => {
                let kept = match part.length() {
                    0 => "nothing has arrived: try again later, or name another --mirror".to_owned(),
                    some => format!("{} are kept: the same command resumes", indicatif::DecimalBytes(some)),
                };
                return Err(Error::input(format!("{address}: {what}")).with_remedy(kept).into());
            }
            Err(TransferFault::Cut(_)) => wait(pause, part, watch)?,
        }
        attempt += 1;
        pause *= 2;
    }
}

fn agent(address: &str, patience: Patience) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .https_only(address.to_lowercase().starts_with("https:"))
        .user_agent(USER_AGENT)
        .timeout_resolve(Some(patience.silence))
        .timeout_connect(Some(patience.silence))
        .timeout_recv_response(Some(patience.silence))
        .timeout_per_read(Some(patience.silence))
        .build()
        .new_agent()
}

fn wait(pause: Duration, part: &PartialFile, watch: Watch<'_>) -> Result<()> {
    let end = std::time::Instant::now() + pause;
    while std::time::Instant::now() < end {
        if watch(part.length(), None).is_break() {
            return Err(interrupted(part));
        }
        std::thread::sleep(GLANCE.min(pause));
    }
    Ok(())
}

/// Asks for the rest and appends it; returns whether the bytes that were there were kept.
fn continue_part(
    agent: &Agent,
    address: &str,
    file: &RemoteFile,
    part: &mut PartialFile,
    watch: Watch<'_>,
) -> std::result::Result<bool, TransferFault> {
    let version = part.version(address);
    if version.is_none() && file.sha256.is_none() {
        part.restart()?;
    }
    let start = part.length();
    let mut request = agent.get(address).header(header::ACCEPT_ENCODING, "identity");
    if start > 0 {
        request = request.header(header::RANGE, format!("bytes={start}-"));
        if let Some(version) = &version {
            request = request.header(header::IF_RANGE, version);
        }
    }
    let mut response = request.call().map_err(|error| refused(address, error))?;
    let headers = response.headers();
    let kept = match response.status() {
        StatusCode::PARTIAL_CONTENT if continues(headers, start) => true,
        StatusCode::OK => {
            part.restart()?;
            if let Some(version) = strong_version(headers) {
                part.set_version(address, &version)?;
            }
            false
        }
        StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PARTIAL_CONTENT if start > 0 => {
            part.restart()?;
            return Err(TransferFault::Cut("the server has no rest of this part".to_owned()));
        }
        other => return Err(unwelcome(address, other)),
    };
    let total = length(headers).map(|rest| part.length().saturating_add(rest));
    read(response.body_mut(), file, total, part, watch)?;
    match total {
        Some(total) if part.length() < total => Err(TransferFault::Cut("the connection was cut".to_owned())),
        _ => Ok(kept && start > 0),
    }
}

fn read(
    body: &mut Body,
    file: &RemoteFile,
    total: Option<u64>,
    part: &mut PartialFile,
    watch: Watch<'_>,
) -> std::result::Result<(), TransferFault> {
    let mut reader = body.as_reader();
    let mut piece = vec![0; PIECE];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => append(part, &piece[..count], file, total, watch)?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(TransferFault::Cut(format!("the connection was cut: {error}"))),
        }
    }
}

/// Whether an answer with a part of the file begins where ours ends.
fn continues(headers: &HeaderMap, start: u64) -> bool {
    let range = text(headers, header::CONTENT_RANGE).and_then(|range| range.strip_prefix("bytes "));
    range.and_then(|range| range.split_once('-')).is_some_and(|(first, _)| first.parse() == Ok(start))
}

/// What tells versions of the file apart byte for byte: a strong tag, or else the time of its last change.
fn strong_version(headers: &HeaderMap) -> Option<String> {
    let tag = text(headers, header::ETAG).filter(|tag| tag.starts_with('"'));
    tag.or_else(|| text(headers, header::LAST_MODIFIED)).map(str::to_owned)
}

fn length(headers: &HeaderMap) -> Option<u64> {
    text(headers, header::CONTENT_LENGTH)?.parse().ok()
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn unwelcome(address: &str, status: StatusCode) -> TransferFault {
    let busy =
        status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if busy {
        return TransferFault::Cut(format!("the server answers {status}"));
    }
    Error::input(format!("{address}: the server answers {status}"))
        .with_remedy("the file may have moved: name another base address or a folder with --mirror")
        .into()
}

fn refused(address: &str, error: ureq::Error) -> TransferFault {
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::RequireHttpsOnly(_) => {
            Error::usage(format!("{address} cannot be followed: {error}")).caused_by(error).into()
        }
        ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed => {
            Error::because(format!("{address} leads nowhere"), error).into()
        }
        error => TransferFault::Cut(format!("the server cannot be reached: {error}")),
    }
}
