// Answers to requests that were sent before earlier ones on their connection were answered. Until its turn comes such an answer has no connection,
// and Node does not tell it when the client goes: whoever works for it, a watch for instance, would do so for nobody.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export class QueuedAnswers {
  readonly #bySocket = new WeakMap<Socket, Set<ServerResponse>>()

  /** Called for each answer when its request has come; most have their connection then. */
  follow(socket: Socket, response: ServerResponse): void {
    if (response.socket !== null) return
    let queued = this.#bySocket.get(socket)
    if (queued === undefined) {
      const made = new Set<ServerResponse>()
      queued = made
      this.#bySocket.set(socket, made)
      socket.once('close', () => closeAll(made))
    }
    const answers = queued
    answers.add(response)
    response.once('close', () => answers.delete(response))
  }
}

/** One that has got the connection meanwhile is told by Node, and newer versions tell all of them. */
function closeAll(answers: ReadonlySet<ServerResponse>): void {
  const untold = (): readonly ServerResponse[] => [...answers].filter(({ socket, closed }) => socket === null && !closed)
  for (const response of untold()) response.destroy()
  setImmediate(() => {
    for (const response of untold()) response.emit('close')
  })
}

/** Whether an answer on this connection has begun, or is about to, and has not ended. */
export const isAnswering = (socket: Socket): boolean =>
  (socket as unknown as { readonly _httpMessage?: ServerResponse | null })._httpMessage != null
