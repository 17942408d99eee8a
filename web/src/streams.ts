// Server-sent events over fetch, so that a POST with a token can stream: progress, then the end.
import { answered, Refusal } from "./calls.ts";

export interface Event {
  name: string;
  said: string;
}

export interface Progress {
  done: number;
  total: number | null;
  stage: string;
}

/** The events that are complete in a piece of text, and the rest that is not yet. */
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

/** Runs a verb that reports on its way, and gives its report. */
export async function work<T>(path: string, body: unknown, onProgress: (progress: Progress) => void): Promise<T> {
  for await (const event of streamed(path, body)) {
    const said = JSON.parse(event.said) as Record<string, unknown>;
    if (event.name === "progress") onProgress(said as unknown as Progress);
    if (event.name === "error") throw refusalIn(said);
    if (event.name === "done") return (said["report"] ?? said) as T;
  }
  throw new Refusal(
    0,
    "Interrupted",
    "The work broke off before it was done.",
    "Run it again: it goes on where it stopped.",
  );
}

function refusalIn(said: Record<string, unknown>): Refusal {
  const error = (said["error"] ?? said) as Record<string, string>;
  return new Refusal(
    500,
    error["kind"] ?? "Unexpected",
    error["problem"] ?? "It failed.",
    error["way_out"] ?? "Try again.",
  );
}
