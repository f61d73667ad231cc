/** The tools that answer by themselves: contents of every kind, an error, logs, progress, a stream that is cut. */
import { setTimeout as pause } from "node:timers/promises"
import { png, wav } from "./samples.mjs"

export const text = (words) => ({ content: [{ type: "text", text: words }] })

export const noArguments = { type: "object", properties: {} }

const step = 50

const image = { type: "image", data: png, mimeType: "image/png" }

const embedded = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } })

const simple = {
  test_simple_text: {
    description: "Answers with a text",
    run: () => text("This is a simple text response for testing.")
  },
  test_image_content: {
    description: "Answers with an image",
    run: () => ({ content: [image] })
  },
  test_audio_content: {
    description: "Answers with a sound",
    run: () => ({ content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] })
  },
  test_embedded_resource: {
    description: "Answers with a resource",
    run: () => ({
      content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
    })
  },
  test_multiple_content_types: {
    description: "Answers with a text, an image and a resource",
    run: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        image,
        embedded("test://mixed-content-resource", "application/json", JSON.stringify({ test: "data", value: 123 }))
      ]
    })
  },
  test_error_handling: {
    description: "Always fails",
    run: () => {
      throw new Error("This tool intentionally returns an error for testing")
    }
  }
}

const during = {
  test_tool_with_logging: {
    description: "Logs three times while it works",
    run: async (_, { mcpReq }) => {
      await mcpReq.log("info", "Tool execution started")
      await pause(step, undefined, { signal: mcpReq.signal })
      await mcpReq.log("info", "Tool processing data")
      await pause(step, undefined, { signal: mcpReq.signal })
      await mcpReq.log("info", "Tool execution completed")
      return text("Logged three times")
    }
  },
  test_logging_tool: {
    description: "Logs once, which a client of the stateless era hears if it asked for logs",
    run: async (_, { mcpReq }) => {
      await mcpReq.log("info", "A log that has to be asked for")
      return text("Logged, if that was asked for")
    }
  },
  test_tool_with_progress: {
    description: "Tells three times how far it is, if that was asked for",
    run: async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await pause(step, undefined, { signal: mcpReq.signal })
        if (progressToken === undefined) continue
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } })
      }
      return text("Done")
    }
  },
  test_reconnection: {
    description: "Ends the stream of its own answer, where streams can be taken up again, and answers afterwards",
    run: async (_, { http, mcpReq }) => {
      http?.closeSSE?.()
      await pause(2 * step, undefined, { signal: mcpReq.signal })
      return text("The stream was taken up again")
    }
  }
}

const schemas = {
  json_schema_2020_12_tool: {
    description: "Has an input schema with words of JSON Schema 2020-12",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } }
        }
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" }
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false
    },
    run: (given) => text(`Called with ${JSON.stringify(given)}`)
  },
  test_custom_headers: {
    description: "Has arguments that a client of the stateless era repeats in headers",
    inputSchema: {
      type: "object",
      properties: {
        region: { type: "string", description: "Where it runs", "x-mcp-header": "Region" },
        priority: { type: "integer", description: "How urgent it is", "x-mcp-header": "Priority" },
        dryRun: { type: "boolean", description: "Whether nothing is done", "x-mcp-header": "Dry-Run" }
      },
      required: ["region", "priority"]
    },
    run: (given) => text(`Called with ${JSON.stringify(given)}`)
  }
}

/** By name. The first tool takes no arguments, because the suite calls the first tool without any. */
export const tools = { ...simple, ...during, ...schemas }

/** Tools that change what the server has. */
export const changingTools = (changes) => ({
  test_trigger_tool_change: {
    description: "Adds a tool, or takes it away again",
    run: () => {
      changes.toggleTool()
      return text(changes.now.tool ? "Added a tool" : "Took a tool away")
    }
  },
  test_trigger_prompt_change: {
    description: "Adds a prompt, or takes it away again",
    run: () => {
      changes.togglePrompt()
      return text(changes.now.prompt ? "Added a prompt" : "Took a prompt away")
    }
  },
  test_trigger_resource_change: {
    description: "Writes the resource that can be subscribed to",
    run: () => {
      changes.writeResource()
      return text("Wrote the resource")
    }
  }
})
