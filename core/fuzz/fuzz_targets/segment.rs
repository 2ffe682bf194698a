//! Any texts of any documents become terms and a segment without a panic, and no posting is lost.
#![no_main]

use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use ultracrawl_core::identifiers::identifiers;
use ultracrawl_core::pool::{Field, Kind};
use ultracrawl_core::segment::{Output, Segment};
use ultracrawl_core::vocabulary::{Analysed, Oracle, Page, Vocabulary, LETTER, MARK, ODD, PAIRED};

/// Answers as Python does for well-known scripts, and as it never would where the text asks for it.
struct Any;

impl Oracle for Any {
    type Error = Infallible;

    fn page(&mut self, first: u32) -> Result<Page, Infallible> {
        let mut page = Page { kinds: [0; 256], lower: ['\u{fffd}'; 256] };
        for (at, code) in (first..first + 256).enumerate() {
            let Some(character) = char::from_u32(code) else { continue };
            let mut lower = character.to_lowercase();
            page.lower[at] = lower.next().unwrap_or(character);
            page.kinds[at] = match character {
                '\u{4e00}'..='\u{9fff}' => LETTER | PAIRED,
                '\u{300}'..='\u{36f}' => MARK,
                '\u{e000}'..='\u{f8ff}' => code as u8,
                _ if lower.next().is_some() || character == 'Σ' => LETTER | ODD,
                '_' => LETTER,
                _ if character.is_alphanumeric() => LETTER,
                _ => 0,
            };
        }
        Ok(page)
    }

    fn lower(&mut self, word: &str) -> Result<String, Infallible> {
        Ok(word.to_lowercase())
    }

    fn fold(&mut self, word: &str) -> Result<String, Infallible> {
        Ok(word.chars().filter(|&one| one != 'é').collect())
    }

    fn stem(&mut self, language: &str, word: &str) -> Result<Option<String>, Infallible> {
        Ok((word.len() % 3 > 0).then(|| format!("{language}:{}", word.trim_end_matches('s'))))
    }
}

fuzz_target!(|documents: Vec<(String, bool)>| {
    let mut vocabulary = Vocabulary::default();
    let (mut texts, mut read) = (Field::new(Kind::Positions), Field::new(Kind::Positions));
    let mut parts = Field::new(Kind::Counts);
    let mut values = Field::new(Kind::Values);
    let mut words = 0;
    for (number, (text, stemmed)) in (0..).zip(&documents) {
        let mut found = Analysed::default();
        let Ok(()) = vocabulary.analyse(text, if *stemmed { "en" } else { "" }, &mut Any, &mut found);
        let mut named = Vec::new();
        let Ok(()) = identifiers(&mut vocabulary, text, &mut Any, &mut named);
        words += found.words.len();
        for (position, &word) in (0..).zip(&found.words) {
            texts.add(word, number, position);
            read.add(word, number, position);
        }
        found.stems.iter().chain(&named).for_each(|&term| parts.add(term, number, 0));
        found.words.iter().for_each(|&word| values.add(word, number, 0));
    }
    let known: Vec<u32> = read.terms().collect();
    for term in known {
        let Ok(()) = read.take(term, |posting| {
            assert_eq!(posting.positions.len(), posting.count as usize);
            assert!((posting.document as usize) < documents.len());
            words -= posting.positions.len();
            Ok::<(), Infallible>(())
        });
    }
    assert_eq!(words, 0, "postings lost");
    let (mut terms, mut postings) = (Vec::new(), Vec::new());
    let lengths = vec![7; documents.len()];
    let distinct = texts.terms().count() + parts.terms().count() + values.terms().count();
    let mut segment = Segment::new(
        Output::new(16, |piece: &[u8]| Ok::<(), Infallible>(terms.extend_from_slice(piece))),
        Output::new(0, |piece: &[u8]| Ok(postings.extend_from_slice(piece))),
    );
    for (number, field) in (0..).zip([&mut texts, &mut parts, &mut values]) {
        let Ok(()) = segment.add_field(number, field, vocabulary.names(), &lengths);
    }
    let Ok(finished) = segment.finish();
    assert_eq!(finished.positions.len(), distinct);
    assert!(finished.positions.iter().all(|&position| (position - 16) < terms.len() as u64));
});
