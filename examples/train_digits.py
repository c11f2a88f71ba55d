"""Trains a small convolutional network on scikit-learn's handwritten digits (1797 images, 8x8).

The backward pass runs on the four operators of ascend_grad (see digits_network.py). Before training
the gradients are checked against float64 finite differences. On one machine the same seed gives the
same weights to the last bit, for any number of threads.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import ascend_grad as ag
import ml_dtypes
import numpy as np
from digits_network import Network, Numerics
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits
from tqdm import tqdm

DTYPES = {
    "float32": np.dtype(np.float32),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float16": np.dtype(np.float16),
}
# Relative error of a parameter's gradient. In 16 bits it comes from rounding the activations, which
# also pushes some of them over to PReLU's other branch.
GRADIENT_TOLERANCE = {"float32": 1e-5, "bfloat16": 0.1, "float16": 0.02}


@dataclass
class Digits:
    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load_data(seed: int) -> Digits:
    """A stratified split, three quarters to train; pixels scaled to [0, 1], shape (N, 1, 8, 8)."""
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    train_x, test_x, train_y, test_y = train_test_split(
        images, digits.target, test_size=0.25, stratify=digits.target, random_state=seed
    )
    return Digits(train_x, train_y, test_x, test_y)


class LossScale:
    """Keeps float16 gradients in range: halved when one overflows, doubled after a quiet while."""

    START, QUIET_STEPS = 2.0**12, 200

    def __init__(self, dtype: str):
        self.dynamic = dtype == "float16"
        self.value = self.START if self.dynamic else 1.0
        self.quiet_steps = 0

    def update(self, finite: bool) -> None:
        if not self.dynamic:
            return
        self.quiet_steps = self.quiet_steps + 1 if finite else 0
        if not finite:
            self.value /= 2
        elif self.quiet_steps % self.QUIET_STEPS == 0:
            self.value *= 2


class Momentum:
    """Stochastic gradient descent with Nesterov momentum; the rate falls along a cosine."""

    def __init__(self, parameters: dict[str, np.ndarray], steps: int, rate=0.1, momentum=0.9):
        self.parameters, self.steps, self.rate, self.momentum = parameters, steps, rate, momentum
        self.velocity = {name: np.zeros_like(p) for name, p in parameters.items()}

    def update(self, step: int, gradients: dict[str, np.ndarray]) -> None:
        rate = np.float32(self.rate * (1 + math.cos(math.pi * step / self.steps)) / 2)
        for name, gradient in gradients.items():
            velocity = self.velocity[name]
            velocity[...] = self.momentum * velocity + gradient
            self.parameters[name] -= rate * (gradient + self.momentum * velocity)


@dataclass
class History:
    """A loss per step; the rest once per epoch, at step `epoch_ends[i]`."""

    losses: list[float] = field(default_factory=list)
    epoch_ends: list[int] = field(default_factory=list)
    epoch_losses: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)
    skipped_steps: int = 0


def accuracy(network: Network, images: np.ndarray, labels: np.ndarray) -> float:
    return float((network.logits(images).argmax(1) == labels).mean())


def train(network: Network, data: Digits, rng: np.random.Generator, options) -> History:
    batches = max(1, len(data.train_labels) // options.batch_size)
    steps = options.steps or options.epochs * batches
    optimiser, scale = Momentum(network.parameters(), steps), LossScale(options.dtype)
    history = History()
    progress = tqdm(range(steps), desc="training", unit="step")
    for step in progress:
        if step % batches == 0:
            order = rng.permutation(len(data.train_labels))
        batch = order[step % batches * options.batch_size :][: options.batch_size]
        history.losses.append(network.loss(data.train_images[batch], data.train_labels[batch]))
        with np.errstate(over="ignore", invalid="ignore"):  # float16 may overflow: seen below
            gradients = network.backward(scale.value)
        finite = all(np.isfinite(g).all() for g in gradients.values())
        if finite:
            optimiser.update(step, {name: g / scale.value for name, g in gradients.items()})
        else:
            history.skipped_steps += 1
        scale.update(finite)
        if (step + 1) % batches == 0 or step + 1 == steps:
            history.epoch_ends.append(step + 1)
            history.epoch_losses.append(float(np.mean(history.losses[step - step % batches :])))
            history.train_accuracy.append(accuracy(network, data.train_images, data.train_labels))
            history.test_accuracy.append(accuracy(network, data.test_images, data.test_labels))
            progress.set_postfix(
                loss=f"{history.epoch_losses[-1]:.4f}", test=f"{history.test_accuracy[-1]:.2%}"
            )
    return history


def gradient_errors(
    network: Network, images: np.ndarray, labels: np.ndarray, rng: np.random.Generator, scale: float
) -> dict[str, float]:
    """Relative error of each parameter's gradient, against central differences of the same network
    in float64 along random directions: |g.v - difference| / |difference|, in the mean square."""
    network.loss(images, labels)
    gradients = network.backward(scale)
    exact = Network(Numerics(np.dtype(np.float64)), rng)
    for name, value in network.parameters().items():
        exact.parameters()[name][...] = value
    errors = {}
    for name, value in exact.parameters().items():
        directions = rng.normal(size=(12, *value.shape)) / math.sqrt(value.size)
        differences = np.array([slope(exact, value, d, images, labels) for d in directions])
        ours = np.array([(d * (gradients[name] / scale)).sum() for d in directions])
        errors[name] = float(np.linalg.norm(ours - differences) / np.linalg.norm(differences))
    return errors


def slope(network, value, direction, images, labels, step=1e-6) -> float:
    """Central difference of the loss when `value`, one of the parameters, moves along direction.
    The step is so short that hardly an activation crosses PReLU's kink on the way."""
    start, losses = value.copy(), []
    for sign in (1, -1):
        value[...] = start + sign * step * direction
        losses.append(network.loss(images, labels))
    value[...] = start
    return (losses[0] - losses[1]) / (2 * step)


def check_gradients(numerics: Numerics, options) -> bool:
    """Checks a network with all parameters off their special starting values; prints the figures.
    It is the same network whatever the options."""
    data, rng = load_data(seed=0), np.random.default_rng(0)
    network = Network(numerics, rng)
    for value in network.parameters().values():
        value += 0.1 * rng.normal(size=value.shape)
    errors = gradient_errors(
        network, data.train_images[:32], data.train_labels[:32], rng, LossScale(options.dtype).value
    )
    tolerance = GRADIENT_TOLERANCE[options.dtype]
    print(f"gradients against float64 finite differences (relative error, at most {tolerance:g}):")
    for name, error in errors.items():
        print(f"  {name:<14} {error:.1e}{'' if error <= tolerance else '  out of tolerance'}")
    return all(error <= tolerance for error in errors.values())


def plot(history: History, title: str, path: Path) -> None:
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    figure.suptitle(title)
    steps = np.arange(1, len(history.losses) + 1)
    left.plot(steps, history.losses, linewidth=0.5, alpha=0.4, label="batch")
    left.plot(
        history.epoch_ends, history.epoch_losses, color="C0", marker=".", label="epoch's mean"
    )
    left.set(xlabel="step", ylabel="training loss (cross-entropy)", yscale="log")
    for name, values in (("train", history.train_accuracy), ("test", history.test_accuracy)):
        right.plot(history.epoch_ends, 100 * np.array(values), marker=".", label=name)
    right.set(xlabel="step", ylabel="accuracy (%)")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)


def digest(network: Network) -> str:
    return hashlib.sha256(b"".join(p.tobytes() for p in network.parameters().values())).hexdigest()


def positive(text: str) -> int:
    if natural(text) == 0:
        raise argparse.ArgumentTypeError("0 is not positive")
    return int(text)


def natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no natural number")
    return int(text)


def picture(text: str) -> Path:
    if not text.endswith(".png"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .png")
    return Path(text)


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="of the activations")
    parser.add_argument("--device", choices=("cpu", "emulator", "npu"), help="of the operators")
    parser.add_argument("--threads", type=positive, help="of ascend_grad (default: all cores)")
    parser.add_argument("--seed", type=natural, default=0, help="of split, weights and order")
    parser.add_argument("--epochs", type=positive, default=20)
    parser.add_argument("--steps", type=positive, help="batches in all, instead of --epochs")
    parser.add_argument("--batch-size", type=positive, default=16)
    parser.add_argument("--output", type=picture, default="train_digits.png", help="the plot")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse_options(arguments)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    if options.threads:
        ag.set_num_threads(options.threads)
    start = time.perf_counter()
    data = load_data(options.seed)
    numerics = Numerics(DTYPES[options.dtype], options.device)
    # A BLAS may sum in another order with another number of threads.
    with threadpool_limits(1, user_api="blas"):
        if not check_gradients(numerics, options):
            print("gradient check failed", file=sys.stderr)
            return 1
        rng = np.random.default_rng(options.seed)
        network = Network(numerics, rng)
        history = train(network, data, rng, options)
    if history.skipped_steps:
        print(f"steps skipped  {history.skipped_steps}, whose gradients overflowed")
    final = history.test_accuracy[-1]
    plot(history, f"{options.dtype}: test accuracy {final:.2%}", options.output)
    print(f"training loss  {history.epoch_losses[-1]:.6f} (mean of the last epoch)")
    print(f"test accuracy  {final:.2%} of {len(data.test_labels)} images")
    print(f"weights        sha256 {digest(network)[:16]}")
    print(f"plot           {options.output}")
    print(f"time           {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ag.AclnnError, OSError) as error:  # a device that this build lacks, a folder in the way
        sys.exit(f"train_digits.py: {error}")
