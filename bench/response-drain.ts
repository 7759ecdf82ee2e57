// Reads one response without keeping it, in a separate process with low priority, as if it ran on another machine.

import { Connection, type RequestParts, requestBytes, type Target } from './connection.js'

export interface DrainStart {
  readonly target: Pick<Target, 'port' | 'ca' | 'token'>
  readonly parts: RequestParts
}

const { target, parts } = JSON.parse(process.argv[2] ?? '') as DrainStart
const connection = await Connection.open(target)
const status = await connection.exchange(requestBytes(target, parts))
connection.close()
if (status !== 200) throw new Error(`${parts.path}: status ${status}`)
