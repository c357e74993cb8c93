/** One step of an import: a resource of the source, what becomes of it, and its effect. */
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import type { Step } from "../apply/Step.ts"
import type { ImportKind } from "./Gaps.ts"
import type { Source, SourceError } from "./Source.ts"

export interface ImportStep {
  readonly kind: ImportKind
  readonly name: string
  /** `different`: it exists and cannot be replaced. */
  readonly action: "create" | "change" | "unchanged" | "different"
  /** What changes, or why nothing does; may be empty. */
  readonly detail: string
  readonly run: Effect.Effect<unknown, Effect.Error<Step["run"]> | SourceError | PlatformError, ControlRoom | Source>
}
