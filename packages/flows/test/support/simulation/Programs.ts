/**
 * Flows that a seed makes up: a tree of steps, waits, groups and undos, and the flow that runs one.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FlowTimeout } from "../../../src/FlowErrors.ts"
import * as Flow from "../../../src/Flow.ts"
import { makeStep } from "../../../src/Step.ts"
import { Done, type Post, Room, RoomError } from "./Room.ts"
import type { Seeded } from "./Seeded.ts"

/** How a step behaves and is repeated. */
export type Manner =
  /** Retries transient failures for a day. */
  | "patient"
  | "thrice"
  /** Interrupted when it takes too long. */
  | "timed"
  | "once"
  | "unkeyed"
  /** Is not run again after an interruption. */
  | "never"

export type Node =
  | {
      readonly _tag: "Step"
      readonly key: string
      readonly manner: Manner
      readonly isBad: boolean
      readonly millis: number
    }
  /** One step after the other in one place, until one succeeds. */
  | { readonly _tag: "Again"; readonly times: number }
  | { readonly _tag: "Sleep"; readonly name: string; readonly millis: number }
  | { readonly _tag: "Signal"; readonly key: string }
  | { readonly _tag: "Inbox" }
  | { readonly _tag: "Patched"; readonly name: string }
  | { readonly _tag: "Sequence"; readonly nodes: ReadonlyArray<Node> }
  | { readonly _tag: "All"; readonly name: string; readonly nodes: ReadonlyArray<Node>; readonly concurrency: number }
  | {
      readonly _tag: "ForEach"
      readonly name: string
      readonly items: number
      readonly node: Node
      readonly concurrency: number
    }
  | { readonly _tag: "Race"; readonly name: string; readonly nodes: ReadonlyArray<Node> }
  | { readonly _tag: "Timeout"; readonly name: string; readonly millis: number; readonly node: Node }
  | { readonly _tag: "Call"; readonly key: string; readonly node: Node; readonly id: number }
  | { readonly _tag: "Caught"; readonly node: Node }
  | {
      readonly _tag: "Compensate"
      readonly step: Extract<Node, { _tag: "Step" }>
      readonly rest: Node | null
      readonly undo: UndoOf
    }

export interface UndoOf {
  readonly steps: number
  readonly manner: "patient" | "once"
  readonly sleepMillis: number
}

/** What an execution does: one tree for each chapter of its life. */
export interface Program {
  readonly chapters: ReadonlyArray<Node>
  /** The keys of its signals. */
  readonly signals: ReadonlyArray<string>
  readonly inboxes: number
  /** The parts that are flows of their own, by id. */
  readonly parts: ReadonlyMap<number, Node>
}

// ---- made up

export const program = (seeded: Seeded): Program => {
  let count = 0
  const signals: Array<string> = []
  let inboxes = 0
  const parts = new Map<number, Node>()
  const id = () => `${++count}`
  const millis = () => seeded.pick([0, 5, 50, 500, 2_000])
  const step = (manner: Manner): Extract<Node, { _tag: "Step" }> => ({
    _tag: "Step",
    key: id(),
    manner,
    isBad: seeded.chance(0.04),
    millis: millis()
  })
  const anyStep = () =>
    step(
      seeded.pick([
        "patient",
        "patient",
        "patient",
        "thrice",
        "timed",
        "once",
        "unkeyed",
        seeded.chance(0.2) ? "never" : "patient"
      ])
    )
  const naps = [1, 100, 1_000, 3_000, 7_000, 20_000] as const
  const nap = () => seeded.pick(naps)

  const leaf = (isInLoop: boolean): Node => {
    const which = seeded.next()
    if (which < 0.55) return anyStep()
    if (which < 0.65) return { _tag: "Again", times: seeded.int(2, 4) }
    if (which < 0.8) return { _tag: "Sleep", name: `nap${id()}`, millis: nap() }
    if (which < 0.9 && !isInLoop) {
      const key = seeded.chance(0.25) && signals[0] !== undefined ? signals[0] : id()
      if (!signals.includes(key)) signals.push(key)
      return { _tag: "Signal", key }
    }
    if (which < 0.96 && !isInLoop) {
      inboxes++
      return { _tag: "Inbox" }
    }
    return { _tag: "Patched", name: `patch${id()}` }
  }
  const many = (depth: number, from: number, to: number, isInLoop: boolean) =>
    Array.from({ length: seeded.int(from, to) }, () => node(depth - 1, isInLoop))
  const concurrency = () => seeded.pick([1, 2, 3])

  const node = (depth: number, isInLoop: boolean): Node => {
    if (depth <= 0) return leaf(isInLoop)
    switch (
      seeded.pick([
        "leaf",
        "leaf",
        "sequence",
        "all",
        "each",
        "race",
        "race",
        "timeout",
        "call",
        "caught",
        "undo",
        "undo",
        "undo"
      ])
    ) {
      case "sequence":
        return { _tag: "Sequence", nodes: many(depth, 2, 3, isInLoop) }
      case "all":
        return { _tag: "All", name: `all${id()}`, nodes: many(depth, 2, 3, isInLoop), concurrency: concurrency() }
      case "each":
        return {
          _tag: "ForEach",
          name: `each${id()}`,
          items: seeded.int(2, 4),
          node: node(Math.min(depth - 1, 1), true),
          concurrency: concurrency()
        }
      case "race":
        return { _tag: "Race", name: `race${id()}`, nodes: many(depth, 2, 3, isInLoop) }
      case "timeout": {
        const limited: Node = { _tag: "Timeout", name: `limit${id()}`, millis: nap(), node: node(depth - 1, isInLoop) }
        return seeded.chance(0.8) ? { _tag: "Caught", node: limited } : limited
      }
      case "call": {
        const part = node(depth - 1, isInLoop)
        const own = ++count
        parts.set(own, part)
        return { _tag: "Call", key: `${own}`, id: own, node: part }
      }
      case "caught":
        return { _tag: "Caught", node: node(depth - 1, isInLoop) }
      case "undo":
        return {
          _tag: "Compensate",
          step: step(seeded.pick(["patient", "patient", "thrice", "timed", "once"])),
          rest: seeded.chance(0.3) ? node(depth - 1, isInLoop) : null,
          undo: {
            steps: seeded.chance(0.3) ? 2 : 1,
            manner: seeded.chance(0.7) ? "patient" : "once",
            sleepMillis: seeded.chance(0.2) ? nap() : 0
          }
        }
      default:
        return leaf(isInLoop)
    }
  }
  const chapters = Array.from({ length: seeded.chance(0.12) ? 2 : 1 }, (): Node => {
    const nodes = many(seeded.int(2, 4), 2, 5, false)
    return { _tag: "Sequence", nodes: seeded.chance(0.15) ? [...nodes, { ...step("once"), isBad: true }] : nodes }
  })
  return { chapters, signals, inboxes, parts }
}

// ---- run

const StepInput = Schema.Struct({
  undoes: Schema.NullOr(Schema.Finite),
  isBad: Schema.Boolean,
  millis: Schema.Finite
})
type StepInput = typeof StepInput.Type

const post = (more: Pick<Post, "hasTimeout" | "keyed">) => (input: StepInput) =>
  Effect.flatMap(Room, ({ post }) => post({ ...input, ...more }))

const options = { input: StepInput, success: Done, error: RoomError, run: post({ hasTimeout: false, keyed: true }) }
const isPassing = ({ why }: RoomError) => why !== "refused"

const steps = {
  patient: makeStep("patient", options, {
    transient: (error) => (isPassing(error) ? { retryAfterMillis: null } : null)
  }),
  thrice: Flow.step("thrice", { ...options, retry: { attempts: 3, delay: 500, while: isPassing } }),
  timed: Flow.step("timed", {
    ...options,
    run: post({ hasTimeout: true, keyed: true }),
    retry: { attempts: 3, delay: 100 },
    timeout: 3_000
  }),
  once: Flow.step("once", options),
  unkeyed: Flow.step("unkeyed", { ...options, run: post({ hasTimeout: false, keyed: false }) }),
  never: Flow.step("never", { ...options, repeat: "never" })
}
const plain = { undoes: null, isBad: false, millis: 0 }

export const go = Flow.signal("go", Schema.Finite)
export const box = Flow.inbox("box", Schema.Finite)

export const Failed = Schema.Union([RoomError, Flow.StepTimeout, FlowTimeout])
type Failed = typeof Failed.Type
type Run = Effect.Effect<Schema.Json, Failed, Flow.FlowContext<Room>>

const Input = Schema.Struct({ key: Schema.String, program: Schema.Finite, chapter: Schema.Finite })
const PartInput = Schema.Struct({ program: Schema.Finite, part: Schema.Finite })

/** The text of a failure that the body has caught. */
export const caughtOf = (error: Schema.Json): Schema.Json => ({ caught: error })
const encodeFailed = Schema.encodeSync(Schema.toCodecJson(Failed))

export const itemKey = (index: number) => `i${index}`
export const memberKey = (index: number) => `m${index}`

/** Limits that a seed picks; most have none. */
export const limits = (seeded: Seeded) =>
  seeded.pick<ReadonlyArray<Flow.FlowLimit<typeof Input.Type>>>([
    [],
    [],
    [],
    [{ concurrency: 1 }],
    [{ concurrency: 2 }, { key: ({ program }) => `${program % 2}`, concurrency: 1 }],
    [
      { key: ({ key }) => key, concurrency: 1 },
      { key: () => "one", concurrency: 1 }
    ],
    [{ rate: "1/min" }, { concurrency: 2 }]
  ])

/** The flow that runs the programs of one simulation. */
export const make = (programs: ReadonlyArray<Program>, limit: ReturnType<typeof limits> = []) => {
  const none: Node = { _tag: "Sequence", nodes: [] }
  const part = Flow.make("part", {
    version: 1,
    input: PartInput,
    success: Schema.Json,
    error: Failed,
    idempotencyKey: ({ part }) => `${part}`,
    run: ({ part, program }) => run(programs[program]?.parts.get(part) ?? none, program)
  })

  const members = (nodes: ReadonlyArray<Node>, program: number) =>
    Object.fromEntries(nodes.map((node, index) => [memberKey(index), run(node, program)] as const))

  const run = (node: Node, program: number): Run => {
    switch (node._tag) {
      case "Step":
        return steps[node.manner]({ ...plain, isBad: node.isBad, millis: node.millis }, { key: node.key })
      case "Again":
        return Effect.gen(function* () {
          for (let left = node.times; left > 1; left--) {
            const done = yield* Effect.catch(steps.once(plain), () => Effect.succeed(null))
            if (done !== null) return done
          }
          return yield* steps.once(plain)
        })
      case "Sleep":
        return Effect.as(Flow.sleep(node.name, node.millis), null)
      case "Signal":
        return go.receive({ key: node.key })
      case "Inbox":
        return box.receive()
      case "Patched":
        return Flow.patched(node.name)
      case "Sequence":
        return Effect.gen(function* () {
          const results: Array<Schema.Json> = []
          for (const one of node.nodes) results.push(yield* run(one, program))
          return results
        })
      case "All":
        return Flow.all(node.name, members(node.nodes, program), { concurrency: node.concurrency })
      case "ForEach":
        return Flow.forEach(
          node.name,
          Array.from({ length: node.items }, (_, index) => index),
          { key: itemKey, concurrency: node.concurrency },
          () => run(node.node, program)
        )
      case "Race":
        return Flow.race(node.name, members(node.nodes, program))
      case "Timeout":
        return Flow.timeout(node.name, node.millis, run(node.node, program))
      case "Call":
        return Effect.catchTag(
          Flow.call(part, { program, part: node.id }, { key: node.key }),
          "InvalidInput",
          // The programs are made with fitting inputs.
          Effect.die
        )
      case "Caught":
        return Effect.catch(run(node.node, program), (error) => Effect.succeed(caughtOf(encodeFailed(error))))
      case "Compensate": {
        const { rest, step, undo } = node
        const own: Effect.Effect<{ readonly n: number; readonly key: string }, Failed, Flow.FlowContext<Room>> = steps[
          step.manner
        ]({ ...plain, isBad: step.isBad, millis: step.millis }, { key: step.key })
        const call: Effect.Effect<
          { readonly n: number; readonly value: Schema.Json },
          Failed,
          Flow.FlowContext<Room>
        > = Effect.flatMap(own, (done) =>
          Effect.map(rest === null ? Effect.succeed(done) : run(rest, program), (value) => ({ n: done.n, value }))
        )
        const undone = ({ n }: { readonly n: number }) =>
          Effect.gen(function* () {
            if (undo.sleepMillis > 0) yield* Flow.sleep("nap", undo.sleepMillis)
            if (undo.steps > 1) yield* steps.patient(plain, { key: "before" })
            yield* steps[undo.manner]({ ...plain, undoes: n }, { key: "undo" })
          })
        return Effect.map(Flow.compensate(call, undone), ({ value }) => value)
      }
    }
  }
  return Flow.make("simulated", {
    version: 1,
    input: Input,
    success: Schema.Json,
    error: Failed,
    idempotencyKey: ({ key }) => key,
    signals: [go, box],
    limit,
    run: Effect.fnUntraced(function* ({ chapter, key, program }) {
      const { chapters = [] } = programs[program] ?? {}
      const result = yield* run(chapters[chapter] ?? none, program)
      if (chapter + 1 < chapters.length) {
        return yield* Flow.continueAs({ name: "simulated", input: Input }, { key, program, chapter: chapter + 1 })
      }
      return result
    })
  })
}
