/**
 * What asks the client before it answers. It is written once: the stateless era gets `input_required`, and the session
 * era real requests, which the SDK makes of it.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse
} from "@modelcontextprotocol/server"
import { randomBytes } from "node:crypto"
import { text } from "./tools.mjs"

/** Seals what a client keeps between two rounds; a key for each process, as no state has to outlive it. */
export const states = createRequestStateCodec({ key: randomBytes(32) })

/** A form, and a check of its answer; a declined form is an answer too. */
const form = (message, properties, required = []) => {
  const requestedSchema = { type: "object", properties, required }
  const { validate } = fromJsonSchema(requestedSchema)["~standard"]
  return {
    request: inputRequired.elicit({ message, requestedSchema }),
    usable: ({ action, content, kind }) =>
      kind === "elicit" && (action !== "accept" || validate(content ?? {}).issues === undefined)
  }
}

const sampling = (words, maxTokens = 100) => ({
  request: inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: words } }],
    maxTokens
  }),
  usable: ({ kind }) => kind === "sampling"
})

const roots = { request: inputRequired.listRoots(), usable: ({ kind }) => kind === "roots" }

const ask = (questions, requestState) =>
  inputRequired({
    inputRequests: Object.fromEntries(Object.entries(questions).map(([key, { request }]) => [key, request])),
    ...(requestState === undefined ? {} : { requestState })
  })

/** The answers by the keys of their questions, if each question has a valid one; others are ignored. */
const answersTo = (questions, { mcpReq }) => {
  const answers = Object.entries(questions).map(([key]) => [key, inputResponse(mcpReq.inputResponses, key)])
  return answers.every(([key, answer]) => questions[key].usable(answer)) ? Object.fromEntries(answers) : undefined
}

/** Asks until all answers are there; the questions may depend on the arguments and the client. */
const untilAnswered = (questionsOf, done) => (given, context) => {
  const questions = questionsOf(given, context)
  const answers = answersTo(questions, context)
  return answers === undefined ? ask(questions) : done(answers)
}

/** The same, for answers that count only together with the state that went with the questions. */
const withState = (name, questions, done) => async (_, context) => {
  const answers = context.mcpReq.requestState()?.of === name ? answersTo(questions, context) : undefined
  return answers === undefined ? ask(questions, await states.mint({ of: name }, context)) : done(answers)
}

const field = ({ action, content }, name) => action === "accept" ? String(content[name]) : `nobody (${action})`
const outcome = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`
const sampled = ({ result: { content } }) =>
  [content].flat().map((block) => block.type === "text" ? block.text : `(${block.type})`).join(" ")

const name = form("What is your name?", { name: { type: "string" } }, ["name"])
const confirmation = form("Please confirm", { ok: { type: "boolean" } }, ["ok"])

/** The tools of the session era's scenarios. */
const sessionEra = {
  test_sampling: {
    description: "Has the client's model answer a prompt",
    inputSchema: {
      type: "object",
      properties: { prompt: { type: "string", description: "What the model is asked" } },
      required: ["prompt"]
    },
    run: untilAnswered(
      ({ prompt }) => ({ answer: sampling(prompt) }),
      ({ answer }) => text(`LLM response: ${sampled(answer)}`)
    )
  },
  test_elicitation: {
    description: "Asks a person for a name and an address",
    inputSchema: {
      type: "object",
      properties: { message: { type: "string", description: "What the person is asked" } },
      required: ["message"]
    },
    run: untilAnswered(
      ({ message }) => ({
        user: form(message, {
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" }
        }, ["username", "email"])
      }),
      ({ user }) => text(`User response: ${outcome(user)}`)
    )
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks a person with a default for every kind of field",
    run: untilAnswered(
      () => ({
        fields: form("Please look over the fields", {
          name: { type: "string", description: "Who it is", default: "John Doe" },
          age: { type: "integer", description: "How old", default: 30 },
          score: { type: "number", description: "How good", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", description: "Whether that is known", default: true }
        })
      }),
      ({ fields }) => text(`Elicitation completed: ${outcome(fields)}`)
    )
  },
  test_elicitation_sep1330_enums: {
    description: "Asks a person to choose, in every way that there is to say it",
    run: untilAnswered(
      () => ({
        choices: form("Please choose", {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: {
            type: "string",
            oneOf: [
              { const: "value1", title: "First Option" },
              { const: "value2", title: "Second Option" },
              { const: "value3", title: "Third Option" }
            ]
          },
          legacyEnum: {
            type: "string",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"]
          },
          untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
          titledMulti: {
            type: "array",
            items: {
              anyOf: [
                { const: "value1", title: "First Choice" },
                { const: "value2", title: "Second Choice" },
                { const: "value3", title: "Third Choice" }
              ]
            }
          }
        })
      }),
      ({ choices }) => text(`Elicitation completed: ${outcome(choices)}`)
    )
  }
}

/** Only the declared capabilities of the client; `clientOf` is for the session era, which declares them once. */
const possible = (clientOf) => (_, { mcpReq }) => {
  const declared = mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? clientOf() ?? {}
  return {
    ...(declared.elicitation === undefined ? {} : { name }),
    ...(declared.sampling === undefined ? {} : { greeting: sampling("Say hello") }),
    ...(declared.roots === undefined ? {} : { roots })
  }
}

const first = { step1: form("Step 1: What is your name?", { name: { type: "string" } }, ["name"]) }
const second = { step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }, ["color"]) }

/** Two questions in sequence: the state holds the next question and the earlier answer. */
const inTwoRounds = async (_, context) => {
  const of = "test_input_required_result_multi_round"
  const state = context.mcpReq.requestState()
  if (state?.of === of && state.round === 2) {
    const answers = answersTo(second, context)
    if (answers !== undefined) return text(`${state.name} likes ${field(answers.step2, "color")}`)
    return ask(second, await states.mint(state, context))
  }
  const answers = state?.of === of ? answersTo(first, context) : undefined
  if (answers === undefined) return ask(first, await states.mint({ of, round: 1 }, context))
  return ask(second, await states.mint({ of, round: 2, name: field(answers.step1, "name") }, context))
}

/** The tools of the stateless era's scenarios. */
const statelessEra = (clientOf) => ({
  test_missing_capability: {
    description: "Cannot do without the client's model",
    run: untilAnswered(() => ({ answer: sampling("Say hello") }), ({ answer }) => text(sampled(answer)))
  },
  test_streaming_elicitation: {
    description: "Asks a person, and requests nothing on the stream of its answer",
    run: untilAnswered(() => ({ user_name: name }), ({ user_name }) => text(`Hello, ${field(user_name, "name")}!`))
  },
  test_input_required_result_elicitation: {
    description: "Asks a person for a name",
    run: untilAnswered(() => ({ user_name: name }), ({ user_name }) => text(`Hello, ${field(user_name, "name")}!`))
  },
  test_input_required_result_sampling: {
    description: "Asks the client's model for a capital",
    run: untilAnswered(
      () => ({ capital_question: sampling("What is the capital of France?") }),
      ({ capital_question }) => text(sampled(capital_question))
    )
  },
  test_input_required_result_list_roots: {
    description: "Asks the client for its roots",
    run: untilAnswered(
      () => ({ client_roots: roots }),
      ({ client_roots }) => text(`Roots: ${client_roots.roots.map(({ uri }) => uri).join(", ")}`)
    )
  },
  test_input_required_result_request_state: {
    description: "Asks a person to confirm, and needs its state back",
    run: withState("test_input_required_result_request_state", { confirm: confirmation }, ({ confirm }) =>
      text(`state-ok: ${outcome(confirm)}`))
  },
  test_input_required_result_multiple_inputs: {
    description: "Asks a person, a model and the client at once",
    run: withState(
      "test_input_required_result_multiple_inputs",
      { user_name: name, greeting: sampling("Generate a greeting", 50), client_roots: roots },
      ({ client_roots, greeting, user_name }) =>
        text(`${sampled(greeting)} ${field(user_name, "name")}, with ${client_roots.roots.length} roots`)
    )
  },
  test_input_required_result_multi_round: {
    description: "Asks a person twice",
    run: inTwoRounds
  },
  test_input_required_result_tampered_state: {
    description: "Asks a person to confirm, and takes no state that it did not write",
    run: withState("test_input_required_result_tampered_state", { confirm: confirmation }, ({ confirm }) =>
      text(`integrity-ok: ${outcome(confirm)}`))
  },
  test_input_required_result_capabilities: {
    description: "Asks for all that the client can be asked for",
    run: untilAnswered(possible(clientOf), (answers) => text(`Answered: ${Object.keys(answers).join(", ") || "nothing"}`))
  }
})

/** By name. */
export const askingTools = (clientOf) => ({ ...sessionEra, ...statelessEra(clientOf) })

/** A prompt that asks, as not only tools can. */
export const askingPrompt = {
  description: "Asks a person what it is about",
  run: untilAnswered(
    () => ({
      user_context: form("What context should the prompt use?", { context: { type: "string" } }, ["context"])
    }),
    ({ user_context }) => ({
      messages: [{
        role: "user",
        content: { type: "text", text: `Use this context: ${field(user_context, "context")}` }
      }]
    })
  )
}
