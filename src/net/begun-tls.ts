// The connection that Node's server of TLS makes of one that was accepted. It shows it to nobody until it is secure, and whoever ends it before that must
// be noticed, too.
//
// Node has no words for that. A method that it calls for each that it makes is noted here while one is made; otherwise it is as it was.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

type Init = (this: TLSSocket, ...given: unknown[]) => unknown

interface Initiated {
  _init?: Init
}

let note: ((made: TLSSocket) => void) | undefined
let isNoting = false

function beginNoting(): void {
  if (isNoting) return
  isNoting = true
  const made: Initiated = TLSSocket.prototype as unknown as Initiated
  const init = made._init
  if (init === undefined) return
  made._init = function noted(...given) {
    note?.(this)
    return init.apply(this, given)
  }
}

/** Whether it is known here when one is made. */
export const isBeginningKnown = (): boolean => typeof (TLSSocket.prototype as unknown as Initiated)._init === 'function'

/** What was made by `begin` above `socket`; undefined where that cannot be known. */
export function madeAbove(socket: Socket, begin: () => void): TLSSocket | undefined {
  beginNoting()
  const all: TLSSocket[] = []
  const before = note
  note = (each) => void all.push(each)
  try {
    begin()
  } finally {
    note = before
  }
  return all.find((each) => parentOf(each) === socket)
}

/** What is under one, if anything. */
export const parentOf = (socket: TLSSocket): Socket | undefined => (socket as unknown as { readonly _parent?: Socket })._parent
