# jax_step.py: a few gradient steps of a small network.
#
# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp


def loss(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jnp.mean((x @ w + b - y) ** 2)


def main():
    key = jax.random.PRNGKey(0)
    sizes = [1024, 4096, 4096, 1024]
    params = [(jax.random.normal(key, (m, n)) * 0.02, jnp.zeros(n))
              for m, n in zip(sizes, sizes[1:])]
    x, y = jnp.ones((4096, 1024)), jnp.zeros((4096, 1024))
    step = jax.jit(lambda p: jax.tree.map(lambda a, g: a - 0.01 * g, p, jax.grad(loss)(p, x, y)))
    for _ in range(5):
        params = step(params)
    print(float(loss(params, x, y)))


main()
