/**
 * What is in sight of a log whose rows are all of one height. Browsers scroll over some millions of pixels at most: a longer
 * log has a scroll bar of fewer, of which one moves over several in the middle; at both ends, and by wheel and keys everywhere,
 * one moves over one.
 */

/** The most pixels of the scroll bar; Firefox has 17.8 million. */
const mostPixels = 8_000_000
/** Pixels at each end that move over one each. */
const edge = 1_000_000
/** Rows above and below those in sight that are in the page too, so that fast scrolling shows no gap. */
const around = 20
/** The most rows that stay in the page because they are selected. */
const mostHeld = 1500

/** Rows. */
export type Range = readonly [first: number, afterLast: number]

/** A row of the page. */
export interface Placed {
  readonly index: number
  /** Pixels between the row before it and this one. */
  readonly gap: number
}

const clamp = (value: number, most: number) => Math.max(0, Math.min(value, most))

export class LogWindow {
  /** Whether the end is in sight, and stays so as the log grows. */
  isFollowing = true
  /** The position of the scroll bar. The page sets it where it differs. */
  scroll = 0
  private total = 0
  private view = 0
  private row = 1
  /** Pixels of the log above what is in sight. */
  private top = 0

  /** Pixels that are scrolled over. */
  get height(): number {
    return Math.min(this.total * this.row, mostPixels)
  }

  /** Rows in sight. */
  get seen(): Range {
    const last = Math.ceil((this.top + this.view) / this.row)
    return [Math.floor(this.top / this.row), Math.min(last, this.total)]
  }

  /**
   * Rows of the page, in their order: those in sight and around, and those that are held. `gap` is the space before a row, and
   * `top` where the first one begins, in pixels of the scroll bar.
   */
  rows(held: ReadonlyArray<Range>): { readonly top: number; readonly rows: ReadonlyArray<Placed> } {
    const near: Range = [Math.max(0, this.seen[0] - around), this.seen[1] + around]
    const ranges = [...held.filter(([from, to]) => to - from <= mostHeld), near].toSorted(([a], [b]) => a - b)
    const rows: Array<Placed> = []
    let top = near[0] * this.row - this.top + this.scroll
    for (const [from, to] of ranges) {
      const next = (rows.at(-1)?.index ?? -1) + 1
      for (let index = Math.max(from, next); index < Math.min(to, this.total); index++) {
        // What is far away may be nearer than it is: it is out of sight.
        const gap = rows.length === 0 ? 0 : Math.min((index - (rows.at(-1)?.index ?? 0) - 1) * this.row, mostPixels)
        rows.push({ index, gap })
        if (index < near[0]) top -= this.row + (rows.length === 1 ? 0 : gap)
        else if (index === near[0]) top -= gap
      }
    }
    return { top, rows }
  }

  /** The heights of the view and of a row, in pixels. */
  resize(view: number, row: number): void {
    const first = this.top / this.row
    this.view = view
    this.row = row
    this.goTo(this.isFollowing ? this.total : first)
  }

  grow(total: number): void {
    this.total = total
    if (this.isFollowing || this.top > this.mostTop) this.goTo(total)
  }

  /** Brings a row to the top, or as near to it as the end of the log lets it; it may have a fraction. */
  goTo(row: number): void {
    this.top = clamp(Math.round(row * this.row), this.mostTop)
    this.settle()
    this.isFollowing = this.isAtEnd
  }

  /** Brings a row to the middle. */
  centre(row: number): void {
    this.goTo(row - Math.floor(this.view / this.row / 2))
  }

  /** The scroll bar was moved. */
  scrolled(scroll: number): void {
    const moved = scroll - this.scroll
    const isShort = Math.abs(moved) < 2 * this.view && scroll > 0 && scroll < this.mostScroll
    this.scroll = scroll
    if (moved === 0) return
    this.top = isShort ? clamp(this.top + moved, this.mostTop) : this.topOf(clamp(scroll, this.mostScroll))
    this.isFollowing = this.isAtEnd
  }

  /** Puts the scroll bar where it belongs after it was moved by wheel and keys. */
  settle(): void {
    this.scroll = Math.round(this.scrollOf(this.top))
  }

  private get isAtEnd(): boolean {
    return this.top > this.mostTop - this.row
  }

  private get mostTop(): number {
    return Math.max(0, this.total * this.row - this.view)
  }

  private get mostScroll(): number {
    return Math.max(0, this.height - this.view)
  }

  /** Pixels of the log for one of the scroll bar, between its ends. */
  private get ratio(): number {
    return this.mostTop === this.mostScroll ? 1 : (this.mostTop - 2 * edge) / (this.mostScroll - 2 * edge)
  }

  private topOf(scroll: number): number {
    if (scroll <= edge) return scroll
    if (scroll >= this.mostScroll - edge) return this.mostTop - (this.mostScroll - scroll)
    return edge + (scroll - edge) * this.ratio
  }

  private scrollOf(top: number): number {
    if (top <= edge) return top
    if (top >= this.mostTop - edge) return this.mostScroll - (this.mostTop - top)
    return edge + (top - edge) / this.ratio
  }
}
