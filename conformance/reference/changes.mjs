/**
 * What changes while the reference server runs: a tool and a prompt that come and go, and a resource with a new text.
 * It is one state for the process, as there may be a server for each connection or for each request.
 */
export const watched = "test://watched-resource"

export const makeChanges = () => {
  const listeners = new Set()
  const now = { tool: false, prompt: false, text: 1 }
  const tell = (what, ...details) => {
    for (const listener of listeners) listener[what]?.(...details)
  }
  return {
    now,
    /** Tells of changes by `tools`, `prompts` and `resource`, until the function that it returns is called. */
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    toggleTool: () => {
      now.tool = !now.tool
      tell("tools")
    },
    togglePrompt: () => {
      now.prompt = !now.prompt
      tell("prompts")
    },
    writeResource: () => {
      now.text++
      tell("resource", watched)
    }
  }
}
