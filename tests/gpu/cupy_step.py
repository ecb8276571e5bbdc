# cupy_step.py: matrix products, a Fourier transform and a solver.
#
# SPDX-License-Identifier: Apache-2.0
import cupy


def main():
    a = cupy.random.rand(4096, 4096, dtype=cupy.float32)
    b = a @ a.T
    c = cupy.fft.fft2(b)
    d = cupy.linalg.solve(a + 4096 * cupy.eye(4096, dtype=cupy.float32), b)
    print(float(abs(c).sum()), float(d.sum()))


main()
