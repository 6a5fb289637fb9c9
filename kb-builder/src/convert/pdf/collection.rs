//! Embedded Chinese, Japanese and Korean fonts that do not say what their letters are, but number them as
//! Adobe's character collections do (GB1, CNS1, Japan1, Korea1). What those numbers mean is published.

use hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_syntax::object::{Array, Dict, Object, Stream, String as PdfString};

/// The collection that a font numbers its letters by.
pub struct Collection {
    /// From the codes of a text to numbers of the collection.
    encoding: CMap,
    /// From those numbers to Unicode.
    unicode: CMap,
}

impl Collection {
    /// That of a font; only composite fonts have one.
    pub fn of(font: &Dict) -> Option<Self> {
        let encoding = match font.get::<Object>("Encoding")? {
            Object::Name(name) => match name.as_str() {
                "Identity-H" | "Identity-V" => CMap::identity_h(),
                name => CMap::parse(load_embedded(CMapName::from_bytes(name.as_bytes()))?, load_embedded)?,
            },
            Object::Stream(stream) => parsed(&stream)?,
            _ => return None,
        };
        let descendant = font.get::<Array>("DescendantFonts")?.iter::<Dict>().next()?;
        let info = descendant.get::<Dict>("CIDSystemInfo")?;
        let (registry, ordering) = (info.get::<PdfString>("Registry")?, info.get::<PdfString>("Ordering")?);
        let own = CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes()).ucs2_cmap();
        let of_encoding = || encoding.metadata().character_collection.as_ref()?.family.ucs2_cmap();
        let unicode = CMap::parse(load_embedded(own.or_else(of_encoding)?)?, load_embedded)?;
        Some(Self { encoding, unicode })
    }

    /// What a code of a text stands for.
    pub fn unicode(&self, code: u32) -> Option<BfString> {
        let cid = [2, 1, 4, 3].into_iter().find_map(|length| self.encoding.lookup_cid_code(code, length))?;
        self.unicode.lookup_bf_string(cid)
    }
}

fn parsed(stream: &Stream) -> Option<CMap> {
    CMap::parse(&stream.decoded().ok()?, load_embedded)
}
