//! Reports and figures in a real browser: drawn, without an error, without a request. Skipped, with a message, where there
//! is no browser.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::desk::Desk;

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PATIENCE: Duration = Duration::from_secs(120);

/// Looks at the page from inside, as a reader's browser has it, and leaves what it saw in the document.
const WITNESS: &str = r##"<script>
const seen = { errors: [], requests: [] };
addEventListener("error", event => seen.errors.push(String(event.message)));
addEventListener("securitypolicyviolation", event => seen.errors.push(event.blockedURI));
addEventListener("load", () => {
  // What a chooser hides, and the layout for the other width, is not to be seen.
  const figures = [...document.querySelectorAll("figure svg")].filter(svg => svg.checkVisibility());
  seen.figures = figures.length;
  seen.drawn = figures.filter(svg => {
    const box = svg.getBoundingClientRect();
    return box.width > 100 && box.height > 40 && svg.querySelectorAll("*").length > 5;
  }).length;
  const chosen = () => [...document.querySelectorAll("#features .choice")].findIndex(part => part.checkVisibility());
  const list = document.querySelector("#choose-feature");
  seen.chosen = [chosen()];
  if (list) {
    list.value = "1";
    list.dispatchEvent(new Event("change"));
    seen.chosen.push(chosen());
  }
  const pointed = document.querySelector("figure [data-tip]");
  pointed?.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: 200, clientY: 200 }));
  pointed?.dispatchEvent(new PointerEvent("pointerover", { bubbles: true, clientX: 200, clientY: 200 }));
  pointed?.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: 200, clientY: 200 }));
  seen.tip = [...document.querySelectorAll(".gnan-tip")].some(tip => !tip.hidden && tip.textContent.length > 0);
  seen.wide = document.documentElement.scrollWidth > innerWidth + 1;
  seen.scripts = document.querySelectorAll("script").length;
  seen.requests = performance.getEntriesByType("resource").map(entry => entry.name);
  const note = document.createElement("pre");
  note.id = "witness";
  note.textContent = JSON.stringify(seen);
  document.body.append(note);
});
</script>"##;

fn browser() -> Option<&'static str> {
    let found = BROWSERS.into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    });
    if found.is_none() {
        eprintln!("skipped: there is no browser (one of {}) to open pages with", BROWSERS.join(", "));
    }
    found
}

/// Opens a page and returns what the witness saw; anything on the console is an error.
fn open(browser: &str, desk: &Desk, page: &str, width: u32) -> Value {
    let html = String::from_utf8(desk.read(page)).expect("UTF-8");
    let watched = html.replacen("<head>", &format!("<head>{WITNESS}"), 1);
    desk.write("watched.html", &watched);
    let run = |name: &str| desk.path(name);
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--dump-dom"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
        ])
        .args(["--enable-logging=stderr", "--virtual-time-budget=3000"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", run("profile").display()))
        .arg(format!("file://{}", run("watched.html").display()))
        .stdin(Stdio::null())
        .stdout(file(&run("dom.html")))
        .stderr(file(&run("browser.log")))
        .spawn()
        .expect("the browser starts");
    let start = Instant::now();
    while child.try_wait().expect("the browser runs").is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("the browser did not finish with {page}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = String::from_utf8_lossy(&desk.read("browser.log")).into_owned();
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "the console of {page} says {console:?}");
    let dom = String::from_utf8_lossy(&desk.read("dom.html")).into_owned();
    let seen = dom.split("id=\"witness\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let seen = seen.unwrap_or_else(|| panic!("{page} was not loaded: {dom:.300}\n{log}"));
    let seen = seen.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    serde_json::from_str(&seen).expect("what the witness wrote")
}

#[track_caller]
fn check(seen: &Value, least_figures: u64) {
    assert_eq!(seen["errors"], Value::Array(Vec::new()));
    assert_eq!(seen["requests"], Value::Array(Vec::new()));
    assert!(seen["figures"].as_u64() >= Some(least_figures), "{seen}");
    assert_eq!(seen["figures"], seen["drawn"], "a figure is not drawn: {seen}");
    assert_eq!(seen["tip"], true, "pointing at a figure shows nothing: {seen}");
    assert_eq!(seen["wide"], false, "the page is wider than the window: {seen}");
}

#[test]
fn a_report_opens_in_a_browser_and_asks_for_nothing() {
    let Some(browser) = browser() else { return };
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 60");
    desk.works("bootstrap model.gnan chains --resamples 6");
    desk.works("report model.gnan chains -o report.html --id g3");
    for width in [1000, 500] {
        let seen = open(browser, &desk, "report.html", width);
        check(&seen, 10);
        assert_eq!(seen["chosen"], serde_json::json!([0, 1]), "{seen}");
    }
    desk.works("plot model.gnan chains -o figures --format html --figure influence");
    check(&open(browser, &desk, "figures/influence-by-distance.html", 1000), 1);
}

/// Names that try to be markup, to leave their attribute or to end a script stay names.
#[test]
fn a_report_with_hostile_names_is_only_a_report() {
    let Some(browser) = browser() else { return };
    let desk = Desk::new();
    desk.people("people");
    let hostile = "<script>document.title='owned'</script>";
    for file in ["nodes.csv", "edges.csv"] {
        let text = String::from_utf8(desk.read(&format!("people/{file}"))).expect("UTF-8");
        let text = text.replace("age", &format!("{hostile}\"'`</style><img src=x onerror=alert(1)>"));
        // A quoted cell doubles its quotes.
        let text = text.replace("<script>", "\"<script>").replace("\"'`", "\"\"'`").replace("alert(1)>", "alert(1)>\"");
        desk.write(&format!("people/{file}"), &text.replace("young", "<b onclick=alert(2)>young</b>"));
    }
    desk.works("train people --target label -o model.gnan --epochs 30");
    desk.works("report model.gnan people -o report.html");
    let seen = open(browser, &desk, "report.html", 1000);
    check(&seen, 8);
    // The page's own and the witness.
    assert_eq!(seen["scripts"], 2, "{seen}");
    let dom = String::from_utf8_lossy(&desk.read("dom.html")).into_owned();
    assert!(!dom.contains("<title>owned") && !dom.contains("<img"), "markup in a name was obeyed");
}
