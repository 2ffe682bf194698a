//! Cuts texts into words and gives each distinct word a number.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// What the core does not know itself; asked once for each page of characters and each new word.
pub trait Oracle {
    /// What is raised when an answer fails.
    type Error;
    /// The 256 characters from `first` on.
    fn page(&mut self, first: u32) -> Result<Page, Self::Error>;
    /// A word in lower case.
    fn lower(&mut self, word: &str) -> Result<String, Self::Error>;
    /// A word in lower case without accents.
    fn fold(&mut self, word: &str) -> Result<String, Self::Error>;
    /// The stem term of a word (lower case, with accents), if it has one.
    fn stem(&mut self, language: &str, word: &str) -> Result<Option<String>, Self::Error>;
}

/// A character that words consist of.
pub const LETTER: u8 = 1;
/// A character that continues a word but does not begin one.
pub const MARK: u8 = 2;
/// A letter of a script without blanks, which is indexed in pairs.
pub const PAIRED: u8 = 4;
/// A letter whose lower case depends on the word, or is more than one character.
pub const ODD: u8 = 8;

/// The kinds and lower-case forms of 256 characters.
pub struct Page {
    pub kinds: [u8; 256],
    pub lower: [char; 256],
}

/// Distinct words (or other bytes), numbered from 0.
#[derive(Default)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    numbers: HashTable<u32>,
    /// Random, because anybody may choose the words of a page.
    hasher: RandomState,
}

impl Names {
    /// The number of a name, new ones included.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        let Self { bytes, ends, numbers, hasher } = self;
        let hash = hasher.hash_one(name);
        if let Some(&number) = numbers.find(hash, |&number| part(bytes, ends, number) == name) {
            return number;
        }
        let number = ends.len() as u32;
        bytes.extend_from_slice(name);
        ends.push(u32::try_from(bytes.len()).expect("less than 4 GB of distinct words"));
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(part(bytes, ends, number)));
        number
    }

    /// The name with this number.
    pub fn get(&self, number: u32) -> &[u8] {
        part(&self.bytes, &self.ends, number)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn part<'a>(bytes: &'a [u8], ends: &[u32], number: u32) -> &'a [u8] {
    let at = number as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] as usize };
    &bytes[start..ends[at] as usize]
}

/// A number that stands for "not asked yet".
const UNKNOWN: u32 = u32::MAX;
/// A number that stands for "has none".
const NONE: u32 = u32::MAX - 1;

/// All words that were met, with their folded forms and stems.
#[derive(Default)]
pub struct Vocabulary {
    names: Names,
    /// The number of the folded form of each word.
    folded: Vec<u32>,
    /// Languages, each with the number of the stem term of each word.
    stems: Vec<(String, Vec<u32>)>,
    pages: HashMap<u32, Box<Page>, FxBuildHasher>,
}

/// The words of a text, folded, and their stem terms.
#[derive(Default)]
pub struct Analysed {
    pub words: Vec<u32>,
    pub stems: Vec<u32>,
}

impl Vocabulary {
    /// The words by their numbers.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The number of a term that is folded already.
    pub fn term(&mut self, term: &str) -> u32 {
        self.names.number(term.as_bytes())
    }

    /// Add the words of a text to `found`; stem terms too if a language is given.
    pub fn analyse<O: Oracle>(
        &mut self,
        text: &str,
        language: &str,
        oracle: &mut O,
        found: &mut Analysed,
    ) -> Result<(), O::Error> {
        let language = self.language(language);
        let lowered = text.to_ascii_lowercase();
        let bytes = lowered.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            while at < bytes.len() && IN_WORD[bytes[at] as usize] {
                at += 1;
            }
            if at < bytes.len() && !bytes[at].is_ascii() {
                at = self.any_word(text, &lowered, start, language, oracle, found)?;
            } else if at > start {
                self.word(&lowered[start..at], language, oracle, found)?;
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    /// Add the word that begins at an offset and has other than ASCII characters, if it is one; return where it ends.
    fn any_word<O: Oracle>(
        &mut self,
        text: &str,
        lowered: &str,
        start: usize,
        language: Option<usize>,
        oracle: &mut O,
        found: &mut Analysed,
    ) -> Result<usize, O::Error> {
        let (mut word, mut kinds, mut end) = (String::new(), 0, lowered.len());
        for (offset, character) in lowered[start..].char_indices() {
            let (kind, lower) = self.character(character, oracle)?;
            if kind & LETTER == 0 && (kind & MARK == 0 || word.is_empty()) {
                end = start + offset + if word.is_empty() { character.len_utf8() } else { 0 };
                break;
            }
            word.push(lower);
            kinds |= kind;
        }
        if kinds & ODD != 0 {
            word = oracle.lower(&text[start..end])?;
        }
        if kinds & PAIRED != 0 {
            self.pairs(&word, language, oracle, found)?;
        } else if !word.is_empty() {
            self.word(&word, language, oracle, found)?;
        }
        Ok(end)
    }

    /// Add the pairs of neighbours, and the last character, of each run of paired letters, and what is between the runs.
    fn pairs<O: Oracle>(
        &mut self,
        word: &str,
        language: Option<usize>,
        oracle: &mut O,
        found: &mut Analysed,
    ) -> Result<(), O::Error> {
        let characters: Vec<(usize, char)> = word.char_indices().collect();
        let end_of = |at: usize| characters.get(at).map_or(word.len(), |&(offset, _)| offset);
        let mut other = 0;
        for (at, &(offset, character)) in characters.iter().enumerate() {
            if self.character(character, oracle)?.0 & PAIRED == 0 {
                continue;
            }
            if other < offset {
                self.word(&word[other..offset], language, oracle, found)?;
            }
            let next = match characters.get(at + 1) {
                Some(&(_, next)) => self.character(next, oracle)?.0 & PAIRED != 0,
                None => false,
            };
            self.word(&word[offset..end_of(at + 1 + usize::from(next))], language, oracle, found)?;
            other = end_of(at + 1);
        }
        if other < word.len() {
            self.word(&word[other..], language, oracle, found)?;
        }
        Ok(())
    }

    /// Add a word in lower case with accents.
    fn word<O: Oracle>(
        &mut self,
        word: &str,
        language: Option<usize>,
        oracle: &mut O,
        found: &mut Analysed,
    ) -> Result<(), O::Error> {
        let number = self.names.number(word.as_bytes());
        let folded = self.folded(number, word, oracle)?;
        found.words.push(folded);
        let Some(language) = language else { return Ok(()) };
        let stem = match self.stems[language].1.get(number as usize) {
            Some(&stem) if stem != UNKNOWN => stem,
            _ => self.new_stem(number, word, language, oracle)?,
        };
        if stem != NONE {
            found.stems.push(stem);
        }
        Ok(())
    }

    /// The folded form of a word in lower case.
    pub(crate) fn folded<O: Oracle>(&mut self, number: u32, word: &str, oracle: &mut O) -> Result<u32, O::Error> {
        if word.is_ascii() {
            return Ok(number);
        }
        match self.folded.get(number as usize) {
            Some(&folded) if folded != UNKNOWN => Ok(folded),
            _ => {
                let folded = self.names.number(oracle.fold(word)?.as_bytes());
                set(&mut self.folded, number, folded);
                Ok(folded)
            }
        }
    }

    fn new_stem<O: Oracle>(
        &mut self,
        number: u32,
        word: &str,
        language: usize,
        oracle: &mut O,
    ) -> Result<u32, O::Error> {
        let (name, stems) = &mut self.stems[language];
        let stem = match oracle.stem(name, word)? {
            Some(stem) => self.names.number(stem.as_bytes()),
            None => NONE,
        };
        set(stems, number, stem);
        Ok(stem)
    }

    /// Where the stems of a language are; None for no language.
    fn language(&mut self, language: &str) -> Option<usize> {
        if language.is_empty() {
            return None;
        }
        let known = self.stems.iter().position(|(name, _)| name == language);
        Some(known.unwrap_or_else(|| {
            self.stems.push((language.to_string(), Vec::new()));
            self.stems.len() - 1
        }))
    }

    /// The kind of a character, and its lower case.
    fn character<O: Oracle>(&mut self, character: char, oracle: &mut O) -> Result<(u8, char), O::Error> {
        let (number, at) = (character as u32 >> 8, (character as u32 & 255) as usize);
        if let Some(page) = self.pages.get(&number) {
            return Ok((page.kinds[at], page.lower[at]));
        }
        let page = oracle.page(number << 8)?;
        let answer = (page.kinds[at], page.lower[at]);
        self.pages.insert(number, Box::new(page));
        Ok(answer)
    }
}

fn set(numbers: &mut Vec<u32>, at: u32, number: u32) {
    let at = at as usize;
    if numbers.len() <= at {
        numbers.resize(at + 1, UNKNOWN);
    }
    numbers[at] = number;
}

/// The ASCII characters that words in lower case consist of.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut code = 0;
    while code < 128 {
        let byte = code as u8;
        table[code] = byte.is_ascii_alphanumeric() || byte == b'_';
        code += 1;
    }
    table
};

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Knows Latin-1 and Han, folds `é`, and finds the stem `run` of `runs`.
    pub(crate) struct Small;

    impl Oracle for Small {
        type Error = ();

        fn page(&mut self, first: u32) -> Result<Page, ()> {
            let mut page = Page { kinds: [0; 256], lower: ['?'; 256] };
            for at in 0..256 {
                let Some(character) = char::from_u32(first + at as u32) else { continue };
                page.lower[at] = character.to_lowercase().next().unwrap_or(character);
                page.kinds[at] = match character {
                    '\u{4e00}'..='\u{9fff}' => LETTER | PAIRED,
                    '\u{300}'..='\u{36f}' => MARK,
                    'İ' => LETTER | ODD,
                    '_' => LETTER,
                    _ if character.is_alphanumeric() => LETTER,
                    _ => 0,
                };
            }
            Ok(page)
        }

        fn lower(&mut self, word: &str) -> Result<String, ()> {
            Ok(word.to_lowercase())
        }

        fn fold(&mut self, word: &str) -> Result<String, ()> {
            Ok(word.replace('é', "e"))
        }

        fn stem(&mut self, _: &str, word: &str) -> Result<Option<String>, ()> {
            Ok((word == "runs").then(|| "en:run".to_string()))
        }
    }

    pub(crate) fn texts(vocabulary: &Vocabulary, numbers: &[u32]) -> Vec<String> {
        numbers.iter().map(|&n| String::from_utf8(vocabulary.names().get(n).to_vec()).unwrap()).collect()
    }

    fn words(text: &str) -> Vec<String> {
        let (mut vocabulary, mut found) = (Vocabulary::default(), Analysed::default());
        vocabulary.analyse(text, "", &mut Small, &mut found).unwrap();
        texts(&vocabulary, &found.words)
    }

    #[test]
    fn words_are_lowered_and_folded() {
        assert_eq!(words("The x_1,Café — (CAFÉ) nbsp\u{a0}b"), ["the", "x_1", "cafe", "cafe", "nbsp", "b"]);
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words(" \u{301}a\u{301} İx"), ["a\u{301}", "i\u{307}x"]);
    }

    #[test]
    fn runs_without_blanks_become_pairs() {
        assert_eq!(words("a東京都b\u{301}x 京"), ["a", "東京", "京都", "都", "b\u{301}x", "京"]);
    }

    #[test]
    fn stems_are_those_that_differ() {
        let (mut vocabulary, mut found) = (Vocabulary::default(), Analysed::default());
        vocabulary.analyse("Runs run runs", "en", &mut Small, &mut found).unwrap();
        assert_eq!(texts(&vocabulary, &found.stems), ["en:run", "en:run"]);
    }
}
