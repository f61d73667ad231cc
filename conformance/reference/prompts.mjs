/** The prompts, and what completes their arguments. */
import { askingPrompt } from "./asking.mjs"
import { png } from "./samples.mjs"

const said = (words) => ({ role: "user", content: { type: "text", text: words } })

const strings = (descriptions) => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(descriptions).map(([key, description]) => [key, { type: "string", description }])
  ),
  required: Object.keys(descriptions)
})

/** By name; those without `argsSchema` take no arguments. */
export const prompts = {
  test_simple_prompt: {
    description: "Takes no arguments",
    run: () => ({ messages: [said("This is a simple prompt for testing.")] })
  },
  test_prompt_with_arguments: {
    description: "Takes two arguments",
    argsSchema: strings({ arg1: "First test argument", arg2: "Second test argument" }),
    run: ({ arg1, arg2 }) => ({ messages: [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] })
  },
  test_prompt_with_embedded_resource: {
    description: "Has a resource in it",
    argsSchema: strings({ resourceUri: "URI of the resource to embed" }),
    run: ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." }
          }
        },
        said("Please process the embedded resource above.")
      ]
    })
  },
  test_prompt_with_image: {
    description: "Has an image in it",
    run: () => ({
      messages: [
        { role: "user", content: { type: "image", data: png, mimeType: "image/png" } },
        said("Please analyze the image above.")
      ]
    })
  },
  test_input_required_result_prompt: askingPrompt
}

const words = ["paris", "park", "party", "test", "testament"]

/** What an argument of a prompt, or a variable of a template, may go on to be. */
export const complete = ({ argument }) => {
  const values = words.filter((word) => word.startsWith(argument.value))
  return { completion: { values, total: values.length, hasMore: false } }
}
