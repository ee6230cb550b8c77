//! Reads an ELF header by hand, to see whether a program needs a loader.

/// The type of the program header that names a loader.
const INTERPRETER: u32 = 3;

/// Does the system need a dynamic loader to start this program? `None` when it is no 64-bit
/// little-endian ELF file.
pub(crate) fn needs_loader(file: &[u8]) -> Option<bool> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(bytes(file, 32)?)).ok()?;
    let size = usize::from(u16::from_le_bytes(bytes(file, 54)?));
    let count = usize::from(u16::from_le_bytes(bytes(file, 56)?));
    let mut found = false;
    for number in 0..count {
        let header = table.checked_add(number.checked_mul(size)?)?;
        found |= u32::from_le_bytes(bytes(file, header)?) == INTERPRETER;
    }
    Some(found)
}

fn bytes<const LENGTH: usize>(file: &[u8], at: usize) -> Option<[u8; LENGTH]> {
    file.get(at..at.checked_add(LENGTH)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with a header and the program headers of these types.
    fn elf(types: &[u32]) -> Vec<u8> {
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[32] = 64;
        file[54] = 56;
        file[56] = u8::try_from(types.len()).unwrap();
        for kind in types {
            file.extend(kind.to_le_bytes());
            file.extend([0; 52]);
        }
        file
    }

    #[test]
    fn a_loader_is_seen_among_the_program_headers() {
        assert_eq!(needs_loader(&elf(&[6, 3, 1])), Some(true));
        assert_eq!(needs_loader(&elf(&[1, 1, 7])), Some(false));
        assert_eq!(needs_loader(&elf(&[])), Some(false));
    }

    #[test]
    fn what_is_no_whole_elf_file_gets_no_answer() {
        assert_eq!(needs_loader(b"#!/bin/sh"), None);
        let whole = elf(&[1, 3]);
        assert_eq!(needs_loader(&whole[..100]), None);
    }
}
