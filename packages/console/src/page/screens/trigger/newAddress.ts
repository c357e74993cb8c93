/** The address of a trigger that was just made: in memory alone, until it was read. */
import { signal } from "@preact/signals"

export const newAddress = signal<{ readonly trigger: string; readonly url: string } | null>(null)
