// A field over long tables: rows that hold all its words stay. Of ICON's namelists a release can be chosen, too.
"use strict";

(() => {
  const article = document.querySelector("article");
  const rows = [...article.querySelectorAll("tbody tr")];
  const isNamelists = article.querySelector("table.namelist") !== null;
  const isRules = /\/rules\/(index\.html)?$/.test(location.pathname);
  if (!isNamelists && !isRules) return;

  const form = document.createElement("form");
  form.className = "filter";
  const words = document.createElement("input");
  words.type = "search";
  words.placeholder = isNamelists ? "variable, group or word" : "code, name or word";
  words.setAttribute("aria-label", words.placeholder);
  const told = document.createElement("output");
  form.append(words);
  let release = null;
  if (isNamelists) {
    release = document.createElement("select");
    release.setAttribute("aria-label", "release");
    const known = new Set(rows.flatMap((row) => (row.dataset.releases ?? "").split(" ")).filter(Boolean));
    release.append(new Option("all releases", ""), ...[...known].sort().map((name) => new Option(name, name)));
    form.append(release);
  }
  form.append(told);
  form.addEventListener("submit", (event) => event.preventDefault());
  article.querySelector("h1").after(form);

  const texts = new Map();
  for (const row of rows) {
    const group = row.closest("section").id;
    texts.set(row, `${group} ${row.textContent}`.toLowerCase());
  }

  function apply() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const releases = row.dataset.releases;
      const isIn = !release?.value || releases === undefined || releases.split(" ").includes(release.value);
      row.hidden = !(isIn && wanted.every((word) => texts.get(row).includes(word)));
      shown += row.hidden ? 0 : 1;
    }
    const isAll = wanted.length === 0 && !release?.value;
    for (const section of article.querySelectorAll("section section")) {
      section.hidden = !isAll && section.querySelector("tbody tr:not([hidden])") === null;
    }
    told.value = isAll ? "" : `${shown} of ${rows.length}`;
  }

  form.addEventListener("input", apply);
  form.addEventListener("change", apply);
  apply();
})();
