// The controls of a replay: play, step, speed, a slider, and the caption of the frame.
import { fill, h, icon, iconButton } from "../elements.ts";
import { BACK, FORWARD, PAUSE, PLAY } from "../icons.ts";
import { momentAt } from "./moments.ts";
import type { Player } from "./player.ts";

export interface Controls {
  element: HTMLElement;
  update: () => void;
}

const SPEEDS = [0.5, 1, 2];

export function replayControls(player: Player): Controls {
  const title = h("strong", { class: "replay-title" });
  const caption = h("span", { class: "replay-caption" });
  const play = iconButton(PLAY, "Play", () => player.toggle(), { class: "icon-button play" });
  const slider = h("input", {
    type: "range",
    min: 0,
    step: 0.01,
    "aria-label": "Moment of the replay",
    oninput: () => player.seek(Number(slider.value)),
  });
  const marks = h("div", { class: "marks", "aria-hidden": "true" });
  const element = h(
    "section",
    { class: "replay", "aria-label": "Replay of activation" },
    h("div", { class: "replay-said", "aria-live": "polite" }, title, caption),
    h(
      "div",
      { class: "replay-row" },
      iconButton(BACK, "Step back", () => player.step(-1)),
      play,
      iconButton(FORWARD, "Step forward", () => player.step(1)),
      h("div", { class: "track" }, slider, marks),
      speedControl(player),
    ),
    legend(),
  );
  const update = () => {
    if (!player.frames.length) return;
    const { frame } = momentAt(player.frames, player.position);
    if (title.textContent !== frame.title) title.textContent = frame.title;
    if (caption.textContent !== frame.caption) caption.textContent = frame.caption;
    element.dataset["frame"] = String(Math.round(player.position));
    slider.max = String(player.end);
    slider.value = String(player.position);
    slider.setAttribute("aria-valuetext", `${frame.title}: ${frame.caption}`);
    slider.style.setProperty("--played", `${(100 * player.position) / (player.end || 1)}%`);
    if (marks.childElementCount !== player.frames.length) fill(marks, ...player.frames.map(() => h("i")));
    showPlaying(play, player.playing);
  };
  return { element, update };
}

function showPlaying(play: HTMLButtonElement, playing: boolean): void {
  const label = playing ? "Pause" : "Play";
  if (play.getAttribute("aria-label") === label && play.childElementCount) return;
  play.setAttribute("aria-label", label);
  play.title = label;
  play.replaceChildren(icon(playing ? PAUSE : PLAY));
}

function speedControl(player: Player): HTMLElement {
  const options = SPEEDS.map((speed) => h("option", { value: speed, selected: speed === player.speed }, `${speed}×`));
  const select = h(
    "select",
    { class: "speed", "aria-label": "Speed", onchange: () => (player.speed = Number(select.value)) },
    ...options,
  );
  return select;
}

function legend(): HTMLElement {
  const entries = [
    ["seed", "seed"],
    ["active", "active"],
    ["gated", "below the threshold"],
    ["inhibited", "inhibited"],
    ["won", "hit"],
    ["path", "path to a hit"],
  ];
  return h(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    ...entries.map(([mark, name]) => h("li", {}, h("i", { class: `mark ${mark}` }), name)),
  );
}
