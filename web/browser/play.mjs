// Plays scenarios in one browser: a line {"file", "sentence", "addresses"} comes in, a line {"ok", "said"} goes out.
import { createInterface } from "node:readline";
import { launch } from "./chromium.mjs";

const browser = await launch(process.argv[2]);
console.log(JSON.stringify({ ok: true, said: "ready" }));

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await played(JSON.parse(line))));
}
await browser.close();

async function played({ file, sentence, addresses }) {
  const { default: scenarios, manner = {} } = await import(`./${file}.mjs`);
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "dark",
    // Without animations, which cost most of the time; scenarios that watch them turn them on.
    reducedMotion: "reduce",
    ...manner[sentence],
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints = overheard(page);
  try {
    await scenarios[sentence]({ page, context, addresses, complaints });
    return complaints.length
      ? { ok: false, said: `The page complained: ${complaints.join("; ")}` }
      : { ok: true, said: "" };
  } catch (error) {
    return { ok: false, said: [error.stack, ...complaints].join("\n") };
  } finally {
    await context.close();
  }
}

/** Errors in the console, exceptions, broken policies: a page that works has none. */
function overheard(page) {
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}
