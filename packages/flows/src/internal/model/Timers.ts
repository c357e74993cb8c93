/**
 * A binary heap of timers, so that ten thousand timers of one execution cost no search.
 */
export interface Timer<A> {
  readonly due: number
  readonly item: A
}

export interface Timers<A> {
  readonly add: (due: number, item: A) => void
  /** Returns the earliest timer for which `isOpen` holds, and drops those before it. */
  readonly first: () => Timer<A> | undefined
  /** Drops the earliest timer. */
  readonly shift: () => void
}

/** Creates a heap of timers. `isOpen` returns whether a timer still counts, `order` decides between equal times. */
export const make = <A>(
  isOpen: (timer: Timer<A>) => boolean,
  order: (one: A, other: A) => number = () => 0
): Timers<A> => {
  const heap: Array<Timer<A>> = []
  const isBefore = (one: number, other: number) => {
    const [a, b] = [heap[one], heap[other]]
    if (a === undefined || b === undefined) return a !== undefined
    return a.due < b.due || (a.due === b.due && order(a.item, b.item) < 0)
  }
  const swap = (one: number, other: number) => {
    const [a, b] = [heap[one], heap[other]]
    if (a === undefined || b === undefined) return
    heap[one] = b
    heap[other] = a
  }
  const shift = () => {
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    heap[0] = last
    for (let index = 0; ;) {
      const left = 2 * index + 1
      const least = isBefore(left + 1, left) ? left + 1 : left
      if (!isBefore(least, index)) return
      swap(index, least)
      index = least
    }
  }
  return {
    add: (due, item) => {
      let index = heap.push({ due, item }) - 1
      while (index > 0) {
        const above = (index - 1) >> 1
        if (!isBefore(index, above)) return
        swap(above, index)
        index = above
      }
    },
    first: () => {
      while (heap[0] !== undefined && !isOpen(heap[0])) shift()
      return heap[0]
    },
    shift
  }
}
