/** What a screen is. */
import type { ComponentType } from "preact"
import type { Session } from "../api.ts"

export interface ScreenProps {
  /** The segments of the path after that of the screen. */
  readonly path: ReadonlyArray<string>
}

export interface Screen {
  readonly path: string
  readonly title: string
  /** Null: it stands in the navigation without a heading above it. */
  readonly group: "robots" | "integrations" | null
  /** What the session must be allowed to see it. */
  readonly permission: string | null
  /** Whether the control room has it; default: always. */
  readonly exists?: (session: Session) => boolean
  /** Whether the navigation leaves it out: it is reached otherwise. */
  readonly isHidden?: true
  readonly load: () => Promise<{ readonly default: ComponentType<ScreenProps> }>
}
