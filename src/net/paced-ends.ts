// Connections that their clients end at the same time are ended here a few in each turn of the event loop: to end one takes 0.1 ms, and 0.3 with a
// request under way, and of two thousand whose client was killed Node would do all of it in one piece. That one has ended is noted below its stream,
// which takes a few microseconds. What ends on this side at the same time waits for its turn in the same way.
//
// Node has no words for that. It calls a function of what is under the connection, and whether it was the end or a failure only Node's own function
// can tell, and only at that moment: it is shown something in place of the connection, and what it does to that is what has happened.

import type { Socket } from 'node:net'
import { type Handle, handleOf } from './socket-handle.js'

/** So many end in a turn without waiting; and so many of those that wait, */
const few = 8
/** unless it takes longer. What that leads to in the turns that follow takes as long again. */
const turnMs = 2

type OnRead = (this: object, bytes?: ArrayBuffer) => void

interface ReadHandle extends Handle {
  /** Called with what has come; without it for the end and for an error. */
  onread?: OnRead
}

type Owned = Readonly<Record<symbol, Socket>>

/** Under which name Node finds the connection that is above something: the same for all. */
const ownerNameOf = (handle: object, socket: Socket): symbol | undefined =>
  Object.getOwnPropertySymbols(handle).find((name) => (handle as Owned)[name] === socket)

export class PacedEnds {
  /** In the order in which they have their turn; those before `#next` have had it. */
  #waiting: (() => void)[] = []
  #next = 0
  #planned = 0
  /** When the first of those was ended that are planned. */
  #begunMs: number | undefined
  /** In this turn, without waiting. */
  #ended = 0
  #isTurnCounted = false
  /** Node's own function, and the one in its place. One for all connections: each of them calls it too rarely for it to become fast. */
  #usual: OnRead | undefined
  #onRead: OnRead | undefined

  /** From now on. */
  pace(socket: Socket): void {
    const handle = handleOf<ReadHandle>(socket)
    const usual = handle?.onread
    if (!handle || usual === undefined) return
    if (this.#onRead === undefined) {
      const ownerName = ownerNameOf(handle, socket)
      if (ownerName === undefined) return
      this.#usual = usual
      this.#onRead = this.#inPlaceOf(usual, ownerName)
    }
    if (usual === this.#usual) handle.onread = this.#onRead
  }

  /** For what ends on this side, as when many were idle for the same time. */
  soon(act: () => void): void {
    if (this.#isFree()) act()
    else this.#wait(act)
  }

  #inPlaceOf(usual: OnRead, ownerName: symbol): OnRead {
    const isFree = (): boolean => this.#isFree()
    const failureOf = failureTold(usual, ownerName)
    const wait = (socket: Socket): void => {
      const failure = failureOf()
      this.#wait(() => end(socket, failure))
    }
    return function onRead(bytes) {
      if (bytes !== undefined || isFree()) usual.call(this, bytes)
      else wait((this as Owned)[ownerName] as Socket)
    }
  }

  #isFree(): boolean {
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true
      setImmediate(() => {
        this.#isTurnCounted = false
        this.#ended = 0
      })
    }
    return this.#waiting.length === 0 && this.#ended++ < few
  }

  #wait(act: () => void): void {
    this.#waiting.push(act)
    this.#plan()
  }

  /** What one end has led to is done before the next: each has a call of its own. */
  #plan(): void {
    if (this.#planned > 0) return
    this.#begunMs = undefined
    this.#planned = Math.min(few, this.#waiting.length - this.#next)
    for (let i = 0; i < this.#planned; i++) setImmediate(() => this.#endNext())
  }

  #endNext(): void {
    this.#planned--
    const now = performance.now()
    this.#begunMs ??= now
    if (now - this.#begunMs < turnMs) this.#endOne()
    this.#plan()
  }

  #endOne(): void {
    const act = this.#waiting[this.#next++]
    if (this.#next >= this.#waiting.length) {
      this.#waiting = []
      this.#next = 0
    }
    act?.()
  }
}

/** As Node does it. Without a failure it has come to its end. */
function end(socket: Socket, failure: Error | undefined): void {
  if (socket.destroyed) return
  if (failure !== undefined) socket.destroy(failure)
  else if (!socket.readableEnded) {
    socket.push(null)
    socket.read(0)
  }
}

/** Says with what the connection has failed that Node's function would be called for now; undefined where it has come to its end. */
function failureTold(usual: OnRead, ownerName: symbol): () => Error | undefined {
  let failure: Error | undefined
  const nothing = (): void => undefined
  const destroy = (error: Error): void => {
    failure = error
  }
  const standIn: Record<string | symbol, unknown> = {
    destroyed: false,
    _readableState: { endEmitted: false },
    push: nothing,
    read: nothing,
    destroy,
  }
  const handle = { [ownerName]: standIn }
  // Names that are Node's own are known once they were asked for.
  const get = (_: object, name: string | symbol): unknown => {
    if (!(name in standIn)) standIn[name] = nothing
    return standIn[name]
  }
  const asked = { [ownerName]: new Proxy({}, { get }) }
  let isKnown = false
  return () => {
    failure = undefined
    usual.call(isKnown ? handle : asked)
    isKnown = true
    return failure
  }
}
