//! Parts of a drawing that are not joined, side by side: the largest first, in rows about as wide as the whole is high.

use super::{Point, bounds};

/// Room between two parts.
const GAP: f64 = 1.3;

/// How much wider than high the whole should be.
const ASPECT: f64 = 1.7;

/// Moves the parts, each drawn around a place of its own, so that none covers another.
pub fn side_by_side(parts: &mut [Vec<Point>]) {
    let sizes: Vec<[f64; 2]> = parts
        .iter()
        .map(|places| {
            let [low, high] = bounds(places);
            [high[0] - low[0], high[1] - low[1]]
        })
        .collect();
    let area: f64 = sizes.iter().map(|[width, height]| (width + GAP) * (height + GAP)).sum();
    let widest = sizes.iter().map(|size| size[0]).fold(0.0, f64::max);
    let limit = widest.max((area * ASPECT).sqrt());
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&one, &other| sizes[other][1].total_cmp(&sizes[one][1]).then(one.cmp(&other)));
    let mut top = 0.0;
    let mut waiting = order.as_slice();
    while let [first, ..] = waiting {
        let mut width = 0.0;
        let mut count = 0;
        for &part in waiting {
            if count > 0 && width + sizes[part][0] > limit {
                break;
            }
            width += sizes[part][0] + GAP;
            count += 1;
        }
        let height = sizes[*first][1];
        let mut left = 0.0;
        for &part in &waiting[..count] {
            let [low, _] = bounds(&parts[part]);
            let shift = [left - low[0], top + (height - sizes[part][1]) / 2.0 - low[1]];
            parts[part].iter_mut().for_each(|place| *place = [place[0] + shift[0], place[1] + shift[1]]);
            left += sizes[part][0] + GAP;
        }
        top += height + GAP;
        waiting = &waiting[count..];
    }
}
