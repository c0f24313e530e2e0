//! The limit of memory, as the system sees it.

use std::fmt::Write;

use crate::desk::Desk;

/// A tree of so many people, the first of whom have a label.
fn crowd(desk: &Desk, folder: &str, people: usize, labelled: usize) {
    let (mut nodes, mut edges) = ("node_id,age,income,group,label\n".to_owned(), "source,target\n".to_owned());
    for person in 0..people {
        let label = if person < labelled { ["no", "yes"][(person * 7919 % 90) / 45] } else { "" };
        let group = ["a", "b", "c", "d"][person % 4];
        writeln!(nodes, "p{person},{},{},{group},{label}", person * 7919 % 90, person * 31 % 1000).unwrap();
        if person > 0 {
            writeln!(edges, "p{person},p{}", person * 3 / 4).unwrap();
        }
    }
    desk.write(&format!("{folder}/nodes.csv"), &nodes);
    desk.write(&format!("{folder}/edges.csv"), &edges);
}

#[test]
fn nonsense_is_refused_in_plain_words() {
    let desk = Desk::new();
    for size in ["many", "5", "-1GB", "1e999GB", "0MB"] {
        desk.gnan(&format!("data info solubility --memory={size}")).expect(2).says("is not an amount of memory");
    }
    desk.works("data info solubility --memory 1.5GiB");
    desk.write("options.toml", "memory = \"2GB\"\n");
    desk.works("data info solubility --config options.toml");
}

#[test]
fn what_does_not_fit_is_refused_before_it_starts() {
    let desk = Desk::new();
    crowd(&desk, "crowd", 60_000, 2000);
    let session = desk.gnan("train crowd --target label --memory 6MB").expect(3);
    session.says("are needed").says("are in use and the limit of memory is 6.0 MB").says("raise --memory to at least");
    assert!(!desk.exists("model.gnan"));
}

#[cfg(target_os = "linux")]
#[test]
fn what_fits_stays_within_the_limit() {
    let desk = Desk::new();
    crowd(&desk, "crowd", 20_000, 2000);
    let tasks = [
        "train crowd --target label --epochs 3 --hidden 16 --layers 2 --rho shared",
        "predict model.gnan crowd -o predictions.csv",
        "explain model.gnan crowd --id p7 --verify",
    ];
    for task in tasks {
        let (peak, code) = peak_anonymous(&desk, &format!("{task} --memory 500MB"));
        assert_eq!(code, Some(0), "{task}");
        assert!(peak > 1_000_000 && peak < 500_000_000, "{task} took {peak} bytes");
    }
    assert_eq!(String::from_utf8(desk.read("predictions.csv")).unwrap().lines().count(), 20_001);
}

/// The most anonymous memory that a command had at a glance, and its exit code.
#[cfg(target_os = "linux")]
fn peak_anonymous(desk: &Desk, line: &str) -> (u64, Option<i32>) {
    let mut command = std::process::Command::new(crate::desk::GNAN);
    command.current_dir(desk.path("")).args(line.split_whitespace());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the command");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if let Some(code) = child.try_wait().expect("a child") {
            return (peak, code.code());
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(1024 * kilobytes.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
fn a_plan_says_what_training_would_take() {
    let desk = Desk::new();
    crowd(&desk, "crowd", 20_000, 2000);
    let options = "crowd --target label --hidden 16 --layers 2 --rho shared";
    let plan = desk.json(&format!("plan {options} --memory 2GB"));
    assert_eq!((&plan["nodes"], &plan["edges"], &plan["features"]), (&20_000.into(), &19_999.into(), &3.into()));
    let distances = |name: &str| plan["distances"][name].as_u64().unwrap();
    assert!(distances("longest") > 20 && (64..=128).contains(&distances("looked_from")), "{plan}");
    let ways = plan["ways"].as_array().unwrap();
    let way = |name: &str| ways.iter().find(|way| way["name"].as_str().unwrap().contains(name)).expect(name).clone();
    for way in ways {
        assert!(way["memory"].as_u64().unwrap() > 0 && way["epoch_seconds"].as_f64().unwrap() > 0.0, "{way}");
        assert!(way["start_seconds"].as_f64().unwrap() > 0.0 && way["fits"] == true, "{way}");
    }
    let chosen = |plan: &serde_json::Value| -> Vec<String> {
        let chosen = plan["ways"].as_array().unwrap().iter().filter(|way| way["chosen"] == true);
        chosen.map(|way| way["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(chosen(&plan), ["distances as bytes in memory"]);
    let (bytes, searched) = (way("bytes in memory"), way("searched again"));
    assert!(bytes["memory"].as_u64() > searched["memory"].as_u64());
    assert!(way("a sample of 16")["exact"] == false && way("a sample of 16")["redraw_seconds"].is_number());
    // Less memory, a leaner way; and training keeps to it.
    let pairs = 20_000 * 2000u64;
    let limit = bytes["memory"].as_u64().unwrap() - pairs / 4;
    let lean = desk.json(&format!("plan {options} --memory {limit}B"));
    assert_eq!(chosen(&lean), ["distances searched again for every pass"], "{lean}");
    let text = desk.works(&format!("plan {options} --memory {limit}B --shell-sample 8")).stdout;
    assert!(text.contains("a sample of 8 from every shell") && text.contains("estimates"), "{text}");
    desk.molecules("molecules");
    let plan = desk.json("plan molecules");
    assert_eq!((plan["ways"].as_array().unwrap().len(), chosen(&plan).len()), (1, 1));
}

#[test]
fn predictions_of_many_nodes_are_written_as_they_come() {
    let desk = Desk::new();
    crowd(&desk, "crowd", 3000, 300);
    desk.works("train crowd --target label --epochs 2 --hidden 16 --layers 2 --rho shared");
    let whole = desk.works("predict model.gnan crowd").stdout;
    desk.works("predict model.gnan crowd -o predictions.csv --memory 40MB").says("wrote 3,000 predictions");
    assert_eq!(String::from_utf8(desk.read("predictions.csv")).unwrap(), whole);
    let lines = desk.works("predict model.gnan crowd --json").stdout;
    assert_eq!((lines.lines().count(), whole.lines().count()), (3000, 3001));
}
