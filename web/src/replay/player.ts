// The player: the position in a replay and its movement. It draws nothing.
import { prefersStillness } from "../elements.ts";
import type { Frame } from "./frames.ts";

const STEP_MILLISECONDS = 1500;

export class Player {
  frames: readonly Frame[] = [];
  position = 0;
  speed = 1;
  playing = false;
  onMove: () => void = () => {};
  private goal = 0;
  private last = 0;

  load(frames: readonly Frame[]): void {
    this.frames = frames;
    this.position = 0;
    this.play();
  }

  get end(): number {
    return Math.max(0, this.frames.length - 1);
  }

  play(): void {
    if (this.position >= this.end) this.position = 0;
    this.run(this.end, true);
  }

  pause(): void {
    this.run(this.position, false);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Move one frame forward or back, animated unless the user prefers reduced motion. */
  step(by: 1 | -1): void {
    const from = by > 0 ? Math.floor(this.position + 1e-6) : Math.ceil(this.position - 1e-6);
    const goal = Math.min(this.end, Math.max(0, from + by));
    if (by < 0 || prefersStillness()) this.seek(goal);
    else this.run(goal, false);
  }

  seek(position: number): void {
    this.position = Math.min(this.end, Math.max(0, position));
    this.run(this.position, false);
  }

  private run(goal: number, playing: boolean): void {
    this.goal = goal;
    this.playing = playing;
    this.last = performance.now();
    this.onMove();
    if (goal > this.position) requestAnimationFrame(() => this.tick());
  }

  private tick(): void {
    if (this.goal <= this.position) return;
    const now = performance.now();
    const share = ((now - this.last) * this.speed) / STEP_MILLISECONDS;
    // With reduced motion, frames change at the same speed without interpolation.
    if (!prefersStillness() || share >= 1) this.advance(prefersStillness() ? 1 : share, now);
    if (this.position < this.goal) requestAnimationFrame(() => this.tick());
  }

  private advance(share: number, now: number): void {
    this.position = Math.min(this.goal, this.position + share);
    this.last = now;
    if (this.position >= this.goal) this.playing = false;
    this.onMove();
  }
}
