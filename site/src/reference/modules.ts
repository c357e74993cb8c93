/** The reference of every export, by TypeDoc. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join, posix } from "node:path"
import { Application, Comment, CommentTag, type DeclarationReflection, type TypeDocOptions } from "typedoc"
import type { PluginOptions } from "typedoc-plugin-markdown"
import { page } from "../markdown.ts"
import { generated, packages, root } from "../pages.ts"

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, unknown>>
}

/** The modules that a package exports by name; patterns are for what the packages use among themselves. */
const modulesOf = (folder: string) => {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"))
  const modules = Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === "string" && target.endsWith(".ts") && !path.includes("*") && path !== "."
      ? [{ path, file: join(root, "packages", folder, target) }]
      : []
  )
  return { name: manifest.name, modules }
}

type Since = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Returns the version since which a package has an export, for the packages that say it. */
const sinceOf = (folder: string) => {
  const file = join(root, "packages", folder, "since.json")
  const table: Since = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
  return (module: string, name: string): string | undefined =>
    Object.keys(table).find((version) => table[version]?.[module]?.split(" ").includes(name))
}

/** Adds a version to what is shown of an export. */
const tagSince = (one: DeclarationReflection, version: string) => {
  for (const shown of one.signatures ?? [one]) {
    shown.comment ??= new Comment()
    const text = version === "next" ? "the next version" : version
    shown.comment.blockTags.push(new CommentTag("@since", [{ kind: "text", text }]))
  }
}

/** Gives the pages of a package their titles; the list of its modules is the page of their folder. */
const entitle = (out: string, name: string): number => {
  const files = readdirSync(out, { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".md"))
  const root = `/reference/exports/${basename(out)}`
  for (const file of files) {
    const isIndex = file === "README.md"
    const title = isIndex ? name : `${name}/${file.slice(0, -3)}`
    const text = readFileSync(join(out, file), "utf8").replace(
      /\]\(([\w./]+)\.md(#[^)]*)?\)/g,
      (_, target: string, anchor = "") => {
        const module = posix.join(posix.dirname(file), target).toLowerCase()
        return `](${root}/${module === "readme" ? "" : `${module}/`}${anchor})`
      }
    )
    const description = isIndex ? `The modules of ${name}.` : `Every export of ${title}.`
    rmSync(join(out, file))
    writeFileSync(join(out, isIndex ? "index.md" : file), page(title, text, { description }))
  }
  return files.length
}

/** Writes a page for each module; returns how many. */
export const modules = async (): Promise<number> => {
  let count = 0
  for (const folder of packages) {
    const { modules, name } = modulesOf(folder)
    if (modules.length < 2) continue
    const out = join(generated, "reference", "exports", folder)
    rmSync(out, { recursive: true, force: true })
    const options: TypeDocOptions & PluginOptions = {
      entryPoints: modules.map(({ file }) => file),
      tsconfig: join(root, "packages", folder, "tsconfig.src.json"),
      plugin: ["typedoc-plugin-markdown"],
      out,
      logLevel: "Error",
      skipErrorChecking: true,
      readme: "none",
      disableSources: true,
      excludeInternal: true,
      // What classes inherit from libraries is the reference of those.
      excludeExternals: true,
      router: "module",
      hidePageHeader: true,
      hideBreadcrumbs: true,
      hidePageTitle: true,
      useCodeBlocks: true,
      expandParameters: true,
      parametersFormat: "table",
      interfacePropertiesFormat: "table",
      propertyMembersFormat: "table",
      typeDeclarationFormat: "table",
      tableColumnSettings: { hideDefaults: true, hideInherited: true, hideModifiers: true, hideOverrides: true }
    }
    const app = await Application.bootstrapWithPlugins(options)
    const project = await app.convert()
    if (project === undefined) throw new Error(`packages/${folder} cannot be documented`)
    const since = sinceOf(folder)
    for (const { children = [], name: file } of project.children ?? []) {
      const module = modules.find((one) => one.file.endsWith(`/src/${file}.ts`))
      for (const one of children) {
        const version = module === undefined ? undefined : since(module.path, one.name)
        if (version !== undefined) tagSince(one, version)
      }
    }
    await app.generateOutputs(project)
    count += entitle(out, name)
  }
  return count
}
