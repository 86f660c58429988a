"""Wavelet scattering of images."""

import math

import numpy as np
import pytest
import scipy.special
import torch
from marks import needs_data
from torch import Tensor
from torch.testing import assert_close

from kfriendly.datasets import load
from kfriendly.datasets.scattering import Scattering, scatter
from kfriendly.datasets.wavelets import XI, frequencies, low_pass, morlet

SHAPES = [(32, 32), (28, 28), (17, 40)]


def drawings(n: int, side: int, *, seed: int = 0) -> Tensor:
    """Draw blots of a few pixels in the middle half of black images, in float64."""
    rng = torch.Generator().manual_seed(seed)
    centres = side / 4 + side / 2 * torch.rand(n, 12, 2, generator=rng).double()
    pixels = torch.arange(side).double() - centres[..., None]  # (n, 12, 2, side)
    blots = torch.exp(-(pixels**2) / 3)
    return torch.einsum("nbh,nbw->nhw", blots[:, :, 0], blots[:, :, 1])


def wavelet(side: int, j: int, theta: float, L: int = 8) -> Tensor:
    omega = frequencies(side)
    return morlet((omega, omega), j, theta, slant=4 / L)


def mnist(n: int) -> np.ndarray:
    return np.asarray(load("mnist", part="test").X[:n].reshape(n, 28, 28))


def energies(S: Tensor, transform: Scattering) -> list[float]:
    """Sum squares order by order; each sample stands for 4^J pixels."""
    J, L = transform.J, transform.L
    orders = S[:, :1], S[:, 1 : 1 + J * L], S[:, 1 + J * L :]
    return [4**J * float(order.square().sum()) for order in orders]


# Filters.


@pytest.mark.parametrize("j", [0, 1, 2, 3])
@pytest.mark.parametrize("L", [1, 4, 8])
def test_morlet_has_zero_mean(j: int, L: int) -> None:
    psi = wavelet(64, j, 0.3, L)
    assert abs(float(psi[0, 0])) < 1e-12
    assert float(psi.abs().max()) > 0.5


def test_morlet_equals_its_formula_in_space() -> None:
    # Same wavelet, sampled in space: scale 1, so deviation 1.6, and L = 8.
    theta, sigma, slant, xi = 0.4, 1.6, 0.5, 3 * math.pi / 8
    u = np.arange(-32, 32)
    down, right = np.meshgrid(u, u, indexing="ij")
    along = down * np.cos(theta) + right * np.sin(theta)
    across = right * np.cos(theta) - down * np.sin(theta)
    window = np.exp(-(along**2 + (slant * across) ** 2) / (2 * sigma**2))
    window *= slant / (2 * np.pi * sigma**2)
    wave = window * np.exp(1j * xi * along)
    psi = np.fft.fft2(np.fft.ifftshift(wave - wave.sum() / window.sum() * window))
    assert np.abs(psi - wavelet(64, 1, theta).numpy()).max() < 1e-12


@pytest.mark.parametrize("j", [0, 1, 2])
def test_morlet_peaks_at_its_frequency(j: int) -> None:
    psi = wavelet(256, j, 0.0)
    row, column = divmod(int(psi.argmax()), 256)
    assert column == 0
    # Taking the mean away pushes the peak outwards by 3 %.
    assert float(frequencies(256)[row]) == pytest.approx(XI / 2**j, rel=0.05)


@pytest.mark.parametrize("L", [3, 4, 8])
def test_directions_turn_by_pi_over_L(L: int) -> None:  # noqa: N803
    transform = Scattering((32, 32), L=L)
    omega = frequencies(128)
    found = []
    for theta in transform.directions:
        power = wavelet(128, 2, theta, L).square()
        down, right = (power.sum(1) * omega).sum(), (power.sum(0) * omega).sum()
        found.append(float(torch.atan2(right, down)))
    assert found == pytest.approx(transform.directions, abs=1e-6)
    assert np.diff(found) == pytest.approx(-math.pi / L, abs=1e-6)


@pytest.mark.parametrize("J", [1, 2, 3, 4])
def test_low_pass_has_unit_sum_and_known_width(J: int) -> None:
    phi = torch.fft.ifft(low_pass(frequencies(128), J)).real
    u = torch.fft.fftfreq(128, 1 / 128, dtype=torch.float64)
    assert float(phi.sum()) == pytest.approx(1.0, abs=1e-4)
    assert float((phi * u**2).sum()) == pytest.approx(0.64 * 4 ** (J - 1), rel=1e-3)


@pytest.mark.parametrize("J", [1, 2, 3])
def test_littlewood_paley_sum_is_hardly_above_one(J: int) -> None:
    transform, side = Scattering((32, 32), J=J), 48
    phi = low_pass(frequencies(side), J)
    total = torch.outer(phi, phi).square()
    for j in range(J):
        for theta in transform.directions:
            power = wavelet(side, j, theta).square()
            opposite = power.roll((-1, -1), (0, 1)).flip(0, 1)  # at -omega
            total += (power + opposite) / 2
    assert float(total.max()) < 1.02
    assert float(total[:-1, 0].min()) > 0.2  # no frequency on an axis is forgotten


# The transform.


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("J", "L", "order"), [(3, 8, 2), (2, 3, 2), (4, 1, 1)])
def test_scattering_has_promised_shape(
    shape: tuple[int, int], J: int, L: int, order: int
) -> None:
    transform = Scattering(shape, J, L, order)
    n_paths = 1 + L * J + (L**2 * J * (J - 1) // 2 if order == 2 else 0)
    sides = tuple(math.ceil(side / 2**J) for side in shape)
    S = transform(torch.rand(2, *shape))
    assert transform.n_paths == n_paths
    assert tuple(S.shape) == (2, *transform.output_shape) == (2, n_paths, *sides)


def test_scattering_first_order_equals_definition() -> None:
    # Scale 0 is averaged at full resolution, so nothing is rounded away.
    x = drawings(3, 32)
    padded = torch.nn.functional.pad(x, (8, 8, 8, 8), mode="reflect")
    phi = low_pass(frequencies(48), 3)
    transform = Scattering((32, 32))
    S = transform(x)
    for turn, theta in enumerate(transform.directions):
        U = torch.fft.ifft2(torch.fft.fft2(padded) * wavelet(48, 0, theta)).abs()
        S1 = torch.fft.ifft2(torch.fft.fft2(U) * torch.outer(phi, phi)).real
        assert_close(S[:, 1 + turn], S1[:, 8:40:8, 8:40:8])


def test_scattering_second_order_is_near_full_resolution() -> None:
    x = drawings(3, 32)
    U_hat = torch.fft.fft2(torch.nn.functional.pad(x, (8, 8, 8, 8), mode="reflect"))
    transform = Scattering((32, 32), L=4)
    theta, phi = transform.directions, low_pass(frequencies(48), 3)
    for j, turn in ((1, 3), (2, 1)):
        U_hat = torch.fft.fft2(
            torch.fft.ifft2(U_hat * wavelet(48, j, theta[turn], L=4)).abs()
        )
    S2 = torch.fft.ifft2(U_hat * torch.outer(phi, phi)).real[:, 8:40:8, 8:40:8]
    # Order 0, order 1, the paths of j1 = 0 (4 x 8), then j1 = 1, turns 3 and 1.
    found = transform(x)[:, 1 + 12 + 32 + 4 * 3 + 1]
    assert float((found - S2).norm()) < 0.02 * float(S2.norm())


def test_scattering_of_constant_image_is_order_zero() -> None:
    S = Scattering((32, 24))(torch.full((1, 32, 24), 3.0))
    assert_close(S[:, 0], torch.full((1, 4, 3), 3.0))
    assert float(S[:, 1:].abs().max()) < 1e-5


def test_scattering_of_one_image_equals_that_in_a_batch() -> None:
    images, transform = drawings(7, 28).float(), Scattering((28, 28))
    alone = torch.cat([transform(image[None]) for image in images])
    assert_close(transform(images), alone, rtol=1e-5, atol=1e-6)


def test_scattering_in_float32_is_near_float64() -> None:
    images, transform = drawings(5, 28), Scattering((28, 28))
    S = transform(images)
    assert S.dtype == torch.float64
    assert float((transform(images.float()) - S).norm()) < 1e-6 * float(S.norm())


def test_scattering_pads_with_zeros_to_whole_steps() -> None:
    images = drawings(2, 28)
    S = Scattering((32, 32))(torch.nn.functional.pad(images, (2, 2, 2, 2)))
    assert_close(Scattering((28, 28))(images), S)


def test_scattering_turns_with_the_image() -> None:
    # A quarter turn, about a pixel of the coarsest grid, moves every direction on by
    # half of the L.
    images, transform = drawings(2, 31), Scattering((64, 64), L=4, order=1)
    padded, turned = (
        torch.nn.functional.pad(x, (17, 16, 17, 16))
        for x in (images, images.rot90(1, (1, 2)))
    )
    S, T = (transform(x)[:, 1:].reshape(2, 3, 4, 8, 8) for x in (padded, turned))
    assert_close(S.mean((3, 4)).roll(2, 2), T.mean((3, 4)), rtol=1e-3, atol=0.0)


@pytest.mark.parametrize("J", [2, 3, 4])
def test_scattering_does_not_expand(J: int) -> None:
    # As a map to images of pixels 2^J wide, hence the factor.
    transform = Scattering((64, 64), J, L=6)
    x, y = drawings(8, 64), drawings(8, 64, seed=1)
    S, T = transform(x), transform(y)
    assert bool((2**J * S.flatten(1).norm(dim=1) <= x.flatten(1).norm(dim=1)).all())
    gaps = (2**J * (S - T).flatten(1).norm(dim=1), (x - y).flatten(1).norm(dim=1))
    assert bool((gaps[0] <= gaps[1]).all())


def test_scattering_energy_falls_with_order() -> None:
    transform, x = Scattering((64, 64), J=2), drawings(8, 64)
    zeroth, first, second = energies(transform(x), transform)
    assert zeroth > first > 10 * second > 0
    assert zeroth + first + second < float(x.square().sum())


def test_scattering_energy_moves_to_higher_orders_with_J() -> None:
    x = drawings(8, 64)
    shares = []
    for J in (2, 3, 4):
        transform = Scattering((64, 64), J, L=4)
        zeroth, _, second = energies(transform(x), transform)
        shares.append(second / zeroth)
    assert shares == sorted(shares)


def test_scattering_hardly_feels_a_shift_and_less_with_J() -> None:
    x = drawings(8, 64)
    shifted = x.roll(1, 2)
    moves = []
    for J in (1, 2, 3, 4):
        S, T = Scattering((64, 64), J, L=4)(torch.cat([x, shifted])).chunk(2)
        moves.append(2**J * float((S - T).norm()) / float((x - shifted).norm()))
    assert moves == sorted(moves, reverse=True)
    assert moves[2] < 0.3 and moves[3] < 0.15


# Rows of coefficients.


def test_scatter_equals_scattering_whatever_the_batch() -> None:
    images = drawings(5, 28).numpy()
    S = Scattering((28, 28), J=2, L=4)(torch.from_numpy(images).float())
    for batch_size in (1, 3, 8):
        X = scatter(images, J=2, L=4, batch_size=batch_size, normalise=False)
        assert X.dtype == np.float32
        assert_close(torch.from_numpy(X), S.flatten(1), rtol=1e-5, atol=1e-6)


def test_scatter_divides_each_path_by_its_largest_norm() -> None:
    images = drawings(6, 28).numpy()
    S = scatter(images, J=2, L=4, normalise=False).reshape(6, -1, 49)
    X = scatter(images, J=2, L=4).reshape(6, -1, 49)
    largest = np.linalg.norm(S, axis=2).max(0)
    assert np.allclose(X * largest[:, None], S, rtol=1e-5)
    assert np.linalg.norm(X, axis=2).max(0) == pytest.approx(1.0, abs=1e-5)


def test_scatter_does_not_divide_by_rounding_errors() -> None:
    X = scatter(np.full((2, 16, 16), 7.0), J=2, L=2).reshape(2, -1, 16)
    assert np.allclose(X[:, 0], 0.25)
    assert np.abs(X[:, 1:]).max() < 1e-4
    assert not scatter(np.zeros((2, 16, 16)), J=2, L=2).any()


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float32, ">f8"], ids=str)
def test_scatter_takes_numbers_of_any_type(kind: str) -> None:
    images = (100 * drawings(2, 16).numpy()).astype(np.uint8)
    readable = images.astype(kind)
    readable.flags.writeable = False  # as np.frombuffer gives them
    assert np.array_equal(scatter(readable, J=2), scatter(images, J=2))


@needs_data
def test_scatter_of_mnist_has_3472_features() -> None:
    X = scatter(mnist(50))
    assert X.shape == (50, 3_472)
    assert np.isfinite(X).all()
    assert np.linalg.norm(X.reshape(50, 217, 16), axis=2).max(0) == pytest.approx(1.0)


# Kymatio is a reference only. Version 0.3.0 asks SciPy for a name it no longer has, and
# its filters are larger than ours by pi / 3.1415; order m passes m + 1 of them.


def assert_equals_kymatio(images: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(scipy.special, "sph_harm"):
        harmonics = scipy.special.sph_harm_y
        monkeypatch.setattr(scipy.special, "sph_harm", harmonics, raising=False)
    kymatio = pytest.importorskip(
        "kymatio.torch", reason="kymatio, a reference only, is not installed"
    )
    height, width = images.shape[1:]
    for J, L in ((3, 8), (2, 6)):
        theirs = kymatio.Scattering2D(J=J, L=L, shape=(height, width))(images)
        ours = Scattering((height, width), J, L)(images)
        n_filters = torch.tensor([1] + L * J * [2] + L**2 * J * (J - 1) // 2 * [3])
        exact = theirs / (math.pi / 3.1415) ** n_filters[:, None, None]
        for reference, tolerance in ((theirs, 1e-4), (exact, 3e-6)):
            gap = (ours - reference).square().sum((0, 2, 3)).sqrt()
            size = reference.square().sum((0, 2, 3)).sqrt()
            assert float((gap / size).max()) < tolerance  # path for path


@pytest.mark.filterwarnings("ignore")
def test_scattering_equals_kymatio(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_equals_kymatio(drawings(10, 32).float(), monkeypatch)


@needs_data
@pytest.mark.filterwarnings("ignore")
def test_scattering_equals_kymatio_on_mnist(monkeypatch: pytest.MonkeyPatch) -> None:
    images = torch.from_numpy(np.pad(mnist(50) / 255, ((0, 0), (2, 2), (2, 2))))
    assert_equals_kymatio(images.float(), monkeypatch)


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": (32,)}, r"shape=\(32,\) .* \(height, width\)"),
        ({"shape": (0, 8)}, r"shape=\(0, 8\) .* >= 1"),
        ({"J": 0}, "J=0 .* whole number >= 1"),
        ({"J": 10**9}, "J=1000000000 .* at most 4"),
        ({"J": 2.0}, "J=2.0 .* whole number >= 1"),
        ({"J": 5}, r"J=5 .* at most 4, .* images of \(32, 40\); take a smaller J"),
        ({"L": 0}, "L=0 .* whole number >= 1"),
        ({"order": 3}, "order=3 .* 1 or 2"),
        ({"order": 0}, "order=0 .* 1 or 2"),
    ],
)
def test_scattering_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"Scattering: {message}"):
        Scattering(**({"shape": (32, 40)} | arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.zeros(2, 28, 28), r"shape \(2, 28, 28\), but \(n, 32, 40\)"),
        (torch.zeros(32, 40), r"shape \(32, 40\), but \(n, 32, 40\)"),
        (torch.zeros(0, 32, 40), r"with n >= 1 is needed"),
        (torch.zeros(1, 32, 40).int(), r"type torch.int32, .* images.float\(\)"),
        (torch.full((1, 32, 40), math.nan), r"images\[0\] holds NaN"),
        (torch.full((1, 32, 40), 1e16), r"images\[0\] holds .* beyond 1e\+15"),
    ],
)
def test_scattering_refuses_images(images: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Scattering((32, 40))(images)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((2, 784)), r"shape \(2, 784\), .* reshape flat rows"),
        (np.zeros((0, 28, 28)), r"shape \(0, 28, 28\), .* n >= 1"),
        (np.zeros((1, 28, 28), complex), "type complex128, but real numbers"),
        (np.zeros((1, 8, 28)), r"J=3 .* at most 2, .* take a smaller J"),
    ],
)
def test_scatter_refuses_images(images: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scatter(images)


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e300])
def test_scatter_counts_the_image_it_refuses_from_the_first(value: float) -> None:
    images = np.zeros((9, 16, 16))
    images[7, 3, 3] = value
    with pytest.raises(ValueError, match=r"images\[7\] holds NaN, infinity or values"):
        scatter(images, J=2, batch_size=2)


def test_scatter_refuses_batches_of_nothing() -> None:
    with pytest.raises(ValueError, match="batch_size=0 .* whole number >= 1"):
        scatter(np.zeros((1, 16, 16)), J=2, batch_size=0)
