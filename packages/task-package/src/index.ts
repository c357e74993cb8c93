/** Every module under its name. */
export * as InvalidRecipe from "./InvalidRecipe.ts"
export * as InvalidZip from "./InvalidZip.ts"
export * as PackageLimits from "./PackageLimits.ts"
export * as Packing from "./Packing.ts"
export * as Recipe from "./Recipe.ts"
export * as RobotYaml from "./RobotYaml.ts"
export * as TaskPackage from "./TaskPackage.ts"
