from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.ui.shell.drag_and_drop import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.paths import Paths
    from tests.ui.conftest import Driver


def test_first_run_offers_two_models_beside_a_working_library(
    opened: Callable[[], Driver],
) -> None:
    driver = opened()
    page = driver.window.conversation.first_run
    assert page is not None
    assert page.isVisible()
    assert list(page.cards) == ["big", "tiny"]
    assert driver.window.conversation.welcome.isVisible()
    driver.add("metals.pdf")
    assert page.isVisible()
    assert not driver.window.conversation.welcome.isVisible()


def test_download_shows_progress_can_be_cancelled_and_goes_on(
    opened: Callable[[], Driver], paths: Paths
) -> None:
    driver = opened()
    driver.add("metals.pdf")
    page = driver.window.conversation.first_run
    assert page is not None
    card = page.cards["tiny"]
    assert card.get.text() == "Download"
    card.get.click()
    driver.until(lambda: " of 491 MB · " in card.state.text() and "12 s left" in card.state.text())
    card.cancel.click()
    driver.until(card.get.isVisible)
    assert card.get.text() == "Go on downloading"
    card.get.click()
    driver.until(driver.window.conversation.view.isVisible)
    assert (paths.models / "tiny.gguf").exists()
    assert driver.window.conversation.composer.model.text() == "Tiny"
    assert driver.ask("now?").answer is not None


def test_partial_download_is_offered_after_a_restart(
    opened: Callable[[], Driver], paths: Paths
) -> None:
    (paths.models / ".partial" / "tiny").mkdir(parents=True)
    page = opened().window.conversation.first_run
    assert page is not None
    assert page.cards["tiny"].get.text() == "Go on downloading"
    assert page.cards["big"].get.text() == "Download"


def test_models_are_listed_used_and_removed(driver: Driver, paths: Paths) -> None:
    driver.add("metals.pdf")
    (paths.models / "big.gguf").touch()
    session = driver.window.session
    assert session is not None
    session.open_models()
    page = driver.window.conversation.all_models
    assert page is not None
    driver.window.model_list.load()
    driver.until(lambda: "big" in page.cards and page.cards["big"].model.installed)
    driver.window.workers.fetcher.request("models", on_event=lambda _: None)
    page.use_wanted.emit("big")
    assert driver.window.conversation.view.isVisible()
    message = driver.ask("who?")
    assert message.answer is not None
    assert message.answer.model == "big"
    session.open_models()
    page.cards["big"].remove.click()
    driver.until(lambda: not driver.window.model_list.models["big"].installed)
    assert driver.window.conversation.composer.model.text() == "Tiny"


def test_own_model_is_described_and_offered(driver: Driver) -> None:
    file = driver.folder / "own-model.gguf"
    file.touch()
    driver.add("metals.pdf")
    driver.window.importer.add(Dropped(models=(file,)))
    notices = driver.window.notices
    notices.dismiss()
    driver.until(lambda: "llama · 2,048 tokens" in notices.text.text())
    notices.button.click()
    message = driver.ask("who?")
    assert message.answer is not None
    assert message.answer.model == "own-model"


def test_file_that_is_no_model_is_refused_with_a_reason(driver: Driver) -> None:
    file = driver.folder / "bad.gguf"
    file.touch()
    driver.window.importer.add(Dropped(models=(file,)))
    driver.window.notices.dismiss()
    driver.until(lambda: "It is no GGUF file" in driver.window.notices.text.text())
