// The ask screen: the answer beside the graph, and the replay of the recall over the graph.
import type { App, Screen } from "../app.ts";
import { post } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { loadAround, type Atlas } from "../graph/atlas.ts";
import { namesOn } from "../graph/names.ts";
import { WHOLE, type Painter } from "../graph/stage.ts";
import { failureCard, failureNotice } from "../notices.ts";
import { replayControls } from "../replay/controls.ts";
import { framesOf, type Frame } from "../replay/frames.ts";
import { momentAt } from "../replay/moments.ts";
import { paint } from "../replay/painting.ts";
import { Player } from "../replay/player.ts";
import { RECALL_PARTS, type Hit, type Recollection } from "../shapes.ts";
import { colours } from "../theme.ts";
import { emptyMemory, invitation } from "./invitation.ts";
import { questionForm, type Asked } from "./question.ts";
import { results, type Results } from "./results.ts";
import { whyNot } from "./why-not.ts";

const DIMMED = 0.72;

export class AskScreen implements Screen {
  readonly player = new Player();
  private readonly controls = replayControls(this.player);
  private readonly answer = h("div", { class: "answer-space" });
  private readonly form = questionForm((asked) => void this.ask(asked));
  readonly replay = this.controls.element;
  readonly element = h(
    "section",
    { class: "panel ask", "aria-label": "Ask" },
    h("h1", { class: "unseen" }, "Ask memory"),
    this.form.element,
    this.answer,
  );
  private asked: Asked | null = null;
  private found: Recollection | null = null;
  private chosen: Hit | null = null;
  private list: Results | null = null;
  // The whole atlas, while the replay shows a part of a large graph.
  private whole: Atlas | null = null;

  constructor(private readonly app: App) {
    this.replay.hidden = true;
    this.player.onMove = () => {
      this.controls.update();
      app.stage.repaint();
    };
  }

  get isAnswered(): boolean {
    return this.found !== null;
  }

  setScopes(names: readonly string[]): void {
    this.form.setScopes(names);
  }

  focus(): void {
    this.form.focus();
  }

  enter(): void {
    this.show();
    if (this.whole && this.found) void this.play(this.found);
  }

  leave(): void {
    this.player.pause();
    this.app.stage.paintWith(null);
    if (this.whole) this.app.stage.show(this.whole);
  }

  charted(): void {
    this.whole = null;
    if (this.found) return void this.bringNear(this.player.frames);
    const atlas = this.app.stage.atlas;
    if (atlas?.total) this.invite(atlas);
    else fill(this.answer, emptyMemory(this.app));
  }

  named(): void {
    const atlas = this.app.stage.atlas;
    if (!this.found && atlas?.total) this.invite(atlas);
    this.app.stage.repaint();
  }

  private invite(atlas: Atlas): void {
    fill(
      this.answer,
      invitation(atlas, (question) => this.askThis(question)),
    );
  }

  private askThis(question: string): void {
    this.form.fillIn(question);
    void this.ask(this.form.asked());
  }

  private async ask(asked: Asked): Promise<void> {
    this.asked = asked;
    fill(this.answer, waiting());
    try {
      const found = await post<Recollection>("/recall", { ...asked, include: RECALL_PARTS });
      if (asked === this.asked) this.tell(found, asked);
    } catch (error) {
      if (asked !== this.asked) return;
      fill(
        this.answer,
        failureCard(error, () => void this.ask(asked)),
      );
    }
  }

  private tell(found: Recollection, asked: Asked): void {
    this.found = found;
    this.chosen = null;
    this.list = results(found, this.app, (hit) => this.choose(hit));
    fill(this.answer, this.list.element, whyNot(asked, this.app));
    this.answer.scrollTop = 0;
    void this.play(found);
  }

  /** Show the path of one hit, or of all hits again. */
  private choose(hit: Hit): void {
    this.chosen = this.chosen?.id === hit.id ? null : hit;
    this.list?.choose(this.chosen?.id ?? null);
    if (this.player.position < this.player.end) this.player.seek(this.player.end);
    this.app.stage.repaint();
  }

  private async play(found: Recollection): Promise<void> {
    const frames = framesOf(found);
    await this.bringNear(frames);
    if (found !== this.found) return;
    this.player.load(frames);
    this.show();
    const covered = this.replay.offsetHeight / (this.app.stage.element.clientHeight || 1);
    this.app.stage.fly(litIds(frames), covered);
  }

  /** In a graph too large to draw, draw only the facts of the replay. */
  private async bringNear(frames: readonly Frame[]): Promise<void> {
    const { found } = this;
    const { stage } = this.app;
    this.whole ??= stage.atlas?.clusters.length ? stage.atlas : null;
    const ids = litIds(frames);
    if (!this.whole || !ids.length) return;
    try {
      const near = await loadAround(ids, this.whole);
      if (found === this.found) stage.show(near);
    } catch (error) {
      failureNotice(error);
    }
  }

  private show(): void {
    const { stage } = this.app;
    this.replay.hidden = !this.found;
    stage.look(this.found ? { ...WHOLE, dimmed: DIMMED, labels: false } : WHOLE);
    stage.paintWith(this.found ? this.painter(this.found) : namesOn(stage));
  }

  private painter(found: Recollection): Painter {
    const won = found.hits.flatMap((hit) => hit.hops);
    const textOf = textsOf(found, this.app);
    return (context, project) => {
      if (!this.player.frames.length) return;
      const moment = momentAt(this.player.frames, this.player.position);
      const chosen = this.chosen?.hops ?? [];
      paint(context, { moment, won, chosen, chosenId: this.chosen?.id ?? null, textOf }, project, colours());
    };
  }
}

function waiting(): HTMLElement {
  return h("div", { class: "waiting-cards", role: "status", "aria-label": "Recalling" }, h("i"), h("i"), h("i"));
}

function litIds(frames: readonly Frame[]): string[] {
  return [...new Set(frames.flatMap((frame) => [...frame.lit.keys()]))];
}

function textsOf(found: Recollection, app: App): (id: string) => string | undefined {
  const known = new Map([...found.texts, ...found.hits].map(({ id, text }) => [id, text]));
  return (id) => known.get(id) ?? app.stage.atlas?.nodes.get(id)?.label;
}
