//! Families of targets at a shell: counts, positive quantities, and values of which only a bound is known.

use crate::desk::Desk;

/// Eighty chains of coloured nodes; every red one multiplies the count of its chain, every blue one divides it.
fn desk() -> Desk {
    let desk = Desk::new();
    let (mut nodes, mut edges) = ("graph_id,node_id,colour\n".to_owned(), "graph_id,source,target\n".to_owned());
    let mut graphs = "graph_id,visits,level,kind\n".to_owned();
    for graph in 0..80usize {
        let size = 3 + graph % 4;
        let colour = |node: usize| (graph * 5 + node * node + graph / 7) % 3;
        for node in 0..size {
            nodes += &format!("g{graph},n{node},{}\n", ["red", "blue", "grey"][colour(node)]);
            if node > 0 {
                edges += &format!("g{graph},n{},n{node}\n", node - 1);
            }
        }
        let sum: f64 = (0..size).map(|node| [0.5, -0.4, 0.1][colour(node)]).sum();
        let visits = ((1.5 + sum).exp() + (graph % 3) as f64).round();
        let level = sum + (graph % 5) as f64 / 10.0;
        let level = if level < 0.3 { "<0.3".to_owned() } else { level.to_string() };
        graphs += &format!("g{graph},{visits},{level},{}\n", ["a", "b"][graph % 2]);
    }
    desk.write("shops/nodes.csv", &nodes);
    desk.write("shops/edges.csv", &edges);
    desk.write("shops/graphs.csv", &graphs);
    desk
}

#[test]
fn counts_are_predicted_as_positive_numbers() {
    let desk = desk();
    let visits = "train shops --target visits --task regression --choose false";
    desk.works(&format!("{visits} --family poisson")).shows("Poisson counts, log link").shows("mean deviance");
    let predicted = desk.works("predict model.gnan shops").stdout;
    let mut rows = predicted.lines();
    assert_eq!(rows.next(), Some("id,visits,sd,lower,upper"));
    let mut sum = 0.0;
    for row in rows {
        let cells: Vec<f64> = row.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
        let [value, sd, lower, upper] = cells[..] else { panic!("{row}") };
        assert!(0.0 < lower && lower < value && value < upper && sd > 0.0, "{row}");
        // The interval is that of the logarithm.
        assert!(((upper / value).ln() - 1.96 * sd).abs() < 1e-3, "{row}");
        sum += value;
    }
    assert!(sum > 100.0);
    let session = desk.works("explain model.gnan shops --id g3");
    session.shows("log of visits").shows("= exp(").shows("prediction = exp(sum)").shows("exp of it is");
    let document = desk.json("explain model.gnan shops --id g3");
    let text = document.to_string();
    assert!(text.contains("\"link\":\"log\"") && text.contains("prediction = exp(sum)"), "{text}");
    desk.works("explain model.gnan shops --id g3 --verify");
    desk.works("inspect model.gnan").shows("Poisson counts");
    desk.works("report model.gnan shops");
    desk.works("evaluate shops --model model.gnan").shows("mean deviance");
    for family in ["negative-binomial", "gamma"] {
        desk.works(&format!("{visits} --family {family} -o {family}.gnan")).shows("dispersion");
    }
}

#[test]
fn bounds_count_in_a_penalised_fit() {
    let desk = desk();
    desk.works("train shops --target level --choose false").shows("only a bound of the target is known");
    let record = desk.json("inspect model.gnan");
    assert!(record["definition"]["record"]["bounded_items"].as_u64().unwrap() > 10);
    desk.works("evaluate shops --model model.gnan");
    let session = desk.works("train shops --target level --fit gradient --epochs 2 --hidden 16 --force");
    assert!(!session.stdout.contains("only a bound"), "{}", session.stdout);
}

#[test]
fn a_family_that_does_not_fit_is_refused_with_a_way_out() {
    let desk = desk();
    let of = |rest: &str| desk.gnan(&format!("train shops {rest}"));
    of("--target kind --family poisson").expect(2).says("has classes").says("--family");
    of("--target visits --family poisson").expect(2).says("--task regression");
    of("--target visits --task regression --family poisson --fit gradient")
        .expect(2)
        .says("gradient descent has no families of targets")
        .says("--fit penalised");
    of("--target level --family poisson").expect(3).says("whole numbers from 0 on").says("--family gamma");
    of("--target visits --task regression --family beta").expect(2).says("negative-binomial");
    of("--target visits --task regression --family gamma --readout").expect(2).says("readout").says("--family");
}
