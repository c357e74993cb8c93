/**
 * How a worker builds environments: with which tool, and from where.
 */
import type * as Redacted from "effect/Redacted"
import { providerNames } from "./ProviderOrder.ts"

/** `auto`: the first tool that is there and accepts the environment; `none`: environments are not built. */
export const choices = ["auto", ...providerNames, "none"] as const
export type Choice = (typeof choices)[number]

/** Where packages come from, and which tools install them. Whatever is left out is the tool's own default. */
export interface Settings {
  /** Default `auto`. */
  readonly provider?: Choice | undefined
  /** Programs that are not on `PATH`, or not the first there. */
  readonly tools?:
    | {
        readonly uv?: string | undefined
        readonly micromamba?: string | undefined
        readonly python?: string | undefined
        readonly pip?: string | undefined
      }
    | undefined
  /** A simple index in place of the public one, without user and password. */
  readonly indexUrl?: string | undefined
  readonly extraIndexUrls?: ReadonlyArray<string> | undefined
  /** User and password of `indexUrl`. With them only wheels are installed, unless `allowSourceBuilds`. */
  readonly credentials?: { readonly username: string; readonly password: Redacted.Redacted } | undefined
  /** Whether packages may be built from source where `credentials` are given: their scripts could read these. */
  readonly allowSourceBuilds?: boolean | undefined
  /** Channels of conda besides those of the package. */
  readonly channels?: ReadonlyArray<string> | undefined
  /** A folder of wheels: nothing else is installed, and no index is asked. */
  readonly wheels?: string | undefined
  /** Folders below which steps may name an environment that is there; default: none. */
  readonly allowEnvironments?: ReadonlyArray<string> | undefined
  /** A file of certificates that the tools trust, PEM. */
  readonly caFile?: string | undefined
}
