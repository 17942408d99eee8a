// Calls to the HTTP API: token, requests and refusals.
import type { Problem } from "./shapes.ts";

const BASE = "/api/v1";
const KEY = "cofire.token";

export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly wayOut: string,
  ) {
    super(message);
  }
}

/** Keep the token in the address for this tab, and remove it from the address. */
export function takeToken(): void {
  const given = /[#&]token=([^&]+)/.exec(location.hash)?.[1];
  if (!given) return;
  keepToken(decoded(given));
  history.replaceState(null, "", `${location.pathname}#/ask`);
}

/** A token that is not URL-encoded is used as it is; the server decides whether it is right. */
function decoded(given: string): string {
  try {
    return decodeURIComponent(given);
  } catch {
    return given;
  }
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function get<T>(path: string, asked: Record<string, string | number | undefined> = {}): Promise<T> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked))
    if (value !== undefined && value !== "") query.set(name, String(value));
  return call<T>("GET", query.size ? `${path}?${query}` : path);
}

export const post = <T>(path: string, body: unknown = {}): Promise<T> => call<T>("POST", path, body);
export const patch = <T>(path: string, body: unknown): Promise<T> => call<T>("PATCH", path, body);
export const put = <T>(path: string, body: unknown): Promise<T> => call<T>("PUT", path, body);
export const remove = <T>(path: string): Promise<T> => call<T>("DELETE", path);

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await answered(method, path, "application/json", body)).json() as Promise<T>;
}

/** A successful response. Any other is thrown as a refusal. */
export async function answered(method: string, path: string, accept: string, body?: unknown): Promise<Response> {
  const response = await sent(method, path, accept, body);
  if (!response.ok) throw await refusalOf(response);
  return response;
}

async function sent(method: string, path: string, accept: string, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = { Accept: accept };
  const token = sessionStorage.getItem(KEY);
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(BASE + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  } catch {
    throw new Refusal(
      0,
      "Unreachable",
      "The server does not respond.",
      "Check that cofire serve is still running, then try again.",
    );
  }
}

async function refusalOf(response: Response): Promise<Refusal> {
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  const message = problem.problem ?? `The server responded with ${response.status}.`;
  return new Refusal(response.status, problem.kind ?? "Unexpected", message, problem.way_out ?? "Try again.");
}
