//! The query of an address: names and values, decoded.

/// The value of this name, if it is there and not empty.
pub(crate) fn value(query: &str, name: &str) -> Option<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(known, _)| *known == name);
    let value = decoded(values.next()?.1);
    Some(value).filter(|value| !value.trim().is_empty())
}

/// The number of this name.
pub(crate) fn number(query: &str, name: &str) -> Option<u64> {
    value(query, name)?.parse().ok()
}

/// The same text in an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, behind @ ..]) => match hex(*high).zip(hex(*low)) {
                Some((high, low)) => {
                    bytes.push(high * 16 + low);
                    rest = behind;
                }
                None => bytes.push(b'%'),
            },
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_rubbish_stays() {
        for text in ["", "a b+c", "ä/%?&=", "100%"] {
            assert_eq!(decoded(&encoded(text)), text);
        }
        assert_eq!(decoded("%zz%4%41+"), "%zz%4A ");
        assert_eq!(value("a=1&q=x%20y&q=z", "q"), Some("x y".to_owned()));
        assert_eq!(value("q=", "q"), None);
        assert_eq!(number("at=12", "at"), Some(12));
        assert_eq!(number("at=-1", "at"), None);
    }
}
