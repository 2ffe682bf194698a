//! The marks of the words of a text, by which versions of a document are compared.
//!
//! The rules are those of `ultracrawl.rules.duplicates.marks`.

use xxhash_rust::xxh3::xxh3_64;

/// So many letters from `a` to `f` are hexadecimal.
const SHORTEST_HEXADECIMAL: usize = 8;
/// So many characters are an identifier.
const SHORTEST_IDENTIFIER: usize = 25;

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const NO_HEXADECIMAL: u8 = 4;
const OTHER: u8 = 8;

/// What a byte of a text is; 0 for what no word consists of.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut code = 0;
    while code < 256 {
        let byte = code as u8;
        kinds[code] = match byte.to_ascii_lowercase() {
            b'0'..=b'9' => LETTER | DIGIT,
            b'a'..=b'f' => LETTER,
            b'g'..=b'z' | b'_' => LETTER | NO_HEXADECIMAL,
            128.. => OTHER,
            _ => 0,
        };
        code += 1;
    }
    kinds
};

/// Add the marks of the ASCII words of a text in UTF-8 to `marks`, and return what else may have words, between blanks.
pub fn marks(text: &[u8], marks: &mut Vec<u32>) -> Vec<u8> {
    let mut others = Vec::new();
    let lowered = text.to_ascii_lowercase();
    let mut at = 0;
    while at < lowered.len() {
        let (start, mut kinds) = (at, 0);
        while at < lowered.len() && KINDS[lowered[at] as usize] != 0 {
            kinds |= KINDS[lowered[at] as usize];
            at += 1;
        }
        let word = &lowered[start..at];
        if kinds & OTHER != 0 {
            others.extend_from_slice(word);
            others.push(b' ');
        } else if !word.is_empty() {
            marks.push(mark(word, kinds));
        }
        at += 1;
    }
    others
}

/// The mark of a word; the lowest bit is set for those that may differ between equal texts.
fn mark(word: &[u8], kinds: u8) -> u32 {
    let is_hexadecimal = kinds & NO_HEXADECIMAL == 0 && word.len() >= SHORTEST_HEXADECIMAL;
    let is_volatile = kinds & DIGIT != 0 || is_hexadecimal || word.len() >= SHORTEST_IDENTIFIER;
    xxh3_64(word) as u32 & !1 | u32::from(is_volatile)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<u32>, String) {
        let mut found = Vec::new();
        let others = marks(text.as_bytes(), &mut found);
        (found, String::from_utf8(others).unwrap())
    }

    #[test]
    fn words_have_one_mark_in_any_case() {
        let (one, others) = found("A heron_1, (HERON_1) a");
        assert_eq!((one.len(), others.as_str()), (4, ""));
        assert_eq!((one[0], one[1]), (one[3], one[2]));
        assert_eq!(found(" ,.").0, []);
    }

    #[test]
    fn identifiers_are_marked_as_such() {
        let (volatile, _) = found("x1 deadbeef abcdefghijklmnopqrstuvwxy 2");
        assert!(volatile.iter().all(|mark| mark & 1 == 1));
        let (plain, _) = found("deadbee deadbeeg abcdefghijklmnopqrstuvwx dead_beef");
        assert!(plain.iter().all(|mark| mark & 1 == 0));
    }

    #[test]
    fn other_words_are_returned() {
        assert_eq!(found("a Café\u{a0}b x").1, "café\u{a0}b ");
        assert_eq!(found("a Café\u{a0}b x").0, found("a x").0);
    }
}
