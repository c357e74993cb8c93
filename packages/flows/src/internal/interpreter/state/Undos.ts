/**
 * The undos that a body has registered, and how far each is.
 */
import * as Exit from "effect/Exit"
import { detailOf } from "../../model/Failure.ts"
import type { History, Undo } from "../../model/Execution.ts"
import { type Branch, type Code, isWithin } from "../Branches.ts"

/** An undo that the body has registered. */
export interface Undoing extends Undo {
  readonly undo: Code<unknown, unknown>
  readonly branch: Branch
  state: Undo["state"]
  failure: Undo["failure"]
}

/** Whether an undo of each state still has to run. */
const open: Readonly<Record<Undo["state"], boolean>> = { pending: true, failed: true, done: false, skipped: false }

export const isOpen = ({ state }: Pick<Undo, "state">): boolean => open[state]

export type Undos = ReturnType<typeof make>

export const make = ({ redos, undos: history }: Pick<History, "redos" | "undos">) => {
  const recorded: ReadonlyMap<string, Undo> = new Map(history.map((undo) => [undo.path, undo]))
  let position = history.reduce((most, undo) => Math.max(most, undo.position), 0)
  /** Those that are not completed now. */
  const undos = new Map<string, Undoing>()
  /** The paths of all, completed ones included. */
  const registered = new Set<string>()
  /** Continuations after the replay has passed the end of an undo. */
  const passing = new Map<string, () => void>()
  const all = () => [...undos.values()]

  return {
    /** Registers the undo of the call at a path; returns it when it is not recorded yet. */
    register: (branch: Branch, path: string, undo: Code<unknown, unknown>): Undoing | null => {
      const known = recorded.get(path)
      const undoing: Undoing = {
        path,
        redo: redos.get(path) ?? 0,
        state: known?.state ?? "pending",
        position: known?.position ?? ++position,
        failure: known?.failure ?? null,
        undo,
        branch
      }
      undos.set(path, undoing)
      registered.add(path)
      return known === undefined ? undoing : null
    },
    all,
    /** Those that branches have registered, or branches inside them. */
    within: (branches: ReadonlyArray<Branch>) =>
      all().filter(({ branch }) => branches.some((one) => isWithin(branch, one))),
    /** Whether a place is in an undo. */
    isIn: (prefix: string): boolean => {
      for (const path of undos.keys()) if (prefix.startsWith(`${path}/undo/`)) return true
      return false
    },
    hasFailed: (): boolean => all().some(({ state }) => state === "failed"),
    /** The first recorded undo that is pending, and that the body did not register this time. */
    missed: () => history.find(({ path, state }) => state === "pending" && !registered.has(path)),
    /** Called at the end of an undo; returns what is recorded of it. */
    ended: (undoing: Undoing, exit: Exit.Exit<unknown, unknown>): Undo => {
      undoing.state = Exit.isSuccess(exit) ? "done" : "failed"
      undoing.failure = Exit.isSuccess(exit) ? null : detailOf(exit.cause)
      if (undoing.state === "done") undos.delete(undoing.path)
      const { failure, path, position, redo, state } = undoing
      return { path, redo, state, position, failure }
    },
    /** Calls `then` when the replay has passed the end of an undo. */
    whenPassed: (path: string, then: () => void) => void passing.set(path, then),
    passed: (path: string) => {
      const then = passing.get(path)
      passing.delete(path)
      then?.()
    },
    /** Called when the recorded order is abandoned: there is nothing to wait for. */
    passAll: () => {
      for (const then of passing.values()) then()
      passing.clear()
    }
  }
}
