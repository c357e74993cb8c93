/**
 * Requests as programs of the years before `/api/v1` send them: by Python's `requests` where `python3` has it, since the
 * libraries of that time are built on it, and otherwise with the same bytes by `send`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { spawn, spawnSync } from "node:child_process"
import { createInterface } from "node:readline"
import { multipart, send } from "./Http.ts"

export interface Sent {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** The query. */
  readonly params?: Readonly<Record<string, string | number>>
  /** A JSON body with its content type. */
  readonly json?: unknown
  /** A body without a content type, or the fields of a form with a file. */
  readonly data?: string | Readonly<Record<string, string>>
  /** Makes the body a multipart form; without a name, the part has no `filename`. */
  readonly file?: { readonly name: string; readonly text: string }
}

const Received = Schema.Struct({ status: Schema.Finite, text: Schema.String })

/** What came back; `json` parses it. */
export interface Received extends Schema.Schema.Type<typeof Received> {}

/** Whether the requests are made in Python. */
export const inPython = spawnSync("python3", ["-c", "import requests"]).status === 0

const program = `
import json, sys, requests
for line in sys.stdin:
    sent = json.loads(line)
    options = {name: sent[name] for name in ("headers", "params", "json", "data") if name in sent}
    if "file" in sent:
        options["files"] = {"file": (sent["file"]["name"], sent["file"]["text"].encode())}
    received = requests.request(sent["method"], sent["url"], timeout=60, **options)
    print(json.dumps({"status": received.status_code, "text": received.text}), flush=True)
`

/** One Python process, which takes its time to start, for all requests of a scope, one after the other. */
const python = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("python3", ["-c", program], {
        env: { ...process.env, NO_PROXY: "*" },
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  const lines = createInterface({ input: child.stdout })
  return (sent: Sent) =>
    Effect.callback<string>((resume) => {
      const ended = () => resume(Effect.die(new Error("python3 ended")))
      lines.once("line", (line) => {
        child.off("exit", ended)
        resume(Effect.succeed(line))
      })
      child.once("exit", ended)
      child.stdin.write(`${JSON.stringify(sent)}\n`)
    }).pipe(Effect.map((line): Received => Schema.decodeSync(Schema.fromJsonString(Received))(line)))
})

const plain = ({ data, file, headers, json, method, params, url }: Sent): Effect.Effect<Received> => {
  const { origin, pathname, search } = new URL(url)
  const query = new URLSearchParams(Object.entries(params ?? {}).map(([name, value]) => [name, String(value)]))
  const path = pathname + (params === undefined ? search : `?${query}`)
  const form =
    file === undefined
      ? undefined
      : multipart([
          ...Object.entries(typeof data === "object" ? data : {}).map(([name, value]) => ({ name, value })),
          { name: "file", filename: file.name, value: file.text }
        ])
  const body = form?.body ?? (json === undefined ? data : JSON.stringify(json))
  return send(origin, method, path, {
    headers: { ...headers, ...(json === undefined ? {} : { "content-type": "application/json" }), ...form?.headers },
    ...(typeof body === "string" || body instanceof Uint8Array ? { body } : {})
  })
}

/** Sends requests, and returns what came back. */
export class Requests extends Context.Service<Requests, (sent: Sent) => Effect.Effect<Received>>()("test/Requests") {
  static readonly layer = Layer.effect(Requests, inPython ? python : Effect.succeed(plain))
}
