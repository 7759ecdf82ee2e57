// What a client of HTTP/1.1 sends after it was answered: the rest of its body is read and let go, so that the connection can be used again, but not
// without end. Otherwise whoever is refused could keep the server busy with what nobody reads.

import type { IncomingMessage, ServerResponse } from 'node:http'

/** More than any body that is taken: who sends one of these always hears the answer. */
const mostUnreadBytes = 4 << 20
const lookMs = 100

/** Closes the connection of a request that goes on for too long after its answer. */
export function closeEndless(request: IncomingMessage, response: ServerResponse): void {
  if (!mayBeEndless(request)) return
  response.once('finish', () => {
    const { socket } = request
    if (request.complete) return
    const most = socket.bytesRead + mostUnreadBytes
    const stop = (): void => clearInterval(looking)
    const looking = setInterval(() => {
      if (request.complete) {
        stop()
        socket.off('close', stop)
      } else if (socket.bytesRead > most) socket.destroy()
    }, lookMs).unref()
    socket.once('close', stop)
  })
}

const mayBeEndless = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || isLong(headers['content-length'] ?? '')

/** Few digits need not be read: whoever has six of them has less than a megabyte. */
const isLong = (length: string): boolean => length.length > 6 && Number(length) > mostUnreadBytes
