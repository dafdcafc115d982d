"""Every program on every page does what the page says, called by a reader of the running service."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image

from tests.dashboard.documentation import programs_of_pages
from tests.dashboard.documentation.programs_of_pages import LANGUAGES, Place
from tests.dashboard.documentation.sample_service import SampleService
from tests.journeys import services
from tests.support import clients, node, processes, programs

pytestmark = pytest.mark.live

VERIFY = "patterns/verify-id-token"
LOGOUT = "sign-in/back-channel-logout"  # tests.journeys.test_back_channel_logout
NOT_DATA = {  # pages whose programs print something else than one JSON document
    "sign-in/authorize",
    "sign-in/revoke",
    "sign-in/end-session",
    LOGOUT,
    "lookup/presence-events",
    "lookup/presence-events-of-many",
    "quickstarts/presence",
    "lookup/chat-avatar",
    "imagehost/uploaders",
    "patterns/streams",
    "patterns/webhooks",  # test_webhook_receivers.py
}
# What a page's own fields are called, where the answer is a list, and where it shares the fields of another page.
FIELDS_STAND_ON = {
    "": "lookup/user",
    "client-libraries": "lookup/user",
    "quickstarts/lookup": "lookup/user",
    "quickstarts/upload": "imagehost/upload",
    "lookup/uid": "lookup/username",
    "patterns/pagination": "imagehost/gallery",
    "patterns/retries": "lookup/user",
    VERIFY: "sign-in/scopes",
    **{f"leaderboards/{board}": "leaderboards/entry" for board in ("views", "badges", "uid")},
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleService]:
    directory = tmp_path_factory.mktemp("samples")
    with services.embedded_server(directory, RATE_LIMITS_ENABLED="0") as server:
        yield SampleService.enter(server.base_url, directory / "var")
    services.forget(directory)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """With a picture, the packages of Node, our library, and a stand-in for the program that takes screenshots."""
    modules = tmp_path / "node_modules"
    clients.link_typescript(modules)
    for package in node.MODULES.glob("[!.]*"):
        (modules / package.name).symlink_to(package)
    Image.new("RGB", (8, 8), "teal").save(tmp_path / "picture.png")
    flameshot = tmp_path / "flameshot"
    flameshot.write_text('#!/bin/sh\ntest "$*" = "gui --raw" && cat picture.png\n')
    flameshot.chmod(0o700)
    return tmp_path


def environment_for(service: SampleService, place: Place) -> dict[str, str]:
    """What the page tells the reader to set, freshly made where a program uses it up."""
    values = service.environment(place.slug)
    if place.slug == "sign-in/token":
        values |= service.code() if place.number == 0 else service.tokens()
    elif place.slug.startswith("sign-in/") or place.slug == VERIFY:
        values |= service.tokens()
    if place.slug.startswith("imagehost/"):
        service.forget_folders("Screenshots of", "Sample", "Pictures")
        values["FOLDER_ID"] = service.fresh_folder()
    return values


DATA = [place for place in programs_of_pages.places() if place.slug not in NOT_DATA]
WITH_EXAMPLE = {  # pages with one example, which is the answer of their first sample
    *("sign-in/token", "sign-in/userinfo", "sign-in/introspect", "sign-in/jwks"),
    *("quickstarts/lookup", "quickstarts/upload"),
    *("lookup/presence", "imagehost/upload", "imagehost/earlier-upload", "imagehost/gallery", "imagehost/folders"),
    *("imagehost/create-folder", "imagehost/folder", "imagehost/change-folder", "imagehost/delete-folder"),
}


@pytest.mark.parametrize("place", DATA, ids=str)
def test_a_sample_prints_an_answer_with_the_documented_fields(
    service: SampleService, directory: Path, place: Place
) -> None:
    text = programs_of_pages.program(service.twin(place.slug), place)
    output = programs_of_pages.run(text, place.language, directory, environment_for(service, place))
    answer: Any = programs_of_pages.read(output, place.language)
    entry = answer[0] if isinstance(answer, list) else answer
    documented = set(re.findall(r"`(\w+)`", service.twin(FIELDS_STAND_ON.get(place.slug, place.slug))))
    assert entry
    assert set(entry) <= documented
    if place.slug in WITH_EXAMPLE and place.number == 0:
        (example,) = programs_of_pages.examples(service.twin(place.slug))
        assert shape(answer) == shape(example)


def shape(value: Any) -> Any:
    """The keys of an answer's objects; of what lies in lists nothing, as examples hold less."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items() if key not in ("activity", "badges", "clan")}
    return "value"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_authorize_samples_print_a_verifier_and_an_address_that_leads_back_with_a_code(
    service: SampleService, directory: Path, language: str
) -> None:
    text = programs_of_pages.program(service.twin("sign-in/authorize"), Place("sign-in/authorize", language, 0))
    kept, url = programs_of_pages.run(text, language, directory, {}).split()
    asked = parse_qs(urlsplit(url).query)
    digest = hashlib.sha256(kept.removeprefix("CODE_VERIFIER=").encode()).digest()
    assert asked["code_challenge"] == [base64.urlsafe_b64encode(digest).rstrip(b"=").decode()]
    answered = parse_qs(urlsplit(service.open_authorize(url)).query)
    assert asked["client_id"] == [service.demo["app"]["client_id"]]
    assert answered["state"] == asked["state"]
    assert answered["iss"] == [service.base_url]
    assert answered["code"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_revoke_samples_print_200_and_the_token_is_dead(
    service: SampleService, directory: Path, language: str
) -> None:
    values = environment_for(service, Place("sign-in/revoke", language, 0))
    text = programs_of_pages.program(service.twin("sign-in/revoke"), Place("sign-in/revoke", language, 0))
    assert programs_of_pages.run(text, language, directory, values).strip() == "200"
    asking = programs_of_pages.program(service.twin("sign-in/introspect"), Place("sign-in/introspect", language, 0))
    output = programs_of_pages.run(asking, language, directory, values)
    assert programs_of_pages.read(output, language) == {"active": False}


def test_the_end_session_sample_prints_400(service: SampleService, directory: Path) -> None:
    text = programs_of_pages.program(service.twin("sign-in/end-session"), Place("sign-in/end-session", "sh", 0))
    assert programs_of_pages.run(text, "sh", directory, {}).strip() == "400"


OTHER_VALUES = {  # what a program has to refuse, by what it then says
    "nonce": ("NONCE", "other"),
    "ignature": ("ID_TOKEN", "{header}.{claims}.{changed}"),
    "ssue|iss": ("issuer", "https://other.example"),
    "udience|aud": ("client_id", "other"),
}


@pytest.mark.parametrize("language", ["python", "js"])
@pytest.mark.parametrize("refusal", OTHER_VALUES)
def test_the_verify_samples_refuse_a_token_of_another_sign_in_app_or_issuer(
    service: SampleService, directory: Path, language: str, refusal: str
) -> None:
    place = Place(VERIFY, language, 0)
    text, values = programs_of_pages.program(service.twin(VERIFY), place), environment_for(service, place)
    name, other = OTHER_VALUES[refusal]
    header, claims, signature = values["ID_TOKEN"].split(".")
    changed = ("B" if signature[0] == "A" else "A") + signature[1:]
    if name in values:
        values[name] = other.format(header=header, claims=claims, changed=changed)
    elif name == "client_id":
        text = text.replace(service.demo["app"]["client_id"], other)
    else:
        text = re.sub(
            r"(issuer=ISSUER|issuer,)", f'issuer{"=" if language == "python" else ": "}"{other}",', text, count=1
        )
    with pytest.raises(AssertionError, match=refusal):
        programs_of_pages.run(text, language, directory, values)


@pytest.mark.parametrize(("language", "program", "option"), [("php", "php", "-l"), ("go", "gofmt", "-e")])
def test_the_verify_programs_whose_library_is_out_of_reach_can_be_parsed(
    service: SampleService, directory: Path, language: str, program: str, option: str
) -> None:
    file = directory / f"verify.{language}"
    file.write_text(programs_of_pages.program(service.twin(VERIFY), Place(VERIFY, language, 0)))
    path = programs.found(program)[program]
    checked = processes.run([str(path), option, file.name], seconds=60, cwd=directory)
    assert checked.returncode == 0, checked.stdout


def test_the_follower_prints_the_presence(service: SampleService, directory: Path) -> None:
    text = programs_of_pages.program(service.twin("patterns/streams"), Place("patterns/streams", "python", 0))
    values = service.environment("patterns/streams")
    lines = programs_of_pages.follow(text, "python", directory, values, until="presence ")
    assert lines[-1].startswith('presence {"id":"268473310986240001"')


@pytest.mark.parametrize("slug", ["lookup/presence-events", "lookup/presence-events-of-many", "quickstarts/presence"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_event_samples_print_the_first_presence(
    service: SampleService, directory: Path, language: str, slug: str
) -> None:
    text = programs_of_pages.program(service.twin(slug), Place(slug, language, 0))
    lines = programs_of_pages.follow(text, language, directory, service.environment(slug), until="data: ")
    assert "event: presence" in lines
    assert lines[-1].startswith('data: {"id":"268473310986240001"')


@pytest.mark.parametrize("language", ["python", "js"])
def test_the_samples_with_a_library_print_the_status(service: SampleService, directory: Path, language: str) -> None:
    slug = "quickstarts/presence"
    text = programs_of_pages.program(service.twin(slug), Place(slug, language, 1))
    lines = programs_of_pages.follow(text, language, directory, service.environment(slug), until="presence ")
    assert re.fullmatch("presence (online|idle|dnd|offline|streaming)", lines[-1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_chat_picture_samples_print_where_it_is(service: SampleService, directory: Path, language: str) -> None:
    slug = "lookup/chat-avatar"
    text = programs_of_pages.program(service.twin(slug), Place(slug, language, 0))
    output = programs_of_pages.run(text, language, directory, {})
    assert re.fullmatch(r"https?://\S+\n", output)


@pytest.mark.parametrize("number", [0, 1])
def test_the_uploaders_upload(service: SampleService, directory: Path, number: int) -> None:
    text = programs_of_pages.program(service.twin("imagehost/uploaders"), Place("imagehost/uploaders", "sh", number))
    output = programs_of_pages.run(text, "sh", directory, {"API_KEY": service.key("imagehost:upload")})
    assert programs_of_pages.read(output, "sh")["ok"] is True
