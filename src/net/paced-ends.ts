// Connections that their clients end at the same time are ended here a few in each turn of the event loop: to end one takes 0.1 ms, and 0.3 with a
// request under way, and of two thousand whose client was killed Node would do all of it in one piece. That one has ended is noted below its stream,
// which takes a few microseconds. What ends on this side at the same time waits for its turn in the same way.
//
// Node has no words for that. It calls a function of what is under the connection, and whether it was the end or a failure only Node's own function
// can tell, and only at that moment: it is shown something in place of the connection, and what it does to that is what has happened.

import type { Socket } from 'node:net'
import { type Handle, handleOf } from './socket-handle.js'

/** So many end in a turn without waiting; */
const few = 8
/** and so many of those that wait: more than can be accepted in a turn, or whoever opens and closes connections would fill the server with ended ones, */
const mostPerTurn = 24
/** unless it takes longer. What that leads to in the turns that follow takes as long again. */
const turnMs = 2

type OnRead = (this: object, bytes?: ArrayBuffer) => void

/** What has happened to a connection. */
type End = 'end' | Error

interface ReadHandle extends Handle {
  /** Called with what has come; without it for the end and for an error. */
  onread?: OnRead
}

type Owned = Readonly<Record<symbol, Socket>>

/** Under which name Node finds the connection that is above something: the same for all. */
const ownerNameOf = (handle: object, socket: Socket): symbol | undefined =>
  Object.getOwnPropertySymbols(handle).find((name) => (handle as Owned)[name] === socket)

/** Whether what is under a connection says that it has ended by the function that is known here. */
export function isEndKnown(handle: unknown): boolean {
  const owner = Object.getOwnPropertySymbols(handle ?? {})
    .map((name) => (handle as Owned)[name])
    .find((value) => value !== undefined && handleOf(value) === handle)
  return owner !== undefined && typeof (handle as ReadHandle).onread === 'function'
}

export class PacedEnds {
  /** In the order in which they have their turn. */
  readonly #waiting = new Set<() => void>()
  /** The connections among those. Who reads on from one that has ended is told so again, each time. */
  readonly #told = new Map<Socket, End>()
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
    const endOf = endTold(usual, ownerName)
    const tell = (handle: object): void => {
      const end = this.#isFree() ? undefined : endOf()
      if (end === undefined) usual.call(handle)
      else this.#tell((handle as Owned)[ownerName] as Socket, end)
    }
    return function onRead(bytes) {
      if (bytes === undefined) tell(this)
      else usual.call(this, bytes)
    }
  }

  #tell(socket: Socket, end: End): void {
    const known = this.#told.get(socket)
    if (known === undefined || end !== 'end') this.#told.set(socket, end)
    if (known !== undefined) return
    this.#wait(() => {
      const told = this.#told.get(socket)
      this.#told.delete(socket)
      if (told !== undefined) finish(socket, told)
    })
  }

  #isFree(): boolean {
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true
      setImmediate(() => {
        this.#isTurnCounted = false
        this.#ended = 0
      })
    }
    return this.#waiting.size === 0 && this.#ended++ < few
  }

  #wait(act: () => void): void {
    this.#waiting.add(act)
    this.#plan()
  }

  /** What one end has led to is done before the next: each has a call of its own. */
  #plan(): void {
    if (this.#planned > 0) return
    this.#begunMs = undefined
    this.#planned = Math.min(mostPerTurn, this.#waiting.size)
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
    const [act] = this.#waiting
    if (act === undefined) return
    this.#waiting.delete(act)
    act()
  }
}

/** As Node does it. */
function finish(socket: Socket, end: End): void {
  if (socket.destroyed) return
  if (end !== 'end') socket.destroy(end)
  else if (!socket.readableEnded) {
    socket.push(null)
    socket.read(0)
  }
}

/** Says what has happened to the connection that Node's function would be called for now; undefined where Node's function does something else with it. */
function endTold(usual: OnRead, ownerName: symbol): () => End | undefined {
  let end: End | undefined
  const nothing = (): void => undefined
  const push = (): void => {
    end = 'end'
  }
  const destroy = (error: Error): void => {
    end = error
  }
  const standIn: Record<string | symbol, unknown> = {
    destroyed: false,
    _readableState: { endEmitted: false },
    push,
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
    end = undefined
    try {
      usual.call(isKnown ? handle : asked)
      isKnown = true
    } catch {
      return undefined
    }
    return end
  }
}
