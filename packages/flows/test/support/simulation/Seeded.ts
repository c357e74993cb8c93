/**
 * Random numbers that a seed decides.
 */
export interface Seeded {
  /** From 0 up to 1. */
  readonly next: () => number
  /** A whole number from `from` up to and including `to`. */
  readonly int: (from: number, to: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(all: readonly [A, ...ReadonlyArray<A>]) => A
  /** A separate sequence, independent of other draws. */
  readonly fork: (name: string) => Seeded
}

const mixed = (seed: number, text: string): number => {
  let hash = seed ^ 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

export const make = (seed: number): Seeded => {
  let state = mixed(seed >>> 0, `${seed}`)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mix = Math.imul(state ^ (state >>> 15), 1 | state)
    mix = (mix + Math.imul(mix ^ (mix >>> 7), 61 | mix)) ^ mix
    return ((mix ^ (mix >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (all) => all[int(0, all.length - 1)] ?? all[0],
    fork: (name) => make(mixed(seed, name))
  }
}
