use gnan::evaluate::Division;
use gnan::{Dataset, Protocol};
fn main() -> gnan::Result<()> {
    let mut o = gnan::DatasetOptions::default();
    o.targets = vec!["y".to_owned()];
    let data = Dataset::open_with(std::env::args().nth(1).unwrap(), &o)?;
    let splits = Protocol::new(Division::Folds(5), 1).splits(&data, 0)?;
    for s in splits {
        let js = |d: &Dataset| format!("{:?}", d.items());
        println!("{{\"train\":{},\"valid\":{},\"test\":{}}}", js(&s.train), js(&s.valid), js(&s.test));
    }
    Ok(())
}
