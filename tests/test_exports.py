"""The public names."""

import kfriendly


def test_every_public_name_can_be_imported() -> None:
    assert [
        name for name in kfriendly.__all__ if getattr(kfriendly, name) is None
    ] == []
    assert set(kfriendly.__all__) <= set(dir(kfriendly))


def test_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(kfriendly, "nonsense")
