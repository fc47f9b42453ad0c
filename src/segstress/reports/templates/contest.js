// The images behind each figure of a competition: a cell of a matrix filters them, and the address keeps the filter.
"use strict";
(() => {
  const data = window.SEGSTRESS_CONTEST;
  const section = document.getElementById("images");
  if (!data || !section) return;
  section.hidden = false;
  const form = section.querySelector("form"), rows = section.querySelector(".gallery");
  const count = document.getElementById("images-count"), more = section.querySelector(".more");
  const STEP = 24; // rows added at a time
  const FIELDS = ["defender", "attacker", "between", "class", "sort"];
  const percent = share => share === null ? "-" : (100 * share).toFixed(1) + " %";
  const make = (tag, settings = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), settings);
    element.append(...children);
    return element;
  };
  const members = data.members.map(([id, image, defender, attacker, class_, agreement, share, own, other]) => ({
    id, image, defender, attacker, class: class_, agreement, share, own, other,
    gap: own === null || other === null ? null : -Math.abs(own - other),
  }));

  const fill = (select, options) => select.append(make("option", { value: "", textContent: "all" }),
    ...options.map(([value, words]) => make("option", { value: String(value), textContent: words })));
  const names = data.models.map(([name], number) => [number, name]);
  fill(form.defender, names);
  fill(form.attacker, names);
  fill(form.between, names.flatMap(([first, name]) => names.filter(([second]) => second > first)
    .map(([second, other]) => [first + "," + second, name + " and " + other])));
  fill(form.class, [...new Set(members.map(member => member.class))].sort((a, b) => a - b).map(number => [number, data.classes[number]]));

  const file = (member, what, photo) => {
    const [, slug, , large] = data.images[member.image];
    return ["gallery/" + slug + "--" + what + ".png",
      large ? "gallery/small/" + slug + "--" + what + (photo ? ".jpg" : ".png") : "gallery/" + slug + "--" + what + ".png"];
  };
  const picture = (member, what, caption, photo = false) => {
    const [whole, small] = file(member, what, photo);
    const image = make("img", { src: small, loading: "lazy", decoding: "async", alt: member.id + ", " + caption });
    return make("figure", {}, make("a", { href: whole }, image), make("figcaption", { textContent: caption }));
  };
  const apart = (member, first, second) => {
    const images = [first, second].map(what => make("img", { src: file(member, what, false)[1], loading: "lazy", decoding: "async", alt: "" }));
    const laid = make("div", { className: "apart", role: "img", ariaLabel: member.id + ", where the predictions differ" }, ...images);
    return make("figure", {}, laid, make("figcaption", { textContent: "where they differ; black: alike" }));
  };
  const row = member => {
    const [defender, attacker] = [data.models[member.defender], data.models[member.attacker]];
    const words = make("p", {}, make("b", { textContent: member.id }), " chosen for " + data.classes[member.class]
      + ": agreement " + percent(member.agreement) + ", " + percent(member.share) + " of the image");
    if (member.image < 0) return make("div", { className: "strip" }, words, make("p", { className: "soft", textContent: "no pictures were kept of it" }));
    const shown = [picture(member, "image", "image", true)];
    if (data.images[member.image][2]) shown.push(picture(member, "truth", "truth"));
    shown.push(picture(member, defender[1], defender[0] + ", defender: mIoU " + percent(member.own)));
    shown.push(picture(member, attacker[1], attacker[0] + ", attacker: mIoU " + percent(member.other)));
    return make("div", { className: "strip" }, words, ...shown, apart(member, defender[1], attacker[1]));
  };

  let shown = [];
  const wanted = member => {
    const between = form.between.value.split(",").map(Number);
    return (!form.defender.value || member.defender === Number(form.defender.value))
      && (!form.attacker.value || member.attacker === Number(form.attacker.value))
      && (!form.class.value || member.class === Number(form.class.value))
      && (!form.between.value || (between.includes(member.defender) && between.includes(member.attacker)));
  };
  const order = (left, right) => {
    const by = form.sort.value;
    if ((left[by] === null) !== (right[by] === null)) return left[by] === null ? 1 : -1;
    return left[by] - right[by] || left.id.localeCompare(right.id);
  };
  const grow = () => {
    rows.append(...shown.slice(rows.childElementCount, rows.childElementCount + STEP).map(row));
    more.hidden = rows.childElementCount >= shown.length;
  };
  const show = () => {
    shown = members.filter(wanted).sort(order);
    rows.replaceChildren();
    count.textContent = shown.length + " of " + members.length + " selections"
      + (shown.length ? "" : ": nothing fits these filters; clear them to see all");
    grow();
  };
  new IntersectionObserver(seen => { if (seen[0].isIntersecting) grow(); }, { rootMargin: "800px" }).observe(more);

  const initial = Object.fromEntries(FIELDS.map(name => [name, form[name].value]));
  const address = () => {
    const words = new URLSearchParams(FIELDS.filter(name => form[name].value !== initial[name]).map(name => [name, form[name].value]));
    history.replaceState(null, "", "#images" + (words.size ? "?" + words : ""));
  };
  const arrive = () => {
    if (!location.hash.startsWith("#images?")) return;
    const words = new URLSearchParams(location.hash.slice("#images?".length));
    for (const name of FIELDS) form[name].value = words.get(name) ?? initial[name];
    const pair = (words.get("between") ?? "").split(",").map(Number).sort((a, b) => a - b).join(",");
    if (words.has("between")) form.between.value = pair;
    show();
    window.segstressFold?.unfold(form);
    section.scrollIntoView();
  };
  form.addEventListener("input", () => { show(); address(); });
  form.addEventListener("reset", () => setTimeout(() => { show(); address(); }));
  form.addEventListener("submit", event => event.preventDefault());
  addEventListener("hashchange", arrive);
  show();
  arrive();
})();
