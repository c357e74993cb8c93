/** The session of a step run, in memory: waiting items, and a log of all calls. */
import { FileId, WorkItemId } from "@signalbox/api/contract/Ids"
import { Conflict, ControlRoomError, Forbidden, NotFound, Unreachable } from "@signalbox/api/ControlRoomError"
import type { Release, StepRunSession } from "@signalbox/api/robot/StepRunSession"
import type { RoundedPath } from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Tools } from "../../src/internal/tasks/ItemRun.ts"

export interface MemoryItem {
  readonly payload: Schema.Json
  /** The paths of numbers that were rounded. */
  readonly rounded?: ReadonlyArray<RoundedPath>
  readonly files?: ReadonlyArray<{ readonly name: string; readonly text: string }>
}

export type Action =
  | { readonly did: "output"; readonly of: string; readonly payload: Schema.Json | null }
  | { readonly did: "file"; readonly on: string; readonly name: string; readonly text: string }
  | { readonly did: "payload"; readonly on: string; readonly payload: Schema.Json | null }
  | { readonly did: "remove"; readonly file: string; readonly of: string }
  | { readonly did: "asset"; readonly name: string; readonly text: string; readonly contentType: string }
  | { readonly did: "artifact"; readonly name: string; readonly text: string }
  | { readonly did: "release"; readonly item: string; readonly how: Release }

const request = { method: "POST", path: "/test", attempts: 1, requestId: null }

export const leaseLost = new Conflict({ code: "LEASE_LOST", message: "the step run has ended", request })
export const refused = new ControlRoomError({
  reason: new Forbidden({ code: "FORBIDDEN", message: "the token is unknown" }),
  request
})
export const unreachable = new ControlRoomError({
  reason: new Unreachable({ message: "no server responds at this address", sent: "no" }),
  request
})

const missing = (message: string) => new NotFound({ code: "NOT_FOUND", message, request })

/** The workspace besides items. */
export interface Workspace {
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, Schema.Json>>>>
  readonly assets?: Readonly<Record<string, string>>
}

/** `fail` may return the error of the named call for the given item. */
export const make = (
  items: Readonly<Record<string, MemoryItem>>,
  fail: (call: "payload" | "output" | "release", item: string) => Conflict | ControlRoomError | undefined = () =>
    undefined,
  { assets = {}, secrets = {} }: Workspace = {}
) => {
  const stored = new Map(Object.entries(assets))
  const textOf = <E>(stream: Stream.Stream<Uint8Array, E>) => Effect.orDie(Stream.mkString(Stream.decodeText(stream)))
  const actions: Array<Action> = []
  const waiting = Object.keys(items)
  const settled = new Set<string>()
  const attempt = <A>(call: "payload" | "output" | "release", item: string, act: () => A) =>
    Effect.suspend(() => {
      const error = fail(call, item)
      return error === undefined ? Effect.sync(act) : Effect.fail(error)
    })
  const filesOf = (item: string) => items[item]?.files ?? []
  const session: StepRunSession = {
    reserveNext: Effect.sync(() => {
      const next = waiting.find((id) => !settled.has(id))
      return next === undefined ? null : WorkItemId.make(next)
    }),
    release: (item, how) =>
      attempt("release", item, () => {
        settled.add(item)
        actions.push({ did: "release", item, how })
        return {}
      }).pipe(Effect.catchTag("ControlRoomError", Effect.fail)),
    createOutput: (item, payload) =>
      attempt("output", item, () => {
        actions.push({ did: "output", of: item, payload })
        return WorkItemId.make(`output-${actions.length}`)
      }),
    payload: (item) =>
      attempt("payload", item, () => items[item]?.payload ?? null).pipe(
        // `payload` declares no Conflict, so the client reports a lost lease as an unexpected status.
        Effect.catchTag("Conflict", Effect.die)
      ),
    readPayload: (item) =>
      Effect.map(session.payload(item), (payload) => ({ payload, rounded: items[item]?.rounded ?? [] })),
    setPayload: (item, payload) => Effect.sync(() => void actions.push({ did: "payload", on: item, payload })),
    files: (item) =>
      Effect.succeed(
        filesOf(item).map((file, index) => ({
          fileId: FileId.make(String(index)),
          fileName: file.name,
          fileSize: file.text.length
        }))
      ),
    download: (item, file) =>
      Effect.succeed(Stream.encodeText(Stream.fromIterable(filesOf(item)[Number(file)]?.text ?? ""))),
    attachFile: (item, source) =>
      Stream.mkString(Stream.decodeText(source.stream)).pipe(
        Effect.orDie,
        Effect.map((text) => {
          actions.push({ did: "file", on: item, name: source.name, text })
        })
      ),
    removeFile: (item, file) => Effect.sync(() => void actions.push({ did: "remove", file, of: item })),
    vault: {
      get: (name) => {
        const items = secrets[name]
        if (items === undefined) return Effect.fail(missing(`there is no secret "${name}"`))
        return Effect.succeed({ name, description: null, items: Redacted.make(items) })
      },
      put: () => Effect.die(new Error("no task writes secrets"))
    },
    assets: {
      download: (name) => {
        const text = stored.get(name)
        return text === undefined
          ? Stream.fail(missing(`there is no asset "${name}"`))
          : Stream.encodeText(Stream.succeed(text))
      },
      put: (name, content, contentType) =>
        Effect.map(textOf(content.stream), (text) => {
          stored.set(name, text)
          actions.push({ did: "asset", name, text, contentType })
        })
    }
  }
  const tools: Tools = {
    saveArtifact: (file) =>
      Effect.map(textOf(file.stream), (text) => void actions.push({ did: "artifact", name: file.name, text }))
  }
  return { session, tools, actions }
}
