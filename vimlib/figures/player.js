// Players: an answer played key by key. All that an answer wrote goes to the page as text.
{
  "use strict";
  const spread = (runs) => {
    const out = [];
    for (let i = 0; i < runs.length; i += 2) for (let n = 0; n < runs[i + 1]; n += 1) out.push(runs[i]);
    return out;
  };
  const make = (name, className, text = "") => {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.textContent = text;
    return element;
  };
  // Which lines of two texts stand in both, in order: the longest common subsequence.
  const common = (a, b) => {
    const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i -= 1)
      for (let j = b.length - 1; j >= 0; j -= 1)
        best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    const inA = new Set(), inB = new Set();
    for (let i = 0, j = 0; i < a.length && j < b.length; ) {
      if (a[i] === b[j]) { inA.add(i); inB.add(j); i += 1; j += 1; }
      else if (best[i + 1][j] >= best[i][j + 1]) i += 1;
      else j += 1;
    }
    return [inA, inB];
  };

  const setUp = (root) => {
    root.classList.add("vp-ready");
    const data = JSON.parse(root.querySelector("script").textContent);
    const left = root.querySelector(".vp-left"), aim = root.querySelector(".vp-target");
    const target = aim.textContent.split("\n");
    const typed = [0];
    data.f.forEach((_, i) => typed.push(typed[i] + (data.n === 1 ? 1 : data.n[i])));
    const last = data.f.length;
    let texts = null, modes, errors, alike;
    const decode = () => {
      texts = [Array.from(data.s)];
      for (const delta of data.f) {
        const before = texts[texts.length - 1];
        texts.push(delta === 0 ? before : [...before.slice(0, delta[0]), ...Array.from(delta[2]), ...before.slice(before.length - delta[1])]);
      }
      texts = texts.map((characters) => characters.join("").split("\n"));
      modes = spread(data.m); errors = spread(data.e); alike = spread(data.a);
    };

    const keys = root.querySelector(".vp-keys");
    const marks = data.k.map((key, i) => {
      const kbd = make("kbd", "", key);
      if (data.x === i + 1) kbd.classList.add("vp-error");
      if (data.g === i + 1) kbd.classList.add("vp-good");
      return kbd;
    });
    if (marks.length) keys.replaceChildren(...marks);
    left.parentNode.querySelector("figcaption").textContent = "buffer";

    const bar = make("div", "vp-bar");
    const button = (text, label, act) => {
      const element = make("button", "", text);
      element.type = "button";
      element.setAttribute("aria-label", label);
      element.title = label;
      element.addEventListener("click", act);
      bar.append(element);
      return element;
    };
    let at = last, timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; play.setAttribute("aria-label", "Play"); };
    const go = (place) => { stop(); show(place); };
    button("|◀", "First state (Home)", () => go(0));
    button("◀", "Previous key (left arrow)", () => go(at - 1));
    const play = button("Play", "Play", () => toggle());
    button("▶", "Next key (right arrow)", () => go(at + 1));
    button("▶|", "Last state (End)", () => go(last));
    const slider = make("input");
    Object.assign(slider, { type: "range", min: 0, max: last, value: last });
    slider.setAttribute("aria-label", "State");
    slider.addEventListener("input", () => go(Number(slider.value)));
    bar.append(slider);
    const meter = make("span", "vp-meter");
    const fill = make("i");
    const percent = make("span");
    meter.append(fill, percent);
    bar.append(meter);
    root.insertBefore(bar, root.querySelector(".vp-both"));
    const line = root.querySelector(".vp-line");
    line.setAttribute("role", "status");

    function toggle() {
      if (timer) { stop(); return; }
      if (at === last) show(0);
      play.textContent = "Pause";
      play.setAttribute("aria-label", "Pause");
      timer = setInterval(() => { if (at === last) stop(); else show(at + 1); }, Math.max(60, Math.min(450, 12000 / (last + 1))));
    }

    function show(place) {
      if (texts === null) decode();
      at = Math.max(0, Math.min(last, place));
      const lines = texts[at];
      const [same, met] = common(lines, target);
      const [row, column] = [data.c[2 * at], data.c[2 * at + 1]];
      left.replaceChildren();
      lines.forEach((text, i) => {
        if (i) left.append("\n");
        const out = same.has(i) ? document.createDocumentFragment() : make("del");
        if (row === i + 1) {
          const characters = Array.from(text);
          const on = characters[column - 1];
          const insert = modes[at] === "INSERT" || modes[at] === "REPLACE";
          out.append(characters.slice(0, column - 1).join(""), make("span", insert ? "vp-cursor vp-insert" : "vp-cursor", on === undefined || on === "\t" ? " " : on));
          if (on === "\t") out.append(on);
          out.append(characters.slice(column).join(""));
        } else out.append(text);
        left.append(out);
      });
      aim.replaceChildren();
      target.forEach((text, i) => {
        if (i) aim.append("\n");
        aim.append(met.has(i) ? text : make("ins", "", text));
      });
      marks.forEach((kbd, i) => {
        kbd.classList.toggle("vp-typed", i < typed[at]);
        if (i + 1 === typed[at]) kbd.setAttribute("aria-current", "step"); else kbd.removeAttribute("aria-current");
      });
      const told = typed[at] === 0 ? "start" : `key ${typed[at]} of ${typed[last]}` + (marks.length ? `: ${data.k[typed[at] - 1]}` : "");
      const where = row ? ` · line ${row + data.o - 1}` : "";
      line.replaceChildren(make("b", "", modes[at]), make("span", "", told + where + (errors[at] ? ` · ${errors[at]}` : "")));
      line.classList.toggle("vp-said", errors[at] !== "");
      fill.style.width = `${alike[at]}%`;
      percent.textContent = `${alike[at]} % alike`;
      slider.value = at;
      slider.setAttribute("aria-valuetext", told);
      root.dataset.state = at;
    }

    root.tabIndex = 0;
    root.setAttribute("aria-description", "Arrow keys step, Home and End jump, space plays.");
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target === slider || event.target === left || event.target === aim) return;
      const act = { ArrowRight: () => go(at + 1), l: () => go(at + 1), ArrowLeft: () => go(at - 1), h: () => go(at - 1), Home: () => go(0), 0: () => go(0), End: () => go(last), $: () => go(last), " ": toggle }[event.key];
      if (!act || (event.key === " " && event.target !== root)) return;
      event.preventDefault();
      act();
    });
    show(last);
  };
  // A page may hold hundreds: each is set up when it comes near the window.
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { watch.unobserve(entry.target); setUp(entry.target); }
  }, { rootMargin: "600px" });
  for (const root of document.querySelectorAll(".vp:not(.vp-ready)")) watch.observe(root);
}
