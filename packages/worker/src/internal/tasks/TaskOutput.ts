/**
 * Sends the output of a task in this process, through Effect's logger or its console, as lines of its step run. It also
 * appears where it did before.
 */
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import { formatWithOptions } from "node:util"
import type { PayloadSchema, Task } from "../../Task.ts"
import type { Reports } from "../agent/Reports.ts"

const textOf = (values: ReadonlyArray<unknown>) => formatWithOptions({ colors: false }, ...values)

/** The worker's own annotations are redundant inside a step run. */
const own = new Set(["step_run_id", "task", "worker_id"])

const spoken = ["debug", "dir", "error", "group", "info", "log", "table", "trace", "warn"] as const

/**
 * Loggers and consoles cannot wait. Fibers of the task pause instead, at their next operation, while the service is slower
 * than they write.
 */
const paced = (
  scheduler: Scheduler.Scheduler,
  { isCrowded, whenClear }: Pick<Reports, "isCrowded" | "whenClear">
): Scheduler.Scheduler => ({
  executionMode: scheduler.executionMode,
  shouldYield: (fiber) => isCrowded() || scheduler.shouldYield(fiber),
  makeDispatcher: () => {
    const dispatcher = scheduler.makeDispatcher()
    return {
      scheduleTask: (task, priority) =>
        isCrowded()
          ? whenClear(() => dispatcher.scheduleTask(task, priority))
          : dispatcher.scheduleTask(task, priority),
      flush: () => dispatcher.flush()
    }
  }
})

/** Runs the task with its output sent to the reports of its step run. */
export const reported = <R>(
  task: Task<PayloadSchema, PayloadSchema, R>,
  reports: Pick<Reports, "writeNow" | "mask" | "isCrowded" | "whenClear">
): Task<PayloadSchema, PayloadSchema, R> => {
  const write = (text: string) => {
    for (const line of reports.mask.text(text).split("\n")) reports.writeNow(line)
  }
  // Loggers also write to the console, and a logged line must be sent once.
  let logging = false

  const loggerBeside = (loggers: ReadonlySet<Logger.Logger<unknown, unknown>>) =>
    Logger.make<unknown, void>((options) => {
      const { cause, fiber, logLevel, message } = options
      logging = true
      for (const logger of loggers) logger.log(options)
      logging = false
      const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
        .filter(([name]) => !own.has(name))
        .map(([name, value]) => `${name}=${textOf([value])}`)
      const text = textOf(Array.isArray(message) ? message : [message])
      write([logLevel.toUpperCase(), text, ...annotations].join(" "))
      if (cause.reasons.length > 0) write(Cause.pretty(cause))
    })

  const consoleBeside = (console: Console.Console): Console.Console => {
    const tee =
      (method: (typeof spoken)[number]) =>
      (...values: ReadonlyArray<unknown>) => {
        if (!logging) write(textOf(values))
        Reflect.apply(console[method], console, values)
      }
    return Object.assign(Object.create(console), Object.fromEntries(spoken.map((method) => [method, tee(method)])))
  }

  // Cached, because it is the same around every item of the step run.
  let heard: {
    readonly loggers: unknown
    readonly console: unknown
    readonly scheduler: unknown
    readonly context: Context.Context<never>
  } | null = null
  const contextBeside = (
    loggers: ReadonlySet<Logger.Logger<unknown, unknown>>,
    console: Console.Console,
    scheduler: Scheduler.Scheduler
  ) => {
    if (heard?.loggers === loggers && heard.console === console && heard.scheduler === scheduler) return heard.context
    const context = Context.empty().pipe(
      Context.add(Scheduler.Scheduler, paced(scheduler, reports)),
      Context.add(Logger.CurrentLoggers, new Set([loggerBeside(loggers)])),
      Context.add(Console.Console, consoleBeside(console))
    )
    heard = { loggers, console, scheduler, context }
    return context
  }

  return {
    ...task,
    outputs: (item) =>
      Effect.withFiber((fiber) => {
        const context = contextBeside(
          fiber.getRef(Logger.CurrentLoggers),
          fiber.getRef(Console.Console),
          fiber.getRef(Scheduler.Scheduler)
        )
        return Effect.map(Effect.provideContext(task.outputs(item), context), (made) =>
          Stream.isStream(made) ? Stream.provideContext(made, context) : made
        )
      })
  }
}
