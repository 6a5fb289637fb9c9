//! Synthetic vectors: clusters within clusters in 48 dimensions, put into 384 with a large common part, as sentence vectors are.

/// Numbers of a vector.
pub const DIM: usize = 384;
const LATENT: usize = 48;
/// How many questions there are.
pub const QUESTIONS: usize = 200;

/// Vectors of unit length one after the other, and questions near some of them.
pub fn sample(size: usize) -> (Vec<f32>, Vec<Vec<f32>>) {
    let mut random = Random(42);
    let matrix = random.normals(LATENT * DIM, (DIM as f32).sqrt().recip());
    let common = random.normals(DIM, 9.0 / (DIM as f32).sqrt());
    let outer: Vec<Vec<f32>> = (0..40).map(|_| random.normals(LATENT, 1.0)).collect();
    let inner: Vec<Vec<f32>> = (0..size / 50 + 1)
        .map(|_| {
            let centre = &outer[random.below(outer.len())];
            centre.iter().map(|c| c + 0.7 * random.normal()).collect()
        })
        .collect();
    let mut vectors = Vec::with_capacity(size * DIM);
    for _ in 0..size {
        let centre = &inner[random.below(inner.len())];
        let latent: Vec<f32> = centre.iter().map(|c| c + 0.5 * random.normal()).collect();
        let mut vector: Vec<f32> = common.iter().map(|c| c + 0.05 * random.normal()).collect();
        for (l, row) in latent.iter().zip(matrix.chunks_exact(DIM)) {
            vector.iter_mut().zip(row).for_each(|(v, m)| *v += l * m);
        }
        vectors.extend(unit(vector));
    }
    let questions = (0..QUESTIONS).map(|_| {
        let at = random.below(size) * DIM;
        unit(vectors[at..at + DIM].iter().map(|x| x + 0.012 * random.normal()).collect())
    });
    let questions = questions.collect();
    (vectors, questions)
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// About normal: the sum of twelve uniform numbers less 6.
    fn normal(&mut self) -> f32 {
        (0..12).map(|_| (self.next() >> 40) as f32 / (1u64 << 24) as f32).sum::<f32>() - 6.0
    }

    fn normals(&mut self, count: usize, scale: f32) -> Vec<f32> {
        (0..count).map(|_| scale * self.normal()).collect()
    }
}
