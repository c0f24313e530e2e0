//! A server on loopback that answers as told, well or badly.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a request is answered.
#[derive(Clone, Debug)]
pub enum Completion {
    /// As a good server does: `Range` and `If-Range` are honoured.
    Well,
    /// As a good server does, but the connection is cut after so many bytes.
    Cut(usize),
    /// Everything, whatever part was requested.
    Everything,
    /// A part that begins elsewhere.
    WrongPart,
    /// A status without content.
    Status(&'static str),
    /// Somewhere else.
    Redirect(&'static str),
    /// Not at all, for so long.
    Silence(Duration),
    /// More and more, without saying how much.
    Endless,
    /// A piece at a time.
    Slowly(usize),
}

/// A server; its last answer is repeated.
pub struct Server {
    pub address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// A server of one file, whose version has a tag or not.
    pub fn new(content: &[u8], tag: Option<&'static str>, answers: &[Completion]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, content, answers) = (requests.clone(), content.to_vec(), answers.to_vec());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = request(&stream) else { continue };
                let number = seen.lock().unwrap().len().min(answers.len() - 1);
                seen.lock().unwrap().push(request.clone());
                // A client that hangs up is its own affair.
                let _ = answer(&mut stream, &request, &content, tag, &answers[number]);
            }
        });
        Server { address, requests }
    }

    /// What was asked.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn request(stream: &TcpStream) -> Option<String> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    if head.is_empty() { None } else { Some(head.join("\n").to_lowercase()) }
}

/// The value of a header of a request.
pub fn value<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn answer(
    stream: &mut TcpStream,
    request: &str,
    content: &[u8],
    tag: Option<&str>,
    answer: &Completion,
) -> std::io::Result<()> {
    let start = value(request, "range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    let same = value(request, "if-range").is_none_or(|asked| Some(asked) == tag.map(str::to_lowercase).as_deref());
    let start: usize = start.filter(|_| same && !matches!(answer, Completion::Everything)).unwrap_or(0);
    match answer {
        Completion::Status(status) => {
            return write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        Completion::Redirect(to) => {
            return write!(
                stream,
                "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Completion::Silence(time) => {
            std::thread::sleep(*time);
            return Ok(());
        }
        Completion::Endless => {
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[7; 1 << 16])?;
            }
        }
        _ => {}
    }
    if start >= content.len() && start > 0 {
        return write!(stream, "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    let rest = &content[start..];
    let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", rest.len())?;
    if let Some(tag) = tag {
        write!(stream, "ETag: {tag}\r\n")?;
    }
    if start > 0 {
        let said = if matches!(answer, Completion::WrongPart) { start - 1 } else { start };
        write!(stream, "Content-Range: bytes {said}-{}/{}\r\n", content.len() - 1, content.len())?;
    }
    write!(stream, "\r\n")?;
    match answer {
        Completion::Cut(bytes) => stream.write_all(&rest[..rest.len().min(*bytes)]),
        Completion::Slowly(piece) => rest.chunks(*piece).try_for_each(|piece| {
            std::thread::sleep(Duration::from_millis(5));
            stream.write_all(piece).and_then(|()| stream.flush())
        }),
        _ => stream.write_all(rest),
    }
}
