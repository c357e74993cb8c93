/**
 * The branches of a body: which run, and which are parked at an operation. `Flow.all`, `forEach`, `race` and `timeout` are
 * the only concurrency there is: a branch has one fiber, and one operation at a time. So it is known exactly when the
 * execution has come to rest; no turns of a scheduler are counted, and nothing is polled.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { FlowDefect } from "../FlowDefect.ts"
import type { Interpreter, Position } from "./Position.ts"

/** What a branch is parked at. */
export interface Parked {
  /** The branch is cancelled: gives up the operation, or lets it come to its end first. */
  readonly cancel: () => void
  /** Resumes the fiber of the branch. Called once, through `resume`. */
  readonly resume: (effect: Effect.Effect<unknown, unknown>) => void
}

/** A call of `Flow.compensate` that is under way. */
export interface Region {
  /** The path of the first step in it. */
  path: string | null
  /** Whether a step in it has begun. What undoes it is known at its end only, so a cancel takes effect after that. */
  begun: boolean
}

export interface Branch {
  readonly parent: Branch | null
  /** What the code of the branch calls. */
  readonly interpreter: Interpreter
  fiber: number | null
  parked: Parked | null
  cancelled: boolean
  readonly regions: Array<Region>
}

/** The code of a branch, which is told where it is. */
export type Code<A, E> = (position: Position) => Effect.Effect<A, E>

type Ended = Exit.Exit<unknown, unknown>

/** Whether a branch is in another one, or is it. */
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

/** A step in the branch begins: the calls of `Flow.compensate` around it are brought to their end. */
export const beginRegions = (branch: Branch) => {
  for (let at: Branch | null = branch; at !== null; at = at.parent) for (const region of at.regions) region.begun = true
}

/** Whether a cancel takes effect at once. One of a branch around it waits at the calls that are around the group. */
const isOpenToCancel = ({ regions }: Branch) => !regions.some(({ begun }) => begun)

const misuse = new FlowDefect({
  message:
    "a branch of a flow called a step from another fiber, or two at once: in the body of a flow, run things beside each " +
    "other with Flow.all, Flow.forEach, Flow.race or Flow.timeout, not with Effect.all, Effect.race or Effect.timeout"
})

export interface Options {
  /** Of the fibers of all branches. */
  readonly context: Context.Context<never>
  /** The last branch that ran is parked, or over. */
  readonly onRest: () => void
  /** A branch ended with a defect, or broke the rules. */
  readonly onDefect: (branch: Branch, cause: Cause.Cause<unknown>) => void
  /** What the members of a race that lost have registered is undone; `done` is called when it is. */
  readonly undoWithin: (branches: ReadonlyArray<Branch>, done: () => void) => void
  readonly interpreterOf: (branch: Branch) => Interpreter
}

export type Branches = ReturnType<typeof make>

export const make = ({ context, interpreterOf, onDefect, onRest, undoWithin }: Options) => {
  let running = 0
  const began = () => {
    running++
  }
  const rested = () => {
    running--
    if (running === 0) onRest()
  }

  /** Runs code as a branch. `onEnd` is called when it is over, while the branch still counts as running. */
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
    const program = Effect.withFiber((fiber) => {
      branch.fiber = fiber.id
      return code({ interpreter, prefix })
    })
    Effect.runForkWith(context)(program).addObserver((exit) => {
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

  /** Interrupts a branch at the operation that it is parked at. */
  const interrupt = (branch: Branch) => resume(branch, Effect.interrupt)

  /** Parks the branch of the calling fiber. */
  const park = <A, E>(branch: Branch, register: () => { readonly cancel: () => void }): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) => {
      if (branch.fiber !== fiber.id || branch.parked !== null) {
        const cause = Cause.die(misuse)
        onDefect(branch, cause)
        return Effect.failCause(cause)
      }
      if (branch.cancelled && isOpenToCancel(branch)) return Effect.interrupt
      return Effect.callback<A, E>((resume) => {
        // The types of the result are those that the operation was called with.
        const handle = resume as (effect: Effect.Effect<unknown, unknown>) => void
        let cancel = () => {}
        branch.parked = { resume: handle, cancel: () => cancel() }
        cancel = register().cancel
        rested()
      })
    })

  interface Group {
    readonly open: Set<Branch>
    /** No further member is started. */
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
      // A member may be over before `start` returns.
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
          // One that was cancelled decides nothing any more.
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

  /** The branch goes on after a group, or ends if it was cancelled meanwhile. */
  const leave = (branch: Branch, exit: Ended) =>
    branch.cancelled && isOpenToCancel(branch) ? interrupt(branch) : resume(branch, exit)

  const defective = (branch: Branch, exit: Ended): boolean => {
    if (Exit.isSuccess(exit) || Cause.hasFails(exit.cause)) return false
    onDefect(branch, exit.cause)
    return true
  }

  /** A group as an operation. */
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
    /** Work that the execution cannot rest before, such as the end of a step that was interrupted. */
    busy: { began, rested },
    /** The code of a branch broke the rules. */
    broken: onDefect,
    isAtRest: () => running === 0
  }
}

const isInterrupt = (exit: Ended): boolean => Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
