// Reads one answer to its end without keeping it, in a process of its own: it is given the rest of what a machine has, as if it were somewhere else.

import { Connection, type RequestParts, requestBytes, type Target } from './connection.js'

export interface Reading {
  readonly target: Pick<Target, 'port' | 'ca' | 'token'>
  readonly parts: RequestParts
}

const { target, parts } = JSON.parse(process.argv[2] ?? '') as Reading
const connection = await Connection.open(target)
const status = await connection.exchange(requestBytes(target, parts))
connection.close()
if (status !== 200) throw new Error(`${parts.path} is answered with ${status}`)
