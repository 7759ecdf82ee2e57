// What is served is read once for all who ask, and each waits for it with its own patience.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Discovery } from './discovery.js'
import { Requester } from './requester.js'
import type { TransportResponse } from './transport.js'

test("nobody's signal or time ends what others wait for", async () => {
  const answers: ((text: string) => void)[] = []
  const send = (): Promise<TransportResponse> =>
    new Promise((resolve) => {
      answers.push((text) =>
        resolve({ status: 200, header: () => 'application/json', text: async () => text } as unknown as TransportResponse),
      )
    })
  const transport = { send, close: () => undefined } as unknown as ConstructorParameters<typeof Requester>[0]['transport']
  const discovery = new Discovery(new Requester({ transport }))
  const controller = new AbortController()
  const impatient = discovery.all({ signal: controller.signal })
  const short = discovery.all({ timeoutMs: 1 })
  const patient = discovery.all()
  controller.abort(new Error('no time'))
  await assert.rejects(impatient, /no time/)
  await assert.rejects(short, /no answer within 1 ms/)
  const answer = (): void => {
    for (const tell of answers.splice(0)) tell(JSON.stringify({ kind: 'APIGroupDiscoveryList', items: [] }))
  }
  const answering = setInterval(answer, 1)
  assert.deepEqual((await patient).resources, [])
  clearInterval(answering)
})
