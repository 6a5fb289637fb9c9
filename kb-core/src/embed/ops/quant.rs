//! ONNX's 8-bit quantisation, as its operator specification defines it.

use super::linear::integers;
use super::{Pure, pure_op, slice, tensor};
use tract_core::internal::*;

/// `DynamicQuantizeLinear`: f32 to u8, with the scale and zero point that cover the data and zero.
#[derive(Clone)]
pub(in crate::embed) struct DynamicQuantize;

pure_op!(DynamicQuantize, "DynamicQuantize");

impl Pure for DynamicQuantize {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i[0].0 == f32::datum_type(), "DynamicQuantizeLinear of {:?}", i[0].0);
        Ok(tvec!(
            (u8::datum_type(), TVec::from_slice(i[0].1)),
            (f32::datum_type(), tvec![]),
            (u8::datum_type(), tvec![]),
        ))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let x = slice::<f32>(&inputs[0])?;
        let min = x.iter().fold(0f32, |a, b| a.min(*b));
        let max = x.iter().fold(0f32, |a, b| a.max(*b));
        let scale = if max == min { 1.0 } else { (max - min) / 255.0 };
        let zero = (-min / scale).clamp(0.0, 255.0).round_ties_even();
        let q: Vec<u8> = x.iter().map(|v| ((v / scale).round_ties_even() + zero).clamp(0.0, 255.0) as u8).collect();
        Ok(tvec!(
            tensor(inputs[0].shape(), &q)?.into_tvalue(),
            tensor(&[], &[scale])?.into_tvalue(),
            tensor(&[], &[zero as u8])?.into_tvalue(),
        ))
    }
}

/// `DequantizeLinear`: `(x - zero point) · scale`, with one scale, or one for each index of an axis.
#[derive(Clone)]
pub(in crate::embed) struct Dequantize {
    pub axis: i64,
}

pure_op!(Dequantize, "Dequantize");

impl Pure for Dequantize {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i.len() >= 2 && i[1].0 == f32::datum_type(), "DequantizeLinear's scale");
        let n: usize = i[1].1.iter().product();
        if n != 1 {
            let axis = super::axis(self.axis, i[0].1.len())?;
            ensure!(i[0].1.get(axis) == Some(&n), "{n} scales for {:?}", i[0].1);
        }
        ensure!(i.get(2).is_none_or(|z| z.1.iter().product::<usize>() == n), "zero points");
        Ok(tvec!((f32::datum_type(), TVec::from_slice(i[0].1))))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let shape = inputs[0].shape();
        let x = integers(&inputs[0])?;
        let scales = slice::<f32>(&inputs[1])?;
        let zeros = match inputs.get(2) {
            Some(z) => integers(z)?,
            None => vec![0; scales.len()],
        };
        let inner: usize = if scales.len() == 1 {
            x.len()
        } else {
            shape[super::axis(self.axis, shape.len())? + 1..].iter().product()
        };
        let y: Vec<f32> = x
            .chunks(inner.max(1))
            .enumerate()
            .flat_map(|(i, run)| {
                let (s, z) = (scales[i % scales.len()], zeros[i % zeros.len()]);
                run.iter().map(move |v| (v - z) as f32 * s)
            })
            .collect();
        Ok(tvec!(tensor(shape, &y)?.into_tvalue()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of the ONNX specification for DynamicQuantizeLinear.
    #[test]
    fn the_specifications_example() {
        let x = tensor(&[6], &[0f32, 2.0, -3.0, -2.5, 1.34, 0.5]).unwrap();
        let y = DynamicQuantize.compute(tvec![x.into_tvalue()]).unwrap();
        assert_eq!(slice::<u8>(&y[0]).unwrap(), [153, 255, 0, 26, 221, 179]);
        assert!((slice::<f32>(&y[1]).unwrap()[0] - 0.019_607_844).abs() < 1e-9);
        assert_eq!(slice::<u8>(&y[2]).unwrap(), [153]);
    }

    #[test]
    fn scales_along_an_axis() {
        let x = tensor(&[2, 2], &[1i8, 2, 3, 4]).unwrap();
        let s = tensor(&[2], &[1f32, 10.0]).unwrap();
        let run = |axis| {
            let y = Dequantize { axis }.compute(tvec![x.clone().into_tvalue(), s.clone().into_tvalue()]).unwrap();
            slice::<f32>(&y[0]).unwrap().to_vec()
        };
        assert_eq!(run(0), [1.0, 2.0, 30.0, 40.0]);
        assert_eq!(run(1), [1.0, 20.0, 3.0, 40.0]);
    }
}
