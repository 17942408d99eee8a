// Server-sent events over fetch: EventSource can send neither a POST nor a token.
import { answered, Refusal } from "./calls.ts";
import type { Problem } from "./shapes.ts";

export interface Event {
  name: string;
  said: string;
}

export interface Progress {
  done: number;
  total: number | null;
  stage: string;
}

/** The complete events in a text, and the incomplete rest. */
export function eventsIn(text: string): { events: Event[]; rest: string } {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  return { events: blocks.map(eventOf).filter((event) => event.said !== ""), rest };
}

function eventOf(block: string): Event {
  const lines = block.split("\n");
  const valueOf = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).trimStart());
  return { name: valueOf("event")[0] ?? "message", said: valueOf("data").join("\n") };
}

export async function* streamed(path: string, body: unknown): AsyncGenerator<Event> {
  const response = await answered("POST", path, "text/event-stream", body);
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const read = eventsIn(rest + piece.value);
    rest = read.rest;
    yield* read.events;
  }
}

/** Run a verb that reports progress, and return its report. */
export async function work<T>(path: string, body: unknown, onProgress: (progress: Progress) => void): Promise<T> {
  for await (const event of streamed(path, body)) {
    const said = JSON.parse(event.said) as Record<string, unknown>;
    if (event.name === "progress") onProgress(said as unknown as Progress);
    if (event.name === "error") throw refusalIn(said as unknown as Problem);
    if (event.name === "done") return (said["report"] ?? said) as T;
  }
  throw new Refusal(
    0,
    "Interrupted",
    "The work was interrupted.",
    "Run it again: it continues where it stopped.",
  );
}

function refusalIn(problem: Problem): Refusal {
  return new Refusal(problem.status, problem.kind, problem.problem, problem.way_out);
}
