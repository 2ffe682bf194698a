//! The parts of identifiers (`tcp_syncookies`, `XMLHttpRequest`) and operators (`->>`, `c++`, `@property`) of a text.
//!
//! The rules are those of `ultracrawl.index.words.identifiers`, which searches use too.

use std::collections::HashSet;

use crate::vocabulary::{Oracle, Vocabulary};

/// Longer words, and those with more parts, are printed data.
const LONGEST: usize = 60;
const MOST_PARTS: usize = 10;
/// Longer runs of operators are rules and frames.
const LONGEST_OPERATOR: usize = 5;
/// The longest name before `++` and before `#`.
const LONGEST_PLUS: usize = 12;
const LONGEST_SHARP: usize = 2;
/// Stands for the question mark, because `?` stands for characters outside Latin-1.
const QUESTION: u8 = 1;
const OPERATOR: &[u8] = b"operator";

/// Add the terms of a text: each part once, operators as often as they occur.
pub fn identifiers<O: Oracle>(
    vocabulary: &mut Vocabulary,
    text: &str,
    oracle: &mut O,
    found: &mut Vec<u32>,
) -> Result<(), O::Error> {
    let data = latin(text);
    let mut parts = HashSet::new();
    for word in data.split(|&byte| !is_letter(byte)) {
        if word.len() <= LONGEST && may_have_parts(word) {
            for (start, end) in parts_of(word) {
                parts.insert(term(vocabulary, &[&word[start..end]], oracle)?);
            }
        }
    }
    found.extend(parts);
    operators(&data, |pieces| {
        let length = pieces.iter().map(|piece| piece.len()).sum::<usize>();
        if (1..=LONGEST).contains(&length) {
            found.push(term(vocabulary, pieces, oracle)?);
        }
        Ok(())
    })
}

/// The text in Latin-1.
fn latin(text: &str) -> Vec<u8> {
    text.chars()
        .map(|character| match character {
            '?' => QUESTION,
            _ => u8::try_from(character).unwrap_or(b'?'),
        })
        .collect()
}

/// The folded term of some Latin-1.
fn term<O: Oracle>(vocabulary: &mut Vocabulary, pieces: &[&[u8]], oracle: &mut O) -> Result<u32, O::Error> {
    let lower = |&byte: &u8| match byte {
        QUESTION => '?',
        0xc0..=0xd6 | 0xd8..=0xde => char::from(byte + 32),
        _ => char::from(byte.to_ascii_lowercase()),
    };
    let word: String = pieces.iter().flat_map(|piece| piece.iter()).map(lower).collect();
    let number = vocabulary.term(&word);
    vocabulary.folded(number, &word, oracle)
}

/// Whether a word has more than a capital and small letters; few do, and only these have parts.
fn may_have_parts(word: &[u8]) -> bool {
    word.iter().skip(1).any(|&byte| kind_of(byte) != b'a') || word.first() == Some(&b'_')
}

/// The spans of the parts of a word; none if it has only one.
fn parts_of(word: &[u8]) -> Vec<(usize, usize)> {
    let kind = |at: usize| word.get(at).map_or(b' ', |&byte| kind_of(byte));
    let (mut spans, mut start, mut at) = (Vec::new(), 0, 0);
    while at < word.len() {
        let mut end = at;
        while kind(end) == b'_' {
            end += 1;
        }
        if end > at || (at > 0 && is_boundary(kind, at)) {
            spans.push((start, at));
            start = end;
        }
        at = end.max(at + 1);
    }
    if start == 0 || spans.len() >= MOST_PARTS {
        return Vec::new();
    }
    spans.push((start, word.len()));
    spans.retain(|(start, end)| end - start > 1);
    spans
}

/// Whether a part ends before an offset: `hash|Map`, `XML|Http`, `utf8|mb4`.
fn is_boundary(kind: impl Fn(usize) -> u8, at: usize) -> bool {
    let letter = |at: usize| matches!(kind(at), b'a' | b'A');
    match (kind(at - 1), kind(at)) {
        (b'a', b'A') => true,
        (b'A', b'A') => kind(at + 1) == b'a' && kind(at + 2) == b'a',
        (b'0', b'a' | b'A') if kind(at + 1) == b'a' => {
            let digits = (1..=at).take_while(|&back| kind(at - back) == b'0').count();
            digits <= 3 && at >= digits + 2 && letter(at - digits - 1) && letter(at - digits - 2)
        }
        _ => false,
    }
}

/// The kind of a Latin-1 character in an identifier: `a`, `A`, `0`, `_`, or a blank.
fn kind_of(byte: u8) -> u8 {
    KINDS[byte as usize]
}

fn is_letter(byte: u8) -> bool {
    kind_of(byte) != b' '
}

fn is_operator(byte: u8) -> bool {
    IS_OPERATOR[byte as usize]
}

const KINDS: [u8; 256] = {
    let mut kinds = [b' '; 256];
    let mut code = 0;
    while code < 256 {
        kinds[code] = match code as u8 {
            b'_' => b'_',
            b'0'..=b'9' => b'0',
            b'A'..=b'Z' | 0xc0..=0xd6 | 0xd8..=0xde => b'A',
            b'a'..=b'z' | 0xaa | 0xb5 | 0xba | 0xdf..=0xf6 | 0xf8..=0xff => b'a',
            _ => b' ',
        };
        code += 1;
    }
    kinds
};

const IS_OPERATOR: [bool; 256] = {
    let (operators, mut table, mut at) = (b"!#$%&*+-/<=>\x01@\\^|~", [false; 256], 0);
    while at < operators.len() {
        table[operators[at] as usize] = true;
        at += 1;
    }
    table
};

/// Call `add` with the pieces of each operator.
fn operators<E>(data: &[u8], mut add: impl FnMut(&[&[u8]]) -> Result<(), E>) -> Result<(), E> {
    let mut colons_end = 0;
    for (at, &byte) in data.iter().enumerate() {
        if !is_operator(byte) && byte != b':' && byte != b'o' {
            continue;
        }
        let before_is_letter = at > 0 && is_letter(data[at - 1]);
        let rest = &data[at + 1..];
        match byte {
            b'@' | b'#' | b'$' | b'%' => {
                let name = &rest[..length_of(rest, is_letter)];
                if !before_is_letter && !name.is_empty() {
                    add(&[&[byte], name])?;
                }
                if byte == b'#' && name.is_empty() && rest.first() != Some(&b'#') {
                    add(&named(data, at, b"#", LONGEST_SHARP))?;
                }
            }
            b'o' if data[at..].starts_with(OPERATOR) => {
                let run = function(&data[at + OPERATOR.len()..]);
                if (1..=LONGEST_OPERATOR).contains(&run.len()) {
                    add(&[OPERATOR, run])?;
                }
            }
            _ => {}
        }
        if byte == b':' && at >= colons_end {
            let length = length_of(rest, |byte| byte == b':' || byte == b'=');
            colons_end = at + 1 + length;
            if length > 0 {
                add(&[&data[at..colons_end]])?;
            }
        }
        if is_operator(byte) && (at == 0 || !is_operator(data[at - 1])) {
            let run = &data[at..at + length_of(&data[at..], is_operator)];
            if (2..=LONGEST_OPERATOR).contains(&run.len()) {
                add(&[run])?;
                if run.starts_with(b"++") {
                    add(&named(data, at, b"++", LONGEST_PLUS))?;
                }
            }
        }
    }
    Ok(())
}

/// The name that ends at an offset and its suffix; nothing if there is no name, or a long one.
fn named<'a>(data: &'a [u8], at: usize, suffix: &'a [u8], longest: usize) -> [&'a [u8]; 2] {
    let length = data[..at].iter().rev().take(longest + 1).take_while(|&&byte| is_letter(byte)).count();
    if (1..=longest).contains(&length) { [&data[at - length..at], suffix] } else { [b"", b""] }
}

/// What is overloaded by `operator`: `()`, `[]` or a run of operators, perhaps after a blank.
fn function(rest: &[u8]) -> &[u8] {
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    if rest.starts_with(b"()") || rest.starts_with(b"[]") {
        return &rest[..2];
    }
    &rest[..length_of(rest, is_operator)]
}

fn length_of(data: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    data.iter().take_while(|&&byte| is_part(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::tests::{texts, Small};

    fn terms(text: &str) -> Vec<String> {
        let (mut vocabulary, mut found) = (Vocabulary::default(), Vec::new());
        identifiers(&mut vocabulary, text, &mut Small, &mut found).unwrap();
        let mut terms = texts(&vocabulary, &found);
        terms.sort();
        terms
    }

    #[test]
    fn parts_occur_once() {
        assert_eq!(terms("tcp_syncookies TCP_x XMLHttpRequest"), ["http", "request", "syncookies", "tcp", "xml"]);
        assert_eq!(terms("utf8mb4 __init__ plain 4Ever"), ["init", "mb4", "utf8"]);
    }

    #[test]
    fn operators_occur_as_often_as_in_the_text() {
        assert_eq!(terms("a->>b, c++ C# x ->> y"), ["++", "->>", "->>", "c#", "c++"]);
        assert_eq!(terms("@Property ?? std::x operator[] :="), ["::", ":=", "??", "@property", "operator[]"]);
    }
}
