/**
 * Prints the progress of flows: one live line with a bar on a terminal, plain lines otherwise.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowEvents } from "./FlowEvents.ts"
import * as ProgressView from "./internal/terminal/ProgressView.ts"

export interface Options {
  /** Whether a line can be rewritten; default: whether standard error is a terminal. */
  readonly isTty?: boolean
  /** The width of the terminal; default: that of standard error, else 80. */
  readonly columns?: number
  /** Writes the text; default: to standard error, so that standard output has only results. */
  readonly write?: (text: string) => Effect.Effect<void>
}

const liveMillis = 120
const plainMillis = 1_000

/** Some terminals of build servers report a width of 0. */
const widthOf = ({ columns = 80 }: { readonly columns?: number }) => (columns > 0 ? columns : 80)

/**
 * Prints the progress of the flows that run under it.
 *
 * On a terminal the live line shows the step that changed last, `count  [#####-----] 45/70  4.5s`, and every step that
 * ends leaves a line. Otherwise a step has a line when it starts and when it ends, and in between one for a change, at
 * most once a second. Listeners around the layer get the events too.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 * import * as TerminalProgress from "@signalbox/flows/TerminalProgress"
 *
 * const count = Flow.step("count", {
 *   input: Schema.Finite,
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   run: (total) =>
 *     Effect.forEach(
 *       Array.from({ length: total }, (_, index) => index + 1),
 *       (done) =>
 *         Effect.andThen(
 *           Flow.progress({ done, total }),
 *           Effect.sleep("100 millis")
 *         ),
 *       { discard: true }
 *     )
 * })
 * const flow = Flow.make("counting", {
 *   version: 1,
 *   input: Schema.Finite,
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   idempotencyKey: String,
 *   run: (total) => count(total)
 * })
 *
 * export const program = Flow.run(flow, 70).pipe(
 *   Effect.provide(TerminalProgress.layer())
 * )
 * ```
 */
export const layer = (options: Options = {}): Layer.Layer<never> =>
  Layer.effect(
    FlowEvents,
    Effect.gen(function* () {
      const outer = yield* FlowEvents
      const live = options.isTty ?? process.stderr.isTTY === true
      const write = options.write ?? ((text: string) => Effect.sync(() => void process.stderr.write(text)))
      const view = ProgressView.make({ live, columns: () => options.columns ?? widthOf(process.stderr) })
      const show = (text: string) => (text === "" ? Effect.void : write(text))
      yield* Effect.addFinalizer(() => Effect.suspend(() => show(view.onClose())))
      yield* Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) => show(view.onTick(now))),
        Effect.delay(live ? liveMillis : plainMillis),
        Effect.forever,
        Effect.forkScoped
      )
      return {
        publish: (event) =>
          Effect.andThen(
            Effect.suspend(() => show(view.onEvent(event))),
            outer.publish(event)
          )
      }
    })
  )
