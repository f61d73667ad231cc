import { unreachable } from "./contract/lifecycle.ts"
import { contract } from "./contract/suite.ts"

contract({ adapter: "sdk", kind: "1.x", transport: "stdio" })
contract({ adapter: "sdk", kind: "2.x", transport: "stdio" })
unreachable({ adapter: "sdk", kind: "2.x-stateless", transport: "stdio" })
