/** Text of the commands and programs that connect to a workspace. */
import { type Node, phrase } from "../phrase.ts"

export const connect = {
  subtitle: "Programs and robots for this workspace",
  onlyHere: (address: Node) =>
    phrase`Only this machine can reach ${address}. From other machines, use the network address of the room.`,
  details: "Address and key",
  url: "URL",
  workspace: "Workspace",
  ownKey: (link: Node) => phrase`a separate key for each program: ${link}`,
  askForKey: "a separate key for each program, from the person who manages the keys",
  exampleProcess: "Example process",
  commandLine: "Command line",
  loginHint: (command: Node) =>
    phrase`${command} asks for the key, checks the key, and stores the key for your user only.`,
  logIn: "Log in",
  curlHint: "Lists the runs, and starts a run with one work item.",
  curl: "Requests with curl",
  apiHint: (link: Node) => phrase`All requests are described in ${link}.`,
  apiDocs: "the API documentation",
  programHint: (file: Node, command: Node, variable: Node) =>
    phrase`Save the program as ${file}, and run ${command} with the key in ${variable}. The program starts a run and prints its outputs. Requires Node 22.19 or later.`,
  installClient: "Install the client",
  program: "Program with the client",
  robot: "Robot in Python",
  robotHint: "A robot is three files in a folder. A robot needs no key: the worker provides its access.",
  robotCommandHint: "After the login above, in that folder: upload the robot, create a process, and run the process.",
  uploadRobot: "Upload and run the robot"
}
