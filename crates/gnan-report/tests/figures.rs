//! Every figure in every odd case: well-formed, escaped, with its labels, without overlapping words, the same twice.

mod cases;

use std::collections::BTreeSet;

use gnan_report::figure::distance_curves::DistanceCurves;
use gnan_report::figure::table::{FigureCell, FigureTable};
use gnan_report::figure::{Estimate, FigureContent, Support};
use gnan_report::{Palette, page, text};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::{Document, Node};

#[test]
fn figures_are_well_formed_and_hold_their_labels() {
    let known: BTreeSet<&str> =
        "svg title desc rect circle line polyline polygon text g defs pattern path".split(' ').collect();
    for case in cases::all() {
        let (file, part) = (case.scene.svg(), case.scene.svg_for_page("one"));
        for text in [&file, &part] {
            let document = Document::parse(text).unwrap_or_else(|error| panic!("{}: {error}", case.name));
            for node in document.descendants().filter(Node::is_element) {
                assert!(known.contains(node.tag_name().name()), "{}: {}", case.name, node.tag_name().name());
                for attribute in node.attributes() {
                    let name = attribute.name();
                    assert!(!name.starts_with("on") && name != "href", "{}: {name}", case.name);
                    let drawn = !name.starts_with("data-") && name != "aria-label";
                    assert!(!drawn || !attribute.value().contains("NaN"), "{}: {name}", case.name);
                }
            }
        }
        for word in &case.words {
            assert!(file.contains(word) || part.contains(word), "{}: no {word}", case.name);
        }
    }
}

#[test]
fn hatching_refers_to_patterns_of_the_same_figure() {
    for case in cases::all() {
        let text = case.scene.svg_for_page("fig-7");
        for reference in text.split("url(#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(reference.starts_with("fig-7-"), "{}", case.name);
            assert!(text.contains(&format!("id=\"{reference}\"")), "{}: {reference}", case.name);
        }
    }
}

#[test]
fn words_stay_inside_and_do_not_overlap() {
    for case in cases::all().iter().filter(|case| !case.name.starts_with("huge") && !case.name.starts_with("tiny")) {
        let text = case.scene.svg();
        let document = Document::parse(&text).unwrap();
        let boxes: Vec<([f64; 4], String)> = document.descendants().filter_map(|node| place_of_words(&node)).collect();
        for (k, (one, words)) in boxes.iter().enumerate() {
            let inside = one[0] >= -1.0 && one[1] <= case.scene.width + 1.0 && one[3] <= case.scene.height;
            assert!(inside, "{}: {words} at {one:?} of {} x {}", case.name, case.scene.width, case.scene.height);
            for (other, others) in &boxes[..k] {
                let apart = one[0] >= other[1] || other[0] >= one[1] || one[2] >= other[3] || other[2] >= one[3];
                assert!(apart, "{}: {words} at {one:?} over {others} at {other:?}", case.name);
            }
        }
    }
}

/// Other fonts than the one that was measured are wider: their words are made as wide as the measured ones.
#[test]
fn words_are_as_wide_as_they_were_measured() {
    for case in cases::all() {
        for text in [case.scene.svg(), case.scene.svg_for_page("one")] {
            let document = Document::parse(&text).unwrap();
            for node in document.descendants().filter(|node| node.has_tag_name("text")) {
                let words: String = node.children().filter(Node::is_text).filter_map(|child| child.text()).collect();
                if !words.is_ascii() || words.trim().len() < 4 {
                    continue;
                }
                let number = |name: &str| node.attribute(name).and_then(|value| value.parse::<f64>().ok());
                let size = number("font-size").unwrap();
                let bold = node.attribute("font-weight").is_some();
                let width = if bold { text::width_bold(&words, size) } else { text::width(&words, size) };
                let length = number("textLength").unwrap_or_else(|| panic!("{}: {words}", case.name));
                assert!((length - width).abs() < 0.01, "{}: {words}", case.name);
            }
        }
    }
}

/// At the width of a phone, a waterfall has an axis that can be read.
#[test]
fn a_narrow_waterfall_has_ticks_and_room_for_its_bars() {
    let mut figure = cases::waterfall(9);
    figure.terms[3].name = "topological polar surface area = 12.5 to 14.0".into();
    let svg = figure.scene(360.0).svg();
    let document = Document::parse(&svg).unwrap();
    let is_number = |words: &str| words.replace('−', "-").parse::<f64>().is_ok();
    let below = document.descendants().filter(|node| {
        let centred = node.attribute("text-anchor") == Some("middle");
        node.has_tag_name("text") && centred && node.text().is_some_and(is_number)
    });
    let places: Vec<f64> = below.map(|tick| tick.attribute("x").unwrap().parse().unwrap()).collect();
    assert!(places.len() >= 2 && places[places.len() - 1] - places[0] > 40.0, "{places:?}");
}

/// Left, right, top and bottom of the ink of words, and the words.
fn place_of_words(node: &Node) -> Option<([f64; 4], String)> {
    if !node.has_tag_name("text") {
        return None;
    }
    let words: String = node.children().filter(Node::is_text).filter_map(|child| child.text()).collect();
    let number = |name: &str| node.attribute(name).and_then(|value| value.parse::<f64>().ok());
    let (x, y, size) = (number("x")?, number("y")?, number("font-size")?);
    let bold = node.attribute("font-weight").is_some();
    let width = if bold { text::width_bold(&words, size) } else { text::width(&words, size) };
    let share = match node.attribute("text-anchor") {
        Some("middle") => 0.5,
        Some("end") => 1.0,
        _ => 0.0,
    };
    let [left, right, up, down] = [-share * width, (1.0 - share) * width, -0.72 * size, 0.2 * size];
    let turned = node.attribute("transform").is_some_and(|transform| transform.starts_with("rotate(-90 "));
    let place = if turned { [x + up, x + down, y - right, y - left] } else { [x + left, x + right, y + up, y + down] };
    Some((place, words))
}

#[test]
fn the_same_data_give_the_same_bytes() {
    for (one, two) in cases::all().into_iter().zip(cases::all()) {
        assert_eq!(one.scene.svg(), two.scene.svg(), "{}", one.name);
        assert_eq!(one.scene.html(), two.scene.html(), "{}", one.name);
    }
    let scene = cases::heatmap(4, 3, 1).scene(400.0);
    assert_eq!(scene.png(1.0).unwrap(), scene.png(1.0).unwrap());
}

#[test]
fn pictures_decode_and_are_not_blank() {
    for case in cases::all().iter().filter(|case| case.scene.height < 1500.0 && !case.name.ends_with("half")) {
        let bytes = case.scene.png(0.5).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let picture = Pixmap::decode_png(&bytes).unwrap();
        let dark = picture.pixels().iter().filter(|pixel| pixel.red() < 140).count();
        assert!(dark > 20, "{}: {dark} dark pixels", case.name);
    }
}

#[test]
fn a_page_asks_for_nothing_and_shows_names_as_text() {
    let scenes: Vec<_> = cases::all().into_iter().filter(|case| case.name.starts_with("hostile")).collect();
    let scenes: Vec<_> = scenes.into_iter().map(|case| case.scene).collect();
    let page = page::page("</title><script>alert(1)</script>", &scenes);
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(page.matches("http").count(), scenes.len() + 1, "only the names of the SVG space and http-equiv");
    for request in ["src=\"", "href=", "@import", "url(h", "fetch(", "<img", "<link"] {
        assert!(!page.contains(request), "{request}");
    }
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique");
}

#[test]
fn every_figure_has_its_numbers_in_a_table() {
    for (name, content) in cases::contents() {
        let FigureTable { header, rows } = content.table();
        assert!(!rows.is_empty() && header.len() > 1, "{name}");
        assert!(rows.iter().all(|row| row.len() == header.len()), "{name}");
        let number = |cell: &FigureCell| matches!(cell, FigureCell::Number(value) if value.is_finite());
        assert!(rows.iter().all(|row| row.iter().any(number)), "{name}: a row without a number");
    }
    // The running sum of a waterfall ends where the prediction is.
    let table = cases::waterfall(14).table();
    let sum = |row: &[FigureCell]| match row[2] {
        FigureCell::Number(sum) => sum,
        _ => panic!("a running sum"),
    };
    let [.., last, prediction] = table.rows.as_slice() else { panic!("rows") };
    assert!((sum(last) - sum(prediction)).abs() < 1e-9);
}

#[test]
fn what_few_items_have_does_not_stretch_an_axis() {
    let mut plain = cases::influence(2, 9, false);
    plain.panels[0].support[8] = Support::default();
    let mut far = plain.clone();
    far.panels[0].curves[0].points[8] = Estimate::from(1e6);
    // Everything but the marks of that point stands where it stood.
    let circles = |figure: &DistanceCurves| figure.scene(760.0).svg().matches("<circle").count();
    assert_eq!(circles(&plain), circles(&far) + 2, "a mark and its field are a triangle now");
    let ticks = |figure: &DistanceCurves| {
        let svg = figure.scene(760.0).svg();
        let texts = svg.split("<text").filter_map(|text| text.split("</text>").next());
        texts.filter(|text| text.contains("text-anchor=\"end\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ticks(&plain), ticks(&far));
    // With enough support, it does.
    far.panels[0].support[8] = Support { nodes: 1000, graphs: 1000, items: 1000 };
    assert_ne!(ticks(&plain), ticks(&far));
}

#[test]
fn the_papers_colours_are_a_choice() {
    let scene = cases::waterfall(5).scene(600.0);
    assert!(scene.svg().contains("#0072b2"));
    let scene = scene.with_palette(Palette::GreenRed);
    assert!(scene.svg().contains("#1a7f37") && !scene.svg().contains("#0072b2"));
    assert!(page::figure(&scene, "a", None).into_string().contains("green-red"));
}
