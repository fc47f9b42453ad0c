// The gallery: cards that are filtered and sorted, and one image at a time with all its maps, by mouse and keyboard.
"use strict";
(() => {
  const data = window.SEGSTRESS_GALLERY;
  const section = document.getElementById("gallery");
  if (!data || !section) return;
  section.hidden = false;
  const find = selector => section.querySelector(selector);
  const form = find("form"), cards = find(".cards"), count = find("#gallery-count"), more = find(".more");
  const box = find("dialog"), panes = find(".panes"), legend = find(".lightbox .legend"), border = find(".border");
  const STEP = 48; // cards added at a time
  const percent = share => share === null ? "-" : (100 * share).toFixed(1);
  const make = (tag, settings = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), settings);
    element.append(...children);
    return element;
  };

  // ---- entries: one for each picture of an image under a perturbation
  const entries = data.studies.flatMap((study, number) => study.frames.map(frame => {
    const [image, outcome, accuracy, miou, size, amplified, added] = frame;
    const [id, slug, clean, clean_miou, classes, object, warning] = study.images[image];
    return {
      study, number, id, slug, clean, clean_miou, classes, added, object, warning, accuracy, miou, size, amplified,
      label: study.outcomes[outcome][0], outcome: study.outcomes[outcome][1],
      lost: accuracy === null ? null : clean - accuracy, lost_miou: miou === null ? null : clean_miou - miou,
      key: [study.name, slug, study.outcomes[outcome][1]].join("/"),
    };
  }));
  const byKey = new Map(entries.map(entry => [entry.key, entry]));
  const worst = new Map();
  for (const entry of entries) {
    const image = entry.study.name + "/" + entry.slug, before = worst.get(image);
    if (!before || (entry.accuracy ?? Infinity) < (before.accuracy ?? Infinity)) worst.set(image, entry);
  }

  const file = (entry, column, small) => {
    const name = column.name.replaceAll(" ", "-");
    const parts = [entry.study.name, entry.slug, ...(column.shared ? [] : [entry.outcome]), name];
    const copied = small && entry.study.large;
    return "gallery/" + (copied ? "small/" : "") + parts.join("--") + (copied && !column.map ? ".jpg" : ".png");
  };
  const column = name => data.columns.find(other => other.name === name);
  const picture = (entry, name, small) => make("img", {
    src: file(entry, column(name), small), loading: "lazy", decoding: "async",
    alt: entry.id + ", " + name, className: column(name).map ? "map" : "", draggable: false,
  });

  // ---- filters
  const fill = (select, options) => select.append(make("option", { value: "", textContent: "all" }),
    ...[...new Map(options)].map(([value, words]) => make("option", { value, textContent: words })));
  fill(form.model, data.studies.map((study, number) =>
    [String(number), [study.model, study.data, study.threat].filter(Boolean).join(", ")]));
  fill(form.outcome, entries.map(entry => [entry.label, entry.label]));
  const present = new Set(entries.flatMap(entry => entry.classes.map(number => entry.study.classes[number][0])));
  fill(form.class, [...present].map(name => [name, name]));

  const fields = ["model", "outcome", "class", "drop", "object", "sort", "reverse", "strongest", "warned"];
  const initial = Object.fromEntries(fields.map(name => [name, read(name)]));
  function read(name) {
    const field = form[name];
    return field.type === "checkbox" ? (field.checked ? "1" : "") : field.value;
  }
  const set = (name, text) => {
    const field = form[name];
    if (field.type === "checkbox") field.checked = text === "1"; else field.value = text;
  };

  let shown = [];
  const wanted = entry => {
    const object = Number(form.object.value), drop = Number(form.drop.value);
    return (!form.model.value || entry.number === Number(form.model.value))
      && (!form.outcome.value || entry.label === form.outcome.value)
      && (!form.class.value || entry.classes.some(number => entry.study.classes[number][0] === form.class.value))
      && (drop <= 0 || 100 * entry.lost >= drop)
      && (!object || (entry.object !== null && entry.object <= object))
      && (!form.strongest.checked || form.outcome.value || worst.get(entry.study.name + "/" + entry.slug) === entry)
      && (!form.warned.checked || entry.warning);
  };
  const order = (left, right) => {
    const by = form.sort.value, turn = (by.startsWith("lost") || by === "size" ? -1 : 1) * (form.reverse.checked ? -1 : 1);
    if ((left[by] === null) !== (right[by] === null)) return left[by] === null ? 1 : -1; // what has no figure comes last
    const difference = by === "id" ? left.id.localeCompare(right.id) : left[by] - right[by];
    return turn * difference || left.key.localeCompare(right.key);
  };

  const card = entry => {
    const words = make("span", { className: "caption" },
      make("b", { textContent: entry.id }), " ",
      percent(entry.clean) + " → " + percent(entry.accuracy) + " %", make("br"),
      make("span", { className: "soft", textContent: entry.study.model + ", " + entry.label }));
    if (entry.warning) words.append(make("br"), make("span", { className: "unchecked", textContent: entry.warning }));
    const views = make("span", { className: "views" }, ...["image", "clean prediction", "prediction"].map(name => picture(entry, name, true)));
    const button = make("button", { type: "button", className: "card" }, views, words);
    button.addEventListener("click", () => open(entry));
    return button;
  };
  const grow = () => {
    cards.append(...shown.slice(cards.childElementCount, cards.childElementCount + STEP).map(card));
    more.hidden = cards.childElementCount >= shown.length;
  };
  const show = () => {
    shown = entries.filter(wanted).sort(order);
    cards.replaceChildren();
    count.textContent = shown.length + " of " + entries.length + " pictures"
      + (shown.length ? "" : ": nothing fits these filters; clear them to see all");
    grow();
  };
  new IntersectionObserver(seen => { if (seen[0].isIntersecting) grow(); }, { rootMargin: "800px" }).observe(more);

  // ---- the address: #gallery?model=0&...&at=study/image/outcome
  const address = () => {
    const words = new URLSearchParams();
    for (const name of fields) if (read(name) !== initial[name]) words.set(name, read(name));
    if (box.open) words.set("at", current.key);
    const text = words.toString();
    history.replaceState(null, "", text ? "#gallery?" + text : box.open || location.hash.startsWith("#gallery?") ? "#gallery" : location.hash || location.pathname);
  };
  const arrive = () => {
    if (!location.hash.startsWith("#gallery?")) return;
    const words = new URLSearchParams(location.hash.slice("#gallery?".length));
    for (const name of fields) set(name, words.get(name) ?? initial[name]);
    show();
    window.segstressFold?.unfold(form);
    const entry = byKey.get(words.get("at"));
    if (entry) open(entry); else section.scrollIntoView();
  };
  form.addEventListener("input", () => { show(); address(); });
  form.addEventListener("reset", () => setTimeout(() => { show(); address(); }));
  form.addEventListener("submit", event => event.preventDefault());

  // ---- one image
  let current = null, mode = "", timer = 0;
  const view = { zoom: 1, x: 50, y: 50 };
  const place = () => {
    panes.style.setProperty("--zoom", view.zoom);
    panes.style.setProperty("--x", view.x + "%");
    panes.style.setProperty("--y", view.y + "%");
  };
  const pane = (caption, ...images) => make("figure", { className: "pane" },
    make("div", { className: "frame" }, ...images), make("figcaption", { textContent: caption }));
  const pair = (entry, caption, before, after) => {
    const images = [picture(entry, before), picture(entry, after)];
    images[1].classList.add("after");
    return pane(caption, ...images);
  };
  const caption = (entry, name) => name === "delta" ? "delta, " + entry.amplified + " times" : name;
  const row = entry => {
    if (mode === "models") {
      const head = make("p", { className: "row", textContent: entry.study.model + ": " + percent(entry.clean) + " → " + percent(entry.accuracy) + " % right" });
      return [head, ...["image", "truth", "clean prediction", "perturbed image", "prediction", "error map"].map(name => pane(name, picture(entry, name)))];
    }
    if (mode) return [pair(entry, "image", "image", "perturbed image"), pair(entry, "prediction", "clean prediction", "prediction")];
    return data.columns.map(({ name }) => pane(caption(entry, name), picture(entry, name)));
  };
  const rivals = entry => entries.filter(other => other.id === entry.id && other.label === entry.label
    && other.study.data === entry.study.data && other.study.threat === entry.study.threat);

  const draw = () => {
    find(".lightbox .name").textContent = current.id;
    find(".lightbox .words").textContent = current.study.model + ", " + current.study.threat + ": "
      + percent(current.clean) + " → " + percent(current.accuracy) + " % right, mIoU "
      + percent(current.clean_miou) + " → " + percent(current.miou) + " %"
      + (current.size === null ? "" : ", size " + current.size.toPrecision(3)) + (current.warning ? "; " + current.warning : "");
    const select = find(".lightbox .outcome"), study = current.study;
    const tried = entries.filter(entry => entry.study === study && entry.slug === current.slug);
    select.replaceChildren(...tried.map(entry => make("option", {
      value: entry.key, selected: entry === current, textContent: entry.label + " (" + percent(entry.accuracy) + " %)" })));
    for (const name of ["models", "blink", "swipe"])
      find("[data-do=" + name + "]").setAttribute("aria-pressed", String(mode === name));
    find("[data-do=models]").hidden = rivals(current).length < 2;
    border.hidden = mode !== "swipe";
    panes.className = "panes " + mode;
    panes.replaceChildren(...(mode === "models" ? rivals(current).flatMap(row) : row(current)));
    clearInterval(timer);
    panes.classList.remove("turned");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (mode === "blink" && !still) timer = setInterval(() => panes.classList.toggle("turned"), 500);
    legend.replaceChildren(...current.study.classes.filter((_, number) => current.classes.includes(number) || current.added.includes(number)).map(([name, colour]) => {
      const mark = make("span");
      mark.style.background = colour;
      const item = make("li", { tabIndex: 0 }, mark, name);
      for (const enter of ["pointerenter", "focus"]) item.addEventListener(enter, () => highlight(colour));
      for (const leave of ["pointerleave", "blur"]) item.addEventListener(leave, () => highlight(""));
      return item;
    }));
    place();
    address();
  };
  const highlight = colour => {
    // A table with a single one lets one value of a channel through; three that agree are the colour. Reading the
    // pixels themselves is forbidden to a page that lies in a folder.
    if (colour) colour.match(/\d+/g).map(Number).forEach((level, channel) => {
      const table = Array(256).fill(0);
      table[level] = 1;
      section.querySelector("feFunc" + "RGB"[channel]).setAttribute("tableValues", table.join(" "));
    });
    panes.classList.toggle("highlighting", Boolean(colour));
  };
  const open = entry => {
    current = entry;
    if (!box.open) box.showModal();
    draw();
  };
  const step = (list, by) => {
    const at = list.indexOf(current);
    open(list[(at + by + list.length) % list.length] ?? current);
  };
  const actions = {
    previous: () => step(shown.includes(current) ? shown : entries, -1),
    next: () => step(shown.includes(current) ? shown : entries, 1),
    up: () => step(entries.filter(entry => entry.study === current.study && entry.slug === current.slug), -1),
    down: () => step(entries.filter(entry => entry.study === current.study && entry.slug === current.slug), 1),
    models: () => { mode = mode === "models" ? "" : "models"; draw(); },
    blink: () => { mode = mode === "blink" ? "" : "blink"; draw(); },
    swipe: () => { mode = mode === "swipe" ? "" : "swipe"; draw(); },
    turn: () => panes.classList.toggle("turned"),
    in: () => { view.zoom = Math.min(view.zoom * 2, 32); place(); },
    out: () => { view.zoom = Math.max(view.zoom / 2, 1); place(); },
    reset: () => { Object.assign(view, { zoom: 1, x: 50, y: 50 }); place(); },
    close: () => box.close(),
  };
  const keys = { ArrowLeft: "previous", ArrowRight: "next", ArrowUp: "up", ArrowDown: "down", m: "models", b: "blink",
    s: "swipe", " ": "turn", "+": "in", "=": "in", "-": "out", "0": "reset" };
  box.addEventListener("click", event => {
    const button = event.target.closest("[data-do]");
    if (button) actions[button.dataset.do]();
    else if (event.target === box) box.close();
  });
  box.addEventListener("keydown", event => {
    if (event.target.matches("select, input") || (event.key === " " && event.target.matches("button"))) return;
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      actions[keys[event.key]]();
    }
  });
  find(".lightbox .outcome").addEventListener("change", event => open(byKey.get(event.target.value)));
  border.addEventListener("input", () => panes.style.setProperty("--border", border.value + "%"));
  box.addEventListener("close", () => { clearInterval(timer); highlight(""); address(); });
  panes.addEventListener("wheel", event => {
    if (!event.target.closest(".frame")) return;
    event.preventDefault();
    const frame = event.target.closest(".frame").getBoundingClientRect();
    if (view.zoom === 1) Object.assign(view, {
      x: 100 * (event.clientX - frame.left) / frame.width, y: 100 * (event.clientY - frame.top) / frame.height });
    actions[event.deltaY < 0 ? "in" : "out"]();
  }, { passive: false });
  panes.addEventListener("pointermove", event => {
    if (!event.buttons || !event.target.closest(".frame") || view.zoom === 1) return;
    const frame = event.target.closest(".frame").getBoundingClientRect();
    const limit = number => Math.min(100, Math.max(0, number));
    view.x = limit(view.x - 100 * event.movementX / frame.width / (view.zoom - 1));
    view.y = limit(view.y - 100 * event.movementY / frame.height / (view.zoom - 1));
    place();
  });

  addEventListener("hashchange", arrive);
  show();
  arrive();
})();
