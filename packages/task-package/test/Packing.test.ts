import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import * as Packing from "../src/Packing.ts"
import * as TaskPackage from "../src/TaskPackage.ts"

/** The folder of a package, with these files besides `robot.yaml`. */
const folderWith = Effect.fnUntraced(function* (robotYaml: string, ...files: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const root = join(yield* fs.makeTempDirectoryScoped(), "invoices")
  mkdirSync(join(root, "lib"), { recursive: true })
  writeFileSync(join(root, "robot.yaml"), robotYaml)
  for (const file of files) writeFileSync(join(root, file), file)
  return root
})

const tasks = "tasks: { Read: { shell: sh run.sh } }"

withLayer(NodeServices.layer)("a folder", (it) => {
  it.effect("becomes a task package, with its programs", () =>
    Effect.gen(function* () {
      const root = yield* folderWith(tasks, "run.sh", "lib/a")
      chmodSync(join(root, "run.sh"), 0o700)
      const zip = yield* Packing.pack(root)
      assert.deepStrictEqual((yield* TaskPackage.inspect(zip)).tasks, ["Read"])
      const target = join(root, "..", "to")
      yield* TaskPackage.unpack(zip, target)
      assert.deepStrictEqual(readdirSync(target, { recursive: true }).toSorted(), [
        "lib",
        "lib/a",
        "robot.yaml",
        "run.sh"
      ])
      assert.strictEqual(statSync(join(target, "run.sh")).mode & 0o111, 0o111)
      assert.strictEqual(statSync(join(target, "lib/a")).mode & 0o111, 0)
    })
  )

  it.effect("gives the same bytes whenever its files were written", () =>
    Effect.gen(function* () {
      const root = yield* folderWith(tasks, "run.sh")
      const before = readFileSync(yield* Packing.pack(root))
      utimesSync(join(root, "run.sh"), 1, 1)
      chmodSync(join(root, "run.sh"), 0o600)
      assert.isTrue(before.equals(readFileSync(yield* Packing.pack(root))))
    })
  )

  it.effect("leaves out what its ignoreFiles name", () =>
    Effect.gen(function* () {
      const root = yield* folderWith(`${tasks}\nignoreFiles: [.gitignore]`, "run.sh", "lib/a", "b.log")
      writeFileSync(join(root, ".gitignore"), "lib/\n*.log\n")
      const target = join(root, "..", "to")
      yield* TaskPackage.unpack(yield* Packing.pack(root), target)
      assert.deepStrictEqual(readdirSync(target).toSorted(), [".gitignore", "robot.yaml", "run.sh"])
    })
  )

  const refused: ReadonlyArray<readonly [what: string, robotYaml: string, link: boolean, says: RegExp]> = [
    ["a link", tasks, true, /link is a link or a special file.*; put the file itself there/],
    [
      "an ignore file that is not there",
      `${tasks}\nignoreFiles: [x]`,
      false,
      /ignoreFiles: cannot read \S+x; create it/
    ],
    ["ignoreFiles that are a text", `${tasks}\nignoreFiles: x`, false, /ignoreFiles: expected a list/],
    ["a robot.yaml that is no YAML", "tasks: [}", false, /robot\.yaml is not valid YAML/]
  ]
  for (const [what, robotYaml, link, says] of refused) {
    it.effect(`with ${what} is refused`, () =>
      Effect.gen(function* () {
        const root = yield* folderWith(robotYaml)
        if (link) symlinkSync("/etc/hostname", join(root, "link"))
        assert.match((yield* Effect.flip(Packing.pack(root))).message, says)
      })
    )
  }

  it.effect("without robot.yaml is refused", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped()
      assert.match(
        (yield* Effect.flip(Packing.pack(root))).message,
        /robot\.yaml is missing in \S+; a task package needs/
      )
    })
  )
})
