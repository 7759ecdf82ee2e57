// Asks a component on this machine whether it is well, over HTTPS and whatever certificate it shows: nothing is told to it and nothing believed.

import { request } from 'node:https'

export interface Probed {
  readonly isWell: boolean
  /** What it said, or why it said nothing. */
  readonly message: string
}

/** Of an answer that is longer the rest is not read. */
const mostBytes = 10 << 10

export function probe(url: string, patienceMs: number): Promise<Probed> {
  return new Promise((resolve) => {
    const fail = (message: string): void => resolve({ isWell: false, message: `Get "${url}": ${message}` })
    const sent = request(url, { rejectUnauthorized: false, agent: false, timeout: patienceMs }, (response) => {
      const status = response.statusCode ?? 0
      let body = ''
      response.setEncoding('utf8')
      const finish = (): void => {
        const isWell = status >= 200 && status < 400
        resolve({ isWell, message: isWell ? body : `HTTP probe failed with statuscode: ${status}` })
      }
      response.on('data', (text: string) => {
        body += text
        if (body.length < mostBytes) return
        finish()
        sent.destroy()
      })
      response.on('end', finish)
      response.on('error', (error) => fail(error.message))
    })
    const late = setTimeout(() => sent.destroy(new Error(`no answer within ${patienceMs} ms`)), patienceMs)
    sent.on('close', () => clearTimeout(late))
    sent.on('error', (error) => fail(error.message))
    sent.end()
  })
}
