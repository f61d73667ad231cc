/** The adapter for the AI SDK over the next major version of that package: the same tests, with `ai` replaced. */
import { vi } from "vitest"

vi.mock("ai", () => import("ai7"))
vi.mock("ai/test", () => import("ai7/test"))

await import("./AiSdk.test.ts")
