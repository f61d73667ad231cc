import { unreachable } from "./contract/lifecycle.ts"
import { contract } from "./contract/suite.ts"

contract({ adapter: "sdk", kind: "1.x", transport: "streamable-http" })
contract({ adapter: "sdk", kind: "1.x", transport: "sse" })
contract({ adapter: "sdk", kind: "2.x", transport: "streamable-http" })
unreachable({ adapter: "sdk", kind: "2.x-stateless", transport: "streamable-http" })
