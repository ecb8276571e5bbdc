# pprof_reader.py: reads the parts of a pprof profile that the tests need, using only the wire
# format of protocol buffers.
#
# SPDX-License-Identifier: Apache-2.0
import gzip


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of each field; a value is a number or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            length, at = varint(data, at)
            assert at + length <= len(data), "cut short"
            value, at = data[at:at + length], at + length
        yield tag >> 3, value


def numbers(packed):
    found, at = [], 0
    while at < len(packed):
        value, at = varint(packed, at)
        found.append(value)
    return found


class Profile:
    def __init__(self, path):
        with gzip.open(path) as file:
            data = file.read()
        self.strings, self.samples, self.types = [], [], []
        self.locations, self.functions, self.single = {}, {}, {}
        raw = []
        for number, value in fields(data):
            if number == 6:
                self.strings.append(value.decode("utf-8"))
            elif isinstance(value, bytes):
                raw.append((number, value))
            else:
                self.single[number] = value
        for number, value in raw:
            self.take(number, value)

    def text(self, number):
        return self.strings[number]

    def take(self, number, value):
        if number == 1:
            found = dict(fields(value))
            self.types.append((self.text(found[1]), self.text(found[2])))
        elif number == 2:
            self.samples.append(self.sample(value))
        elif number == 4:
            found = dict(fields(value))
            line = dict(fields(found[4]))
            self.locations[found[1]] = (line[1], line.get(2, 0))
        elif number == 5:
            found = dict(fields(value))
            self.functions[found[1]] = (self.text(found[2]), self.text(found.get(4, 0)))

    def sample(self, value):
        found = {"labels": {}}
        for number, part in fields(value):
            if number == 1:
                found["locations"] = numbers(part)
            elif number == 2:
                found["values"] = numbers(part)
            elif number == 3:
                label = dict(fields(part))
                found["labels"][self.text(label[1])] = self.text(label[2])
        return found

    def frames(self, sample):
        """(function, file, line), innermost first."""
        return [(*self.functions[self.locations[at][0]], self.locations[at][1])
                for at in sample["locations"]]

    def total(self, type_name, **labels):
        column = [name for name, _ in self.types].index(type_name)
        return sum(s["values"][column] for s in self.samples
                   if all(s["labels"].get(k) == v for k, v in labels.items()))
