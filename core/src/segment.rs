//! Writes terms and postings in the layout of Whoosh's W3 codec, as `ultracrawl.index.whoosh.writer.term_file` does.

use crate::pickle;
use crate::pool::{Field, Kind};
use crate::vocabulary::Names;

/// Postings in a block.
const BLOCK: usize = 128;
/// Terms with up to this number of postings have them in the term file.
const INLINE_LIMIT: usize = 32;
const MAGIC: &[u8] = b"W3Bl";
/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// A file that is written from its beginning to its end.
pub struct Output<W> {
    write: W,
    buffer: Vec<u8>,
    /// Where the next byte comes.
    position: u64,
}

impl<W, E> Output<W>
where
    W: FnMut(&[u8]) -> Result<(), E>,
{
    /// A file of which `position` bytes are written.
    pub fn new(position: u64, write: W) -> Self {
        Self { write, buffer: Vec::with_capacity(BUFFER), position }
    }

    fn append(&mut self, piece: &[u8]) -> Result<(), E> {
        self.position += piece.len() as u64;
        self.buffer.extend_from_slice(piece);
        if self.buffer.len() < BUFFER { Ok(()) } else { self.flush() }
    }

    /// Write what is gathered.
    pub fn flush(&mut self) -> Result<(), E> {
        (self.write)(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Postings of a term, in columns.
#[derive(Default)]
struct Columns {
    documents: Vec<u32>,
    counts: Vec<u32>,
    lengths: Vec<u8>,
    /// The encoded values one after another, and where each ends.
    values: Vec<u8>,
    ends: Vec<usize>,
}

/// The files of a segment's terms and postings.
pub struct Segment<T, P> {
    terms: Output<T>,
    postings: Output<P>,
    columns: Columns,
    entry: Vec<u8>,
    /// Checksum of the key and position of each entry.
    entries: Vec<(u32, u64)>,
}

/// What the end of the term file needs.
pub struct Finished {
    /// Position and slots of each of the 256 hash tables.
    pub directory: Vec<(u64, u32)>,
    /// The position of each entry.
    pub positions: Vec<u64>,
}

impl<T, P, E> Segment<T, P>
where
    T: FnMut(&[u8]) -> Result<(), E>,
    P: FnMut(&[u8]) -> Result<(), E>,
{
    /// A segment without terms.
    pub fn new(terms: Output<T>, postings: Output<P>) -> Self {
        Self { terms, postings, columns: Columns::default(), entry: Vec::new(), entries: Vec::new() }
    }

    /// Write all terms of a field, and empty it; fields come in the order of their numbers.
    ///
    /// `lengths` are the length bytes of the documents; empty if the field has none.
    pub fn add_field(&mut self, number: u16, field: &mut Field, names: &Names, lengths: &[u8]) -> Result<(), E> {
        let mut sorted: Vec<u32> = field.terms().collect();
        sorted.sort_unstable_by(|&one, &other| names.get(one).cmp(names.get(other)));
        let kind = field.kind();
        for term in sorted {
            self.columns.fill(field, term, lengths)?;
            let key_start = self.begin_entry(number, names.get(term));
            self.end_entry(kind, key_start)?;
        }
        Ok(())
    }

    /// Begin an entry of the term file with its sizes and its key; return the offset of the key.
    fn begin_entry(&mut self, number: u16, term: &[u8]) -> usize {
        let entry = &mut self.entry;
        entry.clear();
        entry.extend((term.len() as u32 + 2).to_be_bytes());
        entry.extend([0; 4]);
        let start = entry.len();
        entry.extend(number.to_be_bytes());
        entry.extend(term);
        start
    }

    /// Complete the entry with the term info and its postings, or where they are.
    fn end_entry(&mut self, kind: Kind, key_start: usize) -> Result<(), E> {
        let value_start = self.entry.len();
        self.entries.push((crc32fast::hash(&self.entry[key_start..]), self.terms.position));
        self.columns.write_info(&mut self.entry);
        if self.columns.documents.len() <= INLINE_LIMIT {
            self.columns.write_inline(&mut self.entry);
        } else {
            let offset = self.postings.position;
            self.columns.write_blocks(kind, &mut self.postings)?;
            let length = (self.postings.position - offset) as u32;
            self.entry.extend(offset.to_be_bytes());
            self.entry.extend(length.to_be_bytes());
        }
        let size = (self.entry.len() - value_start) as u32;
        self.entry[4..8].copy_from_slice(&size.to_be_bytes());
        self.terms.append(&self.entry)
    }

    /// Write the hash tables of the term file.
    pub fn finish(mut self) -> Result<Finished, E> {
        let mut buckets = vec![Vec::new(); 256];
        for &(checksum, position) in &self.entries {
            buckets[(checksum & 255) as usize].push((checksum, position));
        }
        let mut directory = Vec::with_capacity(buckets.len());
        for bucket in buckets {
            directory.push((self.terms.position, 2 * bucket.len() as u32));
            for (checksum, position) in hash_table(&bucket) {
                self.terms.append(&checksum.to_be_bytes())?;
                self.terms.append(&position.to_be_bytes())?;
            }
        }
        self.terms.flush()?;
        self.postings.flush()?;
        Ok(Finished { directory, positions: self.entries.iter().map(|&(_, position)| position).collect() })
    }
}

/// An open-addressing hash table, half full; 0, 0 is a free slot.
fn hash_table(entries: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let mut table = vec![(0, 0); 2 * entries.len()];
    for &entry in entries {
        let mut slot = (entry.0 >> 8) as usize % table.len();
        while table[slot].1 != 0 {
            slot = (slot + 1) % table.len();
        }
        table[slot] = entry;
    }
    table
}

impl Columns {
    /// Take the postings of a term.
    fn fill<E>(&mut self, field: &mut Field, term: u32, lengths: &[u8]) -> Result<(), E> {
        self.documents.clear();
        self.counts.clear();
        self.lengths.clear();
        self.values.clear();
        self.ends.clear();
        let kind = field.kind();
        field.take(term, |posting| {
            self.documents.push(posting.document);
            self.counts.push(posting.count);
            if !lengths.is_empty() {
                self.lengths.push(lengths.get(posting.document as usize).copied().unwrap_or(0));
            }
            if kind != Kind::Values {
                self.values.extend(posting.count.to_be_bytes());
            }
            if kind == Kind::Positions {
                pickle::integers(&mut self.values, posting.positions);
            }
            self.ends.push(self.values.len());
            Ok(())
        })
    }

    fn value(&self, at: usize) -> &[u8] {
        &self.values[if at == 0 { 0 } else { self.ends[at - 1] }..self.ends[at]]
    }

    /// Write the statistics of the term.
    fn write_info(&self, out: &mut Vec<u8>) {
        let count = self.documents.len();
        let weight: f64 = self.counts.iter().copied().map(f64::from).sum();
        let heaviest = f64::from(self.counts.iter().copied().max().unwrap_or(0));
        out.push(u8::from(count <= INLINE_LIMIT));
        out.extend((weight as f32).to_be_bytes());
        out.extend((count as u32).to_be_bytes());
        out.extend(extent(&self.lengths));
        out.extend((heaviest as f32).to_be_bytes());
        out.extend(self.documents[0].to_be_bytes());
        out.extend(self.documents[count - 1].to_be_bytes());
    }

    fn write_inline(&self, out: &mut Vec<u8>) {
        out.extend(pickle::PROTOCOL_3);
        pickle::tuple(out, self.documents.iter().copied(), pickle::integer);
        pickle::tuple(out, self.counts.iter().copied().map(f64::from), pickle::float);
        pickle::tuple(out, 0..self.documents.len(), |out, at| pickle::bytes(out, self.value(at)));
        out.extend(b"\x87.");
    }

    fn write_blocks<P, E>(&self, kind: Kind, postings: &mut Output<P>) -> Result<(), E>
    where
        P: FnMut(&[u8]) -> Result<(), E>,
    {
        postings.append(MAGIC)?;
        let count = self.documents.len();
        let mut block = Vec::new();
        for start in (0..count).step_by(BLOCK) {
            let end = count.min(start + BLOCK);
            block.clear();
            self.write_block(kind, start, end, &mut block);
            let size = block.len() as i32;
            postings.append(&(if end < count { size } else { -size }).to_be_bytes())?;
            postings.append(&block)?;
        }
        Ok(())
    }

    /// Write one block: the header by which a reader may skip it, and the postings.
    fn write_block(&self, kind: Kind, start: usize, end: usize, out: &mut Vec<u8>) {
        let (documents, counts) = (&self.documents[start..end], &self.counts[start..end]);
        let heaviest = counts.iter().copied().max().unwrap_or(0);
        let lightest = counts.iter().copied().min().unwrap_or(0);
        let [shortest, longest] = extent(self.lengths.get(start..end).unwrap_or(&[]));
        out.extend(pickle::PROTOCOL_2);
        out.push(b'(');
        pickle::integer(out, documents.len() as u32);
        pickle::integer(out, documents[documents.len() - 1]);
        pickle::float(out, f64::from(heaviest));
        for number in [0, shortest, longest] {
            pickle::integer(out, u32::from(number));
        }
        out.extend(b"t.");
        out.extend(pickle::PROTOCOL_3);
        let before = std::iter::once(&0).chain(documents);
        let differences: Vec<u32> = documents.iter().zip(before).map(|(one, before)| one - before).collect();
        pickle::tuple(out, differences.into_iter(), pickle::integer);
        match (lightest, heaviest) {
            (1, 1) => out.push(b'N'),
            _ if lightest == heaviest => pickle::float(out, f64::from(heaviest)),
            _ => pickle::tuple(out, counts.iter(), |out, &count| pickle::float(out, f64::from(count as f32))),
        }
        match kind {
            Kind::Positions => pickle::tuple(out, start..end, |out, at| pickle::bytes(out, self.value(at))),
            Kind::Counts => pickle::bytes(out, &self.values[4 * start..4 * end]),
            Kind::Values => out.push(b'N'),
        }
        out.extend(b"\x87.");
    }
}

/// The shortest and the longest length; 0 without lengths.
fn extent(lengths: &[u8]) -> [u8; 2] {
    let least = lengths.iter().copied().min().unwrap_or(0);
    [least, lengths.iter().copied().max().unwrap_or(0)]
}
