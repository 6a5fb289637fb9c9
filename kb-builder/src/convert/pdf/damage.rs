//! Pages that cannot be read, or only to where they are damaged. Programs that show such a file show a blank page.

use hayro_syntax::object::{Array, Dict, Stream};
use hayro_syntax::page::Page;
use hayro_syntax::{Filter, Pdf};
use miniz_oxide::inflate::{DecompressError, TINFLStatus};
use miniz_oxide::inflate::{decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit};

/// Largest content of a page that is checked, unpacked, in bytes.
const MAX_CHECKED: usize = 64 << 20;

/// How many pages the document says that it has beyond those that were found.
pub fn lost_pages(pdf: &Pdf) -> usize {
    let root = pdf.xref().get::<Dict>(pdf.xref().root_id());
    let count = root.and_then(|root| root.get::<Dict>("Pages")?.get::<i32>("Count"));
    usize::try_from(count.unwrap_or(0)).unwrap_or(0).saturating_sub(pdf.pages().len())
}

/// Whether the content of a page is missing in whole or in part.
pub fn is_damaged(page: &Page) -> bool {
    let dict = page.raw();
    if let Some(stream) = dict.get::<Stream>("Contents") {
        return is_broken(&stream);
    }
    match dict.get::<Array>("Contents") {
        Some(parts) => {
            let there: Vec<Stream> = parts.iter::<Stream>().collect();
            there.len() < parts.raw_iter().count() || there.iter().any(is_broken)
        }
        // A page without content is blank; one whose content is not there has lost it.
        None => dict.contains_key("Contents"),
    }
}

fn is_broken(stream: &Stream) -> bool {
    if stream.decoded_data().is_err() {
        return true;
    }
    // What reads the stream takes what it gets.
    stream.filters().as_slice() == [Filter::FlateDecode] && !inflates(&stream.raw_data())
}

/// Whether compressed data come to their end and fit their checksum, where that was not cut off.
fn inflates(data: &[u8]) -> bool {
    let whole = |result: Result<Vec<u8>, DecompressError>| match result {
        Ok(_) => Some(true),
        Err(e) if e.status == TINFLStatus::HasMoreOutput => Some(true),
        Err(e) if e.status == TINFLStatus::Adler32Mismatch => Some(false),
        Err(_) => None,
    };
    let has_header =
        data.len() >= 2 && data[0] & 0x0f == 8 && u16::from_be_bytes([data[0], data[1]]).is_multiple_of(31);
    let body = if has_header { &data[2..] } else { data };
    whole(decompress_to_vec_zlib_with_limit(data, MAX_CHECKED))
        .or_else(|| whole(decompress_to_vec_with_limit(body, MAX_CHECKED)))
        .unwrap_or(false)
}
