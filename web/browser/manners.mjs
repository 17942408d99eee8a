// Scenarios of manners: who may enter, empty and failing memories, keys, narrow screens, themes, and accessible names.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { ask } from "./asking.mjs";
import { drawn } from "./chromium.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Wait until nothing fades or moves any more, but for what never ends: what fades in has no full contrast before. */
async function still(page) {
  await page.waitForTimeout(100);
  await page.waitForFunction(() =>
    document.getAnimations().every((one) => one.playState === "finished" || one.effect?.getTiming().iterations === Infinity),
  );
}

/** What axe finds wrong with what is to be seen just now. */
async function faults(page) {
  await still(page);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`,
  );
}

async function inspectEveryScreen(page, address) {
  await page.goto(address);
  await drawn(page);
  assert.deepEqual(await faults(page), [], "the invitation");
  await ask(page, address);
  await page.getByText("Options").click();
  await page.locator(".hit summary").first().click();
  assert.deepEqual(await faults(page), [], "the answer");
  await page
    .getByRole("button", { name: /Open the fact/ })
    .first()
    .click();
  await page.locator(".fact-text").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  assert.deepEqual(await faults(page), [], "the fact");
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  await page.getByText("Forget this fact?").waitFor();
  assert.deepEqual(await faults(page), [], "forgetting");
  await page.getByRole("link", { name: "Graph" }).click();
  await page.getByLabel("Find facts in the graph").fill("postgres");
  assert.deepEqual(await faults(page), [], "the graph");
  await page.getByRole("link", { name: "Health" }).click();
  await page.locator(".figures").waitFor();
  for (const group of await page.locator(".setting-group summary").all()) await group.click();
  assert.deepEqual(await faults(page), [], "health");
}

const withoutToken = (address) => address.replace(/#.*/, "");

export const manner = {
  "a narrow screen has no sideways scrolling and the way between screens at its foot": {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  },
  "every screen is accessible in light": { colorScheme: "light" },
};

export default {
  "every screen is accessible in dark": ({ page, addresses }) => inspectEveryScreen(page, addresses.team),

  "every screen is accessible in light": ({ page, addresses }) => inspectEveryScreen(page, addresses.team),

  "a token that nobody can read opens nothing, and the page asks for one": async ({ page, addresses, complaints }) => {
    await page.goto(`${withoutToken(addresses.team)}#token=%`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    complaints.splice(0, complaints.length, ...complaints.filter((one) => !one.includes("401")));
  },

  "an address that names no screen leads to asking": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    await page.goto(`${withoutToken(addresses.team)}#/constructor`);
    await page.reload();
    await page.getByRole("textbox", { name: "Question" }).waitFor();
  },

  "without a token it asks for one, and a wrong one does not open it": async ({ page, addresses, complaints }) => {
    await page.goto(withoutToken(addresses.team));
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.deepEqual(await faults(page), []);
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("The token is wrong.").waitFor();
    await page.getByLabel("Token").fill(addresses.team.split("token=")[1]);
    await page.keyboard.press("Enter");
    await drawn(page);
    complaints.splice(0, complaints.length, ...complaints.filter((one) => !one.includes("401")));
  },

  "the token leaves the address and stays in the tab": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    assert.ok(!page.url().includes("token"));
    await page.reload();
    await drawn(page);
  },

  "an empty memory invites to tell it something": async ({ page, addresses }) => {
    await page.goto(addresses.empty);
    await page.getByRole("heading", { name: "Memory is empty" }).waitFor();
    assert.deepEqual(await faults(page), []);
    await page.getByLabel("A fact").fill("Tea is at four.");
    await page.getByRole("button", { name: "Remember" }).click();
    await page.getByRole("heading", { name: "Ask a question" }).waitFor();
    assert.match(await page.locator(".count").innerText(), /^1 fact$/);
  },

  "a memory that does not answer is told, and asking again works": async ({ page, context, addresses, complaints }) => {
    await page.goto(addresses.team);
    await drawn(page);
    await context.setOffline(true);
    await page.getByRole("textbox", { name: "Question" }).fill("Who is on call?");
    await page.keyboard.press("Enter");
    await page.getByText("The server does not respond.").waitFor();
    assert.deepEqual(await faults(page), []);
    await context.setOffline(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".hit").first().waitFor();
    complaints.splice(0, complaints.length, ...complaints.filter((one) => !one.includes("ERR_INTERNET_DISCONNECTED")));
  },

  "keys lead everywhere, and are listed": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    await page.keyboard.press("2");
    await page.getByLabel("Find facts in the graph").waitFor();
    await page.keyboard.press("3");
    await page.locator(".figures").waitFor();
    await page.keyboard.press("/");
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Question");
    await page.keyboard.press("Escape");
    await page.locator(".wordmark").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    assert.deepEqual(await faults(page), []);
  },

  "the theme turns and stays": async ({ page, addresses }) => {
    await page.goto(addresses.team);
    await drawn(page);
    await page.keyboard.press("t");
    assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
    await page.reload();
    assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
  },

  "the focus goes into a fact and comes back from it": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    await page
      .getByRole("button", { name: /Open the fact/ })
      .first()
      .press("Enter");
    await page.waitForFunction(() => document.activeElement?.classList.contains("fact-panel"));
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Close");
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
    await page.keyboard.press("Escape");
    assert.match(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), /^Open the fact/);
  },

  "a narrow screen has no sideways scrolling and the way between screens at its foot": async ({ page, addresses }) => {
    await ask(page, addresses.team);
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.equal(await wide(), 0);
    for (const screen of ["Graph", "Health"]) {
      await page.getByRole("link", { name: screen }).click();
      assert.equal(await wide(), 0);
    }
    const nav = await page.getByRole("navigation").boundingBox();
    assert.ok(nav.y + nav.height >= 738);
  },

  "the policy allows no inline script and no other host": async ({ page, addresses }) => {
    const response = await page.goto(addresses.empty);
    const policy = response.headers()["content-security-policy"];
    assert.match(policy, /default-src 'none'/);
    assert.ok(!policy.includes("unsafe"));
    const html = await response.text();
    assert.ok(!/style=|<script(?![^>]+src=)/.test(html));
  },
};
