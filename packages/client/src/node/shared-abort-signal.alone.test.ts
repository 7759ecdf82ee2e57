// One AbortSignal for many concurrent requests.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Requester } from '../requests/requester.js'
import { HttpTransport } from './http-transport.js'

test('a signal shared by 15 requests causes no MaxListenersExceededWarning', async (t) => {
  const server = createServer((_, response) => response.end('{}'))
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const warnings: string[] = []
  const onWarning = ({ name }: Error): unknown => warnings.push(name)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const transport = new HttpTransport({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const requester = new Requester({ transport })
  const { signal } = new AbortController()
  await Promise.all(Array.from({ length: 15 }, (_, i) => requester.json({ path: `/${i}`, signal })))
  await new Promise(setImmediate)
  assert.deepEqual(warnings, [])
  transport.close()
})
