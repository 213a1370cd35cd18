"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const family = one("family"), measure = one("measure"), filter = one("filter"), shown = one("shown"), tip = one("tip");
  const more = one("more"), body = document.querySelector("#runs tbody"), MANY = 500;
  const texts = new Map([...body.rows].map((row) => [row, row.textContent.toLowerCase()]));
  let most = MANY; // rows that are shown: thousands at once are slow

  for (const element of all(".controls")) element.hidden = false;

  const show = () => {
    const chosen = family ? family.value : "";
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const belongs = (element) => !chosen || element.dataset.family === chosen;
    for (const element of all("[data-family]")) if (!element.closest("#runs")) element.toggleAttribute("hidden", !belongs(element));
    let count = 0;
    for (const row of body.rows) {
      const fits = belongs(row) && words.every((word) => texts.get(row).includes(word));
      count += fits;
      row.hidden = !fits || count > most;
    }
    shown.textContent = `${count} of ${texts.size} runs${count > most ? `, the first ${most} are shown` : ""}`;
    more.hidden = count <= most;
    if (measure) for (const figure of all("[data-measure]")) figure.hidden = figure.dataset.measure !== measure.value;
  };
  for (const control of [family, measure]) if (control) control.addEventListener("change", show);
  filter.addEventListener("input", show);
  more.addEventListener("click", () => { most = Infinity; show(); });
  for (const form of all("form")) form.addEventListener("submit", (event) => event.preventDefault());

  const follow = () => {
    const target = one(location.hash.slice(1));
    if (target && family && target.dataset.family && family.value && target.dataset.family !== family.value) {
      family.value = "";
      show();
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);

  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v === undefined) return cell.textContent.trim();
    return cell.dataset.v === "" ? null : Number(cell.dataset.v);
  };
  const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  {
    const heads = all("#runs thead th");
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const keyed = [...body.rows].map((row) => [value(row, column), row]);
        keyed.sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : sign * compare(a, b)));
        const sorted = document.createDocumentFragment();
        for (const [, row] of keyed) sorted.append(row);
        body.append(sorted);
        show();
      });
    });
  }

  document.addEventListener("pointerover", (event) => {
    const dot = event.target.closest(".dot, .line");
    const title = dot && dot.querySelector("title");
    tip.hidden = !title && !(dot && dot.dataset.says);
    if (tip.hidden) return;
    if (title) {
      dot.dataset.says = title.textContent;
      title.remove();
      dot.setAttribute("aria-label", dot.dataset.says);
    }
    tip.textContent = dot.dataset.says;
    const around = dot.getBoundingClientRect(), box = tip.getBoundingClientRect();
    const at = dot.matches(".dot") ? around : new DOMRect(event.clientX, event.clientY - 6, 0, 12);
    const left = Math.min(Math.max(at.left + at.width / 2 - box.width / 2, 4), innerWidth - box.width - 4);
    const top = at.top - box.height - 6;
    tip.style.transform = `translate(${left}px, ${top < 4 ? at.bottom + 6 : top}px)`;
  });

  show();
})();
