//! `gnan plot`, `gnan bootstrap` and `gnan report`: figures and pages as files.

use super::desk::Desk;

#[test]
fn figures_of_a_model_come_in_three_formats() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 30");
    desk.works("plot model.gnan chains -o figures").shows("importance.svg");
    for name in ["importance", "influence-by-distance", "effects", "features-by-distance", "structure"] {
        let svg = String::from_utf8(desk.read(&format!("figures/{name}.svg"))).expect("UTF-8");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
        assert_eq!(&desk.read(&format!("figures/{name}.png"))[1..4], b"PNG", "{name}");
        assert!(String::from_utf8(desk.read(&format!("figures/{name}.html"))).expect("UTF-8").contains("<svg"));
    }
    desk.gnan("plot model.gnan chains -o figures").expect(2).says("this file exists already").says("--force");
    desk.gnan("plot model.gnan chains -o other --figure influences").expect(2).says("there are:");
    assert!(!desk.exists("other"), "nothing is left behind");
    // Without data there are curves all the same.
    desk.works("plot model.gnan -o bare --format svg --figure influence,effects --palette green-red");
    assert!(desk.exists("bare/influence-by-distance.svg") && !desk.exists("bare/influence-by-distance.png"));
}

#[test]
fn a_prediction_is_drawn_as_its_graph_and_its_waterfall() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 30");
    desk.works("plot model.gnan chains --id g7 -o g7 --format svg");
    let graph = String::from_utf8(desk.read("g7/graph-g7.svg")).expect("UTF-8");
    assert!(graph.contains("g7") && graph.contains("<circle"), "{graph}");
    assert!(desk.exists("g7/waterfall-g7.svg") && desk.exists("g7/graph-receivers-g7.svg"));
    desk.gnan("plot model.gnan chains --id g777 -o x").expect(2).says("there is no item");
    desk.people("people");
    desk.works("train people --target label -o people.gnan --epochs 20");
    desk.works("plot people.gnan people --id p3 --class old -o p3 --format svg");
    assert!(
        desk.exists("p3/graph-p3.svg") && !desk.exists("p3/graph-receivers-p3.svg"),
        "a node task has one receiver"
    );
    desk.works("plot people.gnan people --id p3 --class old,young -o both --format svg --figure waterfall");
    assert!(desk.exists("both/waterfall-p3-class-1.svg") || desk.exists("both/waterfall-p3-class-2.svg"));
}

#[test]
fn a_bootstrap_is_kept_beside_the_model_and_goes_on_where_it_stopped() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 30");
    desk.works("bootstrap model.gnan chains --resamples 4").shows("4 bootstrap replicates").shows("by distance");
    let first = desk.read("model.bootstrap");
    let document = desk.json("bootstrap model.gnan chains --resamples 20");
    assert_eq!((&document["resamples"], &document["complete"]), (&20.into(), &true.into()));
    assert!(desk.read("model.bootstrap").len() > first.len());
    // Another model of the same name is not the one these bands belong to.
    desk.works("train chains -o model.gnan --epochs 30 --seed 5 --force");
    desk.works("report model.gnan chains").says("no intervals are shown");
    desk.gnan("bootstrap model.gnan chains --resamples 4").expect(3).says("--restart");
    let others = desk.read("model.bootstrap");
    desk.gnan("bootstrap model.gnan chains --resamples 1 --restart").expect(2).says("choose 2");
    assert_eq!(desk.read("model.bootstrap"), others, "nothing is lost before there is something better");
    desk.works("bootstrap model.gnan chains --resamples 4 --restart");
    // A model of any name keeps its replicates beside it, and is never one of them.
    desk.write("copy.bootstrap", "");
    std::fs::copy(desk.path("model.gnan"), desk.path("copy.bootstrap")).expect("a copy");
    let model = desk.read("copy.bootstrap");
    desk.works("bootstrap copy.bootstrap chains --resamples 4 --restart");
    assert_eq!(desk.read("copy.bootstrap"), model);
    desk.people("people");
    desk.gnan("bootstrap model.gnan people").expect(2).says("trained on 60 items");
}

#[test]
fn a_report_is_one_file_that_says_everything() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 30 --test-share 0.2");
    desk.works("report model.gnan chains --id g7").shows("wrote report.html");
    let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
    let sections =
        ["In short", "What the model is", "How well it predicts", "The whole model in figures", "Feature by feature"];
    let words = ["term by term", "What to be careful about", "How to reproduce", "12 test items (random split)", "g7"];
    for words in sections.into_iter().chain(words) {
        assert!(page.contains(words), "{words} is not in the page");
    }
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        let allowed = page.matches("http://www.w3.org/").count();
        let found = page.matches(outside).count() - if outside == "http://" { allowed } else { 0 };
        assert!(outside == "url(" || found == 0, "the page refers to {outside}");
    }
    desk.gnan("report model.gnan chains").expect(2).says("--force");
    // There is nothing to judge by where the targets are not known.
    let graphs: String = (0..60).map(|graph| format!("g{graph}\n")).collect();
    desk.write("chains/graphs.csv", &format!("graph_id\n{graphs}"));
    desk.works("report model.gnan chains -o unknown.html");
    let unknown = String::from_utf8(desk.read("unknown.html")).expect("UTF-8");
    assert!(unknown.contains("no known targets") && unknown.contains("the most confident"));
}

/// A model remembers its items by what they are: the order of rows does not matter, other items are told apart.
#[test]
fn a_report_tells_test_items_from_others() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 20 --test-share 0.3");
    let page = |name: &str| {
        desk.works(&format!("report model.gnan chains -o {name}"));
        String::from_utf8(desk.read(name)).expect("UTF-8")
    };
    assert!(page("known.html").contains("18 test items (random split)"));
    let graphs = String::from_utf8(desk.read("chains/graphs.csv")).expect("UTF-8");
    let mut rows: Vec<&str> = graphs.lines().skip(1).collect();
    rows.reverse();
    desk.write("chains/graphs.csv", &format!("graph_id,toxic\n{}\n", rows.join("\n")));
    assert!(page("reversed.html").contains("18 test items (random split)"));
    desk.works("bootstrap model.gnan chains --resamples 2");
    // The same items with other targets are not what it was trained on.
    let swapped = graphs.replace(",yes", ",maybe").replace(",no", ",yes").replace(",maybe", ",no");
    desk.write("chains/graphs.csv", &swapped);
    desk.gnan("bootstrap model.gnan chains --restart").expect(2).says("(or other targets)");
    // Other names: it judges by graphs whose structures training had not, and says so.
    for file in ["graphs", "nodes", "edges"] {
        let text = String::from_utf8(desk.read(&format!("chains/{file}.csv"))).expect("UTF-8");
        let renamed: Vec<String> = text
            .lines()
            .map(|line| line.strip_prefix('g').map_or(line.to_owned(), |rest| format!("h{rest}")))
            .collect();
        let renamed = renamed.join("\n").replace("hraph_id", "graph_id");
        desk.write(&format!("chains/{file}.csv"), &format!("{renamed}\n"));
    }
    let other = page("other.html");
    for words in ["items other than those of training", "those with the same structure or id, are left out"] {
        assert!(other.contains(words) && !other.contains("test items"), "{words}");
    }
}

/// The commands at the end of a report are run as they stand, and give the same model and the same page.
#[test]
fn the_commands_of_a_report_reproduce_it() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.write("options.toml", "hidden = 16\nlayers = 2\n");
    let options =
        "--target toxic --epochs 40 --config options.toml --test-share 0.25 --describe degree --rho shared --seed 9";
    for (data, options) in [("chains", options), ("solubility", "--epochs 10 --hidden 16 --shape spline")] {
        desk.works(&format!("train {data} {options} -o model.gnan --force"));
        desk.works(&format!("report model.gnan {data} -o report.html --force"));
        let page = String::from_utf8(desk.read("report.html")).expect("UTF-8");
        let commands = page.split("<pre>").nth(1).and_then(|rest| rest.split("</pre>").next()).expect("commands");
        let commands = commands.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        assert!(commands.starts_with("gnan train ") && commands.contains("cmp model.gnan again.gnan"), "{commands}");
        for line in commands.lines() {
            let Some(arguments) = line.strip_prefix("gnan ") else { continue };
            // None of these options needs quotes.
            desk.works(&arguments.replace('\'', ""));
        }
        assert_eq!(desk.read("model.gnan"), desk.read("again.gnan"), "{commands}");
        assert_eq!(desk.read("report.html"), desk.read("again.html"), "{commands}");
        ["again.gnan", "again.html"].iter().for_each(|name| std::fs::remove_file(desk.path(name)).expect("a file"));
    }
}

/// Values so far out that the engine takes them for the farthest it can tell: explanations do the same.
#[test]
fn absurd_values_add_up_too() {
    let desk = Desk::new();
    desk.molecules("chains");
    desk.works("train chains -o model.gnan --epochs 20");
    let nodes = String::from_utf8(desk.read("chains/nodes.csv")).expect("UTF-8");
    desk.write("chains/nodes.csv", &nodes.replacen(",12\n", ",1e30\n", 1));
    desk.works("explain model.gnan chains --verify").shows("everything adds up");
}
