/** The secret of a webhook that was just made, or was given another: in memory alone, until it was read. */
import { signal } from "@preact/signals"

export const newSecret = signal<{ readonly webhook: string; readonly secret: string } | null>(null)
