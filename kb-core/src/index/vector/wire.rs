//! The payload of section `vectors`: fixed-width numbers, little endian. Encoder and decoder side by side.
//!
//! u32 dim, u32 count, f32 × dim centre, f32 × count shares, f32 × count scales, i8 × count × dim rows. From
//! version 2 on the means may follow: u8 number of groups; for each its language, f32 × dim mean, u8 number
//! of languages of questions, for each its language, f32 strength, f32 × dim mean; u8 × count groups.

use super::centring::{Centring, Group, MAX_GROUPS, QuestionMean};
use super::quantise::Matrix;
use super::{MAX_DIM, MAX_VECTORS};
use crate::bundle::SectionKind;
use crate::bundle::docs::{lang_code, lang_from_code};
use crate::{ErrorKind, Result};

const KIND: SectionKind = SectionKind::Vectors;

/// No share is further from 0, see the bounds on least squares in `quantise`. Keeps every product finite.
const MAX_SHARE: f32 = 1e5;

pub(super) fn encode(matrix: &Matrix, means: Option<&Centring>) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + 4 * (matrix.dim + 2 * matrix.len()) + matrix.rows.len());
    out.extend_from_slice(&(matrix.dim as u32).to_le_bytes());
    out.extend_from_slice(&(matrix.len() as u32).to_le_bytes());
    for x in matrix.centre.iter().chain(&matrix.shares).chain(&matrix.scales) {
        out.extend_from_slice(&x.to_le_bytes());
    }
    out.extend(matrix.rows.iter().map(|q| *q as u8));
    if let Some(means) = means {
        let floats = |out: &mut Vec<u8>, numbers: &[f32]| out.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        out.push(means.groups.len() as u8);
        for group in &means.groups {
            out.push(lang_code(group.lang));
            floats(&mut out, &group.mean);
            out.push(group.questions.len() as u8);
            for question in &group.questions {
                out.push(lang_code(question.lang));
                floats(&mut out, &[question.strength]);
                floats(&mut out, &question.mean);
            }
        }
        out.extend_from_slice(&means.group_of);
    }
    out
}

pub(super) fn decode(payload: &[u8]) -> Result<(Matrix, Option<Centring>)> {
    let short = || KIND.corrupt("it ends within its header");
    let (dim, rest) = payload.split_first_chunk::<4>().ok_or_else(short)?;
    let (count, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let (dim, count) = (u32::from_le_bytes(*dim) as usize, u32::from_le_bytes(*count) as usize);
    if dim > MAX_DIM || count > MAX_VECTORS {
        return Err(KIND.error(ErrorKind::TooLarge, format!("declares {count} vectors of {dim} numbers")));
    }
    // Both are capped, so the products fit in 64 bits.
    let expected = 4 * (dim as u64 + 2 * count as u64) + dim as u64 * count as u64;
    if dim == 0 || (rest.len() as u64) < expected {
        return Err(
            KIND.corrupt(format!("{count} vectors of {dim} numbers take {expected} bytes, there are {}", rest.len()))
        );
    }
    let (centre, rest) = rest.split_at(4 * dim);
    let (shares, rest) = rest.split_at(4 * count);
    let (scales, rest) = rest.split_at(4 * count);
    let (rows, rest) = rest.split_at(count * dim);
    let (centre, shares, scales) = (floats(centre), floats(shares), floats(scales));
    let within = |numbers: &[f32], most: f32| numbers.iter().all(|x| x.abs() <= most);
    if !within(&centre, 1.0) || !within(&shares, MAX_SHARE) || !within(&scales, 1.0) {
        return Err(KIND.corrupt("the centre, a share or a scale is out of range"));
    }
    let rows: Vec<i8> = rows.iter().map(|q| *q as i8).collect();
    // −128 is never written, and would break the bound that keeps a dot product in 32 bits.
    if rows.contains(&i8::MIN) {
        return Err(KIND.corrupt("a row has a value that is never written"));
    }
    let means = if rest.is_empty() { None } else { Some(decode_means(rest, dim, count)?) };
    Ok((Matrix { dim, centre, shares, scales, rows }, means))
}

/// The means, of which [`Centring::check`] still has to be asked whether they fit.
fn decode_means<'b>(bytes: &'b [u8], dim: usize, count: usize) -> Result<Centring> {
    let mut rest = bytes;
    let mut take = |length: usize| -> Result<&'b [u8]> {
        let (head, tail) = rest.split_at_checked(length).ok_or_else(|| KIND.corrupt("it ends within its means"))?;
        rest = tail;
        Ok(head)
    };
    let number = |bytes: &[u8]| match bytes.first().copied().map(usize::from) {
        Some(n) if n <= MAX_GROUPS => Ok(n),
        _ => Err(KIND.corrupt("it has means for more languages than there are")),
    };
    let lang = |bytes: &[u8]| {
        bytes.first().and_then(|b| lang_from_code(*b)).ok_or_else(|| KIND.corrupt("unknown language code"))
    };
    let mut groups = Vec::new();
    for _ in 0..number(take(1)?)? {
        let (own, mean) = (lang(take(1)?)?, floats(take(4 * dim)?));
        let mut questions = Vec::new();
        for _ in 0..number(take(1)?)? {
            let own = lang(take(1)?)?;
            let strength = floats(take(4)?).first().copied().unwrap_or(0.0);
            questions.push(QuestionMean { lang: own, strength, mean: floats(take(4 * dim)?) });
        }
        groups.push(Group { lang: own, mean, questions });
    }
    let group_of = take(count)?.to_vec();
    if !rest.is_empty() {
        return Err(KIND.corrupt("something follows its means"));
    }
    Ok(Centring { groups, group_of })
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}
