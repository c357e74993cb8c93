/** Files that are part of the package and no modules. `bundle.ts` replaces the folder of this module by that of the bundle. */
import { join } from "node:path"

const here = import.meta.dirname

/**
 * Where the deployment files may be: in the package, or in the repository, where the command runs from its sources. The first folder
 * that exists is the one.
 */
export const deployFolders: ReadonlyArray<string> = [
  join(here, "..", "..", "..", "deploy"),
  join(here, "..", "..", "..", "..", "..", "deploy")
]

/** What `init` writes. It is as far from this folder as from the bundle in the package. */
export const templatesFolder = join(here, "..", "..", "..", "templates")
