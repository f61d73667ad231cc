/** `mcp-runtime doctor`: what is wrong with which server, and what to do about it. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "doctor",
  summary: "Try every server step by step, and say what is wrong and what to do.",
  description: [
    "Each server is found, checked for consent, started or reached, greeted, asked for its tools, pinged and closed; "
    + "then it is looked whether anything of it is left. The time of each step is shown.",
    "Its names, schemas and texts are looked through as well. What is only worth a look is a warning.",
    "The exit code is 0 if all are well, or else that of the worst: a server that cannot be reached (4), that is not "
    + "agreed to (5), whose configuration cannot be used (3), or that does something wrong (1)."
  ],
  args: [{ name: "server", about: "the servers to look at (default: all)", required: false, repeated: true }],
  options: [],
  examples: [
    ["doctor", "All servers, one after the other."],
    ["doctor github --timeout 10s", "This one, and no longer than ten seconds for each step."],
    ["doctor --json", "For a program to read."]
  ],
  load: () => import("../internal/doctor.ts")
}
