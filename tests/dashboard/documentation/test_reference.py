"""The reference: what its index and the pages of operations say, and how pages lead to each other."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.documentation import contents, endpoints, expansion, rendering, schema
from tests.pages.markup import page_of

pytestmark = pytest.mark.django_db


def test_the_index_says_which_permission_a_key_needs() -> None:
    index = expansion.expanded(contents.pages()["reference"])
    rows = dict(re.findall(r"^\| \[(\w+ /api/\S+)\]\S+ \| .+? \| (.+) \|$", index, re.MULTILINE))
    assert rows["GET /api/lookup/user"] == "`lookup:user`"
    assert rows["GET /api/chat/avatar/{user_id}"] == "none, and no key"
    assert rows["DELETE /api/imagehost/folders/{folder_id}"] == "an account key"
    assert len(rows) == len(list(schema.operations()))


def test_the_index_has_every_sign_in_endpoint() -> None:
    index = expansion.expanded(contents.pages()["reference"])
    pages = [page for page in contents.pages().values() if page.group == "Sign-in endpoints"]
    assert [page.title for page in pages if f"]({page.path}) | " not in index] == []


def test_an_operation_shows_the_request_of_its_guide_beside_its_parameters(client: Client) -> None:
    page = page_of(client.get("/docs/reference/lookup-user"))
    assert page.xpath("//p[contains(., 'The guide is')]/a/@href") == ["/docs/lookup/user"]
    beside = {each.xpath("string(.//h2)"): each for each in page.xpath("//*[@class='beside']")}
    assert set(beside) == {"Request", "Answer"}
    assert "value=ada" in beside["Request"].xpath("string(.//*[@data-language='sh']//code)")
    assert '"username": "ada"' in beside["Answer"].xpath("string(.//*[@data-language='json']//code)")


def test_an_operation_without_a_guide_has_a_request_that_is_made_of_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoints, "_guides", dict)
    written = {each.id: endpoints.operation(each.id) for each in schema.operations()}
    assert [name for name, text in written.items() if "```sh\ncurl" not in text or "```js\n" not in text] == []
    assert '--data-urlencode "type=chat" \\\n  --data-urlencode "value=$VALUE" \\\n' in written["lookup_user"]
    assert '/api/lookup/presence/268473310986240001" \\\n' in written["lookup_presence"]
    assert '/api/imagehost/folders/$FOLDER_ID" \\\n' in written["imagehost_folder"]
    assert '--header "Authorization: Bearer $API_KEY"' in written["imagehost_folder"]


def test_the_method_of_a_request_has_a_label(client: Client) -> None:
    for path in ("/docs/reference", "/docs/reference/imagehost-create-folder", "/docs/imagehost/create-folder"):
        labels = page_of(client.get(path)).xpath("//main//*[@class='method method--post']")
        assert {each.text for each in labels} == {"POST"}
        assert any("/api/imagehost/folders" in each.getparent().text_content() for each in labels)


def test_a_heading_is_a_link_to_itself_unless_it_holds_a_link() -> None:
    made = rendering.rendered("# Page\n\n## Fields\n\n## With [a link](/docs)\n")
    assert '<h2 id="fields"><a class="heading-link" href="#fields">Fields</a></h2>' in made.rest
    assert made.rest.count("heading-link") == 1


@pytest.mark.parametrize("slug", ["", "lookup/user", "reference/lookup-user", list(contents.pages())[-1]])
def test_a_page_leads_to_the_pages_before_and_after_it(client: Client, slug: str) -> None:
    pages = list(contents.pages().values())
    at = pages.index(contents.pages()[slug])
    around = [*pages[max(at - 1, 0) : at], *pages[at + 1 : at + 2]]
    (nav,) = page_of(client.get(contents.pages()[slug].path)).xpath("//nav[@class='docs-onward']")
    assert nav.xpath(".//a/@href") == [page.path for page in around]
