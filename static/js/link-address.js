// Fills in what follows from the address of a link while it is typed, where the owner has not written anything else. The
// server, which has the table of platforms, does the same when the form is saved.
const form = document.querySelector("form[data-address]");

if (form) {
  const { url, title, platform_id, platform_type } = form.elements;
  const fields = [title, platform_id, platform_type];
  const help = document.getElementById(`${url.id}_helptext`);
  const plain = help.textContent;
  // What the last address gave, by field; null until that is known.
  let given = url.value ? null : { title: "", platform_id: "", platform_type: "" };
  let latest = 0;
  let waiting = 0;

  async function read() {
    const asked = ++latest;
    const body = new URLSearchParams({ csrfmiddlewaretoken: form.elements.csrfmiddlewaretoken.value, url: url.value });
    body.set("is_text", form.elements.is_text.value);
    const response = await fetch(form.dataset.address, { method: "POST", body }).catch(() => null);
    if (!response?.ok || response.redirected || asked !== latest) return;
    const found = await response.json();
    help.textContent = found.name ? `${found.name}: its title, platform and icon are filled in.` : plain;
    if (given) {
      for (const field of fields.filter(({ name, value }) => ["", given[name]].includes(value))) field.value = found[field.name];
      title.dispatchEvent(new Event("input", { bubbles: true }));
    }
    given = found;
  }

  form.addEventListener("input", ({ target }) => {
    if (target !== url && target.name !== "is_text") return;
    clearTimeout(waiting);
    waiting = setTimeout(read, 250);
  });
  if (url.value) read();
}
