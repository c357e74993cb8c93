/** Runs a task for one item: how it was released, and the calls before. */
import { assert } from "@effect/vitest"
import { WorkItemId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import { runItems } from "../../src/internal/tasks/ItemRun.ts"
import * as SessionSource from "../../src/internal/items/SessionSource.ts"
import type * as Task from "../../src/Task.ts"
import * as MemorySession from "./MemorySession.ts"

type TaskOf<R> = Pick<Task.Task<Task.PayloadSchema, Task.PayloadSchema, R>, "outputs">

export const one = WorkItemId.make("one")

export const runIn = <R>(task: TaskOf<R>, { actions, session, tools }: ReturnType<typeof MemorySession.make>) =>
  Effect.map(runItems(task, session, SessionSource.make(session, one), Effect.succeed(false), tools), () => ({
    release: actions.find((action) => action.did === "release")?.how ?? assert.fail("the item was not released"),
    actions: actions.filter((action) => action.did !== "release")
  }))

export const runOne = <R>(task: TaskOf<R>, item: MemorySession.MemoryItem) =>
  runIn(task, MemorySession.make({ one: item }))
