//! Ctrl-C: training keeps the best model so far, an evaluation stops with a message, a download keeps its part.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::desk::{Desk, GNAN};

const PATIENCE: Duration = Duration::from_secs(60);

/// A command at work, which a failed test does not leave behind.
struct Running(Option<Child>);

impl Running {
    fn id(&self) -> u32 {
        self.0.as_ref().expect("it runs").id()
    }

    fn wait_with_output(mut self) -> std::io::Result<Output> {
        self.0.take().expect("it runs").wait_with_output()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn start(desk: &Desk, line: &str) -> Running {
    let child = Command::new(GNAN)
        .args(line.split_whitespace())
        .current_dir(desk.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    Running(Some(child))
}

/// Whether whoever started the tests had Ctrl-C ignored, as scripts do for background jobs: then every command that is
/// started here ignores it too, and there is nothing to test.
fn is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0) & 0b10 != 0;
    if ignored {
        println!("skipped: Ctrl-C is ignored here");
    }
    ignored
}

/// Waits until the process handles SIGINT (bit 1 of the mask of caught signals), which it does just before it trains.
fn wait_until_listening(child: &Running) {
    let start = Instant::now();
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        if caught & 0b10 != 0 {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "it never listened to Ctrl-C");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn press_control_c(child: &Running) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn interrupted_training_leaves_a_usable_model() {
    if is_ignored() {
        return;
    }
    let desk = Desk::new();
    desk.molecules("molecules");
    let child = start(&desk, "train molecules --epochs 100000000 --patience 0 --threads 1");
    wait_until_listening(&child);
    std::thread::sleep(Duration::from_millis(500));
    press_control_c(&child);
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stderr.contains("the best model so far will be saved"), "{stderr}");
    assert!(stdout.contains("it was interrupted"), "{stdout}");
    desk.works("inspect model.gnan").shows("it was interrupted");
    assert_eq!(desk.works("predict model.gnan molecules").stdout.lines().count(), 61);
}

#[test]
fn an_interrupted_evaluation_says_so() {
    if is_ignored() {
        return;
    }
    let desk = Desk::new();
    desk.molecules("molecules");
    let child = start(&desk, "evaluate molecules --folds 3 --epochs 100000000 --patience 0 --json");
    wait_until_listening(&child);
    std::thread::sleep(Duration::from_millis(200));
    press_control_c(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("0 of 3 runs were done; nothing was kept"),
        "{:?}",
        output.stderr
    );
}

#[test]
fn an_interrupted_download_keeps_its_part() {
    if is_ignored() {
        return;
    }
    let desk = Desk::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // A server that sends twenty bytes a second until nobody listens.
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 34185\r\nETag: \"1\"\r\n\r\n").unwrap();
        while stream.write_all(b"12").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let child = start(&desk, &format!("data fetch ptc --folder data --mirror http://{address}"));
    let begun = Instant::now();
    while !std::fs::metadata(desk.path("data/tu/PTC_MR.zip.part")).is_ok_and(|part| part.len() > 0) {
        assert!(begun.elapsed() < PATIENCE, "nothing arrives");
        std::thread::sleep(Duration::from_millis(10));
    }
    press_control_c(&child);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("are kept in data/tu/PTC_MR.zip.part; the same command resumes"), "{stderr}");
    assert!(desk.exists("data/tu/PTC_MR.zip.part") && !desk.exists("data/tu/PTC_MR.zip"));
    server.join().unwrap();
}
