"""A folder of images."""

from pathlib import Path

import numpy as np
import pytest
from learned import Learn
from PIL import Image

from kfriendly.errors import BadInput
from kfriendly.inputs import InputOptions, open_input, options_for

RNG = np.random.default_rng(0)


def _grey(height: int = 5, width: int = 6) -> np.ndarray:
    return RNG.integers(0, 256, (height, width), dtype=np.uint8)


def _save(path: Path, pixels: np.ndarray, **choices: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **choices)  # type: ignore[arg-type]


def test_grey_images_are_read_as_they_are(tmp_path: Path, learn: Learn) -> None:
    images = [_grey() for _ in range(3)]
    for number, pixels in enumerate(images):
        _save(tmp_path / f"{number}.png", pixels)
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "notes.json").touch()
    found = learn(tmp_path)
    assert np.array_equal(found.batch.content, images)
    assert found.batch.ids == ["0.png", "1.png", "2.png"]
    assert found.features.input_shape == (5, 6) and found.source.notes == []
    assert np.allclose(found.X[1] * 255, images[1].ravel())


def test_colour_has_its_channels_first(tmp_path: Path, learn: Learn) -> None:
    pixels = RNG.integers(0, 256, (4, 4, 3), dtype=np.uint8)
    _save(tmp_path / "a.png", pixels)
    _save(tmp_path / "b.png", _grey(4, 4))
    found = learn(tmp_path)
    assert found.batch.content.shape == (2, 4, 4, 3)
    assert found.features.input_shape == (3, 4, 4)
    assert np.allclose(found.X[0].reshape(3, 4, 4)[0] * 255, pixels[..., 0])


def test_colour_files_without_colour_are_grey(tmp_path: Path, learn: Learn) -> None:
    pixels = _grey()
    _save(tmp_path / "a.png", np.repeat(pixels[..., None], 3, axis=2))
    found = learn(tmp_path)
    assert np.array_equal(found.batch.content[0], pixels)


def test_sizes_are_made_one_and_that_is_said(tmp_path: Path, learn: Learn) -> None:
    for number, side in enumerate((8, 8, 12)):
        _save(tmp_path / f"{number}.png", _grey(side, 10))
    found = learn(tmp_path)
    assert found.batch.content.shape == (3, 8, 10)
    assert "1 image of 3 resized to 8x10" in found.source.notes[0]
    assert learn(tmp_path, image_size=(4, 5)).features.input_shape == (4, 5)


def test_large_images_are_made_smaller(tmp_path: Path, learn: Learn) -> None:
    _save(tmp_path / "a.png", _grey(256, 128))
    assert learn(tmp_path).features.input_shape == (64, 32)


def test_turned_photographs_are_set_upright(tmp_path: Path, learn: Learn) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    _save(tmp_path / "a.png", _grey(4, 6), exif=exif)
    assert learn(tmp_path).batch.content.shape == (1, 6, 4)


def test_many_kinds_of_pixels_are_read(tmp_path: Path, learn: Learn) -> None:
    _save(tmp_path / "a.png", np.full((4, 4), 40_000, np.uint16))
    _save(tmp_path / "b.png", np.full((4, 4, 4), 200, np.uint8))  # with transparency
    Image.new("P", (4, 4)).save(tmp_path / "c.gif")
    Image.new("1", (4, 4), 1).save(tmp_path / "d.bmp")
    images = learn(tmp_path).batch.content
    assert images[:, 0, 0].tolist() == [40_000 >> 8, 200, 0, 255]


def test_folders_may_be_classes(tmp_path: Path, learn: Learn) -> None:
    for name in ("cat", "dog"):
        _save(tmp_path / name / "1.png", _grey())
    found = learn(tmp_path, label="folder")
    assert found.batch.labels is not None
    assert found.batch.labels.tolist() == ["cat", "dog"]
    assert found.batch.ids == ["cat/1.png", "dog/1.png"]
    with pytest.raises(BadInput, match="--label folder"):
        learn(tmp_path, label="animal")


def test_batches_are_the_whole_in_pieces(tmp_path: Path, learn: Learn) -> None:
    for number in range(5):
        _save(tmp_path / f"{number}.png", _grey())
    found = learn(tmp_path)
    pieces = list(found.source.batches(2))
    assert np.array_equal(
        np.concatenate([p.content for p in pieces]), found.batch.content
    )
    assert found.source.fingerprint() == learn(tmp_path).source.fingerprint()
    assert found.features.transform(pieces[1]).tolist() == found.X[2:4].tolist()


def test_new_images_come_in_the_size_of_the_training(
    tmp_path: Path, learn: Learn
) -> None:
    _save(tmp_path / "a/1.png", _grey(8, 8))
    _save(tmp_path / "b/1.png", RNG.integers(0, 256, (20, 20, 3), dtype=np.uint8))
    features = learn(tmp_path / "a").features
    with pytest.raises(BadInput, match="--image-size 8x8"):
        features.transform(open_input(str(tmp_path / "b"), InputOptions()).read())
    options = options_for(features, InputOptions())
    assert options.image_size == (8, 8)
    batch = open_input(str(tmp_path / "b"), options).read()
    assert features.transform(batch).shape == (1, 64)  # its colours made grey


def test_grey_of_colours_is_pillows(tmp_path: Path, learn: Learn) -> None:
    pixels = RNG.integers(0, 256, (16, 16, 3), dtype=np.uint8)
    _save(tmp_path / "grey/1.png", _grey(16, 16))
    _save(tmp_path / "colour/1.png", pixels)
    features = learn(tmp_path / "grey").features
    batch = open_input(str(tmp_path / "colour"), InputOptions()).read()
    expected = np.asarray(Image.fromarray(pixels).convert("L")).ravel()
    assert (features.transform(batch)[0] * 255).round().tolist() == expected.tolist()


def test_damaged_image_is_named(tmp_path: Path, learn: Learn) -> None:
    _save(tmp_path / "a.png", _grey(30, 30))
    content = (tmp_path / "a.png").read_bytes()
    for length in (0, 10, 40, len(content) // 2, len(content) * 3 // 4):
        (tmp_path / "b.png").write_bytes(content[:length])
        with pytest.raises(BadInput, match="b.png cannot be read as an image"):
            learn(tmp_path)


def test_enormous_image_is_refused(
    tmp_path: Path, learn: Learn, monkeypatch: pytest.MonkeyPatch
) -> None:
    _save(tmp_path / "a.png", _grey(30, 30))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 600)
    with pytest.raises(BadInput, match="a.png"):
        learn(tmp_path)
