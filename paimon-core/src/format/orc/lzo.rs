//! Chunks of LZO1X.
//!
//! Invariants: never reads or copies from outside of what is there, never gives more bytes than are allowed.
//! Source: "LZO stream format" of the Linux kernel's documentation.

/// How many literals the last instruction copied, 4 standing for more than 3: small instructions depend on it.
type State = usize;

/// The content of a chunk; `None` if it is damaged or has more than `limit` bytes.
pub(super) fn decompress(chunk: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut lzo = Lzo { rest: chunk, out: Vec::new(), limit };
    let mut state = lzo.first_literals()?;
    while !lzo.rest.is_empty() {
        match lzo.instruction(state)? {
            Some(next) => state = next,
            None => break,
        }
    }
    Some(lzo.out)
}

struct Lzo<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
    limit: usize,
}

impl Lzo<'_> {
    /// A chunk may start with literals without an instruction.
    fn first_literals(&mut self) -> Option<State> {
        match self.rest.first() {
            Some(&first) if first > 17 => {
                self.byte()?;
                let length = usize::from(first - 17);
                self.literals(length)?;
                Some(length.min(4))
            }
            _ => Some(0),
        }
    }

    /// Runs the next instruction; gives the state after it, or `None` in the end.
    fn instruction(&mut self, state: State) -> Option<Option<State>> {
        let code = usize::from(self.byte()?);
        let (length, distance, literals) = match (code, state) {
            (64.., _) => ((code >> 5) + 1, (self.number()? << 3) + (code >> 2 & 7) + 1, code & 3),
            (32.., _) => {
                let length = self.length(code & 31, 31)? + 2;
                let low = self.pair()?;
                (length, (low >> 2) + 1, low & 3)
            }
            (16.., _) => {
                let length = self.length(code & 7, 7)? + 2;
                let low = self.pair()?;
                let distance = ((code & 8) << 11) + (low >> 2);
                if distance == 0 {
                    return Some(None);
                }
                (length, distance + 16_384, low & 3)
            }
            (_, 0) => {
                let length = self.length(code, 15)? + 3;
                self.literals(length)?;
                return Some(Some(4));
            }
            (_, 4) => (3, (self.number()? << 2) + (code >> 2) + 2_049, code & 3),
            _ => (2, (self.number()? << 2) + (code >> 2) + 1, code & 3),
        };
        self.copy(distance, length)?;
        self.literals(literals)?;
        Some(Some(literals))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<usize> {
        self.byte().map(usize::from)
    }

    fn pair(&mut self) -> Option<usize> {
        Some(self.number()? | self.number()? << 8)
    }

    /// A length that fits its bits, or else goes on in bytes, of which each zero stands for 255.
    fn length(&mut self, bits: usize, most: usize) -> Option<usize> {
        if bits > 0 {
            return Some(bits);
        }
        let mut length = most;
        loop {
            match self.number()? {
                0 => length = length.checked_add(255)?,
                last => return length.checked_add(last),
            }
        }
    }

    fn literals(&mut self, length: usize) -> Option<()> {
        let (now, rest) = self.rest.split_at_checked(length)?;
        self.out.extend_from_slice(now);
        self.rest = rest;
        (self.out.len() <= self.limit).then_some(())
    }

    /// Repeats what was written `distance` bytes ago; what is written may be repeated at once.
    fn copy(&mut self, distance: usize, length: usize) -> Option<()> {
        let start = self.out.len().checked_sub(distance)?;
        if length > self.limit.checked_sub(self.out.len())? {
            return None;
        }
        for at in start..start + length {
            self.out.push(*self.out.get(at)?);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_every_kind() {
        // Five literals, a near copy with one literal after it, a copy of two, the end.
        let chunk = [22, b'a', b'b', b'c', b'd', b'e', 0b0111_0001, 0, b'x', 0b0000_0100, 0, 17, 0, 0];
        assert_eq!(decompress(&chunk, 100).unwrap(), b"abcdeabcdxdx");
        // A long run by a copy that overlaps itself.
        let run = [18, b'z', 0b0010_0000, 100, 0, 0, 17, 0, 0];
        assert_eq!(decompress(&run, 1_000).unwrap(), [b'z'; 134]);
        assert!(decompress(&run, 133).is_none());
        for end in 1..chunk.len() - 3 {
            let cut = decompress(&chunk[..end], 100);
            assert!(cut.is_none_or(|c| c.len() < 12), "{end}");
        }
        assert!(decompress(&[18, b'z', 0b0111_0001, 9], 100).is_none());
    }
}
