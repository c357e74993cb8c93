/**
 * A family of flows whose steps have effects in `Effects`: one for each way in which an execution can go.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Flow from "../../../src/Flow.ts"
import { makeStep, StepTimeout } from "../../../src/Step.ts"
import { type Expected, Post } from "./Effects.ts"

export const kinds = ["plain", "failed", "fan", "broken", "race", "timed", "signal", "caught"] as const
export const Kind = Schema.Literals(kinds)
export type Kind = typeof Kind.Type

export const kindOf = (n: number): Kind => kinds[n % kinds.length] ?? "plain"

/** Events of the longest of the family; the later ones are those of undos. */
export const boundaries = 18

/** The event at which an execution is cancelled, from 1. */
export const cancelledAt = (n: number): number => (Math.floor(n / kinds.length) % boundaries) + 1

export const expected: Readonly<Record<Kind, Expected>> = {
  plain: { state: "completed", least: ["a", "b"], kept: ["a", "b"] },
  failed: { state: "failed", least: ["a", "b"], kept: [] },
  fan: { state: "completed", least: ["i0", "i1", "i2", "i3", "after"], kept: ["i0", "i1", "i2", "i3"] },
  broken: { state: "failed", least: ["first"], kept: [] },
  race: { state: "completed", least: ["first", "after"], kept: ["first"] },
  timed: { state: "completed", least: ["first", "after"], kept: ["first"] },
  signal: { state: "completed", least: ["first", "after"], kept: ["first"] },
  caught: { state: "completed", least: ["first", "a", "after"], kept: ["first", "a"] }
}

/** Of an execution that was cancelled before it had ended. */
export const cancelled: Expected = { state: "cancelled", least: [], kept: [] }

export const Input = Schema.Struct({ n: Schema.Finite, kind: Kind })

/** The service sent no response, or none that shows whether it acted. */
export class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", {
  why: Schema.String,
  retryAfterMillis: Schema.NullOr(Schema.Finite)
}) {}

export class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

const Answer = Schema.Struct({ token: Schema.String })

const sendTo = (url: string, key: string, post: Post) =>
  Effect.tryPromise({
    try: async (signal) => {
      const headers = { "content-type": "application/json", "idempotency-key": key }
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(post), signal })
      return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() }
    },
    catch: (cause) => new Unanswered({ why: String(cause), retryAfterMillis: null })
  }).pipe(
    Effect.flatMap(({ retryAfter, status, text }) =>
      status === 200
        ? Effect.orDie(Schema.decodeEffect(Schema.fromJsonString(Answer))(text))
        : new Unanswered({
            why: `${status}`,
            retryAfterMillis: retryAfter === null ? null : Number(retryAfter) * 1_000
          })
    )
  )

export const go = Flow.signal("go", Schema.String)

/** What may differ between two builds of the program. */
export interface Build {
  readonly version: number
  /** A step that another build does not have, before all others or after them. */
  readonly more: "none" | "before" | "after"
  /** How an unanswered POST is repeated: as ready steps are, or not at all. */
  readonly retry: "durable" | "never"
  readonly timeoutMillis: number
  /** Whether few executions are admitted together. */
  readonly limited: boolean
}

export const firstBuild: Build = { version: 1, more: "none", retry: "durable", timeoutMillis: 2_000, limited: false }

export const familyOf = (url: string, build: Build = firstBuild) => {
  const postOf = makeStep(
    "post",
    {
      input: Post,
      success: Answer,
      error: Unanswered,
      timeout: build.timeoutMillis,
      run: (post: Post) =>
        Effect.flatMap(IdempotencyKeys, (keys) => Effect.flatMap(keys.next, (key) => sendTo(url, key, post)))
    },
    build.retry === "durable" ? { transient: ({ retryAfterMillis }) => ({ retryAfterMillis }) } : {}
  )
  /** Has no key: made again it is another one, so it must be recorded before it is used. */
  const draw = Flow.step("draw", {
    input: Schema.Void,
    success: Schema.String,
    error: Schema.Never,
    run: () => Effect.sync(() => crypto.randomUUID() as string)
  })
  const refuse = Flow.step("refuse", {
    input: Schema.Void,
    success: Schema.Void,
    error: Refused,
    run: () => Effect.fail(new Refused({ why: "as planned" }))
  })
  const more = Flow.step("more", {
    input: Schema.Void,
    success: Schema.Void,
    error: Schema.Never,
    run: () => Effect.void
  })

  const post = (n: number, name: string, used: string, compensated = false) =>
    postOf({ n, name, used, compensated, undo: false }, { key: name })
  const kept = (n: number, name: string, used: string) =>
    Flow.compensate(post(n, name, used, true), () =>
      postOf({ n, name, used, compensated: true, undo: true }, { key: `undo ${name}` })
    )
  const items = ["i0", "i1", "i2", "i3"]

  const bodies = {
    plain: Effect.fnUntraced(function* (n: number, used: string) {
      yield* kept(n, "a", used)
      yield* Flow.sleep("nap", "30 millis")
      yield* kept(n, "b", yield* draw(undefined))
    }),
    failed: Effect.fnUntraced(function* (n: number, used: string) {
      yield* kept(n, "a", used)
      yield* kept(n, "b", yield* draw(undefined))
      yield* refuse(undefined)
    }),
    fan: Effect.fnUntraced(function* (n: number, used: string) {
      yield* Flow.forEach("item", items, { key: (item) => item, concurrency: 3 }, (item) =>
        Effect.andThen(kept(n, item, used), Flow.sleep("nap", "20 millis"))
      )
      yield* post(n, "after", yield* draw(undefined))
    }),
    broken: Effect.fnUntraced(function* (n: number, used: string) {
      yield* kept(n, "first", used)
      yield* Flow.forEach("item", items, { key: (item) => item, concurrency: 4 }, (item) =>
        Effect.gen(function* () {
          if (item === "i2") {
            yield* Flow.sleep("nap", "5 millis")
            return yield* refuse(undefined)
          }
          yield* kept(n, item, used)
          return yield* Flow.sleep("long", "1 hour")
        })
      )
    }),
    race: Effect.fnUntraced(function* (n: number, used: string) {
      yield* kept(n, "first", used)
      yield* Flow.race("race", {
        slow: Effect.andThen(kept(n, "slow", used), Flow.sleep("long", "1 hour")),
        quick: Flow.sleep("quick", "10 millis")
      })
      yield* post(n, "after", used)
    }),
    timed: Effect.fnUntraced(function* (n: number, used: string) {
      yield* kept(n, "first", used)
      yield* Flow.timeout(
        "limit",
        "10 millis",
        Effect.andThen(kept(n, "slow", used), Flow.sleep("long", "1 hour"))
      ).pipe(Effect.catchTag("FlowTimeout", () => Effect.void))
      yield* post(n, "after", used)
    }),
    signal: Effect.fnUntraced(function* (n: number, used: string) {
      yield* kept(n, "first", used)
      yield* post(n, "after", yield* go.receive())
    }),
    caught: Effect.fnUntraced(function* (n: number, used: string) {
      yield* kept(n, "first", used)
      yield* Effect.catchTag(refuse(undefined), "Refused", () => Effect.void)
      yield* kept(n, "a", used)
      yield* post(n, "after", used)
    })
  }

  return Flow.make("drill", {
    version: build.version,
    input: Input,
    success: Schema.String,
    error: Schema.Union([Unanswered, StepTimeout, Refused]),
    idempotencyKey: ({ n }) => `${n}`,
    signals: [go],
    limit: build.limited ? [{ key: ({ kind }) => kind, concurrency: 1 }, { concurrency: 5 }] : [],
    run: Effect.fnUntraced(function* ({ kind, n }) {
      if (build.more === "before") yield* more(undefined)
      const used = yield* draw(undefined)
      yield* bodies[kind](n, used)
      if (build.more === "after") {
        yield* more(undefined)
        // Long enough for another process to come in between.
        yield* Flow.sleep("tail", "300 millis")
      }
      return used
    })
  })
}

export type Family = ReturnType<typeof familyOf>
