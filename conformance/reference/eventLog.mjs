/** What was sent on the streams of one session, so that a stream can be taken up again where it was cut. */
const most = 1000

export const makeEventLog = () => {
  let last = 0
  const events = new Map()
  return {
    storeEvent: async (stream, message) => {
      const id = String(++last)
      events.set(id, { stream, message })
      if (events.size > most) events.delete(events.keys().next().value)
      return id
    },
    getStreamIdForEventId: async (id) => events.get(id)?.stream,
    replayEventsAfter: async (after, { send }) => {
      const { stream } = events.get(after)
      for (const [id, event] of events) {
        if (Number(id) <= Number(after) || event.stream !== stream) continue
        // what opens a stream is an event without a message
        if (Object.keys(event.message).length > 0) await send(id, event.message)
      }
      return stream
    }
  }
}
