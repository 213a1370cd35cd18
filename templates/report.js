"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const family = one("family"), measure = one("measure"), filter = one("filter"), shown = one("shown"), tip = one("tip");
  const more = one("more"), body = document.querySelector("#runs tbody"), MANY = 500;
  let most = MANY; // rows that are shown: thousands at once are slow

  // A run of the table: its family, what it says in all, the text of a column, and its row. The rows are in the page, or
  // if they are very many, made from the data of the page when they are looked at.
  const make = (tag, text = "", name = "") => {
    const element = document.createElement(tag);
    element.textContent = text;
    if (name) element.className = name;
    return element;
  };
  const written = () => [...body.rows].map((row) => {
    const text = row.textContent.toLowerCase();
    return { family: row.dataset.family, text: () => text, of: (column) => value(row, column), row: () => row };
  });
  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v === undefined) return cell.textContent.trim();
    return cell.dataset.v === "" ? null : Number(cell.dataset.v);
  };
  const listed = ({ names, families, columns }) => {
    const says = (column, at) => {
      const text = column.texts ? column.texts[column.cells[at]] : column.cells[at];
      return text.includes("\u0001") ? text.replaceAll("\u0001", names[at]) : text;
    };
    const cells = columns.filter((column) => column.kind !== "detail");
    const details = columns.filter((column) => column.kind === "detail");
    const opened = (at) => {
      const list = make("dl");
      for (const column of details) {
        const text = says(column, at);
        if (text) list.append(make("dt", column.title), make("dd", text));
      }
      const element = make("details");
      element.append(make("summary", names[at]), list);
      return element;
    };
    const state = (text) => {
      const [word, mark] = text.split(" "), cell = make("td", "", "w");
      cell.append(make("span", word, `state ${word}`));
      if (mark) cell.append(" ", make("span", mark, `mark ${mark}`));
      return cell;
    };
    const kinds = { text: "", number: "n", family: "f" };
    const row = (at) => {
      const element = make("tr"), head = make("th");
      element.dataset.family = `f${families[at]}`;
      head.scope = "row";
      head.append(opened(at));
      element.append(head);
      for (const column of cells) {
        const text = says(column, at);
        element.append(column.kind === "state" ? state(text) : make("td", text, kinds[column.kind]));
      }
      return element;
    };
    const plain = (text) => {
      const number = parseFloat(text.replace(/[\s+]/g, "").replace("\u2212", "-"));
      return Number.isNaN(number) ? null : number;
    };
    return names.map((name, at) => {
      let text, element;
      return {
        family: `f${families[at]}`,
        text: () => text ??= [name, ...columns.map((column) => says(column, at))].join(" ").toLowerCase(),
        of: (column) => {
          if (column === 0) return name;
          const said = says(cells[column - 1], at);
          return cells[column - 1].kind === "number" ? plain(said) : said;
        },
        row: () => element ??= row(at),
      };
    });
  };
  const data = one("data");
  let runs = data ? listed(JSON.parse(data.textContent)) : written();

  for (const element of all(".controls")) element.hidden = false;

  const show = () => {
    const chosen = family ? family.value : "";
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const belongs = (element) => !chosen || element.dataset.family === chosen;
    for (const element of all("[data-family]")) if (!element.closest("#runs")) element.toggleAttribute("hidden", !belongs(element));
    const fitting = runs.filter((run) => (!chosen || run.family === chosen) && (!words.length || words.every((word) => run.text().includes(word))));
    const count = fitting.length;
    body.replaceChildren(...fitting.slice(0, most).map((run) => run.row()));
    shown.textContent = `${count} of ${runs.length} runs${count > most ? `, the first ${most} are shown` : ""}`;
    more.hidden = count <= most;
    if (measure) for (const figure of all("[data-measure]")) figure.hidden = figure.dataset.measure !== measure.value;
  };
  for (const control of [family, measure]) if (control) control.addEventListener("change", show);
  filter.addEventListener("input", show);
  more.addEventListener("click", () => { most = Infinity; show(); });
  for (const form of all("form")) form.addEventListener("submit", (event) => event.preventDefault());

  // A family without figures of its own: its runs are shown.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-choose]");
    if (!link || !family) return;
    family.value = link.dataset.choose;
    show();
  });

  const follow = () => {
    const target = one(location.hash.slice(1));
    if (target && family && target.dataset.family && family.value && target.dataset.family !== family.value) {
      family.value = "";
      show();
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);

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
        const keyed = runs.map((run) => [run.of(column), run]);
        keyed.sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : sign * compare(a, b)));
        runs = keyed.map(([, run]) => run);
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
