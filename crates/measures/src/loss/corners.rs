//! Curves by their corners, as they are written down: `x y; x y; …`, exactly.

use exact::Exact;

pub(crate) fn written(corners: impl Iterator<Item = (Exact, Exact)>) -> String {
    let corner = |(x, y): (Exact, Exact)| format!("{} {}", x.text(), y.text());
    corners.map(corner).collect::<Vec<_>>().join("; ")
}

/// A curve without corners is an empty text.
pub(crate) fn read(text: &str) -> Option<Vec<(Exact, Exact)>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let corner = |corner: &str| {
        let (x, y) = corner.split_once(' ')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    text.split("; ").map(corner).collect()
}
