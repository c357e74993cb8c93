import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RobotYaml from "../src/RobotYaml.ts"

describe("robot.yaml", () => {
  const read = (text: string, task = "a") => RobotYaml.read(text, task)

  it.effect("gives the command of a task in each of its forms", () =>
    Effect.gen(function* () {
      const text = `tasks:
  a: { shell: "python -m robocorp.tasks run tasks.py -t 'two words' $HOME *" }
  b: { robotTaskName: My task }
  c: { command: [node, main.js, 7] }
artifactsDir: out
preRunScripts: [a_windows.bat, a_linux.sh, a_darwin.sh, any.sh]
`
      const a = yield* read(text)
      const shell = ["python", "-m", "robocorp.tasks", "run", "tasks.py", "-t", "two words", "$HOME", "*"]
      assert.deepStrictEqual([...a.command], shell)
      const b = yield* read(text, "b")
      const robot = ["--report", "NONE", "--outputdir", "out", "--logtitle", "Task log", "--task", "My task", "."]
      assert.deepStrictEqual([...b.command], ["python", "-m", "robot", ...robot])
      assert.deepStrictEqual([...(yield* read(text, "c")).command], ["node", "main.js", "7"])
    })
  )

  it("leaves scripts out that are for other systems", () => {
    const scripts = ["any.sh", "a_linux.sh", "a_darwin.sh", "a_windows.bat", "a_linux_arm64.sh", "a_linux_amd64.sh"]
    assert.deepStrictEqual(
      scripts.filter((script) => RobotYaml.isMeantFor(script, "linux", "x64")),
      ["any.sh", "a_linux.sh", "a_linux_amd64.sh"]
    )
  })

  const bad: ReadonlyArray<readonly [what: string, text: string, field: string | null, message: RegExp]> = [
    ["no YAML", "tasks: [", null, /not valid YAML/],
    ["no such task", "tasks: { b: { shell: x } }", "tasks", /the task "a" does not exist; its tasks: "b"/],
    ["a task without a command", "tasks: { a: {} }", "tasks", /tasks: a needs robotTaskName, shell or command/],
    ["a command that is a line", "tasks: { a: { command: python x.py } }", "tasks", /tasks: a: command: Expected/],
    ["an open quote", 'tasks: { a: { shell: "x \'y" } }', "tasks", /a quote is not closed/],
    [
      "artifacts outside",
      "tasks: { a: { shell: x } }\nartifactsDir: ../../etc",
      "artifactsDir",
      /artifactsDir must be a folder inside/
    ],
    ["a PATH that is a text", "tasks: { a: { shell: x } }\nPATH: bin", "PATH", /PATH: Expected/],
    [
      "a script with an open quote",
      `tasks: { a: { shell: x } }\npreRunScripts: ["a 'b"]`,
      "preRunScripts",
      /preRunScripts: a quote is not closed/
    ],
    [
      "artifacts elsewhere",
      "tasks: { a: { shell: x } }\nartifactsDir: /etc",
      "artifactsDir",
      /artifactsDir must be a folder inside/
    ]
  ]
  for (const [what, text, field, message] of bad) {
    it.effect(`with ${what} is refused`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(text))
        assert.strictEqual(error.field, field)
        assert.match(error.message, message)
      })
    )
  }

  const nameless: ReadonlyArray<readonly [what: string, text: string, message: RegExp]> = [
    ["no YAML", "tasks: [}", /not valid YAML/],
    ["no tasks", "devTasks: {}\n", /^robot\.yaml has no mapping `tasks`/],
    ["tasks that are a list", "tasks:\n  - a\n", /^robot\.yaml has no mapping `tasks`/],
    ["tasks that are empty", "tasks: {}\n", /^robot\.yaml has no task in `tasks`/],
    ["a task without a command", "tasks:\n  a:\n    x: 1\n", /"a" needs robotTaskName, shell or command/],
    ["a task that is null", "tasks:\n  a:\n", /"a" needs/],
    ["a name that is too long", `tasks: { ${"x".repeat(256)}: { shell: x } }`, /1 to 255/],
    ["a depth that nothing reads", `tasks: ${"[".repeat(100_000)}`, /robot\.yaml/]
  ]
  for (const [what, text, message] of nameless) {
    it.effect(`with ${what} has no tasks`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(RobotYaml.tasksOf(text))
        assert.strictEqual(error._tag, "InvalidRobotYaml")
        assert.match(error.message, message)
      })
    )
  }

  it.effect("has tasks also where the rest is for another worker", () =>
    Effect.gen(function* () {
      const tasks = yield* RobotYaml.tasksOf("tasks: { b: { command: any }, a: { shell: x } }\nPATH: 7")
      assert.deepStrictEqual(tasks, ["b", "a"])
    })
  )
})
