//! Effects as they are shown: a planted effect has its sign in every place, whatever happens at distances that hardly occur.

use std::ops::ControlFlow;

use gnan::dataset::Dataset;
use gnan::explain::{By, Explanation, Reference};
use gnan::internals::random::Stream;
use gnan::spec::{PoolChoice, RhoChoice};
use gnan::{Explainer, Spec};

/// Effects of a node of each level on its graph.
const PLANTED: [(&str, f64); 3] = [("bromine", -1.0), ("oxygen", 0.8), ("carbon", 0.2)];

/// 300 small trees whose target is the sum of the effects of their nodes, and 4 long chains of bromine whose targets are
/// high: at the distances that only they have, bromine seems to raise the target.
fn planted(folder: &std::path::Path) -> Dataset {
    let mut random = Stream::named(3, "planted effects", 0);
    let (mut nodes, mut edges) = ("graph_id,node_id,element\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut graphs = "graph_id,y\n".to_owned();
    for graph in 0..304usize {
        let chain = graph >= 300;
        let count = if chain { 24 } else { 3 + random.below(8) };
        let mut y = 0.05 * random.normal();
        for node in 0..count {
            let level = if chain { 0 } else { random.below(3) };
            y += PLANTED[level].1;
            nodes.push_str(&format!("g{graph},n{node},{}\n", PLANTED[level].0));
            if node > 0 {
                let to = if chain { node - 1 } else { random.below(node) };
                edges.push_str(&format!("g{graph},n{to},n{node}\n"));
            }
        }
        graphs.push_str(&format!("g{graph},{}\n", if chain { 10.0 } else { y }));
    }
    for (name, text) in [("nodes.csv", nodes), ("edges.csv", edges), ("graphs.csv", graphs)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    Dataset::open(folder.to_str().unwrap()).unwrap()
}

#[test]
fn a_planted_effect_has_its_sign_in_shape_heatmap_and_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let data = planted(folder.path());
    for rho in [RhoChoice::PerFeature, RhoChoice::Shared] {
        let model = Spec::default().epochs(600).hidden(32).rho(rho).seed(2).fit(&data).unwrap();
        let canonical = model.canonical();
        assert_eq!(canonical.axis().name(canonical.anchor(0)), "itself");
        let overview = Explainer::new(&model, &data).unwrap().overview().unwrap();
        let mean: f64 = PLANTED.iter().map(|(_, effect)| effect).sum::<f64>() / 3.0;
        for (name, effect) in PLANTED.iter().filter(|(_, effect)| (effect - mean).abs() > 0.5) {
            let level = overview.features[0].levels.iter().find(|level| level.name == *name).unwrap();
            assert_eq!(level.values[0] > 0.0, effect - mean > 0.0, "{name}: {:?}", level.values);
        }
    }
}

/// The base is the mean prediction over the training items, differences from the average item have mean 0 over them, and
/// every ledger adds up with either reference.
#[test]
fn terms_are_differences_from_the_average_item() {
    let folder = tempfile::tempdir().unwrap();
    let molecules = planted(folder.path());
    let people = people(&folder.path().join("people"));
    for (data, spec) in [
        (&molecules, Spec::default().rho(RhoChoice::PerFeature)),
        (&molecules, Spec::default().rho(RhoChoice::Shared)),
        (&molecules, Spec::default().pool(PoolChoice::Both)),
        (&molecules, Spec::default().normalise(false)),
        (&people, Spec::default().rho(RhoChoice::Shared)),
        (&people, Spec::default().rho(RhoChoice::PerFeature)),
    ] {
        let spec = spec.epochs(30).hidden(16);
        let fitted = spec.fit_watched(data, None, &mut |_| ControlFlow::Continue(())).unwrap();
        let (model, train) = (&fitted.model, &fitted.train);
        let explainer = Explainer::new(model, train).unwrap();
        let all = explainer.explain(&(0..train.len()).collect::<Vec<_>>()).unwrap();
        let mean = |amount: &dyn Fn(&Explanation) -> f64| all.iter().map(amount).sum::<f64>() / all.len() as f64;
        let size = 1.0 + mean(&|why| why.prediction[0].abs()) + mean(&|why| why.structure(0).abs());
        let close = |a: f64, b: f64| (a - b).abs() < 1e-4 * size;
        let predicted = mean(&|why| why.prediction[0]);
        assert!(close(all[0].reference_base(0), predicted), "{} {predicted}", all[0].reference_base(0));
        assert!(close(mean(&|why| why.structure_difference(0)), 0.0), "{spec:?}");
        for k in 0..all[0].features.len() {
            let difference = mean(&|why| why.feature_differences(0)[k]);
            assert!(close(difference, 0.0), "{}: {difference}", all[0].features[k]);
            if all[0].own_and_others(0).is_some() {
                let others = mean(&|why| why.own_and_others(0).unwrap().others[k]);
                assert!(close(others, 0.0), "others' {}: {others}", all[0].features[k]);
            }
        }
        if all[0].own_and_others(0).is_some() {
            let own = mean(&|why| why.own_and_others(0).unwrap().own.iter().flatten().sum());
            let average = all[0].own_and_others(0).unwrap().average_item.unwrap();
            assert!(close(own + average, 0.0), "{own} {average}");
            for why in &all {
                let parts = why.own_and_others(0).unwrap();
                let sum = parts.own.iter().flatten().chain(&parts.others).sum::<f64>() + average;
                let total = why.reference_base(0) + why.structure_difference(0) + sum;
                assert!(close(total, why.prediction[0]), "{total} {}", why.prediction[0]);
            }
        }
        for why in all.into_iter().take(20) {
            for reference in [Reference::Average, Reference::Zero] {
                let why = why.clone().relative_to(reference);
                for by in By::ALL.into_iter().filter(|by| why.has(*by)) {
                    let ledger = why.ledger(0, by);
                    assert!(close(ledger.total, ledger.prediction), "{reference:?} {by:?}: {ledger:?}");
                }
            }
        }
    }
}

/// 200 people in a ring with shortcuts; whether they are old depends on their own age and on that of the next ones.
fn people(folder: &std::path::Path) -> Dataset {
    std::fs::create_dir(folder).unwrap();
    let (mut nodes, mut edges) = ("node_id,age,town,old\n".to_owned(), "source,target\n".to_owned());
    for person in 0..200usize {
        let age = (person * 37) % 90;
        let old = if age + (person % 3) * 10 > 50 { "yes" } else { "no" };
        nodes.push_str(&format!("p{person},{age},{},{old}\n", ["north", "south", "east"][person % 3]));
        edges.push_str(&format!("p{person},p{}\np{person},p{}\n", (person + 1) % 200, (person * 7 + 3) % 200));
    }
    std::fs::write(folder.join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.join("edges.csv"), edges).unwrap();
    std::fs::write(folder.join("people.toml"), "target = \"old\"\n").unwrap();
    Dataset::open(folder.to_str().unwrap()).unwrap()
}
