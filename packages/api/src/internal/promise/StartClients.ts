/** What starts runs, as functions with promises. */
import type { Deleted } from "../../contract/Common.ts"
import type { ScheduleId, TriggerId } from "../../contract/Ids.ts"
import * as Schedules from "../../Schedules.ts"
import * as Triggers from "../../Triggers.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { ListOptions, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** Which page of the list, and of which process. */
export interface ListOfProcess extends ListOptions {
  readonly process?: string | undefined
}

/** Of which process, and how many are read with one request. */
export interface SizeOfProcess extends Size {
  readonly process?: string | undefined
}

/** A schedule: when runs of which process start, and with what. */
export interface NewSchedule extends Omit<Plain<Schedules.NewSchedule>, "name" | "process"> {
  readonly name: string
  /** Its id, or what has one. */
  readonly process: string | { readonly id: string }
}

/** When a schedule would start runs. */
export interface Rules extends Schedules.ScheduleRules {}

/** Schedules: times at which runs of a process start. */
export interface SchedulesClient {
  /** Returns a schedule with its inputs and its runs that have not ended. */
  readonly get: (schedule: string, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.schedules.list({ process })
   */
  readonly list: (page?: ListOfProcess, options?: CallOptions) => ApiPromise<ListPage<Schedules.ScheduleListed>>
  /**
   * All schedules, newest first.
   * @example for await (const { name } of room.schedules.stream()) console.log(name)
   */
  readonly stream: (page?: SizeOfProcess, options?: CallOptions) => AsyncIterable<Schedules.ScheduleListed>
  /**
   * Creates a schedule, which counts from now; rejects with `Conflict` when the name is in use.
   * @example await room.schedules.create({ name: "nightly", process, cron: "0 2 * * *" })
   */
  readonly create: (definition: NewSchedule, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /**
   * Replaces the definition of a schedule; a pause and the history stay.
   * @example
   * const definition = { name: "daily", process, every: "1 day" }
   * await room.schedules.update(schedule, definition)
   */
  readonly update: (schedule: string, definition: NewSchedule, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /**
   * Creates the schedule, or replaces the definition of the one with its name. Safe to repeat.
   * @example await room.schedules.put({ name: "hourly", process, every: "1 hour" })
   */
  readonly put: (definition: NewSchedule, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Deletes a schedule with its history; its runs go on. Irreversible. */
  readonly remove: (schedule: string, options?: CallOptions) => ApiPromise<Deleted<ScheduleId>>
  /** Pauses a schedule: until it is resumed, its occurrences are skipped. The note says why. */
  readonly pause: (schedule: string, note: string, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Resumes a schedule: occurrences from now on begin. */
  readonly resume: (schedule: string, options?: CallOptions) => ApiPromise<Schedules.Schedule>
  /** Returns the next ten times of a schedule. */
  readonly next: (schedule: string, options?: CallOptions) => ApiPromise<ReadonlyArray<Schedules.ScheduleTime>>
  /**
   * Returns the next ten times that a schedule with these rules would have. Nothing is stored.
   * @example const times = await room.schedules.preview({ cron: "0 2 * * MON-FRI" })
   */
  readonly preview: (rules: Rules, options?: CallOptions) => ApiPromise<ReadonlyArray<Schedules.ScheduleTime>>
  /**
   * What became of the occurrences of a schedule, newest first.
   * @example for await (const { at } of room.schedules.occurrences(schedule)) console.log(at)
   */
  readonly occurrences: (
    schedule: string,
    page?: Size,
    options?: CallOptions
  ) => AsyncIterable<Schedules.ScheduleOccurrence>
}

export const schedules = /* @__PURE__ */ members<SchedulesClient>(Schedules, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  put: 1,
  remove: 1,
  pause: 2,
  resume: 1,
  next: 1,
  preview: 1,
  occurrences: 2
})

/** A trigger: under which conditions runs of which process start. */
export interface NewTrigger extends Omit<Plain<Triggers.NewTrigger>, "name" | "process"> {
  readonly name: string
  /** Its id, or what has one. */
  readonly process: string | { readonly id: string }
}

/** Triggers: conditions under which runs of a process start, and addresses whose requests become work items. */
export interface TriggersClient {
  /** Returns a trigger with its runs that have not ended. */
  readonly get: (trigger: string, options?: CallOptions) => ApiPromise<Triggers.Trigger>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.triggers.list({ process })
   */
  readonly list: (page?: ListOfProcess, options?: CallOptions) => ApiPromise<ListPage<Triggers.TriggerListed>>
  /**
   * All triggers, newest first.
   * @example for await (const { name } of room.triggers.stream()) console.log(name)
   */
  readonly stream: (page?: SizeOfProcess, options?: CallOptions) => AsyncIterable<Triggers.TriggerListed>
  /**
   * Creates a trigger. `url` of the result is its address, redacted; it is returned only here.
   * @example
   * const start = { at_least: 10 }
   * await room.triggers.create({ name: "ten items", process, start })
   */
  readonly create: (definition: NewTrigger, options?: CallOptions) => ApiPromise<Triggers.TriggerCreated>
  /**
   * Replaces the definition of a trigger; its address stays, and a secret that is left out.
   * @example
   * const start = { at_least: 20 }
   * await room.triggers.update(trigger, { name: "twenty items", process, start })
   */
  readonly update: (
    trigger: string,
    definition: NewTrigger,
    options?: CallOptions
  ) => ApiPromise<Triggers.TriggerCreated>
  /** Gives a trigger a new address, and revokes the old one. */
  readonly rotateUrl: (trigger: string, options?: CallOptions) => ApiPromise<Triggers.TriggerCreated>
  /** Deletes a trigger and revokes its address. Its runs go on, and its items stay. Irreversible. */
  readonly remove: (trigger: string, options?: CallOptions) => ApiPromise<Deleted<TriggerId>>
}

export const triggers = /* @__PURE__ */ members<TriggersClient>(Triggers, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  rotateUrl: 1,
  remove: 1
})
