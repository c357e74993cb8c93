/**
 * Memory that a process shares with the thread that renews its lease, so that the thread sees what the event loop does while that
 * answers nothing: whether it runs, which steps are running, and the code of which of them runs now.
 */
import type { Keeper, StepName } from "../../model/Execution.ts"

const slots = 256
const slotBytes = 1_024
/** Numbers at the beginning: the beats, the slot of the step whose code runs (from 1; 0: none), and whether all code is followed. */
const headers = 3
const lengthsAt = headers * Int32Array.BYTES_PER_ELEMENT
const namesAt = lengthsAt + slots * Int32Array.BYTES_PER_ELEMENT
const [beats, current, precise] = [0, 1, 2]

export const makeMemory = () => new SharedArrayBuffer(namesAt + slots * slotBytes)

const views = (memory: SharedArrayBuffer) => ({
  header: new Int32Array(memory, 0, headers),
  lengths: new Int32Array(memory, lengthsAt, slots),
  names: new Uint8Array(memory, namesAt)
})

/** The side of the process. */
export const makeWriter = (memory: SharedArrayBuffer) => {
  const { header, lengths, names } = views(memory)
  const encoder = new TextEncoder()
  const free = Array.from({ length: slots }, (_, index) => slots - index)
  return {
    beat: () => void Atomics.add(header, beats, 1),
    /** Notes a running step; returns its slot, or null when there is no more room. */
    begin: (step: StepName): number | null => {
      const slot = free.pop()
      if (slot === undefined) return null
      const at = (slot - 1) * slotBytes
      const text = JSON.stringify(step)
      const { read, written } = encoder.encodeInto(text, names.subarray(at, at + slotBytes))
      // Of a name that does not fit only that there is one.
      Atomics.store(lengths, slot - 1, read === text.length ? written : -1)
      return slot
    },
    end: (slot: number) => {
      Atomics.store(lengths, slot - 1, 0)
      if (header[current] === slot) header[current] = 0
      free.push(slot)
    },
    /** Sets the slot of the step whose code runs now. */
    setCurrent: (slot: number) => {
      header[current] = slot
    },
    /** The same, unless that step has ended meanwhile. */
    restoreCurrent: (slot: number) => {
      header[current] = slot === 0 || lengths[slot - 1] === 0 ? 0 : slot
    },
    getCurrent: (): number => header[current] ?? 0,
    setPrecise: (isPrecise: boolean) => void Atomics.store(header, precise, isPrecise ? 1 : 0)
  }
}

export type Writer = ReturnType<typeof makeWriter>

/** The side of the thread. */
export const makeReader = (memory: SharedArrayBuffer) => {
  const { header, lengths, names } = views(memory)
  const decoder = new TextDecoder()
  const nameOf = (slot: number): Keeper => {
    const length = Atomics.load(lengths, slot - 1)
    if (length <= 0) return { _tag: "Unknown" }
    const at = (slot - 1) * slotBytes
    // `begin` wrote it. A decoder takes no shared memory.
    return { _tag: "Step", step: JSON.parse(decoder.decode(names.slice(at, at + length))) as StepName }
  }
  return {
    beats: (): number => Atomics.load(header, beats),
    /** Returns whose code runs now. */
    keeper: (): Keeper => {
      const slot = Atomics.load(header, current)
      if (slot > 0) return nameOf(slot)
      if (Atomics.load(header, precise) === 1) return { _tag: "Other" }
      const running = Array.from({ length: slots }, (_, index) => index + 1).filter(
        (each) => Atomics.load(lengths, each - 1) !== 0
      )
      const [only] = running
      if (only === undefined) return { _tag: "Other" }
      return running.length === 1 ? nameOf(only) : { _tag: "Unknown" }
    }
  }
}

export type Reader = ReturnType<typeof makeReader>
