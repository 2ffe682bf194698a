//! Writes the few pickles of which a segment consists, without memo, for Python's protocols 2 and 3.

pub const PROTOCOL_2: &[u8] = b"\x80\x02";
pub const PROTOCOL_3: &[u8] = b"\x80\x03";
/// The items that a pickled list is extended by at once.
const BATCH: usize = 1000;

pub fn integer(out: &mut Vec<u8>, number: u32) {
    if let Ok(byte) = u8::try_from(number) {
        out.extend([b'K', byte]);
    } else if let Ok(short) = u16::try_from(number) {
        out.push(b'M');
        out.extend(short.to_le_bytes());
    } else if number <= i32::MAX as u32 {
        out.push(b'J');
        out.extend(number.to_le_bytes());
    } else {
        out.extend(b"\x8a\x05");
        out.extend(&u64::from(number).to_le_bytes()[..5]);
    }
}

pub fn float(out: &mut Vec<u8>, number: f64) {
    out.push(b'G');
    out.extend(number.to_be_bytes());
}

/// Bytes, which protocol 2 does not have.
pub fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    match u8::try_from(value.len()) {
        Ok(length) => out.extend([b'C', length]),
        Err(_) => {
            out.push(b'B');
            out.extend((value.len() as u32).to_le_bytes());
        }
    }
    out.extend(value);
}

/// A tuple; `item` writes one.
pub fn tuple<T>(out: &mut Vec<u8>, items: impl ExactSizeIterator<Item = T>, item: impl Fn(&mut Vec<u8>, T)) {
    let end = match items.len() {
        0 => b')',
        1 => b'\x85',
        2 => b'\x86',
        3 => b'\x87',
        _ => {
            out.push(b'(');
            b't'
        }
    };
    items.for_each(|one| item(out, one));
    out.push(end);
}

/// A whole pickle of a list of integers, byte for byte as Python writes it.
pub fn integers(out: &mut Vec<u8>, numbers: &[u32]) {
    out.extend(PROTOCOL_2);
    out.extend(b"]q\0");
    if let [number] = numbers {
        integer(out, *number);
        out.push(b'a');
    } else {
        for batch in numbers.chunks(BATCH) {
            out.push(b'(');
            batch.iter().for_each(|&number| integer(out, number));
            out.push(b'e');
        }
    }
    out.push(b'.');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_up_to_three_need_no_mark() {
        let mut out = Vec::new();
        tuple(&mut out, [1, 256, 65536].into_iter(), integer);
        assert_eq!(out, b"K\x01M\0\x01J\0\0\x01\0\x87");
    }

    #[test]
    fn lists_are_those_of_python() {
        let mut out = Vec::new();
        integers(&mut out, &[5, 6]);
        assert_eq!(out, b"\x80\x02]q\0(K\x05K\x06e.");
    }
}
