// Asks a component on this machine whether it is well, over HTTPS and whatever certificate it shows: nothing is told to it and nothing believed.

import { request } from 'node:https'
import { ask } from './ask.js'
import { describeNetworkFailure } from './network-failure.js'

export interface Probed {
  readonly isWell: boolean
  /** What it said, or why it said nothing. */
  readonly message: string
}

/** Of an answer that is longer the rest is not read. */
const mostBytes = 10 << 10

export async function probe(url: string, patienceMs: number): Promise<Probed> {
  try {
    const sent = request(url, { rejectUnauthorized: false, agent: false })
    const { status, body } = await ask(sent, { timeoutMs: patienceMs, mostBytes, cutsLonger: true })
    const isWell = status >= 200 && status < 400
    return { isWell, message: isWell ? body.toString('utf8') : `HTTP probe failed with statuscode: ${status}` }
  } catch (thrown) {
    return { isWell: false, message: `Get "${url}": ${describeNetworkFailure(thrown)}` }
  }
}
