/** In which order tools are asked to build an environment: the first that is there and accepts it builds it. */
import type { Recipe } from "@signalbox/task-package/Recipe"

export const providerNames = ["uv", "micromamba", "venv"] as const
export type ProviderName = (typeof providerNames)[number]

/** The order for an environment. Packages of conda come from conda where that is there: others may use their names elsewhere. */
export const orderFor = (recipe: Recipe | null): ReadonlyArray<ProviderName> =>
  recipe === null || recipe.conda.length === 0
    ? providerNames
    : ["micromamba", ...providerNames.filter((name) => name !== "micromamba")]
