//! Downloads from a server on loopback and from folders: whole, continued, changed, cut, hostile.

mod server;

use std::cell::Cell;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use gnan_paper::catalogue::RemoteFile;
use tempfile::TempDir;

use super::part::PartialFile;
use super::{Downloader, Fetched, Patience, Source, State, checksum_of};
use crate::exit::{Failure, Result};
use server::{Completion, Server, value};

const TAG: Option<&str> = Some("\"v1\"");
const PATH: &str = "tu/SET.zip";

fn content() -> Vec<u8> {
    (0..300_000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn sum(bytes: &[u8]) -> &'static str {
    checksum_of(bytes).unwrap().1.leak()
}

/// The catalogue's word on a file with this content.
fn file(content: &[u8]) -> RemoteFile {
    RemoteFile {
        path: PATH,
        url: "https://example.invalid/SET.zip",
        bytes: content.len() as u64,
        sha256: Some(sum(content)),
        members: &[],
    }
}

fn patience(attempts: u32) -> Patience {
    Patience { attempts, pause: Duration::from_millis(1), silence: Duration::from_millis(500) }
}

fn fetch_from(source: &Source, folder: &Path, file: &RemoteFile, attempts: u32) -> Result<Fetched> {
    let watch = |_, _| ControlFlow::Continue(());
    Downloader { source, folder, force: false, patience: patience(attempts), watch: &watch }.fetch(file)
}

fn fetch(server: &Server, folder: &Path, file: &RemoteFile, attempts: u32) -> Result<Fetched> {
    fetch_from(&Source::Address(server.address.clone()), folder, file, attempts)
}

fn message(outcome: Result<Fetched>) -> String {
    match outcome {
        Err(Failure::Library(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Every file below the folder, relative to it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inside) = folders.pop() {
        for entry in std::fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

fn assert_whole(folder: &TempDir, content: &[u8]) {
    assert_eq!(files(folder.path()), [PATH]);
    assert_eq!(std::fs::read(folder.path().join(PATH)).unwrap(), content);
}

/// A folder in which the first bytes of a file have arrived.
fn with_part(bytes: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tu")).unwrap();
    std::fs::write(folder.path().join("tu/SET.zip.part"), bytes).unwrap();
    folder
}

#[test]
fn a_whole_file_arrives_and_is_not_fetched_twice() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let server = Server::new(&content, TAG, &[Completion::Well]);
    let fetched = fetch(&server, folder.path(), &file(&content), 1).unwrap();
    assert_eq!((fetched.state, fetched.bytes, fetched.verified), (State::Fetched, 300_000, true));
    assert_whole(&folder, &content);
    let request = &server.requests()[0];
    assert!(request.starts_with("get /tu/set.zip ") && request.contains("user-agent: gnan/"), "{request}");
    assert_eq!((value(request, "range"), value(request, "accept-encoding")), (None, Some("identity")));
    assert_eq!(fetch(&server, folder.path(), &file(&content), 1).unwrap().state, State::AlreadyThere);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_cut_file_is_continued_at_once_or_in_the_next_run() {
    let content = content();
    for attempts in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::new(&content, TAG, &[Completion::Cut(100_000), Completion::Well]);
        let first = fetch(&server, folder.path(), &file(&content), attempts);
        let fetched = if attempts == 1 {
            assert!(message(first).contains("100.00 kB are kept: the same command resumes"));
            assert_eq!(files(folder.path()), ["tu/SET.zip.part", "tu/SET.zip.part.version"]);
            fetch(&server, folder.path(), &file(&content), 1).unwrap()
        } else {
            first.unwrap()
        };
        assert_eq!((fetched.state, fetched.bytes), (State::Resumed, 300_000));
        assert_whole(&folder, &content);
        let request = &server.requests()[1];
        assert_eq!((value(request, "range"), value(request, "if-range")), (Some("bytes=100000-"), Some("\"v1\"")));
    }
}

#[test]
fn another_version_is_never_spliced() {
    let (content, old) = (content(), vec![9; 100_000]);
    // The version is known: the server itself sends everything.
    let folder = tempfile::tempdir().unwrap();
    let first = Server::new(&[9; 300_000], Some("\"v0\""), &[Completion::Cut(100_000)]);
    assert!(fetch(&first, folder.path(), &file(&content), 1).is_err());
    let second = Server::new(&content, TAG, &[Completion::Well]);
    let part = folder.path().join("tu/SET.zip.part.version");
    std::fs::write(part, format!("{}/{PATH}\n\"v0\"\n", second.address)).unwrap();
    assert_eq!(fetch(&second, folder.path(), &file(&content), 1).unwrap().state, State::Fetched);
    assert_whole(&folder, &content);
    // It is not known: the checksum tells, and everything comes anew, once.
    let folder = with_part(&old);
    let server = Server::new(&content, None, &[Completion::Well]);
    assert_eq!(fetch(&server, folder.path(), &file(&content), 1).unwrap().state, State::Fetched);
    assert_eq!(server.requests().len(), 2);
    assert_whole(&folder, &content);
    // Without a checksum either, nothing is continued.
    let folder = with_part(&old);
    let server = Server::new(&content, None, &[Completion::Well]);
    let fetched = fetch(&server, folder.path(), &RemoteFile { sha256: None, ..file(&content) }, 1).unwrap();
    assert_eq!(
        (fetched.state, fetched.verified, fetched.sha256.as_deref()),
        (State::Fetched, false, Some(sum(&content)))
    );
    assert_eq!(value(&server.requests()[0], "range"), None);
    assert_whole(&folder, &content);
}

#[test]
fn servers_that_know_no_parts_send_everything() {
    let content = content();
    for answer in [Completion::Everything, Completion::WrongPart] {
        let folder = with_part(&content[..1000]);
        let server = Server::new(&content, TAG, &[answer]);
        assert_eq!(fetch(&server, folder.path(), &file(&content), 2).unwrap().state, State::Fetched);
        assert_whole(&folder, &content);
    }
}

#[test]
fn a_part_that_is_whole_or_too_long_is_understood() {
    let content = content();
    let folder = with_part(&content);
    let nobody = Source::Address("http://127.0.0.1:1".to_owned());
    assert_eq!(fetch_from(&nobody, folder.path(), &file(&content), 1).unwrap().state, State::Resumed);
    assert_whole(&folder, &content);
    for wrong in [vec![1; 300_000], vec![1; 400_000]] {
        let folder = with_part(&wrong);
        let server = Server::new(&content, TAG, &[Completion::Well]);
        assert_eq!(fetch(&server, folder.path(), &file(&content), 1).unwrap().state, State::Fetched);
        assert_whole(&folder, &content);
    }
    // A guess of the size was wrong, and the part is longer than the file: the server has no rest.
    let folder = with_part(&content);
    std::fs::write(folder.path().join("tu/SET.zip.part.version"), "").unwrap();
    let server = Server::new(&content[..1000], None, &[Completion::Well]);
    let shorter = RemoteFile { bytes: 400_000, ..file(&content[..1000]) };
    assert_eq!(fetch(&server, folder.path(), &shorter, 2).unwrap().state, State::Fetched);
    assert_whole(&folder, &content[..1000]);
}

#[test]
fn wrong_bytes_are_removed_and_both_checksums_named() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let wrong = vec![5; 300_000];
    let server = Server::new(&wrong, TAG, &[Completion::Well]);
    let message = message(fetch(&server, folder.path(), &file(&content), 3));
    assert!(message.contains(sum(&content)) && message.contains(sum(&wrong)), "{message}");
    assert!(files(folder.path()).is_empty());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn refusals_are_final_and_troubles_are_not() {
    let content = content();
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(&content, TAG, &[Completion::Status("404 Not Found")]);
    let refusal = message(fetch(&server, folder.path(), &file(&content), 3));
    assert!(
        refusal.contains("tu/SET.zip: the server answers 404 Not Found") && refusal.contains("--mirror"),
        "{refusal}"
    );
    assert_eq!(server.requests().len(), 1);
    assert!(files(folder.path()).is_empty());
    let busy = Completion::Status("503 Service Unavailable");
    let server = Server::new(
        &content,
        TAG,
        &[busy.clone(), Completion::Cut(0), Completion::Redirect("/moved"), Completion::Well],
    );
    fetch(&server, folder.path(), &file(&content), 3).unwrap();
    assert!(server.requests()[3].starts_with("get /moved "));
    assert_whole(&folder, &content);
    let folder = tempfile::tempdir().unwrap();
    let lasting = Server::new(&content, TAG, &[busy]);
    assert!(message(fetch(&lasting, folder.path(), &file(&content), 2)).contains("503"));
    assert_eq!(lasting.requests().len(), 2);
    let circle = Server::new(&content, TAG, &[Completion::Redirect("/round")]);
    assert!(message(fetch(&circle, folder.path(), &file(&content), 2)).contains("leads nowhere"));
    for to in ["file:///etc/passwd", "ftp://127.0.0.1/x", "\u{1b}[31m", ""] {
        let elsewhere = Server::new(&content, TAG, &[Completion::Redirect(to)]);
        assert!(fetch(&elsewhere, folder.path(), &file(&content), 1).is_err(), "{to}");
    }
    let nobody = Source::Address("http://127.0.0.1:1".to_owned());
    assert!(message(fetch_from(&nobody, folder.path(), &file(&content), 1)).contains("cannot be reached"));
    for address in ["http://", "http://[", "https://a b/c", "http://x:99999999/"] {
        assert!(fetch_from(&Source::Address(address.to_owned()), folder.path(), &file(&content), 1).is_err());
    }
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_silent_server_is_given_up_and_a_slow_one_is_not() {
    let content = content();
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(&content, TAG, &[Completion::Silence(Duration::from_secs(5))]);
    let start = std::time::Instant::now();
    assert!(message(fetch(&server, folder.path(), &file(&content), 1)).contains("nothing has arrived"));
    assert!(start.elapsed() < Duration::from_secs(4));
    // Longer in all than the longest silence.
    let server = Server::new(&content, TAG, &[Completion::Slowly(2_000)]);
    fetch(&server, folder.path(), &file(&content), 1).unwrap();
    assert_whole(&folder, &content);
}

#[test]
fn endless_files_are_not_taken() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let server = Server::new(&content, TAG, &[Completion::Endless]);
    let refusal = message(fetch(&server, folder.path(), &file(&content), 3));
    assert!(refusal.contains("more than 300000 bytes"), "{refusal}");
    assert!(files(folder.path()).is_empty());
}

#[test]
fn an_interruption_keeps_the_part() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let server = Server::new(&content, TAG, &[Completion::Slowly(50_000), Completion::Well]);
    let source = Source::Address(server.address.clone());
    let seen = Cell::new(0);
    let watch = |arrived, total| {
        assert_eq!(total, Some(300_000));
        seen.set(arrived);
        if arrived < 100_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let downloader =
        Downloader { source: &source, folder: folder.path(), force: false, patience: patience(3), watch: &watch };
    match downloader.fetch(&file(&content)) {
        Err(Failure::Interrupted(what)) => assert!(what.contains("the same command resumes"), "{what}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(files(folder.path()), ["tu/SET.zip.part", "tu/SET.zip.part.version"]);
    assert_eq!(fetch(&server, folder.path(), &file(&content), 1).unwrap().state, State::Resumed);
    assert_eq!(value(&server.requests()[1], "range"), Some(format!("bytes={}-", seen.get()).as_str()));
    assert_whole(&folder, &content);
}

#[test]
fn a_folder_is_a_mirror_too() {
    let (content, folder, mirror) = (content(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = Source::mirror(mirror.path().to_str().unwrap()).unwrap();
    assert!(message(fetch_from(&source, folder.path(), &file(&content), 1)).contains("does not have this file"));
    std::fs::create_dir(mirror.path().join("tu")).unwrap();
    std::fs::write(mirror.path().join(PATH), &content).unwrap();
    assert_eq!(fetch_from(&source, folder.path(), &file(&content), 1).unwrap().state, State::Fetched);
    assert_whole(&folder, &content);
    std::fs::write(mirror.path().join(PATH), &content[1..]).unwrap();
    let other = tempfile::tempdir().unwrap();
    assert!(message(fetch_from(&source, other.path(), &file(&content), 1)).contains("was expected"));
    assert!(files(other.path()).is_empty());
}

#[test]
fn what_is_there_is_checked_and_replaced_by_force_only() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    std::fs::create_dir(folder.path().join("tu")).unwrap();
    std::fs::write(folder.path().join(PATH), "mine").unwrap();
    let server = Server::new(&content, TAG, &[Completion::Status("404 Not Found"), Completion::Well]);
    let refusal = message(fetch(&server, folder.path(), &file(&content), 1));
    assert!(refusal.contains(sum(b"mine")) && refusal.contains("--force"), "{refusal}");
    let source = Source::Address(server.address.clone());
    let watch = |_, _| ControlFlow::Continue(());
    let force =
        Downloader { source: &source, folder: folder.path(), force: true, patience: patience(1), watch: &watch };
    // As long as nothing better has arrived, what was there stays.
    assert!(force.fetch(&file(&content)).is_err());
    assert_eq!(std::fs::read(folder.path().join(PATH)).unwrap(), b"mine");
    assert_eq!(force.fetch(&file(&content)).unwrap().state, State::Fetched);
    assert_whole(&folder, &content);
}

#[test]
fn hostile_paths_are_refused_before_anything_is_asked() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let server = Server::new(&content, TAG, &[Completion::Well]);
    for path in ["../evil", "/evil", "a/../../evil", "", "a\nb", "a\\..\\b"] {
        assert!(fetch(&server, folder.path(), &RemoteFile { path, ..file(&content) }, 1).is_err(), "{path:?}");
    }
    let members: &[&str] = &["../evil"];
    assert!(fetch(&server, folder.path(), &RemoteFile { members, ..file(&content) }, 1).is_err());
    assert!(server.requests().is_empty() && files(folder.path()).is_empty());
}

#[test]
fn an_archive_is_unpacked_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Vec::new();
    // A zip archive of one stored file "set/a.csv" that holds "1,2": local header, directory, end.
    let (name, data, crc): (&[u8], &[u8], u32) = (b"set/a.csv", b"1,2", 0x2b0e_6c9b);
    let sizes = |bytes: &mut Vec<u8>| {
        bytes.extend(crc.to_le_bytes());
        bytes.extend([3, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0]);
    };
    archive.extend(b"PK\x03\x04\x0a\0\0\0\0\0\0\0\x21\0");
    sizes(&mut archive);
    archive.write_all(name).unwrap();
    archive.write_all(data).unwrap();
    let directory = archive.len() as u8;
    archive.extend(b"PK\x01\x02\x0a\0\x0a\0\0\0\0\0\0\0\x21\0");
    sizes(&mut archive);
    archive.extend([0; 14]);
    archive.write_all(name).unwrap();
    let length = archive.len() as u8 - directory;
    archive.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    archive.extend([length, 0, 0, 0, directory, 0, 0, 0, 0, 0]);
    let server = Server::new(&archive, TAG, &[Completion::Well]);
    let file = RemoteFile { members: &["set/a.csv"], ..file(&archive) };
    assert!(fetch(&server, folder.path(), &file, 1).unwrap().verified);
    assert_eq!(files(folder.path()), ["tu/set/a.csv"]);
    assert_eq!(std::fs::read(folder.path().join("tu/set/a.csv")).unwrap(), data);
    assert_eq!(fetch(&server, folder.path(), &file, 1).unwrap().state, State::AlreadyThere);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn two_at_once_do_not_mix() {
    let (content, folder) = (content(), with_part(b""));
    let held = PartialFile::open(&folder.path().join(PATH)).unwrap();
    let server = Server::new(&content, TAG, &[Completion::Well]);
    assert!(message(fetch(&server, folder.path(), &file(&content), 1)).contains("another gnan is fetching this file"));
    drop(held);
    fetch(&server, folder.path(), &file(&content), 1).unwrap();
    assert_whole(&folder, &content);
}

/// The catalogue's checksums are those of real files: checked where they are at hand.
#[test]
fn real_files_have_the_checksums_of_the_catalogue() {
    let Some(data) = std::env::var_os(gnan_paper::catalogue::FOLDER_VARIABLE) else {
        eprintln!("skipped: set GNAN_DATA to a folder of data sets to check their checksums");
        return;
    };
    let mut checked = 0;
    for file in gnan_paper::catalogue::entries().flat_map(|entry| entry.files) {
        let place = file.place_in(Path::new(&data)).unwrap();
        let Some(expected) = file.sha256.filter(|_| place.exists()) else { continue };
        assert_eq!(super::checksum(&place).unwrap(), (file.bytes, expected.to_owned()), "{}", file.path);
        checked += 1;
    }
    eprintln!("{checked} files have their checksums");
}
