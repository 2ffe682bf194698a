//! The compiled core of ultracrawl's index: from the words of a text to the term and postings files of a segment.
//!
//! `Vocabulary` cuts texts into words and numbers them, `identifiers` finds the parts of identifiers, `Pool` collects
//! the postings of a segment, `segment` writes them. Nothing here knows Unicode: what is a letter, how it is lowered
//! and folded, and what the stem of a word is, the `Oracle` says, once for each character and each new word. So a term
//! never depends on whether the core made it. `marks` hashes the words of a text for the change guard.

pub mod identifiers;
pub mod marks;
mod pickle;
pub mod pool;
pub mod segment;
pub mod vocabulary;

#[cfg(feature = "python")]
mod python;
