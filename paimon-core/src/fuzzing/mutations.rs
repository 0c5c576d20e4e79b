//! Damage of the kinds that break decoders, always the same for the same seed.

/// Numbers that lengths, counts and offsets must not be believed to be.
const NUMBERS: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff];

/// Damages inputs.
pub(super) struct Mutations(u64);

impl Mutations {
    pub(super) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }

    /// One of the inputs with up to four damages.
    pub(super) fn next(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(4) {
            self.damage(&mut bytes, seeds);
        }
        bytes
    }

    fn damage(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(bytes.len());
        let number = NUMBERS[self.below(NUMBERS.len())];
        match self.below(9) {
            0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            2 if !bytes.is_empty() => bytes[at] = self.below(256) as u8,
            3 => bytes.truncate(at),
            // A length of each width and order.
            4 => overwrite(bytes, at, &number.to_le_bytes()[..1 << self.below(4)]),
            5 => overwrite(bytes, at, &number.to_be_bytes()[8 - (1 << self.below(4))..]),
            6 => {
                let varint = varint(number);
                let end = (at + 1 + self.below(2)).min(bytes.len());
                bytes.splice(at.min(end)..end, varint);
            }
            // A part of another input instead of what is here, or between.
            _ => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len());
                let part = &other[from..(from + 1 + self.below(64)).min(other.len())];
                let end = if self.below(2) == 0 { at } else { (at + part.len()).min(bytes.len()) };
                bytes.splice(at.min(end)..end, part.iter().copied());
            }
        }
    }
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    bytes.iter_mut().skip(at).zip(with).for_each(|(byte, new)| *byte = *new);
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
