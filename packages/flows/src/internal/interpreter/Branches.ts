/**
 * The branches of a body: which run, and which are parked at an operation. `Flow.all`, `forEach`, `race` and `timeout` are
 * the only concurrency: a branch has one fiber, and one operation at a time. So it is known exactly when the execution is quiescent,
 * without counting turns of a scheduler or polling.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { FlowDefect } from "../../FlowDefect.ts"
import type { Interpreter, Position } from "../body/Position.ts"

/** The operation at which a branch is parked. */
export interface Parked {
  /** Called when the branch is cancelled: abandons the operation, or lets it run to its end first. */
  readonly cancel: () => void
  /** Resumes the fiber of the branch. Called once, through `resume`. */
  readonly resume: (effect: Effect.Effect<unknown, unknown>) => void
}

/** A running call of `Flow.compensate`. */
export interface Region {
  /** The path of the first step in it. */
  path: string | null
  /** Whether a step in it has begun. Its undo needs its result, so a cancel takes effect after its end. */
  begun: boolean
}

export interface Branch {
  readonly parent: Branch | null
  /** The interpreter that the code of the branch calls. */
  readonly interpreter: Interpreter
  fiber: Fiber.Fiber<unknown, unknown> | null
  parked: Parked | null
  cancelled: boolean
  readonly regions: Array<Region>
}

/** The code of a branch, as a function of its position. */
export type Code<A, E> = (position: Position) => Effect.Effect<A, E>

type Ended = Exit.Exit<unknown, unknown>

/** Whether a branch is `root` or inside it. */
export const isWithin = (branch: Branch | null, root: Branch): boolean => {
  for (let at = branch; at !== null; at = at.parent) if (at === root) return true
  return false
}

/** Whether the branch, or one around it, is in a call of `Flow.compensate`. */
export const inRegion = (branch: Branch): boolean => {
  for (let at: Branch | null = branch; at !== null; at = at.parent) if (at.regions.length > 0) return true
  return false
}

/** Whether the branch, or one around it, is cancelled. */
export const isCancelled = (branch: Branch): boolean => {
  for (let at: Branch | null = branch; at !== null; at = at.parent) if (at.cancelled) return true
  return false
}

/** Marks the calls of `Flow.compensate` around a step that begins: they run to their end. */
export const beginRegions = (branch: Branch) => {
  for (let at: Branch | null = branch; at !== null; at = at.parent) for (const region of at.regions) region.begun = true
}

/** Whether a cancel takes effect immediately. A cancel of an outer branch waits at the calls around the group. */
const isOpenToCancel = ({ regions }: Branch) => !regions.some(({ begun }) => begun)

const misuse = new FlowDefect({
  message:
    "a branch of a flow called a step from another fiber, or two concurrently: in the body of a flow, use Flow.all, " +
    "Flow.forEach, Flow.race or Flow.timeout for concurrency, not Effect.all, Effect.race or Effect.timeout"
})

export interface Options {
  /** The context of the fibers of all branches. */
  readonly context: Context.Context<never>
  /** Called when the last running branch has parked or ended. */
  readonly onRest: () => void
  /** Called when a branch ended with a defect, or broke the rules. */
  readonly onDefect: (branch: Branch, cause: Cause.Cause<unknown>) => void
  /** Runs the undos that the losing members of a race have registered, and calls `done` after them. */
  readonly undoWithin: (branches: ReadonlyArray<Branch>, done: () => void) => void
  readonly interpreterOf: (branch: Branch) => Interpreter
}

export type Branches = ReturnType<typeof make>

export const make = ({ context, interpreterOf, onDefect, onRest, undoWithin }: Options) => {
  let running = 0
  /** The branches that have not ended. */
  const open = new Set<Branch>()
  const began = () => {
    running++
  }
  const rested = () => {
    running--
    if (running === 0) onRest()
  }

  /** Runs code as a branch. `onEnd` is called at its end, while the branch still counts as running. */
  const start = (
    parent: Branch | null,
    prefix: string,
    code: Code<unknown, unknown>,
    onEnd: (exit: Ended, branch: Branch) => void
  ): Branch => {
    const branch: Branch = {
      parent,
      get interpreter() {
        return interpreter
      },
      fiber: null,
      parked: null,
      cancelled: false,
      regions: []
    }
    const interpreter = interpreterOf(branch)
    began()
    open.add(branch)
    const program = Effect.withFiber((fiber) => {
      branch.fiber = fiber
      return code({ interpreter, prefix })
    })
    Effect.runForkWith(context)(program).addObserver((exit) => {
      open.delete(branch)
      onEnd(exit, branch)
      rested()
    })
    return branch
  }

  /** Resumes a parked branch. */
  const resume = (branch: Branch, effect: Effect.Effect<unknown, unknown>) => {
    const { parked } = branch
    if (parked === null) return
    branch.parked = null
    began()
    parked.resume(effect)
  }

  const cancel = (branch: Branch) => {
    if (branch.cancelled) return
    branch.cancelled = true
    if (isOpenToCancel(branch)) branch.parked?.cancel()
  }

  /** Interrupts the running code of a cancelled branch, unless it must run to its end. */
  const interruptRunning = (branch: Branch) => {
    if (branch.cancelled && isOpenToCancel(branch)) branch.fiber?.interruptUnsafe()
  }

  /** Interrupts a branch at the operation that it is parked at. */
  const interrupt = (branch: Branch) => resume(branch, Effect.interrupt)

  /** Parks the branch of the calling fiber. */
  const park = <A, E>(branch: Branch, register: () => { readonly cancel: () => void }): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) => {
      if (branch.fiber !== fiber || branch.parked !== null) {
        const cause = Cause.die(misuse)
        onDefect(branch, cause)
        return Effect.failCause(cause)
      }
      if (branch.cancelled && isOpenToCancel(branch)) return Effect.interrupt
      return Effect.callback<A, E>((resume) => {
        // The operation resumes with the types of the call.
        const handle = resume as (effect: Effect.Effect<unknown, unknown>) => void
        let cancel = () => {}
        branch.parked = { resume: handle, cancel: () => cancel() }
        cancel = register().cancel
        rested()
      })
    })

  interface Group {
    readonly open: Set<Branch>
    /** Whether no further member is started. */
    closed: boolean
    isStarting: boolean
    isOver: boolean
  }

  const closeGroup = (group: Group, except: Branch | null) => {
    group.closed = true
    for (const member of Array.from(group.open)) if (member !== except) cancel(member)
  }

  /** Runs members, `concurrency` at a time, and `finish`es when no member is left. */
  const runGroup = (
    owner: Branch,
    members: ReadonlyArray<readonly [prefix: string, member: Code<unknown, unknown>]>,
    concurrency: number,
    onEnd: (group: Group, index: number, exit: Ended, branch: Branch) => void,
    finish: () => void
  ): Group => {
    let next = 0
    const group: Group = { open: new Set(), closed: false, isStarting: false, isOver: false }
    const advance = () => {
      // A member may end before `start` returns.
      if (group.isStarting) return
      group.isStarting = true
      while (!group.closed && group.open.size < concurrency) {
        const index = next++
        const member = members[index]
        if (member === undefined) break
        let over = false
        const branch = start(owner, member[0], member[1], (exit, ended) => {
          over = true
          group.open.delete(ended)
          // A cancelled member does not decide the group.
          if (!ended.cancelled || !isInterrupt(exit)) onEnd(group, index, exit, ended)
          advance()
        })
        if (!over) group.open.add(branch)
      }
      group.isStarting = false
      if (group.isOver || group.open.size > 0 || (!group.closed && next < members.length)) return
      group.isOver = true
      finish()
    }
    advance()
    return group
  }

  /** Continues the branch after a group, or ends it if it was cancelled. */
  const leave = (branch: Branch, exit: Ended) =>
    branch.cancelled && isOpenToCancel(branch) ? interrupt(branch) : resume(branch, exit)

  const defective = (branch: Branch, exit: Ended): boolean => {
    if (Exit.isSuccess(exit) || Cause.hasFails(exit.cause)) return false
    onDefect(branch, exit.cause)
    return true
  }

  /** Runs a group as an operation. */
  const groupOf = <A, E>(branch: Branch, begin: (finished: (exit: Ended) => void) => Group): Effect.Effect<A, E> =>
    park<A, E>(branch, () => {
      const group = begin((exit) => leave(branch, exit))
      return { cancel: () => closeGroup(group, null) }
    })

  const all = <A, E>(
    branch: Branch,
    members: ReadonlyArray<readonly [string, Code<A, E>]>,
    concurrency: number
  ): Effect.Effect<Array<A>, E> =>
    groupOf(branch, (finished) => {
      const results: Array<unknown> = members.map(() => undefined)
      let failure: Ended | null = null
      return runGroup(
        branch,
        members,
        concurrency,
        (group, index, exit, member) => {
          if (defective(member, exit)) return
          if (Exit.isSuccess(exit)) {
            results[index] = exit.value
          } else if (failure === null) {
            failure = exit
            closeGroup(group, member)
          }
        },
        () => finished(failure ?? Exit.succeed(results))
      )
    })

  const race = <A, E>(branch: Branch, members: ReadonlyArray<readonly [string, Code<A, E>]>): Effect.Effect<A, E> =>
    groupOf(branch, (finished) => {
      let first: Ended | null = null
      const losers: Array<Branch> = []
      return runGroup(
        branch,
        members,
        Infinity,
        (group, _index, exit, member) => {
          if (first !== null || defective(member, exit)) return
          first = exit
          losers.push(...group.open)
          closeGroup(group, member)
        },
        () => undoWithin(losers, () => finished(first ?? Exit.interrupt()))
      )
    })

  return {
    start,
    park,
    resume,
    cancel,
    interrupt,
    all,
    race,
    /** Work that keeps the execution from being quiescent, such as the end of an interrupted step. */
    busy: { began, rested },
    /** Reports that the code of a branch broke the rules. */
    broken: onDefect,
    isAtRest: () => running === 0,
    /** Returns the branches whose code runs: they are at no operation. */
    running: (): ReadonlyArray<Branch> => [...open].filter(({ parked }) => parked === null),
    interruptRunning
  }
}

const isInterrupt = (exit: Ended): boolean => Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
