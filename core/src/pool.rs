//! Collects the postings of a new segment, a few bytes for each.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

/// What is kept of a term in a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The positions of a word.
    Positions,
    /// How often a word occurs.
    Counts,
    /// That a value occurs.
    Values,
}

/// The postings of one term, as variable-length numbers: document (the difference to the last one), then its positions
/// (differences, each plus 1) and 0, or its count, or nothing. What the last document adds to may be unfinished.
struct List {
    document: u32,
    /// The last position, or the count so far.
    last: u32,
    bytes: Vec<u8>,
}

/// The postings of one field.
pub struct Field {
    kind: Kind,
    lists: HashMap<u32, List, FxBuildHasher>,
}

/// One posting of a term.
pub struct Posting<'a> {
    pub document: u32,
    pub count: u32,
    /// The first position and the differences to the next ones; empty in fields without positions.
    pub positions: &'a [u32],
}

impl Field {
    /// A field without postings.
    pub fn new(kind: Kind) -> Self {
        Self { kind, lists: HashMap::default() }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it has no terms.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The numbers of the terms, in any order.
    pub fn terms(&self) -> impl Iterator<Item = u32> + '_ {
        self.lists.keys().copied()
    }

    /// Add a term of a document, whose number never falls; nor does the position in a document.
    pub fn add(&mut self, term: u32, document: u32, position: u32) {
        let list = self.lists.entry(term).or_insert(List { document: u32::MAX, last: 0, bytes: Vec::new() });
        if list.document != document {
            let first = list.document == u32::MAX;
            if !first {
                finish(list, self.kind);
            }
            append(&mut list.bytes, if first { document } else { document - list.document });
            (list.document, list.last) = (document, 0);
        }
        match self.kind {
            Kind::Positions => {
                append(&mut list.bytes, position - list.last + 1);
                list.last = position;
            }
            Kind::Counts => list.last += 1,
            Kind::Values => {}
        }
    }

    /// Take out the postings of a term and call `posting` with each.
    pub fn take<E>(
        &mut self,
        term: u32,
        mut posting: impl FnMut(Posting<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(mut list) = self.lists.remove(&term) else { return Ok(()) };
        finish(&mut list, self.kind);
        let mut numbers = Numbers(&list.bytes);
        let (mut document, mut positions) = (0, Vec::new());
        while let Some(difference) = numbers.next() {
            document += difference;
            let count = match self.kind {
                Kind::Positions => {
                    positions.clear();
                    positions.extend(numbers.by_ref().take_while(|&number| number > 0).map(|number| number - 1));
                    positions.len() as u32
                }
                Kind::Counts => numbers.next().unwrap_or(0),
                Kind::Values => 1,
            };
            posting(Posting { document, count, positions: &positions })?;
        }
        Ok(())
    }
}

/// Write the end of the last document of a list.
fn finish(list: &mut List, kind: Kind) {
    match kind {
        Kind::Positions => list.bytes.push(0),
        Kind::Counts => append(&mut list.bytes, list.last),
        Kind::Values => {}
    }
}

/// Append a number, seven bits in a byte, the lowest first.
fn append(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads numbers that `append` wrote.
struct Numbers<'a>(&'a [u8]);

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(field: &mut Field, term: u32) -> Vec<(u32, u32, Vec<u32>)> {
        let mut found = Vec::new();
        field
            .take(term, |posting| {
                found.push((posting.document, posting.count, posting.positions.to_vec()));
                Ok::<(), ()>(())
            })
            .unwrap();
        found
    }

    #[test]
    fn positions_come_back() {
        let mut field = Field::new(Kind::Positions);
        for (document, position) in [(0, 0), (0, 1), (0, 300), (7, 70_000), (500, 2)] {
            field.add(4, document, position);
        }
        assert_eq!(taken(&mut field, 4), [(0, 3, vec![0, 1, 299]), (7, 1, vec![70_000]), (500, 1, vec![2])]);
        assert_eq!(taken(&mut field, 4), []);
    }

    #[test]
    fn counts_and_values_come_back() {
        let mut counts = Field::new(Kind::Counts);
        let mut values = Field::new(Kind::Values);
        for document in [3, 3, 9] {
            counts.add(1, document, 0);
            values.add(1, document, 0);
        }
        assert_eq!(taken(&mut counts, 1), [(3, 2, vec![]), (9, 1, vec![])]);
        assert_eq!(taken(&mut values, 1), [(3, 1, vec![]), (9, 1, vec![])]);
    }
}
