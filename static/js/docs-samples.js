// One language at a time: buttons above each group of samples. The choice is kept. Without this script all are shown.
const KEY = "docs-language";
const groups = [...document.querySelectorAll(".samples")].filter((group) => group.children.length > 1);

function remembered() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function remember(language) {
  try { localStorage.setItem(KEY, language); } catch { /* storage may be switched off */ }
}

function show(language) {
  for (const group of groups) {
    const snippets = [...group.querySelectorAll(".snippet")];
    const wanted = snippets.find((snippet) => snippet.dataset.language === language) ?? snippets[0];
    for (const snippet of snippets) snippet.hidden = snippet !== wanted;
    for (const button of group.querySelectorAll(".samples__choice button")) {
      button.setAttribute("aria-pressed", String(button.dataset.language === wanted.dataset.language));
    }
  }
}

for (const group of groups) {
  const bar = document.createElement("div");
  bar.className = "samples__choice";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Language of the sample");
  for (const snippet of group.querySelectorAll(".snippet")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button--quiet button--small";
    button.dataset.language = snippet.dataset.language;
    button.textContent = snippet.querySelector(".snippet__head span").textContent;
    button.addEventListener("click", () => { remember(snippet.dataset.language); show(snippet.dataset.language); });
    bar.append(button);
  }
  group.prepend(bar);
}
show(remembered());

// A link to one of several choices chooses it.
function choose() {
  const panel = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest(".tabbed__panel");
  if (!panel) return;
  panel.previousElementSibling.previousElementSibling.checked = true;
  panel.scrollIntoView();
}

addEventListener("hashchange", choose);
choose();
