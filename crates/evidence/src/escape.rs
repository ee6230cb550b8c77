//! Paths as text, without loss.

/// A path as text, without loss: bytes that are not UTF-8, control characters and backslashes
/// become `\xNN`.
pub fn escape(path: &[u8]) -> String {
    let mut escaped = String::new();
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => escaped.push_str("\\\\"),
                control if control.is_control() => {
                    let mut bytes = [0; 4];
                    push_bytes(&mut escaped, control.encode_utf8(&mut bytes).as_bytes());
                }
                other => escaped.push(other),
            }
        }
        push_bytes(&mut escaped, chunk.invalid());
    }
    escaped
}

fn push_bytes(escaped: &mut String, bytes: &[u8]) {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('?');
    for byte in bytes {
        escaped.push_str("\\x");
        escaped.extend([digit(byte >> 4), digit(byte & 15)]);
    }
}
