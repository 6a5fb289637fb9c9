//! Embedded Chinese, Japanese and Korean fonts that do not say what their letters are, but number them as
//! Adobe's character collections do (GB1, CNS1, Japan1, Korea1). What those numbers mean is published.

use hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};
use std::collections::HashMap;

/// The fonts of a document that number their letters by a collection, by name.
pub struct Collections(HashMap<String, Collection>);

struct Collection {
    /// From the codes of a text to numbers of the collection.
    encoding: CMap,
    /// From those numbers to Unicode.
    unicode: CMap,
}

impl Collections {
    /// Looks through the composite fonts of a document.
    pub fn of(pdf: &Pdf) -> Self {
        let mut found = HashMap::new();
        for object in pdf.objects() {
            let Object::Dict(font) = object else { continue };
            if font.get::<Name>("Subtype").is_none_or(|s| s.as_str() != "Type0") {
                continue;
            }
            let name = font.get::<Name>("BaseFont").map(|n| without_tag(n.as_str()).to_string());
            if let (Some(name), Some(collection)) = (name, Collection::of(&font)) {
                found.entry(name).or_insert(collection);
            }
        }
        Self(found)
    }

    /// What `code` means in the font of this name.
    pub fn unicode(&self, font: &str, code: u32) -> Option<BfString> {
        let collection = self.0.get(font)?;
        let cid = [2, 1, 4, 3].into_iter().find_map(|length| collection.encoding.lookup_cid_code(code, length))?;
        collection.unicode.lookup_bf_string(cid)
    }
}

impl Collection {
    fn of(font: &Dict) -> Option<Self> {
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
}

fn parsed(stream: &Stream) -> Option<CMap> {
    CMap::parse(&stream.decoded().ok()?, load_embedded)
}

/// A font's name without the six letters that mark a subset: `ABCDEF+SimSun`.
fn without_tag(name: &str) -> &str {
    match name.split_once('+') {
        Some((tag, rest)) if tag.len() == 6 => rest,
        _ => name,
    }
}
