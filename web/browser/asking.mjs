// Scenarios of asking: the answer, its arithmetic, the replay, and "why not".
import assert from "node:assert/strict";
import { drawn, landed } from "./chromium.mjs";

export const QUESTION = "What setting lets serverless functions share database connections?";

export async function ask(page, address, question = QUESTION) {
  await page.goto(address);
  await drawn(page);
  await page.getByRole("textbox", { name: "Question" }).fill(question);
  await page.keyboard.press("Enter");
  await page.locator(".hit").first().waitFor();
}

/** Wait until a replay that plays has come to its end. */
async function ended(page) {
  await page.locator(".replay-title", { hasText: "Result" }).waitFor();
  await page.getByRole("button", { name: "Play" }).waitFor();
}

const painted = (page) => page.locator("canvas.overlay").evaluate((canvas) => canvas.toDataURL().length);

const MOVING = { reducedMotion: "no-preference" };

export const manner = {
  "the replay goes from the seeds along links to what came back": MOVING,
  "the replay plays by itself, and again at the press of a key": MOVING,
};

export default {
  "a question is answered with facts, best first": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    const hits = page.locator(".hit");
    assert.equal(await hits.count(), 8);
    assert.match(await hits.first().innerText(), /transaction mode for serverless/);
    const scores = (await page.locator(".hit .score").allInnerTexts()).map(Number);
    assert.deepEqual(
      scores,
      [...scores].sort((a, b) => b - a),
    );
  },

  "what the channels give adds up to the score": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    await page.locator(".hit summary").first().click();
    const gives = await page.locator(".hit").first().locator(".arithmetic tbody tr td:last-child").allInnerTexts();
    const numbers = gives.map((text) => Number(text.replace("−", "-")));
    const score = numbers.pop();
    assert.ok(numbers.length >= 3);
    assert.ok(Math.abs(numbers.reduce((sum, one) => sum + one, 0) - score) < 0.003);
  },

  "each hit has a bar that names its channels": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    const bar = page.locator(".hit .channel-bar").first();
    assert.match(await bar.getAttribute("aria-label"), /activation \+\d/);
    const widths = await bar.locator("i").evaluateAll((parts) => parts.map((part) => part.offsetWidth));
    assert.ok(widths.length >= 2 && widths.every((width) => width > 1));
  },

  "the replay goes from the seeds along links to what came back": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    const title = page.locator(".replay-title");
    await page.getByLabel("Moment of the replay").fill("0");
    const titles = [await title.innerText()];
    const frames = Number(await page.getByLabel("Moment of the replay").getAttribute("max"));
    for (let frame = 1; frame <= frames; frame++) {
      await page.getByRole("button", { name: "Step forward" }).click();
      await page.locator(`.replay[data-frame="${frame}"]`).waitFor();
      await page.waitForFunction((at) => Number(document.querySelector(".replay input").value) === at, frame);
      titles.push(await title.innerText());
    }
    assert.equal(titles[0], "The question");
    assert.equal(titles[1], "Seeds");
    assert.ok(titles.includes("Activation spreads"));
    assert.equal(titles.at(-1), "Result");
  },

  "every frame of the replay paints something else": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    const slider = page.getByLabel("Moment of the replay");
    const seen = new Set();
    await slider.fill("0");
    await landed(page);
    for (let frame = 0; frame <= Number(await slider.getAttribute("max")); frame++) {
      await slider.fill(String(frame));
      seen.add(await painted(page));
    }
    assert.ok(seen.size >= 4, `only ${seen.size} different frames`);
  },

  "the replay plays by itself, and again at the press of a key": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    await page.getByLabel("Speed").selectOption("2");
    await ended(page);
    await page.locator("body").click({ position: { x: 700, y: 20 } });
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    assert.ok(Number(await page.getByLabel("Moment of the replay").inputValue()) < 2);
  },

  "inhibition and the gate are told under SYNAPSE": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    await page.getByText("Options").click();
    await page.getByLabel("Dynamics").selectOption("synapse.paper");
    await page
      .getByRole("textbox", { name: "Question" })
      .fill("Why did the serverless deploy run out of database connections?");
    await page.keyboard.press("Enter");
    await page.locator(".hit").first().waitFor();
    await page.getByLabel("Moment of the replay").fill("2");
    assert.equal(await page.locator(".replay-title").innerText(), "Round 1");
    assert.match(await page.locator(".replay-caption").innerText(), /\d+ inhibited by stronger facts/);
  },

  "choosing a hit shows its path": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    await page
      .getByLabel("Moment of the replay")
      .fill(await page.getByLabel("Moment of the replay").getAttribute("max"));
    await landed(page);
    const before = await painted(page);
    await page.locator(".hit-text").first().click();
    assert.equal(await page.locator(".hit.chosen").count(), 1);
    assert.notEqual(await painted(page), before);
  },

  "why not tells where a fact was lost and what would bring it back": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    await page.getByLabel("Find a fact that was not returned").fill("coffee machine");
    await page.locator(".picked-from button", { hasText: "coffee machine" }).click();
    const card = page.locator(".why-card");
    await card.waitFor();
    assert.match(await card.innerText(), /coffee machine is serviced/);
    assert.match(await card.locator(".verdict").innerText(), /outranked|not a candidate|beyond/);
    assert.ok((await card.locator(".remedies li").count()) >= 1);
  },

  "feedback on a hit is taken": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    await page.getByRole("button", { name: "This helped" }).first().click();
    await page.getByText("Feedback stored.").waitFor();
    assert.equal(await page.getByRole("button", { name: "This helped" }).first().getAttribute("aria-pressed"), "true");
  },

  "a question that memory cannot answer is met with silence and its reason": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    await page.getByRole("textbox", { name: "Question" }).fill("Which volcano erupted in 1883?");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No answer" }).waitFor();
    assert.ok((await page.locator(".answer.silent p").first().innerText()).length > 10);
  },

  "a late answer to an older question does not replace the newer one": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    const question = page.getByRole("textbox", { name: "Question" });
    let answer = () => {};
    await page.route(/\/recall$/, (route) => void (answer = () => route.continue()), { times: 1 });
    const asked = page.waitForRequest(/\/recall$/);
    await question.fill("Which volcano erupted in 1883?");
    await page.keyboard.press("Enter");
    await asked;
    await question.fill(QUESTION);
    await page.keyboard.press("Enter");
    await page.locator(".hit").first().waitFor();
    const late = page.waitForResponse(/\/recall$/);
    answer();
    await (await late).finished();
    await page.waitForTimeout(200);
    assert.equal(await page.locator(".answer.silent").count(), 0);
    assert.match(await page.locator(".hit").first().innerText(), /transaction mode for serverless/);
  },

  "a number that cannot be asked for opens the options, which tell so": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    await page.getByText("Options").click();
    await page.getByLabel("Facts").fill("2000");
    await page.getByText("Options").click();
    await page.getByRole("textbox", { name: "Question" }).fill(QUESTION);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.getAttribute("name") === "k");
    assert.equal(await page.locator(".options").getAttribute("open"), "");
  },

  "as many facts can be asked for as memory hands out": async ({ page, addresses }) => {
    await page.goto(addresses.odd);
    await drawn(page);
    await page.getByText("Options").click();
    await page.getByLabel("Facts").fill("1000");
    await page.getByRole("textbox", { name: "Question" }).fill("Where does the ship sail?");
    await page.keyboard.press("Enter");
    await page.locator(".hit").first().waitFor();
  },

  "a word without an end is broken, and nothing is pushed out of sight": async ({ page, addresses }) => {
    await ask(page, addresses.odd, "What is the ship called?");
    const hidden = (name) => page.locator(name).evaluate((one) => one.scrollWidth - one.clientWidth);
    assert.equal(await hidden(".answer-space"), 0);
    const open = page.getByRole("button", { name: /Open the fact/ }).first();
    assert.ok((await open.boundingBox()).height < 30, "the page's own words are broken");
    await page.locator(".hit summary").first().click();
    assert.equal(await hidden(".answer-space"), 0);
    await open.click();
    await page.locator(".links li").first().waitFor();
    assert.equal(await hidden(".fact-panel"), 0);
    await page.getByRole("link", { name: "Graph" }).click();
    await page.getByLabel("Find facts in the graph").fill("ship");
    await page.locator(".matches li").first().waitFor();
    assert.equal(await hidden(".panel.graph"), 0);
  },

  "who prefers stillness sees frames, and nothing between them": async ({ page, addresses }) => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await ask(page, addresses.team);
    await page.getByLabel("Speed").selectOption("2");
    const positions = new Set();
    page.on("console", (message) => positions.add(message.text()));
    await page.evaluate(() => {
      const slider = document.querySelector(".replay input");
      new MutationObserver(() => console.log(slider.value)).observe(slider, { attributes: true });
    });
    await ended(page);
    assert.ok(
      [...positions].every((one) => Number.isInteger(Number(one))),
      [...positions].join(" "),
    );
  },
};
