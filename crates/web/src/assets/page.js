"use strict";
// The page reads without this script. With it, parts change as soon as the run does, and a person can act.
(() => {
  let code = ""; // What the person typed: it stays in the memory of this page.
  let source = null;
  const held = new Map(); // Parts that came while somebody was writing in them.
  const known = new Map(); // Each part as the server last sent it, whatever the reader has done to it since.

  const parse = (html) => new DOMParser().parseFromString(html, "text/html");
  const busy = (part) => {
    const fields = part.querySelectorAll("textarea, input:not([type=checkbox]):not([name=code])");
    const written = [...fields].some((field) => field.value !== field.defaultValue);
    const active = document.activeElement;
    return written || (part.contains(active) && active.matches("input, textarea, select"));
  };

  // Puts a new part in the place of the old one, and keeps what the reader had opened and how far they had scrolled.
  const swap = (id, html) => {
    const old = document.getElementById(id);
    const part = parse(html).body.firstElementChild;
    if (!part || (old && known.get(id) === part.outerHTML)) return;
    if (!old) {
      known.set(id, part.outerHTML);
      return void document.getElementById("main").append(part);
    }
    if (busy(old)) return void held.set(id, html);
    held.delete(id);
    known.set(id, part.outerHTML);
    const follow = document.getElementById("follow")?.checked;
    for (const details of old.querySelectorAll("details[id]")) {
      const same = part.querySelector("#" + CSS.escape(details.id));
      if (same) same.open = details.open;
    }
    const scrolls = [...old.querySelectorAll("[data-scroll]")].map((it) => [it.dataset.scroll, it.scrollTop]);
    const lefts = [...old.querySelectorAll(".picture")].map((it) => it.scrollLeft);
    old.replaceWith(part);
    part.querySelectorAll(".picture").forEach((it, index) => (it.scrollLeft = lefts[index] ?? 0));
    for (const [name, top] of scrolls) {
      const same = part.querySelector(`[data-scroll="${CSS.escape(name)}"]`);
      if (same) same.scrollTop = follow ? same.scrollHeight : top;
    }
    const box = document.getElementById("follow");
    if (box) box.checked = Boolean(follow);
  };

  const remember = () => {
    known.clear();
    held.clear();
    for (const part of document.querySelectorAll("[data-part]")) known.set(part.id, part.outerHTML);
  };

  // A picture that is wider than the screen begins where the run is, or where its way begins; a long choice with what is chosen.
  const centre = () => {
    for (const chosen of document.querySelectorAll(".tabs.small [aria-current]")) {
      chosen.parentElement.scrollTop = chosen.offsetTop - chosen.parentElement.offsetTop;
    }
    for (const picture of document.querySelectorAll(".picture")) {
      const place = picture.querySelector(".here, .start");
      if (!place || picture.scrollWidth <= picture.clientWidth) continue;
      const [all, box] = [picture.getBoundingClientRect(), place.getBoundingClientRect()];
      picture.scrollLeft = box.left + box.width / 2 - all.left - picture.clientWidth / 2 + picture.scrollLeft;
    }
  };

  const connect = () => {
    source?.close();
    source = new EventSource(document.body.dataset.live);
    source.addEventListener("open", () => delete document.body.dataset.lost);
    source.addEventListener("error", () => (document.body.dataset.lost = ""));
    source.addEventListener("title", (event) => {
      const { title, waiting } = JSON.parse(event.data);
      document.title = title;
      const badge = document.createElement("span");
      badge.className = "badge";
      badge.textContent = waiting;
      document.getElementById("waiting").replaceChildren(...(waiting ? [badge] : []));
    });
    source.addEventListener("parts", (event) => {
      const { ids } = JSON.parse(event.data);
      for (const part of document.querySelectorAll("[data-part]")) {
        if (ids.includes(part.id)) continue;
        part.remove();
        known.delete(part.id);
        held.delete(part.id);
      }
    });
    source.addEventListener("part", (event) => {
      const { id, html } = JSON.parse(event.data);
      swap(id, html);
    });
  };

  // Goes to another page of ours without leaving this one, so that the code stays.
  const go = async (address, push) => {
    try {
      const page = parse(await (await fetch(address)).text());
      if (!page.getElementById("main")) throw new Error("no page");
      if (push) history.pushState(null, "", address);
      document.title = page.title;
      document.body.dataset.live = page.body.dataset.live;
      document.querySelector("header.top").replaceWith(page.querySelector("header.top"));
      document.getElementById("main").replaceWith(page.getElementById("main"));
      remember();
      centre();
      if (push) scrollTo(0, 0);
      document.getElementById("main").focus({ preventScroll: true });
      connect();
    } catch {
      location.href = address;
    }
  };

  const act = async (form, submitter) => {
    const { act, run, stage } = form.dataset;
    const body = { act, run, stage };
    for (const name of ["text", "reason", "confirm"]) {
      if (form.elements[name]) body[name] = form.elements[name].value;
    }
    if (submitter?.name === "choice") body.choice = submitter.value;
    const answers = form.querySelectorAll("[data-question]");
    if (answers.length) body.answers = Object.fromEntries([...answers].map((it) => [it.dataset.question, it.value]));
    const output = form.querySelector("output");
    code = form.elements.code.value.trim() || code;
    output.textContent = "…";
    const headers = { "Content-Type": "application/json", "X-Gatewright-Code": code };
    const method = "POST";
    const response = await fetch(document.body.dataset.act, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status === 403) code = "";
    document.body.toggleAttribute("data-code", Boolean(code));
    let said = text;
    try { said = JSON.parse(text).error ?? JSON.parse(text).done; } catch {}
    output.className = response.ok ? "good" : "bad";
    output.textContent = said;
    if (response.ok) form.reset();
    for (const [id, html] of held) swap(id, html);
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !plain || link.origin !== location.origin || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    go(link.href, true);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    event.preventDefault();
    if (form.dataset.act) return void act(form, event.submitter).catch((error) => {
      form.querySelector("output").textContent = String(error);
    });
    go(location.pathname + "?" + new URLSearchParams(new FormData(form)), true);
  });
  document.addEventListener("change", (event) => {
    if (event.target.id !== "follow" || !event.target.checked) return;
    for (const box of document.querySelectorAll("[data-scroll]")) box.scrollTop = box.scrollHeight;
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!field) return;
    event.preventDefault();
    field.focus();
  });
  document.addEventListener("focusout", () => setTimeout(() => { for (const [id, html] of held) swap(id, html); }, 200));
  document.addEventListener("visibilitychange", () => (document.hidden ? source?.close() : connect()));
  addEventListener("popstate", () => go(location.href, false));
  document.body.dataset.script = "";
  remember();
  centre();
  connect();
})();
