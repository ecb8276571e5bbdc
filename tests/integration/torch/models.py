# models.py: small networks of the usual kinds, with data to train them on. Their activations
# outweigh the rest (targets, the loss), as in real training.
#
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn

CLASSES = 10


class MLP(nn.Module):
    def __init__(self, width=256, layers=4):
        super().__init__()
        self.body = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.ReLU())
                                    for _ in range(layers)])
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.body(x))


class CNN(nn.Module):
    """SiLU keeps its input, so there is one highest moment: the pool's backward. With ReLU
    several are as high, and which one is the peak is decided by a few bytes."""

    def __init__(self, channels=32):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.SiLU(),
            nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.BatchNorm2d(2 * channels),
            nn.SiLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(2 * channels, CLASSES)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))


class Transformer(nn.Module):
    def __init__(self, width=64, heads=4, layers=3, words=100):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x)).mean(dim=1))


class Recurrent(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def numbers(*shape):
    return lambda size, device: torch.randn(size, *shape, device=device)


def words(*shape):
    return lambda size, device: torch.randint(0, 100, (size, *shape), device=device)


# By name: the network, how to make a batch, and how large a one.
MODELS = {
    "mlp": (MLP, numbers(256), 1024),
    "cnn": (CNN, numbers(3, 32, 32), 16),
    "transformer": (Transformer, words(64), 16),
    "lstm": (Recurrent, numbers(32, 64), 32),
}


def build(name, device="cpu", times=1):
    """The network, and a function that makes a batch, `times` as large as usual, and
    its targets."""
    torch.manual_seed(0)
    network, batch, size = MODELS[name]

    def data():
        x = batch(times * size, device)
        return x, torch.randint(0, CLASSES, (len(x),), device=device)

    return network().to(device), data


def train(model, data, optimizer, steps, criterion=None):
    """As the tutorials write it. The last loss."""
    criterion = criterion or nn.CrossEntropyLoss()
    for _ in range(steps):
        x, y = data()
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()
