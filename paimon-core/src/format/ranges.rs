//! Reads byte ranges of one file: neighbours in one request, several requests at a time.

use std::ops::Range;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::format::InputFile;

/// Ranges closer than this are read in one request: a request costs more than these bytes.
const GAP: u64 = 64 << 10;
/// A request is not made larger than this by joining, so that several run at once.
const REQUEST: u64 = 16 << 20;

/// The bytes of `ranges`, in their order.
pub(in crate::format) async fn fetch(file: &InputFile, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    if let Some(range) = ranges.iter().find(|r| r.start > r.end || r.end > file.size) {
        let size = file.size;
        return Err(Error::corrupt(format!("the file names bytes {range:?}, but the file has {size} bytes")));
    }
    let requests = join(ranges);
    let answers = file.io.read_ranges(&file.path, &requests).await?;
    ranges.iter().map(|range| cut(range, &requests, &answers)).collect()
}

/// The bytes of one range.
pub(in crate::format) async fn fetch_one(file: &InputFile, range: Range<u64>) -> Result<Bytes> {
    Ok(fetch(file, &[range]).await?.pop().unwrap_or_default())
}

fn join(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|r| !r.is_empty()).cloned().collect();
    sorted.sort_by_key(|r| (r.start, r.end));
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.end <= last.end => {}
            Some(last)
                if range.start <= last.end + GAP && (range.start < last.end || range.end - last.start <= REQUEST) =>
            {
                last.end = range.end;
            }
            _ => joined.push(range),
        }
    }
    joined
}

fn cut(range: &Range<u64>, requests: &[Range<u64>], answers: &[Bytes]) -> Result<Bytes> {
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    let found = requests.iter().position(|r| r.start <= range.start && range.end <= r.end);
    let part = found.and_then(|i| {
        let (request, answer) = (requests.get(i)?, answers.get(i)?);
        let start = usize::try_from(range.start - request.start).ok()?;
        let end = usize::try_from(range.end - request.start).ok()?;
        (end <= answer.len()).then(|| answer.slice(start..end))
    });
    part.ok_or_else(|| Error::corrupt(format!("the file ended within bytes {range:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_up_to_a_limit() {
        const FAR: u64 = GAP + 100;
        type Pairs = &'static [(u64, u64)];
        let cases: [(Pairs, Pairs); 5] = [
            (&[(0, 10), (10, 20)], &[(0, 20)]),
            (&[(10, 20), (0, 5)], &[(0, 20)]),
            (&[(0, 10), (10 + FAR, 20 + FAR)], &[(0, 10), (10 + FAR, 20 + FAR)]),
            (&[(0, REQUEST), (REQUEST, REQUEST + 5)], &[(0, REQUEST), (REQUEST, REQUEST + 5)]),
            (&[(0, 10), (3, 3), (2, 5), (8, 12)], &[(0, 12)]),
        ];
        let ranges = |pairs: Pairs| pairs.iter().map(|(start, end)| *start..*end).collect::<Vec<_>>();
        for (input, expected) in cases {
            assert_eq!(join(&ranges(input)), ranges(expected), "{input:?}");
        }
    }

    #[test]
    fn parts_are_cut_from_their_request() {
        let requests = [0..4, 10..14];
        let answers = [Bytes::from_static(b"abcd"), Bytes::from_static(b"klmn")];
        assert_eq!(cut(&(11..13), &requests, &answers).unwrap(), "lm");
        assert_eq!(cut(&(5..5), &requests, &answers).unwrap(), "");
        assert!(cut(&(3..5), &requests, &answers).is_err());
    }
}
