"""Every name of the store is a function, whichever subject it is loaded from."""

import pytest

from nobrakes.store import Store, open_memory


@pytest.mark.parametrize("name", sorted(name for name in vars(Store) if not name.startswith("__")))
def test_a_name_of_the_store_is_loaded_when_it_is_asked_for(name: str) -> None:
    store = open_memory()
    assert callable(getattr(store, name))
    store.close()
    assert getattr(Store, name) is vars(Store)[name], "it is a plain function from then on"
