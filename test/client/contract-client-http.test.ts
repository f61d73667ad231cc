import { contract } from "./contract/suite.ts"

contract({ adapter: "client", kind: "1.x", transport: "streamable-http" })
contract({ adapter: "client", kind: "1.x", transport: "sse" })
contract({ adapter: "client", kind: "2.x", transport: "streamable-http" })
contract({ adapter: "client", kind: "2.x-stateless", transport: "streamable-http" })
