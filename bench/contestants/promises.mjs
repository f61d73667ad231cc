/**
 * A contestant whose client has a Promise API, made from the way to open one.
 *
 * A client gives `call(name, args)`, `tools()` and `close()`. A contestant adds the two loops that are measured:
 * `sequence`, one call after the other, and `flight`, `width` calls under way at any time.
 */
export const make = (open) => ({
  open,
  sequence: async (client, took) => {
    for (let index = 0; index < took.length; index++) {
      const started = performance.now()
      await client.call("echo", { text: "hello" })
      took[index] = performance.now() - started
    }
  },
  flight: async (client, count, width) => {
    let left = count
    const worker = async () => {
      while (left-- > 0) await client.call("echo", { text: "hello" })
    }
    await Promise.all(Array.from({ length: width }, worker))
  },
  openAll: (servers) => Promise.all(servers.map((server) => open(server))),
  closeAll: (clients) => Promise.all(clients.map((client) => client.close()))
})
