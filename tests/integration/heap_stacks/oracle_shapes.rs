// oracle_shapes.rs STACKS: closures, trait objects, iterators, formatting and panics that are caught.
//
// SPDX-License-Identifier: Apache-2.0
use std::collections::{BTreeMap, HashMap};
use std::panic;

trait Shape {
    fn name(&self, depth: u32) -> String;
}

struct Square(u32);
struct Group(Vec<Box<dyn Shape>>);

impl Shape for Square {
    fn name(&self, depth: u32) -> String {
        if self.0 % 97 == 13 {
            panic!("no such square: {}", self.0);
        }
        format!("{:>width$}", self.0, width = (depth % 20) as usize)
    }
}

impl Shape for Group {
    fn name(&self, depth: u32) -> String {
        let parts: Vec<String> = self.0.iter().map(|shape| shape.name(depth + 1)).collect();
        parts.join(",")
    }
}

fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(1103515245).wrapping_add(12345);
    *state >> 8
}

fn build(state: &mut u32, depth: u32) -> Box<dyn Shape> {
    if depth > 12 || random(state) % 3 == 0 {
        return Box::new(Square(random(state) % 1000));
    }
    let count = random(state) % 3;
    Box::new(Group((0..count).map(|_| build(state, depth + 1)).collect()))
}

fn main() {
    let stacks: u32 = std::env::args().nth(1).map_or(1000, |text| text.parse().unwrap());
    let mut state = 42;
    let mut lengths: BTreeMap<usize, HashMap<String, u32>> = BTreeMap::new();
    panic::set_hook(Box::new(|_| ()));
    for _ in 0..stacks / 8 {
        let shape = build(&mut state, 0);
        let name = panic::catch_unwind(panic::AssertUnwindSafe(|| shape.name(0)))
            .unwrap_or_else(|_| "panic".to_string());
        *lengths.entry(name.len()).or_default().entry(name).or_insert(0) += 1;
    }
    println!("{} lengths", lengths.len());
}
