// Connections that come at the same time are accepted a few in each turn of the event loop: to make one takes 0.1 ms, and the system has up to five
// hundred of them ready.
//
// Node has no words for that: it takes all there are, and says so by a function of what listens.

import type { Server } from 'node:net'
import { handleOf } from './socket-handle.js'

/** For how long that is done in a turn. */
const turnMs = 2

interface Accepted {
  close(): void
}

type OnConnection = (this: Listening, error: number | undefined, accepted: Accepted | undefined) => void

interface Listening {
  onconnection?: OnConnection
}

/** For a server that listens. */
export function paceAccepts(server: Server): void {
  const listening = handleOf<Listening>(server)
  const accept = listening?.onconnection
  if (!listening || accept === undefined) return
  const waiting: Accepted[] = []
  let begunMs = 0
  let isTurnCounted = false
  const countTurn = (): void => {
    if (isTurnCounted) return
    isTurnCounted = true
    begunMs = performance.now()
    setImmediate(endTurn)
  }
  const hasTime = (): boolean => performance.now() - begunMs < turnMs
  const endTurn = (): void => {
    isTurnCounted = false
    if (waiting.length === 0) return
    countTurn()
    let next = 0
    do {
      const accepted = waiting[next++] as Accepted
      if (server.listening) accept.call(listening, undefined, accepted)
      else accepted.close()
    } while (next < waiting.length && hasTime())
    waiting.splice(0, next)
  }
  listening.onconnection = (error, accepted) => {
    countTurn()
    if (accepted === undefined || error || (waiting.length === 0 && hasTime())) accept.call(listening, error, accepted)
    else waiting.push(accepted)
  }
}
