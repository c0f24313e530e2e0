//! stub

pub fn left() -> Option<u64> {
    None
}
