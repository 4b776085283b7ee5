"use strict";
(() => {
  const open = (id) => {
    const found = id && document.getElementById(id);
    for (let it = found; it; it = it.parentElement) if (it.tagName === "DETAILS") it.open = true;
    if (found) found.scrollIntoView();
  };
  addEventListener("hashchange", () => open(location.hash.slice(1)));
  open(location.hash.slice(1));

  const form = document.getElementById("search");
  if (!form) return;
  const [words, show, all] = ["words", "show", "all"].map((id) => document.getElementById(id));
  const said = document.getElementById("found");
  const endpoints = [...document.querySelectorAll("details.endpoint")];
  const texts = new Map(endpoints.map((it) => [it, it.textContent.toLowerCase()]));
  const others = [...document.querySelectorAll("[data-of]")];

  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text) => wanted.every((word) => text.includes(word));
    const shown = new Set();
    for (const it of endpoints) {
      const is = (!show.value || it.dataset.is.split(" ").includes(show.value)) && has(texts.get(it));
      it.hidden = !is;
      if (is) shown.add(it.id);
    }
    for (const it of others) {
      const of = it.dataset.of.split(" ").filter(Boolean);
      it.hidden = of.length ? !of.some((id) => shown.has(id)) : !has(it.textContent.toLowerCase());
    }
    const count = `${shown.size} of ${endpoints.length} endpoints`;
    said.textContent = wanted.length || show.value ? count : "";
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  all.addEventListener("click", () => {
    const closed = endpoints.some((it) => !it.hidden && !it.open);
    for (const it of endpoints) if (!it.hidden) it.open = closed;
    all.textContent = closed ? "Close all" : "Open all";
  });
  filter();
})();
