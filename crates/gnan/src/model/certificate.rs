//! A certificate: what a model promises, with the numbers that show it.

use serde::{Deserialize, Serialize};

/// A promise about a model, checked on its exact curves.
///
/// ```
/// use gnan::{Certificate, Dataset, Spec};
/// let data = Dataset::open("solubility")?;
/// let mut spec = Spec::default().epochs(20);
/// spec.set("own-only", &["aromatic".to_owned()])?;
/// let model = spec.fit(&data)?;
/// let certificates: &[Certificate] = &model.record().certificates;
/// assert!(certificates.iter().all(|certificate| certificate.holds));
/// println!("{}", certificates[0].sentence());
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// What it is about: a feature, or "rho".
    pub subject: String,
    /// What is promised: "never falls".
    pub promise: String,
    /// The numbers that show that it holds, or that it does not.
    pub evidence: String,
    /// Whether it holds.
    pub holds: bool,
}

impl Certificate {
    /// The certificate as a sentence.
    pub fn sentence(&self) -> String {
        let verdict = if self.holds { "" } else { "FALSE: " };
        format!("{verdict}{} {}: {}", self.subject, self.promise, self.evidence)
    }

    /// Whether two certificates promise the same.
    pub fn promises_as(&self, other: &Certificate) -> bool {
        self.subject == other.subject && self.promise == other.promise
    }
}
