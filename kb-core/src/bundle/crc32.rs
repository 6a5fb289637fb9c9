//! CRC-32 as in zlib and PNG (IEEE 802.3, reflected polynomial 0xEDB88320), eight bytes a step.

const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
            bit += 1;
        }
        tables[0][i] = crc;
        i += 1;
    }
    let mut t = 1;
    while t < 8 {
        let mut i = 0;
        while i < 256 {
            let before = tables[t - 1][i];
            tables[t][i] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            i += 1;
        }
        t += 1;
    }
    tables
}

/// A checksum in the making.
#[derive(Clone, Copy)]
pub(crate) struct Crc32(u32);

impl Crc32 {
    pub(crate) fn new() -> Self {
        Self(!0)
    }

    /// Adds `bytes`.
    pub(crate) fn update(self, bytes: &[u8]) -> Self {
        let (blocks, rest) = bytes.as_chunks::<8>();
        let mut crc = self.0;
        for block in blocks {
            let [a, b, c, d] = (crc ^ u32::from_le_bytes([block[0], block[1], block[2], block[3]])).to_le_bytes();
            crc = TABLES[7][a as usize]
                ^ TABLES[6][b as usize]
                ^ TABLES[5][c as usize]
                ^ TABLES[4][d as usize]
                ^ TABLES[3][block[4] as usize]
                ^ TABLES[2][block[5] as usize]
                ^ TABLES[1][block[6] as usize]
                ^ TABLES[0][block[7] as usize];
        }
        for byte in rest {
            crc = crc >> 8 ^ TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize];
        }
        Self(crc)
    }

    /// The checksum of everything added.
    pub(crate) fn finish(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Crc32;

    // Check values of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms, and of zlib.crc32.
    #[test]
    fn equals_zlib() {
        let crc = |bytes: &[u8]| Crc32::new().update(bytes).finish();
        assert_eq!(crc(b""), 0);
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc(b"The quick brown fox jumps over the lazy dog"), 0x414F_A339);
    }

    #[test]
    fn pieces_equal_the_whole() {
        let bytes: Vec<u8> = (0..100).map(|i| (i * 37 % 251) as u8).collect();
        let whole = Crc32::new().update(&bytes).finish();
        for cut in 0..bytes.len() {
            assert_eq!(Crc32::new().update(&bytes[..cut]).update(&bytes[cut..]).finish(), whole);
        }
    }
}
