/**
 * The operations at which branches are parked: an operation is reached, then begins with the next turn, is launched with the next
 * write if it is a step, and is open until its end is delivered or its branch is cancelled.
 */
import type * as Effect from "effect/Effect"
import * as Timers from "../../model/Timers.ts"
import type { Operation } from "./Operation.ts"

export type OpenOperations = ReturnType<typeof make>

export const make = () => {
  const open = new Map<string, Operation>()
  /** Those that have not begun or resumed. */
  let reached: Array<Operation> = []
  /** Those that run after the next write. */
  let toLaunch: Array<Operation> = []
  /** The number of running steps. */
  let running = 0
  /** Effects to run when the starts of waits are written. */
  let begunWaits: Array<Effect.Effect<void>> = []
  let lastDelivered: string | null = null

  const isOpen = (operation: Operation) => open.get(operation.spec.path) === operation
  const close = ({ spec }: Operation) => void open.delete(spec.path)

  return {
    timers: Timers.make<Operation>(({ due, item }) => isOpen(item) && item.entry.due === due && item.fiber === null),
    at: (path: string) => open.get(path),
    isOpen,
    isEmpty: () => open.size === 0,
    all: (): ReadonlyArray<Operation> => [...open.values()],
    paths: (): ReadonlyArray<string> => [...open.keys()],
    /** Returns the one that was reached first, or else is open the longest. */
    first: (): Operation | null => reached[0] ?? open.values().next().value ?? null,
    open: (operation: Operation) => void open.set(operation.spec.path, operation),
    close,
    /** Closes an operation whose end the branch gets now. */
    deliver: (operation: Operation) => {
      close(operation)
      lastDelivered = operation.spec.path
    },
    /** The path of the operation whose end was delivered last. */
    lastDelivered: () => lastDelivered,
    /** Closes an operation whose branch is cancelled, wherever it stands. */
    abandon: (operation: Operation) => {
      close(operation)
      reached = reached.filter((one) => one !== operation)
      toLaunch = toLaunch.filter((one) => one !== operation)
    },
    reach: (operation: Operation) => void reached.push(operation),
    reached: (): ReadonlyArray<Operation> => reached,
    takeReached: (): ReadonlyArray<Operation> => {
      const taken = reached
      reached = []
      return taken
    },
    launchSoon: (operation: Operation) => void toLaunch.push(operation),
    toLaunch: (): ReadonlyArray<Operation> => toLaunch,
    takeToLaunch: (): ReadonlyArray<Operation> => {
      const taken = toLaunch
      toLaunch = []
      return taken
    },
    /** Called before the code of a step runs. */
    launched: (operation: Operation) => {
      running++
      operation.hasRun = true
      operation.isHeld = true
    },
    /** Called when the code of a step has ended; returns whether its end still counts. */
    ended: (operation: Operation): boolean => {
      running--
      operation.fiber = null
      return isOpen(operation)
    },
    running: () => running,
    waitBegun: (recorded: Effect.Effect<void>) => void begunWaits.push(recorded),
    takeBegunWaits: (): ReadonlyArray<Effect.Effect<void>> => {
      const taken = begunWaits
      begunWaits = []
      return taken
    }
  }
}
