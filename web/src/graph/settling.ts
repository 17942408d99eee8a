// Compute the final positions of facts in the worker.
import type { Atlas } from "./atlas.ts";
import type { Point } from "./layout.ts";

export function settled(atlas: Atlas): Promise<Record<string, Point>> {
  const worker = new Worker(new URL("./settling.worker.ts", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    worker.onmessage = (message: MessageEvent<Map<string, Point>>) => {
      worker.terminate();
      resolve(Object.fromEntries(message.data));
    };
    worker.onerror = reject;
    worker.postMessage({ discs: atlas.discs, edges: atlas.edges });
  });
}
